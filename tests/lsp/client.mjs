// Starts `allranks server` on a folder of its own and speaks to it through the library that VS Code itself uses.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const here = path.dirname(new URL(import.meta.url).pathname);
const require = createRequire(path.join(here, '../../third_party/lsp-client/package.json'));
export const protocol = require('vscode-languageserver-protocol/node');

export const binary = path.resolve(process.env.ALLRANKS ?? 'build/release/allranks');
const PATIENCE = 30_000;

export const GUARDED = `import torch.distributed as dist


def save(model):
    rank = dist.get_rank()
    if rank == 0:
        dist.barrier()
    dist.all_reduce(model)
`;

const made = [];
process.on('exit', () => made.forEach((folder) => fs.rmSync(folder, { recursive: true, force: true })));

// Gone when the test ends.
export function makeFolder(files) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'allranks-lsp-')));
  made.push(folder);
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  return folder;
}

export const ALL_CAPABILITIES = {
  general: { positionEncodings: ['utf-16'] },
  textDocument: {
    hover: { contentFormat: ['markdown', 'plaintext'] },
    publishDiagnostics: { relatedInformation: true },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ['quickfix', 'source.fixAll'] } } },
  },
  workspace: { workspaceFolders: true },
};

export class Client {
  // By default with a few rules only: a test says what it means whatever rules are added.
  static async start({ files = {}, folders, capabilities = ALL_CAPABILITIES, options = { select: ['AR0', 'AR101', 'AR301'] }, test, cwd = os.tmpdir(), settings }) {
    const client = new Client();
    client.folders = folders ?? [makeFolder(files)];
    client.folder = client.folders[0];
    client.process = spawn(binary, ['server'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    client.exited = new Promise((resolve) => client.process.on('exit', (code, signal) => resolve(signal ?? code)));
    client.connection = protocol.createProtocolConnection(client.process.stdout, client.process.stdin);
    client.diagnostics = new Map();
    client.versions = new Map();
    client.notifications = [];
    client.asked = [];
    client.waiting = new Set();
    client.connection.onNotification((method, params) => client.take(method, params));
    client.connection.onNotification('textDocument/publishDiagnostics', (params) => {
      client.diagnostics.set(params.uri, params.diagnostics);
      client.take('textDocument/publishDiagnostics', params);
    });
    client.connection.onRequest((method, params) => {
      client.asked.push({ method, params });
      client.wake();
      return method === 'workspace/configuration' ? params.items.map(() => client.settings) : null;
    });
    client.connection.onUnhandledProgress?.((params) => client.take('$/progress', params));
    client.settings = settings;
    client.connection.listen();
    client.initialized = await client.ask('initialize', {
      processId: process.pid,
      rootUri: null,
      capabilities,
      initializationOptions: options,
      workspaceFolders: client.folders.map((folder) => ({ uri: pathToFileURL(folder).href, name: path.basename(folder) })),
    });
    await client.tell('initialized', {});
    test?.after(() => client.stop());
    return client;
  }

  take(method, params) {
    this.notifications.push({ method, params });
    this.wake();
  }
  wake() {
    for (const each of this.waiting) each();
  }
  ask(method, params, token) {
    // Parameters that are not given are not sent: the library would make an array of them.
    return this.connection.sendRequest(...[method, params, token].filter((each) => each !== undefined));
  }
  tell(method, params) {
    return this.connection.sendNotification(...[method, params].filter((each) => each !== undefined));
  }
  uri(name, folder = this.folder) {
    return pathToFileURL(path.join(folder, name)).href;
  }
  path(name) {
    return path.join(this.folder, name);
  }
  document(name) {
    return { uri: this.uri(name) };
  }

  async open(name, text = fs.readFileSync(this.path(name), 'utf8'), languageId = 'python') {
    this.versions.set(name, 1);
    await this.tell('textDocument/didOpen', { textDocument: { uri: this.uri(name), languageId, version: 1, text } });
  }
  async change(name, ...contentChanges) {
    const version = this.versions.get(name) + 1;
    this.versions.set(name, version);
    await this.tell('textDocument/didChange', { textDocument: { uri: this.uri(name), version }, contentChanges });
  }

  // Until `holds()` gives something; what was waited for is said when it does not come.
  until(what, holds) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const value = holds();
        if (!value) return;
        this.waiting.delete(look);
        clearTimeout(timer);
        resolve(value);
      };
      const timer = setTimeout(() => {
        this.waiting.delete(look);
        reject(new Error(`waited in vain for ${what}`));
      }, PATIENCE);
      this.waiting.add(look);
      look();
    });
  }
  codes(name) {
    return (this.diagnostics.get(this.uri(name)) ?? []).map((each) => each.code);
  }
  untilCodes(name, ...codes) {
    return this.until(`${codes} in ${name}`, () => this.diagnostics.has(this.uri(name)) && `${this.codes(name)}` === `${codes}`);
  }

  async stop() {
    if (this.process.exitCode === null) {
      await this.ask('shutdown');
      await this.tell('exit');
    }
    const code = await this.exited;
    this.connection.dispose();
    for (const folder of this.folders) fs.rmSync(folder, { recursive: true, force: true });
    return code;
  }
}

// The place of a word, or of a piece of it, in a text.
export function place(text, word, more = 0) {
  const before = text.slice(0, text.indexOf(word) + more).split('\n');
  return { line: before.length - 1, character: before.at(-1).length };
}

// A text after edits of the protocol, in UTF-16.
export function applied(text, edits) {
  const lines = text.split('\n');
  const offset = ({ line, character }) => lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  for (const edit of [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start))) {
    text = text.slice(0, offset(edit.range.start)) + edit.newText + text.slice(offset(edit.range.end));
  }
  return text;
}
