// One pipeline: what the command line reports of the fixtures, as JSON and as SARIF, an editor is told as well. All fixtures.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ALL_CAPABILITIES, binary, Client, makeFolder } from './client.mjs';

const root = path.resolve(path.dirname(new URL(import.meta.url).pathname), '../../fixtures');
const SIDE = /\.(expect|ir|trace|fixed)$|^__pycache__$|^\./;
const CPP = /\.(c|cc|cpp|cu|cuh|h)$/;
const readsCpp = fs.existsSync(path.join(path.dirname(binary), 'allranks-clang'));
const run = promisify(execFile);

function filesOf(fixture) {
  if (fs.statSync(fixture).isFile()) return { [path.basename(fixture)]: fs.readFileSync(fixture) };
  const names = fs.readdirSync(fixture, { recursive: true }).filter((name) => fs.statSync(path.join(fixture, name)).isFile());
  return Object.fromEntries(names.filter((name) => !SIDE.test(path.basename(name))).map((name) => [name, fs.readFileSync(path.join(fixture, name))]));
}

// What a fixture passes on the command line, and that its rule speaks though it may be in preview: as the configuration
// that both sides read.
function configuration(code, files) {
  const args = Object.values(files).map((text) => /^(?:#|\/\/) args: (.*)/m.exec(text.toString('latin1'))).find(Boolean)?.[1] ?? '';
  const select = /--select (\S+)/.exec(args)?.[1];
  const confidence = /--min-confidence (\S+)/.exec(args)?.[1];
  const rules = select ? `select = ${JSON.stringify(select.split(','))}` : `extend-select = ["${code}"]`;
  return [rules, confidence && `min-confidence = "${confidence}"`].filter(Boolean).join('\n');
}

function allFixtures() {
  return fs.readdirSync(root).sort().flatMap((code) =>
    fs.readdirSync(path.join(root, code)).filter((name) => !SIDE.test(name)).sort().map((name) => {
      const files = filesOf(path.join(root, code, name));
      const settings = configuration(code, files);
      return { fixture: `${code}/${name}`, files: { ...files, 'allranks.toml': settings } };
    })).filter(({ files }) => readsCpp || !Object.keys(files).some((name) => CPP.test(name)));
}

async function check(folder) {
  const out = fs.mkdtempSync(path.join(os.tmpdir(), 'allranks-out-'));
  const outputs = ['json', 'sarif'].map((format) => `--output=${format}=${path.join(out, format)}`);
  await run(binary, ['check', '--no-cache', ...outputs, '.'], { cwd: folder }).catch((error) => assert.equal(error.code, 1, error.stderr));
  const [json, sarif] = ['json', 'sarif'].map((format) => JSON.parse(fs.readFileSync(path.join(out, format), 'utf8')));
  fs.rmSync(out, { recursive: true });
  return { json, sarif };
}

// As many at a time as there are cores.
async function mapped(items, each) {
  const results = [];
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await each(items[index]);
    }
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, work));
  return results;
}

const fromJson = (report) => report.findings.map(({ location: at, code, message }) =>
  `${at.path} ${at.cell ?? 0} ${at.start.line}:${at.start.column}-${at.end.line}:${at.end.column} ${code} ${message}`);
// Of what comments silence SARIF alone speaks; its lines of a notebook count through the cells, and its columns are UTF-16.
const fromSarif = (report) => report.runs[0].results.filter((result) => !result.suppressions?.length).map((result) =>
  `${decodeURIComponent(result.locations[0].physicalLocation.artifactLocation.uri)} ${result.ruleId}`);
const codesOf = (report) => report.findings.map(({ location, code }) => `${location.path} ${code}`);

