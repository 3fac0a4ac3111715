// C, C++ and CUDA in the editor: read by `allranks-clang`, which lies beside the program where it was built.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { binary, Client, place } from './client.mjs';

const skip = fs.existsSync(path.join(path.dirname(binary), 'allranks-clang')) ? false : 'allranks-clang was not built';
const CUDA = fs.readFileSync(new URL('../../fixtures/AR101/nccl_check_macro.cu', import.meta.url), 'utf8');
const HEADER = `#pragma once
#include <mpi.h>

inline void total(double* value) { MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
`;
const SOURCE = `#include "total.h"

void save(double* value) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    total(value);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}
`;
const WHOLE = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };

async function start(t) {
  return Client.start({ files: { 'save.cpp': SOURCE, 'total.h': HEADER, 'kernel.cu': CUDA }, test: t });
}

test('findings of C++ and CUDA, before and after edits', { skip }, async (t) => {
  const client = await start(t);
  await client.untilCodes('save.cpp', 'AR101');
  await client.untilCodes('kernel.cu', 'AR101');
  const [finding] = client.diagnostics.get(client.uri('save.cpp'));
  assert.deepEqual(finding.range.start, place(SOURCE, 'total(value)'));
  assert.ok(finding.relatedInformation.some((each) => each.location.uri === client.uri('total.h') && /communicates here/.test(each.message)));
  await client.open('save.cpp', SOURCE, 'cpp');
  const condition = { start: place(SOURCE, 'rank == 0'), end: place(SOURCE, 'rank == 0', 9) };
  await client.change('save.cpp', { range: condition, text: 'value' });
  await client.untilCodes('save.cpp');
  await client.change('save.cpp', { text: SOURCE.replace('total(value);', 'total(value') });
  // Broken while it is typed: no crash, and what is whole again is found again.
  assert.ok(await client.ask('textDocument/diagnostic', { textDocument: client.document('save.cpp') }));
  await client.change('save.cpp', { text: SOURCE });
  await client.untilCodes('save.cpp', 'AR101');
  // A header counts as it is on disk.
  fs.writeFileSync(client.path('total.h'), '#pragma once\n#include <mpi.h>\ninline void total(double*) {}\n');
  await client.tell('textDocument/didSave', { textDocument: client.document('save.cpp') });
  await client.untilCodes('save.cpp');
});

test('hover, hints, lenses and actions in C++ and CUDA', { skip }, async (t) => {
  const client = await start(t);
  await client.untilCodes('save.cpp', 'AR101');
  const hover = async (name, text, word, more = 1) =>
    (await client.ask('textDocument/hover', { textDocument: client.document(name), position: place(text, word, more) }))?.contents.value;
  assert.match(await hover('save.cpp', SOURCE, 'rank == 0'), /^`rank` differs between ranks\n[^]*save\.cpp:5/);
  assert.match(await hover('save.cpp', SOURCE, 'MPI_Barrier'), /`MPI_Barrier`: barrier on the group `MPI_COMM_WORLD`[^]*reached by every rank/);
  assert.match(await hover('total.h', HEADER, 'MPI_Allreduce'), /all_reduce on the group `MPI_COMM_WORLD`[^]*reached by rank 0/);
  assert.match(await hover('kernel.cu', CUDA, 'rank_ == 0'), /`rank_` differs between ranks/);
  const hints = await client.ask('textDocument/inlayHint', { textDocument: client.document('save.cpp'), range: WHOLE });
  assert.deepEqual(hints.map((each) => [each.label, each.position.line]), [['ranks: 0', 6]]);
  const lenses = await client.ask('textDocument/codeLens', { textDocument: client.document('save.cpp') });
  assert.deepEqual(lenses.map((each) => each.command.title), ['1 collective: 1 aligned as far as read; 1 finding']);
  const actions = await client.ask('textDocument/codeAction', { textDocument: client.document('save.cpp'), range: WHOLE, context: { diagnostics: [] } });
  const ignore = actions.find((each) => /^Ignore AR101/.test(each.title));
  assert.match(ignore.edit.changes[client.uri('save.cpp')][0].newText, /\/\/ allranks: ignore\[AR101\] reason/);
});
