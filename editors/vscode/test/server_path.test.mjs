// Which program the extension starts.
import assert from 'node:assert/strict';
import { buildSync } from 'esbuild';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'allranks-vscode-'));
test.after(() => fs.rmSync(folder, { recursive: true }));
const built = path.join(folder, 'server_path.cjs');
buildSync({ entryPoints: [new URL('../src/server_path.ts', import.meta.url).pathname], outfile: built, platform: 'node', format: 'cjs' });
const { expanded, serverPath } = createRequire(import.meta.url)(built);

function program(...parts) {
  const file = path.join(folder, ...parts, 'allranks');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, '', { mode: 0o755 });
  return file;
}
const bundled = program('extension', 'bin');
const own = program('environment');
fs.mkdirSync(path.join(folder, 'folder', 'allranks'), { recursive: true });
const choice = { path: '', strategy: 'own', isTrusted: true, extensionFolder: path.join(folder, 'extension'), searchPath: `relative:${path.join(folder, 'folder')}:${path.join(folder, 'environment')}` };

test('the one of the environment first, or the one that came along', () => {
  assert.equal(serverPath(choice), own);
  assert.equal(serverPath({ ...choice, strategy: 'bundled' }), bundled);
  assert.equal(serverPath({ ...choice, searchPath: '' }), bundled);
});

test('a path that is named is taken as it is, but only in trusted folders', () => {
  assert.equal(serverPath({ ...choice, path: '/x/allranks' }), '/x/allranks');
  assert.equal(serverPath({ ...choice, path: '/x/allranks', isTrusted: false }), own);
});

test('the chosen Python environment goes before the PATH', () => {
  const inside = program('venv', 'bin');
  const interpreter = path.join(folder, 'venv', 'bin', 'python');
  assert.equal(serverPath({ ...choice, python: interpreter }), inside);
  assert.equal(serverPath({ ...choice, python: path.join(folder, 'venv') }), inside);
  assert.equal(serverPath({ ...choice, python: interpreter, strategy: 'bundled' }), bundled);
  assert.equal(serverPath({ ...choice, python: interpreter, isTrusted: false }), own);
  assert.equal(serverPath({ ...choice, python: path.join(folder, 'gone', 'python') }), own);
});

test('variables in the path', () => {
  assert.equal(expanded('${workspaceFolder}/.venv/bin/allranks', '/w'), '/w/.venv/bin/allranks');
  assert.equal(expanded('~/bin/allranks', undefined), path.join(os.homedir(), 'bin/allranks'));
  process.env.ALLRANKS_TEST = 'x';
  assert.equal(expanded('/${env:ALLRANKS_TEST}/~/allranks', undefined), '/x/~/allranks');
});

test('neither folders nor relative entries of the PATH', () => {
  assert.equal(serverPath({ ...choice, extensionFolder: folder, searchPath: `.:${path.join(folder, 'folder')}` }), undefined);
});
