// Every request and notification that the server serves.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { ALL_CAPABILITIES, applied, binary, Client, GUARDED, makeFolder, place, protocol } from './client.mjs';

const EPOCH = fs.readFileSync(new URL('../../fixtures/AR301/one_function.py', import.meta.url), 'utf8');
const start = (t, more = {}) => Client.start({ files: { 'train.py': GUARDED }, test: t, ...more });
const WHOLE = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };

test('push: findings of closed files, of edits, of other files', async (t) => {
  const client = await start(t);
  await client.untilCodes('train.py', 'AR101');
  const [finding] = client.diagnostics.get(client.uri('train.py'));
  assert.equal(finding.source, 'allranks');
  assert.equal(finding.severity, 1);
  assert.deepEqual(finding.range.start, place(GUARDED, 'dist.barrier'));
  assert.ok(finding.relatedInformation.some((each) => /differs between ranks/.test(each.message)));
  await client.open('train.py');
  await client.change('train.py', { range: { start: place(GUARDED, 'rank == 0'), end: place(GUARDED, 'rank == 0', 9) }, text: 'True' });
  await client.untilCodes('train.py');
  await client.tell('textDocument/didClose', { textDocument: client.document('train.py') });
  await client.untilCodes('train.py', 'AR101');
});

test('no file watching: what was saved is read again, configuration too', async (t) => {
  // Selected rules would stand above what the file ignores.
  const client = await start(t, { options: {} });
  await client.untilCodes('train.py', 'AR101');
  await client.open('train.py');
  fs.writeFileSync(client.path('allranks.toml'), 'ignore = ["AR101"]\n');
  await client.tell('textDocument/didSave', { textDocument: client.document('train.py') });
  await client.untilCodes('train.py');
  fs.writeFileSync(client.path('allranks.toml'), 'ignor = []\n');
  await client.tell('textDocument/didSave', { textDocument: client.document('train.py') });
  const shown = await client.until('an error', () => client.notifications.find((each) => each.method === 'window/showMessage'));
  assert.match(shown.params.message, /ignor/);
});

test('watched files and settings of the editor', async (t) => {
  const capabilities = structuredClone(ALL_CAPABILITIES);
  capabilities.workspace.didChangeWatchedFiles = { dynamicRegistration: true };
  capabilities.workspace.didChangeConfiguration = { dynamicRegistration: true };
  capabilities.workspace.configuration = true;
  const client = await start(t, { capabilities, settings: { ignore: ['AR101'] } });
  const { params } = await client.until('a registration', () => client.asked.find((each) => each.method === 'client/registerCapability'));
  assert.deepEqual(params.registrations.map((each) => each.method).sort(), ['workspace/didChangeConfiguration', 'workspace/didChangeWatchedFiles']);
  await client.until('the settings to be asked for', () => client.asked.find((each) => each.method === 'workspace/configuration'));
  client.settings = { minConfidence: 'likely', select: 7 };
  await client.tell('workspace/didChangeConfiguration', { settings: null });
  await client.untilCodes('train.py', 'AR101');
  await client.until('a word on the wrong setting', () => client.notifications.find((each) => /allranks.select/.test(each.params.message)));
  fs.writeFileSync(client.path('more.py'), GUARDED);
  const globs = params.registrations.find((each) => each.method === 'workspace/didChangeWatchedFiles').registerOptions.watchers.map((each) => each.globPattern).join(' ');
  for (const ending of ['py', 'yaml', 'toml', 'json', 'sh', 'sbatch']) assert.match(globs, new RegExp(`[{,]${ending}[,}]`));
  await client.tell('workspace/didChangeWatchedFiles', { changes: [{ uri: client.uri('more.py'), type: 1 }] });
  await client.untilCodes('more.py', 'AR101');
});

test('findings of the baseline are not shown', async (t) => {
  const files = { 'train.py': GUARDED, 'allranks.toml': 'select = ["AR101"]\nbaseline = "known.json"\n' };
  const folder = makeFolder(files);
  execFileSync(binary, ['check', '-q', '--update-baseline'], { cwd: folder, stdio: 'ignore' });
  fs.writeFileSync(`${folder}/new.py`, GUARDED.replace('save', 'load'));
  const client = await start(t, { folders: [folder], options: {} });
  const { items } = await client.ask('workspace/diagnostic', { previousResultIds: [] });
  assert.deepEqual(items.map((each) => each.uri), [client.uri('new.py')]);
});

