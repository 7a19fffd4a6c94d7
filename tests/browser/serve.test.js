// Opens the page of `srparse serve` in Chromium; see pages.test.js for the environment.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const program = path.resolve(process.env.SRPARSE || '../../target/release/srparse');
const folder = mkdtempSync(path.join(tmpdir(), 'srparse-serve-'));
const screenshots = process.env.SCREENSHOTS || folder;
const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const TEXT = "We saw the old dog (again) with him. We don't sing.";

let [browser, servers] = [null, []];

async function serve(...words) {
  const server = spawn(program, ['serve', '--listen', '127.0.0.1:0', ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
  servers.push(server);
  for await (const line of createInterface(server.stderr)) {
    server.stderr.resume();
    return line.match(/http:\S+/)[0];
  }
  throw new Error('the server did not start');
}

before(async () => {
  mkdirSync(screenshots, { recursive: true });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ARGUMENTS });
});

after(async () => {
  await browser?.close();
  for (const server of servers) server.kill();
});

// Every message in the console, and every request to anything but the server, is a failure.
async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(address).origin });
  const page = await context.newPage();
  page.troubles = [];
  page.on('console', (message) => { if (message.type() === 'error') page.troubles.push(message.text()); });
  page.on('pageerror', (error) => page.troubles.push(error.message));
  const own = new URL(address).origin;
  page.on('request', (request) => {
    if (!request.url().startsWith(own) && !request.url().startsWith('blob:') && !request.url().startsWith('data:')) page.troubles.push(request.url());
  });
  await page.goto(address);
  return page;
}

async function close(page, name) {
  await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
  assert.deepEqual(page.troubles, []);
  await page.context().close();
}

const done = (page) => page.waitForFunction(() => document.getElementById('status').textContent.includes(' in '));
const copied = (page) => page.evaluate(() => navigator.clipboard.readText());

