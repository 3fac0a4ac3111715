import * as vscode from 'vscode';
import { LanguageClient, LanguageClientOptions, State } from 'vscode-languageclient/node';
import { chosenPython, onDidChooseAnother } from './python';
import { serverPath } from './server_path';

const LANGUAGES = ['python', 'c', 'cpp', 'cuda-cpp', 'shellscript', 'yaml', 'json', 'dockerfile', 'makefile'];

let client: LanguageClient | undefined;
let output: vscode.LogOutputChannel;
let status: vscode.StatusBarItem;
let starting: Promise<void> = Promise.resolve();

/** Texts that the server makes, as documents that are read and not saved. */
class Pages implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? '';
  }
  async show(name: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: 'allranks', path: `/${name}` });
    this.texts.set(uri.path, text);
    if (name.endsWith('.md')) {
      await vscode.commands.executeCommand('markdown.showPreview', uri);
      return;
    }
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }
}

const pages = new Pages();

/** What a command of the server answers is shown: the server itself has no window. */
async function showAnswer(command: string, given: unknown[], answer: unknown): Promise<void> {
  if (typeof answer !== 'string') return;
  if (command === 'allranks.explain') await pages.show(`${given[0]}.md`, answer);
  if (command === 'allranks.showTrace') await pages.show(`${String(given[1]).replace(/[^\w.]/g, '_')}.trace`, answer);
}

function clientOptions(): LanguageClientOptions {
  return {
    documentSelector: [
      ...LANGUAGES.flatMap((language) => [{ scheme: 'file', language }, { scheme: 'untitled', language }]),
      // Hovers on settings.
      { scheme: 'file', pattern: '**/{allranks,.allranks,pyproject}.toml' },
    ],
    outputChannel: output,
    // The pages that commands answer are opened here; the server need not speak of them itself.
    initializationOptions: { opensPages: true },
    middleware: {
      executeCommand: async (command, given, next) => {
        const answer = await next(command, given);
        await showAnswer(command, given, answer);
        return answer;
      },
    },
  };
}

function showState(state: State | undefined): void {
  const words = state === State.Running ? 'allranks' : state === State.Starting ? '$(sync~spin) allranks' : '$(error) allranks';
  status.text = words;
  status.tooltip = state === State.Running ? 'allranks is running; click for its output' : 'allranks is not running; click for its output';
  status.show();
}

async function start(context: vscode.ExtensionContext): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const settings = vscode.workspace.getConfiguration('allranks');
  const command = serverPath({
    path: settings.get('path', ''),
    strategy: settings.get('importStrategy', 'own'),
    isTrusted: vscode.workspace.isTrusted,
    extensionFolder: context.extensionPath,
    searchPath: process.env.PATH ?? '',
    python: await chosenPython(folder),
    workspaceFolder: folder?.fsPath,
  });
  if (command === undefined) {
    showState(undefined);
    const choice = await vscode.window.showErrorMessage('allranks: there is no `allranks` in the chosen Python environment or on the PATH, and none came with the extension. Install it with `pip install allranks`, or name it in `allranks.path`.', 'Open Settings');
    if (choice !== undefined) await vscode.commands.executeCommand('workbench.action.openSettings', 'allranks.path');
    return;
  }
  output.info(`starting ${command} server`);
  client = new LanguageClient('allranks', 'allranks', { command, args: ['server'] }, clientOptions());
  client.onDidChangeState((change) => showState(change.newState));
  await client.start();
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

/** One after the other, however often it is asked for. */
function restart(context: vscode.ExtensionContext): Promise<void> {
  starting = starting.then(stop).then(() => start(context)).catch((error: unknown) => {
    showState(undefined);
    output.error(String(error));
  });
  return starting;
}

/** All safe fixes of the text that is open: what `source.fixAll.allranks` does on save. */
async function fixAll(): Promise<void> {
  await vscode.commands.executeCommand('editor.action.codeAction', { kind: 'source.fixAll.allranks', apply: 'first' });
}

async function showDebugInformation(): Promise<void> {
  const answer: unknown = await client?.sendRequest('workspace/executeCommand', { command: 'allranks.debugInformation', arguments: [] });
  await pages.show('debug-information.json', JSON.stringify(answer ?? 'the server is not running', null, 2));
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel('allranks', { log: true });
  status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Right);
  status.command = 'allranks.showOutput';
  context.subscriptions.push(
    output,
    status,
    vscode.workspace.registerTextDocumentContentProvider('allranks', pages),
    vscode.commands.registerCommand('allranks.fixAll', fixAll),
    vscode.commands.registerCommand('allranks.restart', () => restart(context)),
    vscode.commands.registerCommand('allranks.showOutput', () => output.show()),
    vscode.commands.registerCommand('allranks.showDebugInformation', showDebugInformation),
    vscode.workspace.onDidGrantWorkspaceTrust(() => restart(context)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('allranks.path') || change.affectsConfiguration('allranks.importStrategy')) void restart(context);
    }),
  );
  context.subscriptions.push(await onDidChooseAnother(() => void restart(context)));
  await restart(context);
}

export async function deactivate(): Promise<void> {
  await starting;
  await stop();
}
