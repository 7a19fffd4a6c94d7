// Opens the pages of srparse in Chromium. Environment: SRPARSE, the program; CHROMIUM, the browser; SCREENSHOTS, a folder
// that keeps the screenshots; GOLD, A and B, real gold trees and parses whose page is timed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { faultsOf } from './trees.js';

const program = path.resolve(process.env.SRPARSE || '../../target/release/srparse');
const folder = mkdtempSync(path.join(tmpdir(), 'srparse-pages-'));
const screenshots = process.env.SCREENSHOTS || folder;
const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];
// Exit status 1 is an answer too.
const srparse = (...words) => execFileSync(program, words, { cwd: folder, maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'inherit'] });

const HOSTILE = '</script><script>alert`1`</script>';
const IMAGE = '"><img/src=x/onerror=alert`2`>';
const GOLD = [
  '(TOP (S (NP (DT The) (NN parser)) (VP (VBZ reads) (NP (DT a) (NN sentence)) (PP (IN with) (NP (NN care)))) (. .)))',
  '(TOP (S (NP (NNS Dogs)) (VP (VBP sleep) (ADVP (RB here))) (. .)))',
  `(TOP (S (NP (NN ${HOSTILE}) (NN ${IMAGE})) (VP"'<b> (VBZ &amp;) (NP (NN x)))))`,
  '(TOP (S (NP (NN هذا)) (VP (VB قرأت) (NP (NN كتاب)))))',
  '(TOP (IP (NP (NN 我们)) (VP (VV 喜欢) (NP (NN 自然语言处理)))))',
];
const A = [
  '(TOP (S (NP (DT The) (NN parser)) (VP (VBZ reads) (NP (NP (DT a) (NN sentence)) (PP (IN with) (NP (NN care))))) (. .)))',
  '(TOP (S (NP (NNS Dogs)) (VP (VBP sleep) (NP (RB here))) (. .)))',
  ...GOLD.slice(2).map((tree) => tree.replace('VP"', 'XP"')),
];
const B = [A[0], GOLD[1], ...A.slice(2)];

let browser;

before(async () => {
  mkdirSync(screenshots, { recursive: true });
  const write = (name, trees) => writeFileSync(path.join(folder, name), trees.join('\n') + '\n');
  write('gold.mrg', GOLD);
  write('a.mrg', A);
  write('b.mrg', B);
  const clause = '(S (NP (DT the) (NN mouse)) (VP (VBZ is) (NP (NP (DT a) (NN gene)) (PP (IN of) (NP (DT a) (NN cell))))))';
  write('long.mrg', [`(TOP (S ${Array(50).fill(clause).join(' (, ,) ')} (. .)))`]);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ARGUMENTS });
});

after(() => browser?.close());

// Opens what a command prints; every message in the console, and every request but for the page, is a failure.
async function open(name, words, options = {}) {
  const file = path.join(folder, `${name}.html`);
  writeFileSync(file, srparse(...words));
  return openFile(file, options);
}

async function openFile(file, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.troubles = [];
  page.on('console', (message) => page.troubles.push(message.text()));
  page.on('pageerror', (error) => page.troubles.push(error.message));
  page.on('dialog', (dialog) => { page.troubles.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => { if (request.url() !== `file://${file}`) page.troubles.push(request.url()); });
  await page.goto(`file://${file}`);
  return page;
}

async function close(page, name) {
  await page.screenshot({ path: path.join(screenshots, `${name}.png`), fullPage: true });
  assert.ok(statSync(path.join(screenshots, `${name}.png`)).size > 5_000);
  assert.deepEqual(page.troubles, []);
  await page.close();
}

// The contrast of the text of visible elements with what is behind them, at least 4.5 (WCAG 2, level AA).
const poorContrast = () => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) layers.push(channels(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, [r, g, b, a = 1]) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a)), [255, 255, 255]);
  };
  const poor = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const style = getComputedStyle(element);
    const inside = element.closest('script, style, title, noscript, option, button:disabled');
    if (!own || inside || !element.getClientRects().length) continue;
    const color = element.ownerSVGElement ? style.fill : style.color;
    const [light, dark] = [luminance(channels(color)), luminance(behind(element))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) poor.push(`${element.tagName} ${element.textContent.trim().slice(0, 20)} ${ratio.toFixed(2)}`);
  }
  return poor;
};

