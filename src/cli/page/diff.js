// The page of `srparse diff`: a table of sentences, of which only the rows in view exist, and the trees of one.

const ROW = 32;
const MORE = 12;
const DIFFERENT_LABEL = 'different label';

document.addEventListener('DOMContentLoaded', () => {
  const [head, ...sentences] = pageLines();
  const page = { head, sentences: sentences.map((row) => prepared(row, head)), isPair: head.names.length === 2 };
  const $ = (id) => document.getElementById(id);
  const sort = { by: page.isPair ? 'difference' : 'f1', up: true };
  let shownRows = [];
  let current = -1;
  let confusion = null;

  const columns = page.isPair
    ? [['n', 'sentence'], ['f1a', 'F1 A'], ['f1b', 'F1 B'], ['difference', 'B − A'], ['length', 'words'], ['errors', 'errors of B'], ['text', 'text']]
    : [['n', 'sentence'], ['f1', 'F1'], ['length', 'words'], ['errors', 'errors'], ['text', 'text']];
  const widths = { text: '', errors: 'middle' };
  for (const [key, name] of columns) {
    const isNumber = key !== 'text' && key !== 'errors';
    const button = make('button', { class: 'plain', onclick: () => sortBy(key) }, name);
    $('heads').append(make('th', { scope: 'col', 'data-key': key, class: widths[key] ?? (isNumber ? 'narrow number' : '') }, button));
  }
  fillSelect($('class'), head.classes.map((name, at) => [at, name]));
  const labels = new Map();
  for (const row of page.sentences) for (const label of row.wrongLabels) labels.set(label, (labels.get(label) || 0) + 1);
  fillSelect($('label'), [...labels].sort((a, b) => b[1] - a[1]).map(([label, count]) => [label, `${shown(label)} (${count})`]));

  function filtered() {
    const number = (id, none) => ($(id).value === '' ? none : Number($(id).value));
    const [lowF1, highF1] = [number('f1-from', -1), number('f1-to', 101)];
    const [short, long] = [number('length-from', 0), number('length-to', Infinity)];
    const [kind, label] = [$('class').value, $('label').value];
    const better = $('better') ? $('better').value : '';
    const words = $('words').value.trim().toLowerCase();
    return page.sentences.filter((row) => row.last.f1 >= lowF1 && row.last.f1 <= highF1
      && row.length >= short && row.length <= long
      && (kind === '' || row.kinds.has(Number(kind)))
      && (label === '' || row.wrongLabels.has(label))
      && (better === '' || (better === 'b' ? row.difference > 0 : better === 'a' ? row.difference < 0 : row.difference === 0))
      && (words === '' || row.text.toLowerCase().includes(words))
      && (!confusion || row.parses.some((parse, at) => at === confusion.system && confuses(row, parse, confusion))));
  }

  function update() {
    const key = (row) => (sort.by === 'errors' ? row.last.errors.length : row[sort.by]);
    const compare = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.n - b.n);
    shownRows = filtered().sort((a, b) => (sort.up ? compare(a, b) : compare(b, a)));
    for (const th of $('heads').children) {
      if (th.dataset.key === sort.by) th.setAttribute('aria-sort', sort.up ? 'ascending' : 'descending');
      else th.removeAttribute('aria-sort');
    }
    const what = confusion ? `, gold ${confusion.gold} parsed as ${confusion.test}` : '';
    $('count').textContent = `${shownRows.length} of ${page.sentences.length} sentences${what}`;
    $('table').setAttribute('aria-rowcount', shownRows.length + 1);
    $('scroller').scrollTop = 0;
    current = -1;
    drawRows();
  }

  function sortBy(key) {
    sort.up = sort.by === key ? !sort.up : true;
    sort.by = key;
    update();
  }

  // The rows in view and a few more, between two rows that are as high as the others together.
  function drawRows() {
    const scroller = $('scroller');
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - MORE);
    const last = Math.min(shownRows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / ROW) + MORE);
    const focused = document.activeElement && document.activeElement.closest('#rows');
    const gap = (rows) => {
      const cell = make('td', { colspan: columns.length });
      cell.style.height = `${rows * ROW}px`;
      return make('tr', { class: 'gap', 'aria-hidden': 'true' }, cell);
    };
    const rows = shownRows.slice(first, last).map((row, i) => drawRow(row, first + i));
    $('rows').replaceChildren(gap(first), ...rows, gap(shownRows.length - last));
    if (focused) focusRow();
  }

  function drawRow(row, at) {
    const cells = columns.map(([key]) => {
      if (key === 'text' || key === 'errors') {
        const text = key === 'text' ? row.text : row.errorText;
        return make('td', { title: text }, text);
      }
      const value = { f1: () => row.last.f1.toFixed(2), f1a: () => row.f1a.toFixed(2), f1b: () => row.f1b.toFixed(2),
        difference: () => signed(row.difference) }[key];
      return make('td', { class: 'number' }, value ? value() : String(row[key]));
    });
    return make('tr', {
      tabindex: at === Math.max(current, 0) ? 0 : -1, 'data-at': at, 'aria-rowindex': at + 2,
      'aria-selected': String(at === current), onclick: () => choose(at),
    }, ...cells);
  }

  function focusRow() {
    const row = $('rows').querySelector(`[data-at="${current}"]`);
    if (row) row.focus({ preventScroll: true });
  }

  function choose(at, focus) {
    if (!shownRows.length) return;
    current = Math.min(Math.max(at, 0), shownRows.length - 1);
    const scroller = $('scroller');
    const heads = $('heads').parentElement.offsetHeight + 30;
    const top = current * ROW;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top + ROW + heads > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + ROW + heads - scroller.clientHeight;
    drawRows();
    if (focus) focusRow();
    showSentence($('detail'), shownRows[current], page);
  }

  $('rows').addEventListener('keydown', (event) => {
    const visible = Math.floor($('scroller').clientHeight / ROW) - 2;
    const steps = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + visible, PageUp: current - visible, Home: 0, End: shownRows.length };
    if (event.key === 'Enter' || event.key === ' ') choose(Number(event.target.closest('tr').dataset.at), true);
    else if (event.key in steps) choose(steps[event.key], true);
    else return;
    event.preventDefault();
  });
  $('scroller').addEventListener('scroll', drawRows);
  $('filters').addEventListener('input', () => { confusion = null; update(); });
  $('filters').addEventListener('reset', () => setTimeout(() => { confusion = null; update(); }));
  $('filters').addEventListener('submit', (event) => event.preventDefault());

  // Buttons elsewhere on the page choose what the table shows.
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    const { class: kind, better, gold, test } = button.dataset;
    if (kind === undefined && better === undefined && gold === undefined) return;
    $('filters').reset();
    confusion = null;
    if (kind !== undefined) $('class').value = kind;
    if (better !== undefined) $('better').value = better;
    if (gold !== undefined) confusion = { gold, test, system: Number(button.closest('table').dataset.system) };
    // After the event of the reset.
    setTimeout(() => {
      if (gold !== undefined) confusion = { gold, test, system: Number(button.closest('table').dataset.system) };
      update();
      choose(0);
      document.getElementById('sentences').scrollIntoView({ behavior: 'smooth' });
    });
  });
  window.addEventListener('beforeprint', () => { if (current < 0) choose(0); });
  update();
});

