import * as fs from 'fs';
import * as path from 'path';

export interface Choice {
  path: string;
  strategy: 'own' | 'bundled';
  isTrusted: boolean;
  extensionFolder: string;
  searchPath: string;
}

const NAME = process.platform === 'win32' ? 'allranks.exe' : 'allranks';

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The program to start; undefined where there is none. */
export function serverPath(choice: Choice): string | undefined {
  // A folder that is not trusted may say in its settings what is to be run.
  if (choice.path !== '' && choice.isTrusted) return choice.path;
  const bundled = [path.join(choice.extensionFolder, 'bin', NAME)];
  const own = choice.searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder)).map((folder) => path.join(folder, NAME));
  const inOrder = choice.strategy === 'bundled' ? [...bundled, ...own] : [...own, ...bundled];
  return inOrder.find(isProgram);
}
