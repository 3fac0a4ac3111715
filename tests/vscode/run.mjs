// The extension in a real VS Code: code-server, in headless Chromium. It is installed from its .vsix; squiggles, hover, a
// quick fix that changes the file on disk, findings of closed files, a notebook, C++ and a restart are looked at as a
// person would. usage: node run.mjs ALLRANKS VSIX [FOLDER]: FOLDER takes the pictures.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const here = path.dirname(new URL(import.meta.url).pathname);
const [allranks, vsix, pictures] = process.argv.slice(2).map((each) => path.resolve(each));
const CODE_SERVER = path.join(here, 'node_modules/code-server/out/node/entry.js');
const BROWSER = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => (process.env.PATH ?? '').split(':').map((folder) => path.join(folder, name)))
  .find((file) => fs.existsSync(file));
if (!fs.existsSync(CODE_SERVER) || BROWSER === undefined) {
  console.error(`tests/vscode: ${BROWSER === undefined ? 'Chromium' : 'code-server'} is not installed; \`tools/setup_vscode\` installs it`);
  process.exit(2);
}
const { chromium } = await import('playwright-core');
const PATIENCE = 30_000;

const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'allranks-vscode-')));
const project = path.join(root, 'project');
fs.cpSync(path.join(here, 'project'), project, { recursive: true });
const state = ['--user-data-dir', path.join(root, 'data'), '--extensions-dir', path.join(root, 'extensions')];
fs.mkdirSync(path.join(root, 'data/User'), { recursive: true });
fs.writeFileSync(path.join(root, 'data/User/settings.json'), JSON.stringify({
  'allranks.path': allranks,
  'editor.minimap.enabled': false,
  'extensions.ignoreRecommendations': true,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'window.commandCenter': false,
  'workbench.colorTheme': 'Default Light Modern',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
}));

const freePort = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

