import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

export interface Choice {
  path: string;
  strategy: 'own' | 'bundled';
  isTrusted: boolean;
  extensionFolder: string;
  searchPath: string;
  /** The interpreter that was chosen for the folder, or the folder of its environment; undefined: none was. */
  python?: string;
  workspaceFolder?: string;
}

const NAME = process.platform === 'win32' ? 'allranks.exe' : 'allranks';
const SCRIPTS = process.platform === 'win32' ? 'Scripts' : 'bin';

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

/** `${workspaceFolder}/.venv/bin/allranks`, `~/bin/allranks`, `${env:HOME}/...`. */
export function expanded(text: string, workspaceFolder: string | undefined): string {
  return text
    .replace(/^~(?=$|[/\\])/, os.homedir())
    .replace(/\$\{workspaceFolder\}/g, workspaceFolder ?? '')
    .replace(/\$\{userHome\}/g, os.homedir())
    .replace(/\$\{env:(\w+)\}/g, (_, name: string) => process.env[name] ?? '');
}

/** Where the programs of a Python environment are: beside its interpreter, or in its folder. */
function inEnvironment(python: string | undefined): string[] {
  if (python === undefined || python === '') return [];
  return [path.join(python, SCRIPTS, NAME), path.join(path.dirname(python), NAME)];
}

/** The program to start; undefined where there is none. */
export function serverPath(choice: Choice): string | undefined {
  // A folder that is not trusted may say in its settings, and put into its environment, what is to be run.
  if (choice.path !== '' && choice.isTrusted) return expanded(choice.path, choice.workspaceFolder);
  const bundled = [path.join(choice.extensionFolder, 'bin', NAME)];
  const onPath = choice.searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder)).map((folder) => path.join(folder, NAME));
  const own = [...(choice.isTrusted ? inEnvironment(choice.python) : []), ...onPath];
  const inOrder = choice.strategy === 'bundled' ? [...bundled, ...own] : [...own, ...bundled];
  return inOrder.find(isProgram);
}
