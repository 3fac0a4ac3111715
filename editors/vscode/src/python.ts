import * as vscode from 'vscode';

/** What the Python extension offers of its environments, as far as it is needed here. */
interface Environments {
  getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
  onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
}

async function environments(): Promise<Environments | undefined> {
  const extension = vscode.extensions.getExtension<{ environments?: Environments }>('ms-python.python');
  if (extension === undefined) return undefined;
  try {
    return (await extension.activate()).environments;
  } catch {
    // Without it there are still the PATH and the program that came along.
    return undefined;
  }
}

/** The interpreter or environment that is chosen for a folder; undefined: none, or there is no Python extension. */
export async function chosenPython(folder: vscode.Uri | undefined): Promise<string | undefined> {
  return (await environments())?.getActiveEnvironmentPath(folder).path;
}

export async function onDidChooseAnother(then: () => void): Promise<vscode.Disposable> {
  return (await environments())?.onDidChangeActiveEnvironmentPath(then) ?? new vscode.Disposable(() => undefined);
}