function fillSelect(select, options) {
  for (const [value, name] of options) select.append(make('option', { value }, name));
}

function signed(number) {
  return (number > 0 ? '+' : number < 0 ? '−' : '') + Math.abs(number).toFixed(2);
}

// The label of a node without functions and indices.
const plainLabel = remembered((label) => {
  const end = label.slice(1).search(/[-=]/);
  return end < 0 ? label : label.slice(0, end + 1);
});

const labelsOf = (brackets) => brackets.filter((item) => typeof item === 'string').map(plainLabel);

// What the table and the filters need of a sentence.
function prepared(row, head) {
  row.last = row.parses[row.parses.length - 1];
  row.text = row.gold.words.map(shown).join(' ');
  row.length = row.gold.words.length;
  row.kinds = new Set();
  row.wrongLabels = new Set();
  const counts = new Map();
  const hasErrors = row.parses.some((parse) => parse.errors.length);
  const gold = hasErrors ? labelsOf(row.gold.brackets) : [];
  for (const parse of row.parses) {
    const test = parse.errors.length ? labelsOf(parse.tree.brackets) : [];
    for (const [kind, missed, spurious] of parse.errors) {
      row.kinds.add(kind);
      for (const at of missed) row.wrongLabels.add(gold[at]);
      for (const at of spurious) row.wrongLabels.add(test[at]);
      if (parse === row.last) counts.set(kind, (counts.get(kind) || 0) + 1);
    }
  }
  row.errorText = errorText(counts, head.classes);
  row.f1 = row.last.f1;
  [row.f1a, row.f1b] = row.parses.map((parse) => parse.f1);
  row.difference = row.parses.length === 2 ? Math.round((row.f1b - row.f1a) * 100) / 100 : 0;
  return row;
}

function errorText(counts, classes) {
  const all = [...counts].sort(([a], [b]) => a - b);
  return all.map(([kind, count]) => (count > 1 ? `${count} ${classes[kind]}` : classes[kind])).join(', ') || 'none';
}

function confuses(row, parse, { gold, test }) {
  const [golds, tests] = [labelsOf(row.gold.brackets), labelsOf(parse.tree.brackets)];
  return parse.errors.some(([, missed, spurious]) => missed.length === 1 && spurious.length === 1
    && golds[missed[0]] === gold && tests[spurious[0]] === test
    && parse.gold[missed[0]] === '~');
}