// The name that the client gives a cell of a notebook, and back.
const cellUri = (uri, number) => `${uri.replace('file:', 'vscode-notebook-cell:')}#${number}`;
function fromEditor(folder, diagnostics) {
  const base = `${pathToFileURL(folder).href}/`;
  return [...diagnostics].flatMap(([uri, found]) => {
    const [file, cell] = uri.replace('vscode-notebook-cell:', 'file:').split('#');
    if (!file.startsWith(base)) return [];
    return found.map(({ range: { start, end }, code, message }) =>
      `${decodeURIComponent(file.slice(base.length))} ${cell ?? 0} ${start.line + 1}:${start.character + 1}-${end.line + 1}:${end.character + 1} ${code} ${message}`);
  });
}

// Of a notebook that is not open the server has no cells to name. One that is no notebook cannot be opened as one.
async function openNotebook(client, file) {
  let cells;
  try {
    ({ cells } = JSON.parse(fs.readFileSync(file, 'utf8')));
  } catch {
    return;
  }
  if (!Array.isArray(cells)) return;
  const uri = pathToFileURL(file).href;
  await client.tell('notebookDocument/didOpen', {
    notebookDocument: { uri, notebookType: 'jupyter-notebook', version: 1, cells: cells.map((cell, i) => ({ kind: cell.cell_type === 'code' ? 2 : 1, document: cellUri(uri, i + 1) })) },
    cellTextDocuments: cells.map((cell, i) => ({ uri: cellUri(uri, i + 1), languageId: 'python', version: 1, text: [cell.source].flat().join('') })),
  });
}

test('the same findings everywhere', async (t) => {
  // Declarations of our own stand in for a CUDA toolkit that the machine may have.
  process.env.CUDA_HOME = os.tmpdir();
  const fixtures = allFixtures();
  assert.ok(fixtures.length > 400, `${fixtures.length} fixtures`);
  const folders = fixtures.map(({ files }) => makeFolder(files));
  const capabilities = { ...ALL_CAPABILITIES, general: { positionEncodings: ['utf-32'] } };
  const client = await Client.start({ folders, capabilities, options: {}, test: t });
  for (const [index, { files }] of fixtures.entries()) {
    for (const name of Object.keys(files)) if (name.endsWith('.ipynb')) await openNotebook(client, path.join(folders[index], name));
  }
  // Answered when all is analysed; meanwhile the command line is at work.
  const [reports] = await Promise.all([mapped(folders, check), client.ask('workspace/diagnostic', { previousResultIds: [] })]);
  const codes = new Set();
  for (const [index, folder] of folders.entries()) {
    const { json, sarif } = reports[index];
    for (const finding of json.findings) codes.add(finding.code);
    const expected = fromJson(json).sort();
    assert.deepEqual(fromEditor(folder, client.diagnostics).sort(), expected, fixtures[index].fixture);
    assert.deepEqual(fromSarif(sarif).sort(), codesOf(json).sort(), fixtures[index].fixture);
  }
  // Each rule that has fixtures speaks in one of them.
  assert.deepEqual([...new Set(fixtures.map(({ fixture }) => fixture.split('/')[0]))].filter((code) => !codes.has(code)), []);
});

test('a workspace with several configurations', async (t) => {
  const guarded = 'import torch.distributed as dist\n\nif dist.get_rank() == 0:\n    dist.barrier()\n';
  const folder = makeFolder({
    'train.py': guarded,
    'allranks.toml': "[severity]\nAR101 = 'warning'\n",
    'one/train.py': guarded,
    'one/allranks.toml': "ignore = ['AR101']\n",
    'two/train.py': guarded,
    'two/pyproject.toml': "[tool.allranks]\nextend = '../allranks.toml'\n",
  });
  const client = await Client.start({ folders: [folder], capabilities: ALL_CAPABILITIES, options: {}, test: t });
  await client.ask('workspace/diagnostic', { previousResultIds: [] });
  const { json } = await check(folder);
  assert.deepEqual(codesOf(json), ['train.py AR101', 'two/train.py AR101']);
  assert.deepEqual(json.findings.map(({ severity }) => severity), ['warning', 'warning']);
  assert.deepEqual(fromEditor(folder, client.diagnostics).sort(), fromJson(json).sort());
});
