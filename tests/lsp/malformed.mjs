// Traffic that no client should send: answered with the right error code where it can be, and survived in any case.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';
import { binary, Client, GUARDED, makeFolder } from './client.mjs';

// A connection below JSON-RPC.
class Raw {
  constructor(t) {
    this.process = spawn(binary, ['server'], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.exited = new Promise((resolve) => this.process.on('exit', (code, signal) => resolve(signal ?? code)));
    this.bytes = Buffer.alloc(0);
    this.messages = [];
    this.process.stdout.on('data', (data) => this.take(data));
    t.after(() => this.process.kill());
  }
  take(data) {
    this.bytes = Buffer.concat([this.bytes, data]);
    for (;;) {
      const end = this.bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/.exec(this.bytes.subarray(0, end).toString())[1]);
      if (this.bytes.length < end + 4 + length) return;
      this.messages.push(JSON.parse(this.bytes.subarray(end + 4, end + 4 + length)));
      this.bytes = this.bytes.subarray(end + 4 + length);
      this.wake?.();
    }
  }
  write(text) {
    this.process.stdin.write(text);
  }
  send(message) {
    const body = Buffer.from(typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
  }
  async until(holds) {
    const deadline = Date.now() + 30_000;
    for (;;) {
      const found = this.messages.find(holds);
      if (found) return found;
      assert.ok(Date.now() < deadline, `waited in vain; got ${JSON.stringify(this.messages).slice(0, 2000)}`);
      await new Promise((resolve) => {
        this.wake = resolve;
        setTimeout(resolve, 200);
      });
    }
  }
  // It still answers.
  async isAlive(id) {
    this.send({ id, method: 'no/such' });
    assert.equal((await this.until((each) => each.id === id)).error.code, -32601);
  }
  async initialize() {
    this.send({ id: 'i', method: 'initialize', params: { capabilities: {} } });
    await this.until((each) => each.id === 'i');
    this.send({ method: 'initialized', params: {} });
  }
}

test('bad framing is answered, and what follows is read', async (t) => {
  const raw = new Raw(t);
  await raw.initialize();
  const broken = ['garbage\r\n\r\n', 'Content-Length: x\r\n\r\n', 'Content-Length: -5\r\n\r\n', 'Content-Type: y\r\n\r\n', '\0\0\0\n\n', `Content-Length: ${'9'.repeat(30)}\r\n\r\n`];
  for (const [index, bytes] of broken.entries()) {
    const before = raw.messages.filter((each) => each.id === null && each.error.code === -32700).length;
    raw.write(bytes);
    await raw.isAlive(100 + index);
    assert.ok(raw.messages.filter((each) => each.id === null && each.error.code === -32700).length > before, bytes);
  }
});

test('messages that are none, and wrong types', async (t) => {
  const raw = new Raw(t);
  await raw.initialize();
  const cases = [['{', -32700], ['[]', -32600], ['7', -32600], ['"x"', -32600], ['\xff\xfe', -32700], ['{"id":{},"method":"x"}', -32600],
    [`${'['.repeat(200_000)}`, -32600]];
  for (const [text, code] of cases) {
    raw.messages.length = 0;
    raw.send(text);
    assert.equal((await raw.until((each) => each.id === null)).error.code, code, text.slice(0, 40));
  }
  const wrong = [null, [], 7, {}, { textDocument: null }, { textDocument: { uri: 1 } }, { textDocument: { uri: 'file:///x.py' }, position: { line: -1, character: 0 } },
    { textDocument: { uri: 'file:///x.py' }, position: { line: 1.5, character: 'x' } }, { textDocument: { uri: 'file:///x.py' }, range: { start: { line: 9, character: 9 }, end: { line: 1, character: 1 } } }];
  let id = 1000;
  for (const method of ['hover', 'codeAction', 'inlayHint', 'codeLens', 'diagnostic']) {
    for (const params of wrong) {
      raw.send({ id: ++id, method: `textDocument/${method}`, params });
      const answer = await raw.until((each) => each.id === id);
      assert.ok(answer.error === undefined || [-32602, -32600].includes(answer.error.code), JSON.stringify(answer));
    }
  }
  for (const method of ['didOpen', 'didChange', 'didClose', 'didSave']) {
    for (const params of wrong) raw.send({ method: `textDocument/${method}`, params });
  }
  for (const params of wrong) raw.send({ method: 'notebookDocument/didOpen', params });
  await raw.isAlive('end');
});

test('edits out of range change nothing or go to the end', async (t) => {
  const client = await Client.start({ files: { 'train.py': GUARDED }, test: t });
  await client.open('train.py');
  await client.untilCodes('train.py', 'AR101');
  const at = (line, character) => ({ line, character });
  for (const range of [{ start: at(-1, 0), end: at(0, 0) }, { start: at(5, 0), end: at(1, 0) }, { start: at(1e300, 0), end: at(1, 0) }, 'all']) {
    await client.change('train.py', { range, text: 'import os\n' });
  }
  await client.tell('textDocument/didChange', { textDocument: { uri: client.uri('other.py'), version: 1 }, contentChanges: [{ text: '' }] });
  await client.change('train.py', { range: { start: at(4_000_000_000, 7), end: at(4_000_000_001, 7) }, text: '# end\n' });
  const { items } = await client.ask('textDocument/diagnostic', { textDocument: client.document('train.py') });
  assert.deepEqual(items.map((each) => each.code), ['AR101']);
  const logged = client.notifications.filter((each) => each.method === 'window/logMessage');
  assert.equal(logged.length, 5, JSON.stringify(logged));
});

test('storms: requests that are cancelled at once, edits without a pause', async (t) => {
  const client = await Client.start({ files: { 'train.py': GUARDED }, test: t });
  await client.open('train.py');
  const textDocument = client.document('train.py');
  const { CancellationTokenSource } = (await import('./client.mjs')).protocol;
  const outcomes = [];
  for (let i = 0; i < 300; ++i) {
    const source = new CancellationTokenSource();
    outcomes.push(client.ask('textDocument/hover', { textDocument, position: { line: 4, character: 5 } }, source.token).then(() => 'answered', (error) => error.code));
    await client.change('train.py', { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, text: 'x' });
    source.cancel();
  }
  for (const outcome of await Promise.all(outcomes)) assert.ok(outcome === 'answered' || outcome === -32800, `${outcome}`);
  await client.change('train.py', { text: GUARDED });
  await client.untilCodes('train.py', 'AR101');
});

test('a huge document, and one too large to be taken', async (t) => {
  const client = await Client.start({ files: { 'train.py': GUARDED }, test: t });
  await client.untilCodes('train.py', 'AR101');
  await client.open('train.py', GUARDED + '# '.padEnd(8_000_000, 'x'));
  const ask = () => client.ask('textDocument/diagnostic', { textDocument: client.document('train.py') });
  assert.deepEqual((await ask()).items.map((each) => each.code), ['AR101']);
  await client.change('train.py', { text: 'import torch.distributed\n' + '# '.padEnd(17_000_000, 'x') });
  assert.deepEqual((await ask()).items.map((each) => each.code), ['AR001']);
});

test('a server whose client is gone ends', async (t) => {
  const raw = new Raw(t);
  raw.send({ id: 1, method: 'initialize', params: { capabilities: {}, rootUri: `file://${makeFolder({ 'a.py': GUARDED })}` } });
  raw.send({ method: 'initialized', params: {} });
  raw.process.stdout.destroy();
  raw.process.stdin.end();
  assert.equal(await raw.exited, 1);
});