test('pull: one document, the whole workspace, what did not change', async (t) => {
  const capabilities = structuredClone(ALL_CAPABILITIES);
  capabilities.textDocument.diagnostic = { dynamicRegistration: true };
  capabilities.workspace.diagnostics = { refreshSupport: true };
  const client = await start(t, { capabilities });
  const textDocument = client.document('train.py');
  const report = await client.ask('textDocument/diagnostic', { textDocument });
  assert.equal(report.kind, 'full');
  assert.deepEqual(report.items.map((each) => each.code), ['AR101']);
  const same = await client.ask('textDocument/diagnostic', { textDocument, previousResultId: report.resultId });
  assert.deepEqual(same, { kind: 'unchanged', resultId: report.resultId });
  const all = await client.ask('workspace/diagnostic', { previousResultIds: [] });
  assert.deepEqual(all.items.map((each) => [each.uri, each.items.length, each.version]), [[textDocument.uri, 1, null]]);
  const again = await client.ask('workspace/diagnostic', { previousResultIds: [{ uri: textDocument.uri, value: report.resultId }, { uri: 'file:///gone.py', value: '1' }] });
  assert.deepEqual(again.items.map((each) => each.kind).sort(), ['full', 'unchanged']);
  const streamed = await client.ask('workspace/diagnostic', { previousResultIds: [], partialResultToken: 'p' });
  assert.deepEqual(streamed.items, []);
  const part = await client.until('a partial result', () => client.notifications.find((each) => each.method === '$/progress' && each.params.token === 'p'));
  assert.equal(part.params.value.items.length, 1);
  await client.open('train.py', 'x = 1\n');
  assert.deepEqual((await client.ask('textDocument/diagnostic', { textDocument })).items, []);
  await client.until('a refresh', () => client.asked.some((each) => each.method === 'workspace/diagnostic/refresh'));
  assert.equal(client.diagnostics.size, 0);
});