async function startVsCode() {
  execFileSync(process.execPath, [CODE_SERVER, ...state, '--install-extension', vsix], { stdio: ['ignore', 'ignore', 'inherit'] });
  const port = await freePort();
  const server = spawn(process.execPath, [CODE_SERVER, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, ...state, '--disable-telemetry',
    '--disable-update-check', '--disable-workspace-trust', '--disable-getting-started-override', project], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const address = `http://127.0.0.1:${port}/`;
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const answers = await fetch(address).then((response) => response.ok, () => false);
    if (answers) return { server, address };
    assert.ok(Date.now() < deadline, 'code-server does not answer');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

class Editor {
  constructor(page) {
    this.page = page;
  }
  picture(name) {
    return pictures === undefined ? undefined : this.page.screenshot({ path: path.join(pictures, `vscode-${name}.png`) });
  }
  async command(title) {
    await this.page.keyboard.press('F1');
    await this.page.locator('.quick-input-widget input').fill(`>${title}`);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click();
  }
  async open(name) {
    await this.page.locator(`.explorer-folders-view .monaco-list-row[aria-label^="${name}"]`).dblclick();
    await this.page.locator('.tab.active', { hasText: name }).waitFor();
  }
  // A word of the line that holds `text`; lines are drawn as spans of tokens.
  word(text, word) {
    return this.page.locator('.editor-instance .view-line', { hasText: text }).first().getByText(word).first();
  }
  squiggles() {
    return this.page.locator('.editor-instance .squiggly-error, .editor-instance .squiggly-warning');
  }
}

async function findings(editor) {
  await editor.open('train.py');
  await editor.squiggles().first().waitFor();
  await editor.page.locator('.editor-instance', { hasText: 'ranks: 0' }).waitFor();
  // VS Code asks for lenses only while the text has the focus.
  await editor.page.locator('.codelens-decoration', { hasText: 'collective' }).first().waitFor();
  await editor.command('Problems: Focus on Problems View');
  const rows = editor.page.locator('.markers-panel .monaco-list-row');
  // Of files that nobody opened as well, C++ among them.
  const filter = editor.page.locator('input[placeholder^="Filter (e.g. text"]');
  for (const name of ['train.py', 'metrics.py', 'reduce.cpp', 'notebook.ipynb']) {
    await filter.fill(name);
    await rows.filter({ hasText: name }).first().waitFor();
  }
  await filter.fill('');
  assert.ok(await editor.page.locator('.statusbar-item', { hasText: 'allranks' }).count() > 0);
  await editor.picture('findings');
}

async function hover(editor) {
  await editor.page.keyboard.press('Control+J');
  await editor.word('if rank == 0', 'rank').hover();
  const shown = editor.page.locator('.monaco-hover:visible', { hasText: 'differs between ranks' });
  await shown.waitFor();
  assert.match(await shown.innerText(), /get_rank/);
  // It fades in: a picture of a busy machine would show half of it.
  await shown.first().evaluate((hover) => Promise.all(hover.getAnimations({ subtree: true }).map((each) => each.finished)));
  await editor.picture('hover');
}

async function quickFix(editor) {
  const file = path.join(project, 'train.py');
  const before = fs.readFileSync(file, 'utf8');
  assert.ok(!before.includes('set_epoch'));
  await editor.word('for x, y in loader', 'loader').click();
  await editor.page.mouse.move(150, 500);
  await editor.page.keyboard.press('Control+.');
  const action = editor.page.locator('.action-widget .monaco-list-row', { hasText: 'Tell the sampler the epoch' });
  await action.waitFor();
  await editor.picture('quick-fix');
  // The preferred one is chosen already.
  assert.match(await action.getAttribute('class'), /focused/);
  await editor.page.keyboard.press('Enter');
  await editor.page.locator('.view-line', { hasText: 'set_epoch' }).waitFor();
  await editor.page.keyboard.press('Control+S');
  const deadline = Date.now() + PATIENCE;
  while (!fs.readFileSync(file, 'utf8').includes('loader.sampler.set_epoch(epoch)')) {
    assert.ok(Date.now() < deadline, 'the fix did not come to the disk');
    await editor.page.waitForTimeout(100);
  }
  // What is left is the other error.
  await editor.page.waitForFunction(() => document.querySelectorAll('.editor-instance .squiggly-error').length === 1);
}

async function otherKinds(editor) {
  await editor.open('reduce.cpp');
  await editor.squiggles().first().waitFor();
  await editor.word('MPI_Bcast', 'MPI_Bcast').hover();
  await editor.page.locator('.monaco-hover:visible', { hasText: 'reached by rank 0' }).waitFor();
  await editor.picture('cpp');
  await editor.open('notebook.ipynb');
  await editor.page.locator('.notebookOverlay .squiggly-error').first().waitFor();
}

async function restart(editor) {
  await editor.open('train.py');
  await editor.command('allranks: Restart Server');
  await editor.squiggles().first().waitFor({ state: 'detached' });
  await editor.squiggles().first().waitFor();
  await editor.command('allranks: Show Output');
  await editor.page.locator('.output-view-container, .panel', { hasText: 'starting' }).first().waitFor();
}

const begin = Date.now();
const { server, address } = await startVsCode();
const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu'] });
let failed = false;
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
  page.setDefaultTimeout(PATIENCE);
  await page.goto(`${address}?folder=${project}`);
  const editor = new Editor(page);
  for (const step of [findings, hover, quickFix, otherKinds, restart]) {
    await step(editor).catch(async (error) => {
      await page.screenshot({ path: path.join(os.tmpdir(), 'allranks-vscode-failed.png') });
      throw new Error(`${step.name}: ${error.message}; what was on the screen: ${path.join(os.tmpdir(), 'allranks-vscode-failed.png')}`);
    });
    console.log(`${step.name}: ok after ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  }
} catch (error) {
  failed = true;
  console.error(error.message);
} finally {
  await browser.close();
  process.kill(-server.pid);
  fs.rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
process.exit(failed ? 1 : 0);