// Tables without headers, and controls without names.
const unnamed = () => [
  ...[...document.querySelectorAll('table')].filter((table) => !table.querySelector('th[scope]') || !table.caption).map((table) => table.outerHTML.slice(0, 80)),
  ...[...document.querySelectorAll('button, input, select')].filter((e) => !e.textContent.trim() && !e.labels?.length && !e.ariaLabel).map((e) => e.outerHTML),
];

const texts = (page, selector) => page.locator(selector).allTextContents();

test('differences: the table is sorted, filtered and moved through by keyboard', async () => {
  const page = await open('diff', ['diff', '-q', '--output', 'html', 'gold.mrg', 'a.mrg']);
  const rows = () => texts(page, '#rows tr:not(.gap) td:first-child');
  assert.equal((await rows()).length, 5);
  await page.click('#heads button:text("sentence")');
  assert.deepEqual(await rows(), ['1', '2', '3', '4', '5']);
  await page.click('#heads button:text("sentence")');
  assert.deepEqual(await rows(), ['5', '4', '3', '2', '1']);
  assert.equal(await page.getAttribute('th[data-key=n]', 'aria-sort'), 'descending');
  await page.click('.classes button:text("PP attachment")');
  await page.waitForSelector('#detail svg');
  assert.deepEqual(await rows(), ['1']);
  await page.selectOption('#class', '');
  await page.fill('#words', 'sleep');
  assert.deepEqual(await rows(), ['2']);
  await page.fill('#words', '');
  await page.fill('#length-from', '9');
  assert.deepEqual(await rows(), []);
  await page.click('#filters button[type=reset]');
  await page.waitForFunction(() => document.querySelectorAll('#rows tr:not(.gap)').length === 5);
  await page.focus('#rows tr[tabindex="0"]');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const selected = await texts(page, '#rows tr[aria-selected=true] td:first-child');
  assert.equal(selected.length, 1);
  assert.match((await texts(page, '#detail h3'))[0], new RegExp(`Sentence ${selected[0]} `));
  assert.ok(await page.evaluate(() => document.activeElement.matches('#rows tr[aria-selected=true]')));
  assert.deepEqual(await page.evaluate(unnamed), []);
  await close(page, 'diff');
});

test('differences: marks are at the brackets that differ, in colour and in shape', async () => {
  const page = await open('marks', ['diff', '-q', '--output', 'html', 'gold.mrg', 'a.mrg']);
  await page.fill('#words', 'reads');
  await page.locator('#rows tr:not(.gap)').first().click();
  assert.deepEqual(await texts(page, '.spurious text'), ['+ NP']);
  assert.deepEqual(await texts(page, '.missed text'), []);
  const spurious = page.locator('.spurious .box');
  assert.equal(await spurious.evaluate((box) => getComputedStyle(box).strokeDasharray), 'none');
  await page.click('button[data-layout=down]');
  assert.deepEqual(await texts(page, '.spurious text'), ['+ NP']);
  await page.fill('#words', 'sleep');
  await page.locator('#rows tr:not(.gap)').first().click();
  assert.deepEqual(await texts(page, '.relabelled text'), ['~ ADVP', '~ NP']);
  await page.click('button[data-gold=ADVP][data-test=NP]');
  await page.waitForFunction(() => document.querySelector('#count').textContent.includes('gold ADVP parsed as NP'));
  assert.deepEqual(await texts(page, '#rows tr:not(.gap) td:first-child'), ['2']);
  await close(page, 'marks');
});

test('differences of two parsers: where one wins, and the significance', async () => {
  const page = await open('pair', ['diff', '-q', '--output', 'html', 'gold.mrg', 'a.mrg', 'b.mrg'], { colorScheme: 'dark' });
  assert.match(await page.textContent('#comparison'), /p = \d/);
  await page.click('button[data-better=b]');
  await page.waitForSelector('#detail svg');
  assert.deepEqual(await texts(page, '#rows tr:not(.gap) td:first-child'), ['2']);
  assert.equal(await page.locator('#detail svg').count(), 2);
  assert.deepEqual(await page.evaluate(poorContrast), []);
  await close(page, 'pair');
});

test('hostile words and labels are shown and do nothing', async () => {
  const pages = {
    'hostile-trees': ['tree', '-q', '--no-clean', '--output', 'html', 'gold.mrg'],
    'hostile-steps': ['oracle', '-q', '--output', 'html', 'gold.mrg'],
    'hostile-diff': ['diff', '-q', '--output', 'html', 'gold.mrg', 'a.mrg'],
  };
  for (const [name, words] of Object.entries(pages)) {
    const page = await open(name, words);
    assert.equal(await page.locator('img').count(), 0, name);
    const all = await page.evaluate(() => document.body.innerText + document.getElementById('data').textContent);
    assert.ok(all.includes('onerror=alert`2`'), name);
    await close(page, name);
  }
});