test('hover: a rule, a value and why it varies, a collective', async (t) => {
  const text = GUARDED + 'x = 1  # allranks: ignore[AR101] no\nsize = dist.get_world_size()\nsize\n';
  const client = await start(t, { files: { 'train.py': text } });
  const at = async (word, more) => (await client.ask('textDocument/hover', { textDocument: client.document('train.py'), position: place(text, word, more) }))?.contents.value;
  assert.match(await at('AR101', 2), /rank-guarded-collective[^]*## What it finds/);
  const value = await at('rank == 0', 1);
  assert.match(value, /^`rank` differs between ranks\n/);
  assert.match(value, /train.py:5:\d+: `rank` differs between ranks[^]*get_rank/);
  assert.match(await at('size\n', 1), /^`size` is the same on every rank\n/);
  assert.match(await at('dist.barrier', 6), /\*\*AR101\*\* [^]*rank 0[^]*help: [^]*barrier on the default group[^]*reached by rank 0[^]*do not agree/);
  assert.match(await at('dist.all_reduce', 6), /all_reduce on the default group[^]*reached by every rank[^]*agree on it/);
  assert.equal(await at('def save', 0), undefined);
});

test('hover in a launch file: the job that a command starts', async (t) => {
  const text = 'GPUS=8\ntorchrun --nnodes=2 --nproc_per_node=$GPUS --rdzv_endpoint=$HEAD:29500 train.py\n';
  const client = await start(t, { files: { 'train.py': GUARDED, 'run.sh': text } });
  const at = async (word) => (await client.ask('textDocument/hover', { textDocument: client.document('run.sh'), position: place(text, word, 1) }))?.contents.value;
  const job = await at('torchrun');
  assert.match(job, /^`torchrun` starts `train\.py`\n/);
  assert.match(job, /nodes: 2 \(`--nnodes=2`\)[^]*processes on each node: 8[^]*ranks: 16; node 0 starts 0 to 7, node 1 starts 8 to 15[^]*meet at `\$HEAD:29500`/);
  assert.equal(await at('GPUS=8'), undefined);
});

test('hover in a configuration of DeepSpeed: what a key means', async (t) => {
  const text = '{\n  "train_micro_batch_size_per_gpu": 1,\n  "zero_optimization": { "stage": 3, "mics_shard_size": -1 }\n}\n';
  const client = await start(t, { files: { 'train.py': GUARDED, 'ds.json': text } });
  const at = async (word) => (await client.ask('textDocument/hover', { textDocument: client.document('ds.json'), position: place(text, word, 1) }))?.contents.value;
  assert.match(await at('mics_shard_size'), /^`zero_optimization\.mics_shard_size`: integer\n[^]*stage 3 of ZeRO only[^]*nothing where it is `-1`[^]*https:/);
  assert.match(await at('stage'), /^`zero_optimization\.stage`: integer\n\n- 0: nothing; 1: states of the optimizer[^]*\n- default: 0\n/);
  assert.equal(await at('-1'), undefined);
});

test('hover in a configuration of Accelerate: what a key means', async (t) => {
  const text = 'compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  fsdp_made_up: 1\nnum_processes: 16\nours: 1\n';
  const client = await start(t, { files: { 'train.py': GUARDED, 'accelerate.yaml': text } });
  const at = async (word) => (await client.ask('textDocument/hover', { textDocument: client.document('accelerate.yaml'), position: place(text, word, 1) }))?.contents.value;
  assert.match(await at('num_processes'), /^`num_processes`: integer\n\n- processes of all machines together[^]*\n- https:/);
  assert.match(await at('fsdp_version'), /^`fsdp_config\.fsdp_version`\n\n- 1: FullyShardedDataParallel; 2: fully_shard\n- default: 1\n- since 1\.6\.0\n/);
  assert.equal(await at('fsdp_made_up'), undefined);
  assert.equal(await at('ours'), undefined);
});

test('hover speaks of what the source says, not of how values are kept', async (t) => {
  const text = `import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def evaluate(model, loader):
    correct = torch.zeros(1)
    for images, labels in loader:
        keep = labels >= 0
        if keep.sum() == 0:
            continue
        correct += (model(images).argmax(
            1) == labels).sum()
    dist.all_reduce(correct)
    return correct.item() / len(loader)


def main(model, data, subset):
    loader = DataLoader(data, sampler=DistributedSampler(data))
    accuracy = evaluate(model, loader)
    dist.all_reduce(accuracy, group=subset.group)
    dist.all_reduce(accuracy, group=dist.new_group([0, 1]))
    fraction = [round(each * 100, 2) for each in [accuracy, accuracy + 1.0, accuracy + 2.0, accuracy + 3.0]]
`;
  const client = await start(t, { files: { 'train.py': text } });
  const hovers = [];
  for (const [line, source] of text.split('\n').entries()) {
    for (let character = 0; character < source.length; ++character) {
      const hover = await client.ask('textDocument/hover', { textDocument: client.document('train.py'), position: { line, character } });
      if (hover) hovers.push(hover.contents.value);
    }
  }
  const seen = [...new Set(hovers)].join('\n');
  assert.match(seen, /`keep` depends on each rank's own data/);
  assert.match(seen, /`model\(images\)\.argmax\( 1\) == labels` depends/);
  assert.match(seen, /all_reduce on the group `subset\.group`/);
  assert.match(seen, /all_reduce on the group `dist\.new_group\(\[0, 1\]\)`/);
  assert.doesNotMatch(seen, /uniform|varies|new_group:|split_group/);
  for (const [quoted] of seen.matchAll(/`[^`]*`/g)) assert.ok(quoted.length <= 85, quoted);
});

test('hover names calls in words, not as the knowledge base does', async (t) => {
  const text = `import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, data):
    dist.init_process_group('nccl')
    model = DDP(net.cuda())
    for batch in data:
        loss = model(batch).mean()
        loss.backward()
`;
  const client = await start(t, { files: { 'train.py': text } });
  const at = async (word, more) => (await client.ask('textDocument/hover', { textDocument: client.document('train.py'), position: place(text, word, more) }))?.contents.value;
  assert.match(await at('loss.backward', 6), /backward of a wrapped model: gradient reduction on the data parallel group\n/);
  assert.match(await at('DDP(net', 1), /`torch\.nn\.parallel\.DistributedDataParallel`: module broadcast on /);
});

test('code actions: ignore, explain, fix, fix all', async (t) => {
  const client = await start(t, { files: { 'train.py': GUARDED, 'epoch.py': EPOCH } });
  await client.untilCodes('train.py', 'AR101');
  await client.untilCodes('epoch.py', 'AR301');
  const actions = (name, only, range = WHOLE) => client.ask('textDocument/codeAction', { textDocument: client.document(name), range, context: { diagnostics: [], only } });
  const offered = await actions('train.py');
  const [ignore, explain] = [/^Ignore AR101/, /^Explain AR101/].map((title) => offered.find((each) => title.test(each.title)));
  const ignored = applied(GUARDED, ignore.edit.changes[client.uri('train.py')]);
  assert.match(ignored, /dist\.barrier\(\)  # allranks: ignore\[AR101\] reason\n/);
  await client.open('train.py', ignored);
  await client.untilCodes('train.py');
  const page = await client.ask('workspace/executeCommand', explain.command);
  assert.match(page, /## Why it hurts/);
  const fix = (await actions('epoch.py')).find((each) => each.isPreferred);
  assert.equal(fix.kind, 'quickfix');
  const all = await actions('epoch.py', ['source.fixAll']);
  assert.deepEqual(all.map((each) => each.kind), ['source.fixAll.allranks']);
  for (const action of [fix, ...all]) {
    await client.open('epoch.py', applied(EPOCH, action.edit.changes[client.uri('epoch.py')]));
    await client.untilCodes('epoch.py');
    await client.open('epoch.py', EPOCH);
    await client.untilCodes('epoch.py', 'AR301');
  }
  assert.deepEqual(await actions('epoch.py', ['refactor']), []);
});

test('a lens does not call aligned what a finding stands in', async (t) => {
  const text = 'import torch.distributed as dist\n\ndef total(x):\n    dist.all_reduce(x)\n\ndef save(x):\n    if dist.get_rank() == 0:\n        total(x)\n    dist.barrier()\n';
  const client = await start(t, { files: { 'train.py': text } });
  const lenses = await client.ask('textDocument/codeLens', { textDocument: client.document('train.py') });
  assert.deepEqual(lenses.map((each) => each.command.title), ['1 collective: 1 flagged', '1 collective: 1 aligned as far as read; 1 finding']);
});

test('an inlay hint names its ranks, and the job that it speaks of', async (t) => {
  const text = 'import os\nimport torch.distributed as dist\n\ndef f(x):\n    if int(os.environ["LOCAL_RANK"]) != 0:\n        print(x)\n';
  const tooltip = async (files) => {
    const client = await start(t, { files: { 'train.py': text, ...files } });
    const [hint] = await client.ask('textDocument/inlayHint', { textDocument: client.document('train.py'), range: WHOLE });
    return hint.tooltip;
  };
  assert.equal(await tooltip({}), 'reached only by other local ranks, in a job of 2 nodes with 2 processes each');
  assert.equal(await tooltip({ 'allranks.toml': 'world = { nodes = 1 }\n' }), 'reached only by every rank but 0, in a job of one node with 4 processes');
});

test('inlay hints and code lenses, and their switches', async (t) => {
  const text = 'import torch.distributed as dist\n\ndef f(x):\n    if dist.get_rank() != 0:\n        return\n    print(x)\n\ndef g(x):\n    dist.barrier()\n    dist.all_reduce(x)\n';
  const client = await start(t, { files: { 'train.py': text } });
  const textDocument = client.document('train.py');
  const hints = await client.ask('textDocument/inlayHint', { textDocument, range: WHOLE });
  assert.deepEqual(hints.map((each) => [each.label, each.position.line]), [['ranks: 0', 5]]);
  assert.equal(hints[0].tooltip, 'reached only by rank 0, in a job of 2 nodes with 2 processes each');
  const lenses = await client.ask('textDocument/codeLens', { textDocument });
  assert.deepEqual(lenses.map((each) => each.command.title), ['2 collectives, aligned as far as read']);
  const trace = await client.ask('workspace/executeCommand', { command: lenses[0].command.command, arguments: lenses[0].command.arguments });
  assert.match(trace, /barrier\(the default group\)/);
  await client.tell('workspace/didChangeConfiguration', { settings: { allranks: { inlayHints: false, codeLens: false } } });
  assert.deepEqual(await client.ask('textDocument/inlayHint', { textDocument, range: WHOLE }), []);
  assert.deepEqual(await client.ask('textDocument/codeLens', { textDocument }), []);
});

test('position encodings: behind a character outside the basic plane', async (t) => {
  for (const [encoding, column] of [['utf-8', 16], ['utf-16', 14], ['utf-32', 13]]) {
    const text = 'import torch.distributed as dist\nif dist.get_rank() == 0:\n    x = "😀"; dist.barrier()\n';
    const capabilities = { ...ALL_CAPABILITIES, general: { positionEncodings: ['latin-1', encoding, 'utf-16'] } };
    const client = await start(t, { files: { 'train.py': text }, capabilities });
    assert.equal(client.initialized.capabilities.positionEncoding, encoding);
    await client.untilCodes('train.py', 'AR101');
    assert.deepEqual(client.diagnostics.get(client.uri('train.py'))[0].range.start, { line: 2, character: column });
    await client.open('train.py');
    await client.change('train.py', { range: { start: { line: 2, character: column }, end: { line: 2, character: column + 12 } }, text: 'pass' });
    await client.untilCodes('train.py');
  }
});

test('several folders, folders that come and go, a file outside of all', async (t) => {
  const outside = makeFolder({ 'lone.py': GUARDED });
  const second = makeFolder({ 'b.py': GUARDED, 'allranks.toml': 'ignore = ["AR101"]\n' });
  const client = await start(t, { folders: [makeFolder({ 'train.py': GUARDED }), outside], options: {} });
  await client.untilCodes('train.py', 'AR101');
  const event = (added, removed) => client.tell('workspace/didChangeWorkspaceFolders', { event: { added, removed } });
  const folderOf = (folder) => ({ uri: pathToFileURL(folder).href, name: 'x' });
  const lone = pathToFileURL(`${outside}/lone.py`).href;
  await client.until('the second folder', () => client.diagnostics.get(lone)?.length === 1);
  await event([folderOf(second)], [folderOf(outside)]);
  await client.until('the second folder to go', () => client.diagnostics.get(lone)?.length === 0);
  const b = pathToFileURL(`${second}/b.py`).href;
  assert.deepEqual((await client.ask('textDocument/diagnostic', { textDocument: { uri: b } })).items, []);
  await client.tell('textDocument/didOpen', { textDocument: { uri: lone, languageId: 'python', version: 1, text: GUARDED } });
  await client.until('the lone file', () => client.diagnostics.get(lone)?.length === 1);
  fs.rmSync(second, { recursive: true });
});

test('notebooks: findings stand in their cells', async (t) => {
  const client = await start(t, { files: {} });
  const cell = (name, kind = 2) => ({ kind, document: `vscode-notebook-cell:/n.ipynb#${name}` });
  const text = (name, source) => ({ uri: cell(name).document, languageId: 'python', version: 1, text: source });
  const uri = client.uri('n.ipynb');
  await client.tell('notebookDocument/didOpen', {
    notebookDocument: { uri, notebookType: 'jupyter-notebook', version: 1, cells: [cell('a'), cell('m', 1), cell('b')] },
    cellTextDocuments: [text('a', '%matplotlib inline\nimport torch.distributed as dist'), text('m', '# words'), text('b', 'if dist.get_rank() == 0:\n    dist.barrier()\n')],
  });
  const b = cell('b').document;
  await client.until('a finding in a cell', () => client.diagnostics.get(b)?.length === 1);
  assert.deepEqual(client.diagnostics.get(b)[0].range.start, { line: 1, character: 4 });
  const hover = await client.ask('textDocument/hover', { textDocument: { uri: b }, position: { line: 1, character: 12 } });
  assert.match(hover.contents.value, /barrier on the default group/);
  const change = (cells) => client.tell('notebookDocument/didChange', { notebookDocument: { uri, version: 2 }, change: { cells } });
  await change({ textContent: [{ document: { uri: b, version: 2 }, changes: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 24 } }, text: 'if True:' }] }] });
  await client.until('no finding', () => client.diagnostics.get(b)?.length === 0);
  await change({ structure: { array: { start: 2, deleteCount: 1, cells: [cell('c')] }, didOpen: [text('c', 'if dist.get_rank() == 0:\n    dist.barrier()\n')], didClose: [{ uri: b }] } });
  await client.until('a finding in the new cell', () => client.diagnostics.get(cell('c').document)?.length === 1);
  await client.tell('notebookDocument/didClose', { notebookDocument: { uri }, cellTextDocuments: [] });
  await client.until('no finding any more', () => client.diagnostics.get(cell('c').document)?.length === 0);
});

