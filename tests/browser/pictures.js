// Draws the pictures of docs/pictures.md from the sentences of data/sample. Environment: SRPARSE, CHROMIUM.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.resolve(process.env.SRPARSE || path.join(root, 'target/release/srparse'));
const folder = mkdtempSync(path.join(tmpdir(), 'srparse-pictures-'));
const run = (cwd, ...words) => execFileSync(program, words, { cwd, maxBuffer: 1 << 30 });
const srparse = (...words) => run(root, ...words);
const sample = 'data/sample/dev.mrg';
const parsed = path.join(folder, 'dev.out');
writeFileSync(parsed, srparse('parse', '-q', '--model', 'english-fast', '--retag', '--input', 'penn', sample));
writeFileSync(path.join(folder, 'one.mrg'), srparse('tree', '-q', '--nth', '1', sample));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});

async function picture(name, words, size, prepare, cwd = root) {
  const file = path.join(folder, `${name}.html`);
  writeFileSync(file, run(cwd, ...words));
  const page = await browser.newPage({ viewport: size });
  await page.goto(`file://${file}`);
  await prepare(page);
  await page.screenshot({ path: path.join(root, 'docs/pictures', `${name}.png`) });
  await page.close();
}

await picture('diff', ['diff', '-q', '--output', 'html', sample, parsed], { width: 1000, height: 560 }, async (page) => {
  await page.locator('#rows tr:not(.gap)').first().click();
  await page.locator('#detail').evaluate((detail) => detail.scrollIntoView());
});
await picture('trees', ['tree', '-q', '--output', 'html', '--nth', '2-3', sample], { width: 1000, height: 640 }, async (page) => {
  await page.locator('svg').first().waitFor();
});
await picture('steps', ['oracle', '-q', '--preset', 'in-order-static', '--preset', 'non-binary-static', '--output', 'html', 'one.mrg'],
  { width: 1100, height: 560 }, async (page) => {
    for (let step = 0; step < 9; step++) await page.keyboard.press('ArrowRight');
  }, folder);
await picture('trace', ['parse', '-q', '--model', 'english-fast', '--trace', '--input', 'penn', '--output', 'html', 'one.mrg'], { width: 1000, height: 900 }, async (page) => {
  for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight');
}, folder);
const small = ['--no-tagger', '--set', 'learner.epochs=2', '--set', 'learner.models=1', '--set', 'search.beam=6'];
srparse('train', '-q', '--preset', 'beam', ...small, '--train', 'data/sample/train.mrg', '--model', path.join(folder, 'beam.srm'));
await picture('beam', ['parse', '-q', '--model', 'beam.srm', '--trace=3', '--input', 'penn', '--output', 'html', 'one.mrg'], { width: 1000, height: 700 }, async (page) => {
  await page.click('#nearest');
  await page.locator('.beam').evaluate((beam) => beam.scrollIntoView({ block: 'end' }));
}, folder);
await browser.close();
