// The licences of the code of others that is bundled into dist/extension.js: `vscode-languageclient` and what it needs.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const seen = new Set();

function add(name, from) {
  let folder = from;
  while (!fs.existsSync(path.join(folder, 'node_modules', name, 'package.json'))) {
    if (folder === path.dirname(folder)) throw new Error(`${name} is not installed; run npm ci`);
    folder = path.dirname(folder);
  }
  folder = path.join(folder, 'node_modules', name);
  if (seen.has(folder)) return;
  seen.add(folder);
  const described = require(path.join(folder, 'package.json'));
  const licence = fs.readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  const text = licence === undefined ? `Licence: ${described.license}` : fs.readFileSync(path.join(folder, licence), 'utf8').trim();
  console.log(`${described.name} ${described.version}\n${'='.repeat(60)}\n\n${text}\n`);
  for (const dependency of Object.keys(described.dependencies ?? {})) add(dependency, folder);
}

console.log('Code of others in this extension, with its licences.\n');
for (const name of Object.keys(require('./package.json').dependencies)) add(name, import.meta.dirname);