test('progress, and a client that cancels', async (t) => {
  const capabilities = structuredClone(ALL_CAPABILITIES);
  capabilities.window = { workDoneProgress: true };
  const client = await start(t, { capabilities });
  await client.untilCodes('train.py', 'AR101');
  const values = client.notifications.filter((each) => each.method === '$/progress').map((each) => each.params.value);
  assert.equal(values[0].kind, 'begin');
  assert.equal(values.at(-1).kind, 'end');
  assert.ok(values.some((each) => /parse/.test(each.message ?? '')));
  await client.tell('window/workDoneProgress/cancel', { token: 'allranks/1' });
  const position = { line: 0, character: 0 };
  const textDocument = client.document('train.py');
  const source = new protocol.CancellationTokenSource();
  const asked = client.ask('textDocument/hover', { textDocument, position }, source.token);
  source.cancel();
  const outcome = await asked.then(() => 'answered', (error) => error.code);
  assert.ok(outcome === 'answered' || outcome === -32800);
  assert.equal(await client.ask('textDocument/hover', { textDocument, position }), null);
});

test('a diagnostic links to the page of its rule; what is unnecessary is marked so', async (t) => {
  const capabilities = structuredClone(ALL_CAPABILITIES);
  Object.assign(capabilities.textDocument.publishDiagnostics, { codeDescriptionSupport: true, tagSupport: { valueSet: [1] } });
  const text = GUARDED.replace('dist.all_reduce(model)', 'dist.all_reduce(model)  # allranks: ignore[AR101] all of them');
  const client = await start(t, { files: { 'train.py': text }, capabilities });
  await client.untilCodes('train.py', 'AR101', 'AR002');
  const [guarded, unused] = client.diagnostics.get(client.uri('train.py'));
  assert.match(guarded.codeDescription.href, /^https:.*\/docs\/rules\/AR101-rank-guarded-collective\.md$/);
  assert.deepEqual([guarded.tags, unused.tags], [undefined, [1]]);
  const plain = await start(t);
  await plain.untilCodes('train.py', 'AR101');
  assert.equal(plain.diagnostics.get(plain.uri('train.py'))[0].codeDescription, undefined);
});

