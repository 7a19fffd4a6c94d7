// Opens the page of `web/build` in Chromium, from a file and from a static host. Environment: WEB, the folder of the page;
// CHROMIUM and SCREENSHOTS as in pages.test.js. `TREES=file` writes the trees of `SENTENCES=file`, and says how fast.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname, '../..');
const web = path.resolve(process.env.WEB || path.join(root, 'target/web/page'));
const folder = mkdtempSync(path.join(tmpdir(), 'srparse-web-'));
const screenshots = process.env.SCREENSHOTS || folder;
const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const TEXT = "We saw the old dog (again) with him. We don't sing.";
const FILE = pathToFileURL(path.join(web, 'index.html')).href;

let [browser, host] = [null, null];

before(async () => {
  mkdirSync(screenshots, { recursive: true });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ARGUMENTS });
  const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript' };
  host = createServer((request, reply) => {
    const name = request.url === '/' ? 'index.html' : path.basename(request.url);
    reply.setHeader('Content-Type', types[path.extname(name)] || 'application/octet-stream');
    reply.end(readFileSync(path.join(web, name)));
  });
  await new Promise((done) => host.listen(0, '127.0.0.1', done));
});

after(async () => {
  await browser?.close();
  host?.close();
});

// Every message in the console, and every request but for the page and its script, is a failure.
async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.troubles = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) page.troubles.push(message.text()); });
  page.on('pageerror', (error) => page.troubles.push(error.message));
  const own = [address.split('#')[0], new URL('srparse.js', address).href];
  page.on('request', (request) => {
    if (!own.includes(request.url()) && !/^(blob|data):/.test(request.url())) page.troubles.push(request.url());
  });
  await page.goto(address);
  return page;
}

async function close(page, name) {
  await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
  assert.deepEqual(page.troubles, []);
  await page.context().close();
}

const said = (page, pattern) => page.waitForFunction(([source]) => new RegExp(source).test(document.getElementById('status').textContent), [pattern.source]);

test('from a file: trees come as one types; steps, n-best, a second model', async () => {
  assert.deepEqual(readdirSync(web).sort(), ['LICENSE', 'index.html', 'srparse.js']);
  const page = await open(FILE);
  await page.locator('#text').pressSequentially(TEXT, { delay: 5 });
  await said(page, /^2 sentences in/);
  await page.waitForSelector('#sentence-1 svg');
  const words = await page.locator('#sentence-1 svg text').allTextContents();
  for (const word of ['(', 'again', 'S', 'NP', 'VBD']) assert.ok(words.includes(word), `${word} is not in ${words}`);
  await page.click('#sentence-1 button:text("Steps")');
  await page.waitForSelector('#sentence-1 .player svg');
  const step = () => page.textContent('#sentence-1 .action');
  const first = await step();
  await page.click('#sentence-1 button:text("Step ▶")');
  assert.notEqual(await step(), first);
  await page.fill('#pattern', 'PRP > NP');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('matches').textContent === '3 matches');
  await page.fill('#pattern', 'NP < DT VP');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('matches').textContent.startsWith('pattern:1:9: '));
  await page.fill('#pattern', '');
  await page.fill('#text', 'I saw her duck with the telescope near the old bank of the river yesterday.');
  await page.fill('#nbest', '3');
  await page.waitForSelector('#sentence-1 [data-rank="1"]');
  await page.click('#sentence-1 [data-rank="1"]');
  await page.fill('#nbest', '1');
  await said(page, /^1 sentence in/);
  await page.setInputFiles('#model-file', path.join(root, 'data/models/english-fast.srm'));
  await page.waitForFunction(() => document.getElementById('model').value === 'english-fast.srm');
  await page.selectOption('#other', 'english-small');
  // The choice of each model begins a parse of its own.
  await page.waitForFunction(() => document.querySelectorAll('#sentence-1 .side').length === 2);
  await said(page, /with differences/);
  await close(page, 'web');
});

test('a wrong model file is refused, and the parser goes on', async () => {
  const page = await open(FILE);
  for (const [name, bytes] of [['text.srm', 'not a model'], ['cut.srm', readFileSync(path.join(root, 'data/models/english-fast.srm')).subarray(0, 100_000)]]) {
    writeFileSync(path.join(folder, name), bytes);
    await page.setInputFiles('#model-file', path.join(folder, name));
    await page.waitForFunction(([name]) => {
      const status = document.getElementById('status');
      return status.textContent.includes(name) && status.classList.contains('off-path');
    }, [name]);
  }
  assert.equal(await page.inputValue('#model'), 'english-small');
  await page.fill('#text', TEXT);
  await said(page, /^2 sentences in/);
  await close(page, 'web-wrong-model');
});