function showSentence(place, row, { head, isPair }) {
  const parts = [make('h3', {}, `Sentence ${row.n}`, row.at ? make('span', { class: 'note' }, ` (${row.at})`) : '')];
  const key = make('p', { class: 'key' },
    make('span', { class: 'missed', 'data-sign': '−' }, 'missed: in the gold tree only'),
    make('span', { class: 'spurious', 'data-sign': '+' }, 'spurious: in the parse only'),
    make('span', { class: 'relabelled', 'data-sign': '~' }, 'another label'));
  const layouts = make('div', { class: 'bar', role: 'group', 'aria-label': 'layout' });
  let layout = showSentence.layout || 'aligned';
  const body = make('div', {});
  for (const [name, text] of [['aligned', 'Aligned by words'], ['down', 'Root on top']]) {
    layouts.append(make('button', {
      'aria-pressed': String(name === layout), 'data-layout': name,
      onclick: (event) => {
        layout = showSentence.layout = name;
        for (const button of layouts.children) button.setAttribute('aria-pressed', String(button === event.target));
        draw();
      },
    }, text));
  }
  function draw() {
    body.replaceChildren(...row.parses.flatMap((parse, at) => drawParse(row, parse, {
      name: isPair ? head.names[at] : 'parse', layout, classes: head.classes,
    })));
  }
  draw();
  place.replaceChildren(...parts, key, layouts, body);
}

function drawParse(row, parse, { name, layout, classes }) {
  const gold = readTree({ ...row.gold, marks: parse.gold });
  const test = readTree({ words: row.gold.words, tags: row.gold.tags, ...parse.tree }, 'spurious');
  const title = make('h3', {}, `${name === 'parse' ? '' : name + ': '}F1 ${parse.f1.toFixed(2)}`);
  const errors = make('ul', { class: 'errors', 'aria-label': 'errors' });
  const box = make('div', { class: 'tree', tabindex: 0, role: 'region', 'aria-label': `trees of ${name}` });
  const isAligned = layout === 'aligned' && !parse.tree.words;
  if (isAligned) box.append(drawPair(gold, test, name));
  else {
    const goldBox = make('div', { 'data-side': 0 }, make('p', { class: 'note' }, 'gold'), drawTree(gold, { name: 'gold tree' }));
    const testBox = make('div', { 'data-side': 1 }, make('p', { class: 'note' }, name), drawTree(test, { name: `tree of ${name}` }));
    box.append(goldBox, testBox);
  }
  const light = (missed, spurious, on) => {
    const toggle = (side, at) => {
      const selector = isAligned ? `[data-side="${side}"][data-node="${at}"]` : `[data-side="${side}"] [data-node="${at}"]`;
      const group = box.querySelector(selector);
      if (group) group.classList.toggle('lit', on);
      return group;
    };
    const groups = [...missed.map((at) => toggle(0, at)), ...spurious.map((at) => toggle(1, at))];
    return groups.find((group) => group);
  };
  for (const [kind, missed, spurious] of parse.errors) {
    const labels = [...missed.map((at) => `− ${shown(gold.nodes[at].label)}`), ...spurious.map((at) => `+ ${shown(test.nodes[at].label)}`)];
    const on = () => light(missed, spurious, true);
    const off = () => light(missed, spurious, false);
    const button = make('button', { onmouseenter: on, onfocus: on, onmouseleave: off, onblur: off,
      onclick: () => { const group = on(); if (group) group.scrollIntoView({ block: 'center', inline: 'center', behavior: 'smooth' }); },
    }, `${classes[kind]}: ${labels.join(' ')}`);
    errors.append(make('li', {}, button));
  }
  const derivations = parse.tree.words ? [] : [derivationTable(gold, test, name)];
  return [title, errors, box, ...derivations];
}

// The in-order actions (Liu and Zhang 2017) that follow each word: a nonterminal opens after its first child.
function actionsByWord(tree) {
  const after = tree.words.map(() => []);
  const opened = [];
  const open = tree.nodes.length ? [[tree.nodes[0], 0]] : [];
  let word = 0;
  const add = (action) => after[Math.max(word - 1, 0)].push(action);
  const childDone = () => {
    const top = open[open.length - 1];
    if (top && top[1] === 1) add(`OPEN-${top[0].label}`);
  };
  while (open.length) {
    const top = open[open.length - 1];
    const child = top[0].children[top[1]];
    top[1] += 1;
    if (child === undefined) {
      open.pop();
      if (top[0].children.length) add('REDUCE');
      childDone();
    } else if (typeof child === 'number') {
      word = child + 1;
      opened.push(child);
      childDone();
    } else open.push([child, 0]);
  }
  return after;
}

function derivationTable(gold, test, name) {
  const [left, right] = [actionsByWord(gold), actionsByWord(test)];
  const rows = gold.words.map((word, at) => {
    const [a, b] = [left[at], right[at]].map((actions) => actions.map(shown).join(' '));
    const isSame = a === b;
    return make('tr', {}, make('th', { scope: 'row' }, shown(word)), make('td', {}, a), make('td', {}, b),
      make('td', { class: isSame ? '' : 'off-path' }, isSame ? '' : '≠'));
  });
  const head = (text) => make('th', { scope: 'col' }, text);
  const table = make('table', {}, make('caption', {}, 'In-order actions after each word (SHIFT is not shown)'),
    make('thead', {}, make('tr', {}, head('word'), head('gold'), head(name), head('differs'))), make('tbody', {}, ...rows));
  return make('details', {}, make('summary', {}, 'Derivations'), make('div', { class: 'wide' }, table));
}