test('trees: all are drawn, collapsed by click and key, in both layouts', async () => {
  const page = await open('trees', ['tree', '-q', '--output', 'html', 'gold.mrg', 'long.mrg']);
  assert.equal(await page.locator('section').count(), 6);
  const first = page.locator('section').first();
  await first.locator('svg').waitFor();
  const words = () => first.locator('svg text').allTextContents();
  assert.ok((await words()).includes('care'));
  await first.locator('.toggle', { hasText: 'VP' }).first().click();
  assert.ok(!(await words()).includes('care'));
  assert.equal(await first.locator('.collapsed').getAttribute('aria-expanded'), 'false');
  await page.keyboard.press('Enter');
  assert.ok((await words()).includes('care'));
  await page.keyboard.press('ArrowUp');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /S/);
  // The first word of a sentence that is written from right to left is on the right.
  const x = (word) => page.locator('section').nth(3).locator('svg text', { hasText: word }).evaluate((text) => Number(text.getAttribute('x')));
  await page.locator('section').nth(3).scrollIntoViewIfNeeded();
  assert.ok(await x('هذا') > await x('كتاب'));
  // A sentence of 600 words is drawn with few nodes at first.
  const last = page.locator('section').last();
  await last.scrollIntoViewIfNeeded();
  await last.locator('svg').waitFor();
  assert.ok(await last.locator('svg text').count() < 300);
  await page.click('#expand');
  assert.ok(await last.locator('svg text').count() > 1_200);
  await page.click('button[data-layout=right]');
  assert.deepEqual(await page.evaluate(unnamed), []);
  await page.locator('section').first().scrollIntoViewIfNeeded();
  assert.deepEqual(page.troubles, []);
  await page.screenshot({ path: path.join(screenshots, 'trees.png') });
  await page.close();
});

test('derivations: two systems step together, by button, key and slider', async () => {
  const page = await open('steps', ['oracle', '-q', '--preset', 'fast', '--preset', 'non-binary-static', '--output', 'html', 'gold.mrg']);
  assert.deepEqual(await texts(page, '.player h2'), ['fast', 'non-binary-static']);
  const actions = () => texts(page, '.action');
  assert.deepEqual(await actions(), ['1. SHIFT', '1. SHIFT']);
  await page.click('#step');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.inputValue('#slider'), '3');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await page.inputValue('#slider'), '2');
  await page.keyboard.press('End');
  assert.deepEqual(await actions(), ['end', 'end']);
  assert.deepEqual((await texts(page, '.player:first-child .label text')).sort(), ['NP', 'NP', 'NP', 'PP', 'S', 'VP']);
  await page.fill('#slider', '0');
  assert.equal(await page.locator('.player:first-child .label').count(), 0);
  await page.selectOption('#speed', '300');
  await page.click('#play');
  await page.waitForFunction(() => Number(document.getElementById('slider').value) >= 2);
  await page.click('#play');
  await page.selectOption('#sentence', '1');
  assert.match((await texts(page, '.buffer'))[0], /Dogs/);
  assert.deepEqual(await page.evaluate(poorContrast), []);
  assert.deepEqual(await page.evaluate(unnamed), []);
  await close(page, 'steps');
});

test('decisions: ranked actions, features, and the first error against the gold tree', async () => {
  const page = await open('trace', ['parse', '-q', '--model', 'english-fast', '--trace', '--input', 'penn', '--output', 'html', 'a.mrg'], { colorScheme: 'dark' });
  // Its tree is wrong: no parser follows it.
  await page.selectOption('#sentence', '1');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.locator('.taken').count(), 1);
  assert.ok(await page.locator('.illegal').count() > 0);
  assert.ok((await texts(page, 'caption')).some((text) => text.startsWith('Features')));
  await page.click('#gold');
  assert.match((await texts(page, '.action'))[0], /leaves the gold path/);
  assert.deepEqual(await page.evaluate(poorContrast), []);
  await close(page, 'trace');
});