test('from a static host, then offline: a long text, which is given up when one types on', async () => {
  const page = await open(`http://127.0.0.1:${host.address().port}/`);
  await page.fill('#text', TEXT);
  await said(page, /^2 sentences in/);
  await page.context().setOffline(true);
  const long = Array.from({ length: 400 }, (_, at) => `The dog number ${at} sees a cat near the old house, and it barks.`).join(' ');
  await page.fill('#text', long);
  await said(page, /^400 sentences in/);
  const seconds = Number((await page.textContent('#status')).match(/in ([0-9.]+) s/)[1]);
  console.log(`400 sentences of 14 words in ${seconds} s, trees in the page included`);
  await page.fill('#text', long + long + long);
  await page.waitForFunction(() => document.querySelectorAll('#trees .sentence').length > 20);
  await page.fill('#text', TEXT);
  await said(page, /^2 sentences in/);
  // Without an end for 2,000 words: cut into sentences that can be parsed.
  await page.fill('#text', `We ${'see a dog and '.repeat(500)}sing.`);
  await said(page, /^3 sentences in/);
  await close(page, 'web-long');
});

test('on a phone, in the dark, by a link', async () => {
  const page = await open(`${FILE}#text=Time+flies+like+an+arrow.`, { viewport: { width: 360, height: 640 }, colorScheme: 'dark' });
  await said(page, /^1 sentence in/);
  await page.waitForSelector('#sentence-1 svg');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, input, select, textarea')]
    .filter((e) => !e.textContent.trim() && !e.labels?.length && !e.ariaLabel).map((e) => e.outerHTML));
  assert.deepEqual(unnamed, []);
  await close(page, 'web-phone');
});

test('the npm package is installed into an empty project', () => {
  const project = path.join(folder, 'project');
  mkdirSync(project);
  const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', folder], { cwd: path.join(root, 'web') }));
  writeFileSync(path.join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  execFileSync('npm', ['install', '--silent', '--offline', path.join(folder, filename)], { cwd: project });
  const { SENTENCES, TREES } = process.env;
  writeFileSync(path.join(project, 'main.js'), `
import { readFileSync, writeFileSync } from 'node:fs';
import { find, loadModel, parse } from 'srparse';
const parses = await parse(${JSON.stringify(TEXT)});
console.log(parses.map(({ tree }) => tree).join('\\n'));
const ranked = await parse([['We', 'sing']], { nbest: 2 });
const found = await find('PRP', [ranked[0][0].tree]);
console.log(found[0].words, await loadModel('x', new Uint8Array(9)).catch((error) => error.message));
if (${JSON.stringify(SENTENCES || '')}) {
  const sentences = readFileSync(${JSON.stringify(SENTENCES || '')}, 'utf8').trim().split('\\n').map((line) => line.split(' '));
  const start = performance.now();
  const all = await parse(sentences);
  console.log((sentences.length / (performance.now() - start) * 1000).toFixed(1), 'sentences/s in node');
  writeFileSync(${JSON.stringify(TREES || '')}, all.map(({ tree }) => tree + '\\n').join(''));
}
`);
  const said = execFileSync('node', ['main.js'], { cwd: project, encoding: 'utf8' }).split('\n');
  console.log(said.join('\n'));
  assert.match(said[1], /^\(TOP \(S \(NP \(PRP We\)\)/);
  assert.match(said[2], /^We x: not an srparse model/);
  const types = path.join(root, 'tests/browser/node_modules/.bin/tsc');
  writeFileSync(path.join(project, 'main.ts'), `
import { find, parse, type Match, type Parse } from 'srparse';
const best: Parse[] = await parse('We sing.', { lines: true });
const several: Parse[][] = await parse([['We', 'sing']], { nbest: 2 });
const found: Match[] = await find('NP', [best[0].tree, several[0][0].tree]);
// @ts-expect-error there is no such option
await parse('We sing.', { trees: 2 });
console.log(found);
`);
  execFileSync(types, ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom', 'main.ts'], { cwd: project, stdio: 'inherit' });
});