test('a text is typed and parsed, and its trees are copied', async () => {
  const page = await open(await serve('--model', 'english-fast'));
  await page.fill('#text', TEXT);
  assert.ok(await page.isHidden('#with-token') && await page.isHidden('#key'));
  await page.keyboard.press('Control+Enter');
  await done(page);
  await page.waitForSelector('#sentence-1 svg');
  assert.match(await page.textContent('#status'), /^2 sentences in/);
  const words = await page.locator('#sentence-1 svg text').allTextContents();
  for (const word of ['(', 'again', 'S', 'NP', 'VBD']) assert.ok(words.includes(word), `${word} is not in ${words}`);
  await page.click('#sentence-2 button:text("Brackets")');
  await page.waitForFunction(() => document.getElementById('status').textContent === 'Brackets copied');
  assert.match(await copied(page), /^\(TOP \(S \(NP \(PRP We\)\)/);
  await page.click('#sentence-2 button:text("qtree")');
  await page.waitForFunction(() => document.getElementById('status').textContent === 'LaTeX: qtree copied');
  assert.match(await copied(page), /^\\Tree \[\.\{S\} \[\.\{NP\} \[\.\{PRP\} \{We\} \] \] /);
  await page.click('#sentence-2 button:text("forest")');
  await page.waitForFunction(() => document.getElementById('status').textContent === 'LaTeX: forest copied');
  assert.match(await copied(page), /^\\begin\{forest\}\n\[\{S\} \[\{NP\} \[\{PRP\} \[\{We\}\]\]\]/);
  const download = page.waitForEvent('download');
  await page.click('#sentence-1 button:text("PNG")');
  const file = path.join(folder, 'tree.png');
  await (await download).saveAs(file);
  assert.ok(statSync(file).size > 2_000);
  assert.deepEqual([...readFileSync(file).subarray(1, 4)], [...Buffer.from('PNG')]);
  await page.click('#sentence-1 button:text("Steps")');
  await page.waitForSelector('#sentence-1 .player svg');
  const step = () => page.textContent('#sentence-1 .action');
  const first = await step();
  await page.click('#sentence-1 button:text("Step ▶")');
  assert.notEqual(await step(), first);
  await page.click('h1');
  await page.keyboard.press('n');
  await page.keyboard.press('n');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'sentence-2');
  const width = () => page.getAttribute('#sentence-2 svg', 'width').then(Number);
  const before = await width();
  await page.keyboard.press('+');
  assert.ok(await width() > before);
  await close(page, 'serve');
});

test('a link carries text and settings; two models stand side by side; several trees', async () => {
  const address = await serve('--model', 'fast=english-fast', '--model', 'small=english-small');
  const page = await open(address);
  await page.fill('#text', 'I saw her duck with the telescope near the old bank of the river yesterday. Time flies like an arrow.');
  await page.selectOption('#other', 'small');
  await page.click('#share');
  await page.waitForFunction(() => document.getElementById('status').textContent === 'the link copied');
  const link = await copied(page);
  assert.ok(link.startsWith(`${address}/#text=I+saw`) && link.includes('other=small'), link);
  await page.context().close();
  const second = await open(link);
  await second.waitForFunction(() => document.getElementById('status').textContent.includes('with differences'));
  assert.equal(await second.inputValue('#other'), 'small');
  assert.equal(await second.locator('#sentence-1 .side').count(), 2);
  await second.waitForSelector('#sentence-1 .side:nth-child(2) svg');
  const marks = await second.locator('.tree .missed, .tree .spurious, .tree .relabelled').count();
  const differences = Number((await second.textContent('#status')).match(/(\d+) with differences/)[1]);
  assert.equal(marks > 0, differences > 0);
  await close(second, 'serve-two-models');
});

test('a pattern is searched, its matches are lit, counted and visited by keyboard, and the link carries it', async () => {
  const address = await serve('--model', 'fast=english-fast', '--model', 'small=english-small');
  const page = await open(address);
  await page.fill('#text', TEXT);
  await page.click('#go');
  await done(page);
  await page.click('h1');
  await page.keyboard.press('f');
  await page.keyboard.type('PRP > NP');
  await page.keyboard.press('Enter');
  const said = (text) => page.waitForFunction((expected) => document.getElementById('matches').textContent === expected, text);
  await said('3 matches');
  const lit = () => page.locator('#trees text.found').allTextContents();
  assert.deepEqual(await lit(), ['PRP', 'PRP', 'PRP']);
  await page.keyboard.press('Enter');
  await said('1 of 3 matches');
  await page.keyboard.press('Shift+Enter');
  await said('3 of 3 matches');
  assert.equal(await page.locator('#sentence-2 text.current').count(), 1);
  await page.click('h1');
  await page.keyboard.press('m');
  await said('1 of 3 matches');
  await page.keyboard.press('M');
  await said('3 of 3 matches');
  // Nodes, also inside of a collapsed one, which opens.
  await page.fill('#pattern', 'VP << /^sing$/');
  await page.click('#search button:text("Find")');
  await page.waitForFunction(() => document.querySelectorAll('#sentence-2 .found .box').length > 0);
  const all = await page.locator('#sentence-2 .found').count();
  await page.locator('#sentence-2 .toggle').first().click();
  await page.click('h1');
  for (let at = 0; at < all; at++) await page.keyboard.press('m');
  assert.equal(await page.locator('#sentence-2 g.current').count(), 1);
  // What is wrong is said, with the column.
  await page.fill('#pattern', 'NP < DT VP');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('matches').textContent.startsWith('pattern:1:9: '));
  assert.equal(await page.locator('#trees .found').count(), 0);
  page.troubles = page.troubles.filter((trouble) => !trouble.includes('400'));
  await page.fill('#pattern', '__ > TOP');
  await page.keyboard.press('Enter');
  await said('2 matches');
  assert.deepEqual(await page.locator('#trees .found').allTextContents().then((texts) => texts.map((text) => text.split(':')[0])), ['S, found', 'S, found']);
  await page.keyboard.press('Enter');
  await page.selectOption('#other', 'small');
  await page.click('#share');
  await page.waitForFunction(() => document.getElementById('status').textContent === 'the link copied');
  const link = await copied(page);
  assert.ok(link.includes('pattern=__+%3E+TOP'), link);
  await close(page, 'serve-find');
  // The trees of both models are searched.
  const second = await open(link);
  await second.waitForFunction(() => document.getElementById('matches').textContent === '4 matches');
  assert.equal(await second.inputValue('#pattern'), '__ > TOP');
  await close(second, 'serve-find-link');
});

test('the n-best switch shows other trees', async () => {
  const page = await open(await serve('--model', 'english-small'));
  await page.fill('#text', 'I saw her duck with the telescope near the old bank of the river yesterday.');
  await page.fill('#nbest', '3');
  await page.click('#go');
  await done(page);
  const ranks = await page.locator('#sentence-1 [data-rank]').count();
  if (ranks > 1) {
    const brackets = async () => {
      await page.click('#sentence-1 button:text("Brackets")');
      await page.waitForFunction(() => document.getElementById('status').textContent === 'Brackets copied');
      return copied(page);
    };
    const best = await brackets();
    await page.click('#sentence-1 [data-rank="1"]');
    assert.notEqual(await brackets(), best);
  }
  await close(page, 'serve-nbest');
});

test('on a phone, in the dark, with a token', async () => {
  const page = await open(await serve('--model', 'english-fast', '--token', 'secret'), { viewport: { width: 360, height: 640 }, colorScheme: 'dark' });
  await page.fill('#text', TEXT);
  await page.click('#go');
  await page.waitForSelector('#token:focus');
  assert.match(await page.textContent('#status'), /token/);
  page.troubles = page.troubles.filter((trouble) => !trouble.includes('401'));
  await page.fill('#token', 'secret');
  await page.click('#go');
  await done(page);
  await page.waitForSelector('#sentence-1 svg');
  assert.ok(!page.url().includes('secret'));
  await page.fill('#pattern', 'NP');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('matches').textContent.endsWith(' matches'));
  await page.keyboard.press('Enter');
  await page.waitForSelector('#trees .current');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, input, select, textarea')]
    .filter((e) => !e.textContent.trim() && !e.labels?.length && !e.ariaLabel).map((e) => e.outerHTML));
  assert.deepEqual(unnamed, []);
  await close(page, 'serve-phone');
});