test('a beam: hypotheses after each action, and where the winner was nearly lost', async () => {
  const words = ['--no-tagger', '--set', 'learner.epochs=2', '--set', 'learner.models=1', '--set', 'search.beam=4', '--set', 'search.threshold=0'];
  srparse('train', '-q', '--preset', 'beam', ...words, '--train', path.resolve('../../data/sample/train.mrg'), '--model', 'beam.srm');
  const page = await open('beam', ['parse', '-q', '--model', 'beam.srm', '--trace=3', '--input', 'penn', '--output', 'html', 'gold.mrg']);
  const steps = Number(await page.getAttribute('#slider', 'max'));
  for (let step = 0; step < steps; step++) {
    assert.equal(await page.locator('.beam').count(), 1);
    assert.equal(await page.locator('.beam .taken').count(), 1);
    assert.ok(await page.locator('.beam tbody tr').count() <= 4);
    await page.keyboard.press('ArrowRight');
  }
  await page.click('#nearest');
  assert.equal(await page.locator('.beam + .off-path').count(), 1);
  assert.match((await texts(page, '.note')).join(), /nearly lost from the beam at step \d+: rank \d of 4, margin \d/);
  assert.deepEqual(await page.evaluate(poorContrast), []);
  assert.deepEqual(await page.evaluate(unnamed), []);
  await close(page, 'beam');
});

test('report: scores, preset and sentences of a model', async () => {
  const page = await open('report', ['report', '-q', 'gold.mrg']);
  assert.ok((await texts(page, 'th[scope=row]')).includes('sentences/s, one thread'));
  assert.match(await page.textContent('#preset'), /\[system\]/);
  await page.locator('#rows tr:not(.gap)').first().click();
  await page.waitForSelector('#detail svg');
  assert.deepEqual(await page.evaluate(poorContrast), []);
  assert.deepEqual(await page.evaluate(unnamed), []);
  await close(page, 'report');
});

const { GOLD: gold, A: a, B: b } = process.env;

test('a page of thousands of sentences opens and scrolls quickly', { skip: !gold }, async () => {
  const page = await open('large', ['diff', '-q', '--output', 'html', gold, a, b]);
  const size = statSync(path.join(folder, 'large.html')).size;
  const opened = await page.evaluate(() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd);
  const scrolled = await page.evaluate(async () => {
    const scroller = document.getElementById('scroller');
    const times = [];
    for (let at = 0; at < 40; at++) {
      const start = performance.now();
      scroller.scrollTop = (at * 7919) % scroller.scrollHeight;
      await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[20];
  });
  const rows = await page.locator('#rows tr').count();
  console.log(`page of ${gold}: ${(size / 1e6).toFixed(1)} MB, opened in ${opened.toFixed(0)} ms, a frame of scrolling ${scrolled.toFixed(0)} ms, ${rows} rows exist`);
  assert.ok(rows < 100);
  await close(page, 'large');
});

test('trees: no edges cross and no labels overlap in 1,000 random trees', async () => {
  const page = await open('random', ['tree', '-q', '--output', 'html', 'gold.mrg']);
  assert.deepEqual(await page.evaluate(faultsOf, 1_000), []);
  await page.close();
});

test('pages fit on a phone', async () => {
  const preset = path.resolve('../../data/sample/train.mrg');
  srparse('train', '-q', '--set', 'epochs=1', '--train', preset, '--model', 'phone.srm');
  for (const [name, words] of [
    ['trees', ['tree', '-q', '--output', 'html', 'long.mrg']],
    ['differences', ['diff', '-q', '--output', 'html', 'gold.mrg', 'a.mrg', 'b.mrg']],
    ['trace', ['parse', '-q', '--model', 'phone.srm', '--input', 'penn', '--trace', '--output', 'html', 'gold.mrg']],
    ['report', ['report', '-q', '--model', 'phone.srm', 'gold.mrg']],
  ]) {
    const page = await open(`phone-${name}`, words, { viewport: { width: 375, height: 800 } });
    const [needed, given] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(needed <= given, `${name}: ${needed} pixels on a screen of ${given}`);
    await close(page, `phone-${name}`);
  }
});

test('traces: what is illegal stands below what is legal', async () => {
  const page = await open('legal', ['parse', '-q', '--model', 'phone.srm', '--input', 'penn', '--trace', '--output', 'html', 'gold.mrg']);
  let illegal = 0;
  for (let step = 0; step < 12; step++) {
    const rows = await page.evaluate(() => [...document.querySelectorAll('.columns table:first-of-type tbody tr')].map((row) => row.matches('.illegal')));
    assert.deepEqual(rows, [...rows].sort((a, b) => a - b));
    illegal += rows.filter(Boolean).length;
    await page.click('#step');
  }
  assert.ok(illegal > 0);
  await page.close();
});