test('a text that was never saved', async (t) => {
  const helpers = 'import torch.distributed as dist\n\ndef total(x):\n    dist.all_reduce(x)\n';
  const text = 'import torch.distributed as dist\nfrom helpers import total\n\nif dist.get_rank() == 0:\n    total(1)\n';
  const uri = 'untitled:Untitled-1';
  for (const folders of [[makeFolder({ 'helpers.py': helpers })], []]) {
    const client = await start(t, { folders });
    const found = () => client.diagnostics.get(uri);
    await client.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'python', version: 1, text: GUARDED } });
    await client.until('a finding', () => found()?.length === 1);
    const position = place(GUARDED, 'dist.barrier', 6);
    assert.match((await client.ask('textDocument/hover', { textDocument: { uri }, position })).contents.value, /barrier on the default group/);
    const actions = await client.ask('textDocument/codeAction', { textDocument: { uri }, range: WHOLE, context: { diagnostics: [] } });
    assert.deepEqual(Object.keys(actions.find((each) => /^Ignore/.test(each.title)).edit.changes), [uri]);
    // The folder's files are there to be imported.
    await client.tell('textDocument/didChange', { textDocument: { uri, version: 2 }, contentChanges: [{ text }] });
    await client.until('the import to be seen through, or not', () => found()?.length === folders.length);
    await client.tell('textDocument/didOpen', { textDocument: { uri: 'untitled:Untitled-2', languageId: 'plaintext', version: 1, text: GUARDED } });
    assert.deepEqual((await client.ask('textDocument/diagnostic', { textDocument: { uri: 'untitled:Untitled-2' } })).items, []);
    await client.tell('textDocument/didClose', { textDocument: { uri } });
    await client.until('no finding any more', () => found()?.length === 0);
  }
});

