// One pipeline: what the command line reports of the fixtures, as JSON and as SARIF, an editor is told as well.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { ALL_CAPABILITIES, binary, Client, makeFolder } from './client.mjs';

const root = path.resolve(path.dirname(new URL(import.meta.url).pathname), '../../fixtures');
const SIDE = /\.(expect|ir|trace|fixed)$|^__pycache__$|^\./;
const CPP = /\.(c|cc|cpp|cu|cuh|h)$/;
const PER_RULE = 3;

function filesOf(fixture) {
  if (fs.statSync(fixture).isFile()) return { [path.basename(fixture)]: fs.readFileSync(fixture) };
  const files = fs.readdirSync(fixture, { recursive: true }).filter((name) => fs.statSync(path.join(fixture, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, fs.readFileSync(path.join(fixture, name))]));
}

// The first of each rule that are wrong and the first that are right; all that are folders, where findings cross files.
function chosen() {
  const fixtures = [];
  for (const code of fs.readdirSync(root).sort()) {
    const names = fs.readdirSync(path.join(root, code)).filter((name) => !SIDE.test(name)).sort();
    const isFolder = (name) => fs.statSync(path.join(root, code, name)).isDirectory();
    const right = names.filter((name) => name.startsWith('ok_') && !isFolder(name)).slice(0, 1);
    const wrong = names.filter((name) => !name.startsWith('ok_') && !isFolder(name)).slice(0, PER_RULE - 1);
    fixtures.push(...[...right, ...wrong, ...names.filter(isFolder)].map((name) => path.join(root, code, name)));
  }
  return fixtures.map((fixture) => ({ fixture, files: filesOf(fixture) })).filter(({ files }) =>
    !Object.keys(files).some((name) => CPP.test(name)) && !/^# args:/m.test(Object.values(files)[0].toString()));
}

function check(folder, format) {
  try {
    return JSON.parse(execFileSync(binary, ['check', '--output-format', format, '.'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch (error) {
    assert.equal(error.status, 1);
    return JSON.parse(error.stdout);
  }
}

const fromJson = (report) => report.findings.map(({ location: at, code, message }) =>
  `${at.path} ${at.cell ?? 0} ${at.start.line}:${at.start.column}-${at.end.line}:${at.end.column} ${code} ${message}`);
const placesOf = (lines) => lines.map((line) => line.split(' ').slice(0, 4).filter((_, index) => index !== 1 && index !== 2).join(' '));
// Of what comments silence SARIF alone speaks.
const fromSarif = (report) => report.runs[0].results.filter((result) => !result.suppressions?.length).map((result) =>
  `${decodeURIComponent(result.locations[0].physicalLocation.artifactLocation.uri)} ${result.ruleId}`);
const fromEditor = (folder, diagnostics) => [...diagnostics].filter(([uri]) => uri.startsWith(`${pathToFileURL(folder).href}/`)).flatMap(([uri, found]) =>
  found.map(({ range: { start, end }, code, message }) =>
    `${decodeURIComponent(uri).slice(`${pathToFileURL(folder).href}/`.length)} 0 ${start.line + 1}:${start.character + 1}-${end.line + 1}:${end.character + 1} ${code} ${message}`));

test('the same findings everywhere', async (t) => {
  const fixtures = chosen();
  assert.ok(fixtures.length > 60, `${fixtures.length} fixtures`);
  // Of a notebook that is not open the server has no cells to name.
  const files = fixtures.filter(({ files }) => !Object.keys(files).some((name) => name.endsWith('.ipynb')));
  const folders = files.map(({ files }) => makeFolder(files));
  const capabilities = { ...ALL_CAPABILITIES, general: { positionEncodings: ['utf-32'] } };
  const client = await Client.start({ folders, capabilities, options: {}, test: t });
  // Answered when all is analysed.
  await client.ask('workspace/diagnostic', { previousResultIds: [] });
  let findings = 0;
  for (const [index, folder] of folders.entries()) {
    const expected = fromJson(check(folder, 'json')).sort();
    findings += expected.length;
    assert.deepEqual(fromEditor(folder, client.diagnostics).sort(), expected, files[index].fixture);
    assert.deepEqual(fromSarif(check(folder, 'sarif')).sort(), placesOf(expected).sort(), files[index].fixture);
  }
  assert.ok(findings > 60, `${findings} findings`);
});