test('of a project of which a file is open, only that file is checked', async (t) => {
  const folder = makeFolder({ 'pyproject.toml': '', 'open.py': 'import torch.distributed as dist\nfrom shut import save\ndist.init_process_group()\nsave(1)\n', 'shut.py': GUARDED });
  const client = await start(t, { folders: [], files: {} });
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const uriOf = (name) => pathToFileURL(`${folder}/${name}`).href;
  const open = (name) => client.tell('textDocument/didOpen', { textDocument: { uri: uriOf(name), languageId: 'python', version: 1, text: fs.readFileSync(`${folder}/${name}`, 'utf8') } });
  await open('open.py');
  const all = () => client.ask('workspace/diagnostic', { previousResultIds: [] });
  assert.deepEqual((await all()).items, []);
  await open('shut.py');
  assert.deepEqual((await all()).items.map((each) => each.uri), [uriOf('shut.py')]);
});

test('hover in configuration files', async (t) => {
  const toml = '# AR103 is noisy\nselect = [\n  "AR101",\n]\n\n[severity]\nAR4 = "info"\n\n[world]\nnodes = 1\n';
  const client = await start(t, { files: { 'train.py': GUARDED, 'allranks.toml': toml } });
  const at = async (name, text, word, more = 1) => {
    await client.open(name, text, 'toml');
    return (await client.ask('textDocument/hover', { textDocument: client.document(name), position: place(text, word, more) }))?.contents.value;
  };
  assert.match(await at('allranks.toml', toml, 'select'), /^## select/);
  assert.match(await at('allranks.toml', toml, '"AR101"', 3), /rank-guarded-collective/);
  assert.match(await at('allranks.toml', toml, 'AR103', 3), /## What it finds/);
  assert.equal(await at('allranks.toml', toml, 'noisy'), undefined);
  assert.match(await at('allranks.toml', toml, 'info'), /^## severity/);
  assert.match(await at('allranks.toml', toml, 'nodes'), /^## world.nodes/);
  const project = '[project]\nname = "x"\n[tool.allranks]\nignore = []\n[tool.allranks.world]\nnodes = 1\n[tool.other]\nselect = 1\n';
  assert.match(await at('pyproject.toml', project, 'ignore'), /^## ignore/);
  assert.match(await at('pyproject.toml', project, 'nodes'), /^## world.nodes/);
  assert.equal(await at('pyproject.toml', project, 'name'), undefined);
  assert.equal(await at('pyproject.toml', project, 'select'), undefined);
});

test('a request that is cancelled while it waits', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`m${i}.py`, GUARDED]));
  const client = await start(t, { files });
  // Answered when all is analysed; until then the second one waits.
  const whole = client.ask('workspace/diagnostic', { previousResultIds: [] });
  const source = new protocol.CancellationTokenSource();
  const asked = client.ask('textDocument/hover', { textDocument: client.document('m0.py'), position: { line: 5, character: 8 } }, source.token);
  source.cancel();
  await assert.rejects(asked, { code: -32800 });
  assert.equal((await whole).items.length, 150);
});

test('shutdown answers what still waits, and exit may follow at once', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`m${i}.py`, GUARDED]));
  const client = await start(t, { files });
  const hover = { textDocument: client.document('m0.py'), position: { line: 5, character: 8 } };
  const order = [];
  const asked = ['workspace/diagnostic', ...Array(20).fill('textDocument/hover'), 'shutdown'].map((method) =>
    client.ask(method, method === 'shutdown' ? undefined : { ...hover, previousResultIds: [] })
      .then((result) => ({ result }), (error) => ({ code: error.code }))
      .then((outcome) => (order.push(method), outcome)));
  await client.tell('exit');
  const outcomes = await Promise.all(asked);
  assert.deepEqual(outcomes.pop(), { result: null });
  assert.equal(order.at(-1), 'shutdown');
  for (const outcome of outcomes) assert.ok('result' in outcome || outcome.code === -32800, JSON.stringify(outcome));
  // Not all of it can have been done.
  assert.equal(outcomes.at(-1).code, -32800);
  assert.equal(await client.exited, 0);
});

test('an orderly end, and others', async () => {
  const orderly = await Client.start({ files: {} });
  assert.equal(await orderly.stop(), 0);
  const hasty = await Client.start({ files: {} });
  await hasty.tell('exit');
  assert.equal(await hasty.exited, 1);
  const gone = await Client.start({ files: {} });
  gone.process.stdin.end();
  assert.equal(await gone.exited, 1);
});
