// The page of `srparse serve`, and of `web/`: asks for the parses of a text and draws their trees. `connect` says who is
// asked: a server (`http.js`), or the library in this browser (`web/page/local.js`).

// A line of the reply as `readTree` wants it, with the words as they are in the text.
function treeData(parse) {
  const brackets = [];
  // Children come before their parents: so many brackets open before a word, the last of them first.
  const opens = Array.from({ length: parse.tokens.length + 1 }, () => []);
  const closes = Array.from({ length: parse.tokens.length + 1 }, () => 0);
  for (const [label, start, end] of parse.spans) {
    opens[start].unshift(label);
    closes[end] += 1;
  }
  parse.tokens.forEach((_, at) => {
    for (let i = 0; i < closes[at]; i++) brackets.push(0);
    brackets.push(...opens[at], 1);
  });
  for (let i = 0; i < closes[parse.tokens.length]; i++) brackets.push(0);
  const characters = parse.text === undefined ? null : Array.from(parse.text);
  const surface = (at) => characters.slice(parse.start[at] - parse.start[0], parse.end[at] - parse.start[0]).join('');
  return {
    words: parse.tokens.map(([word], at) => (characters ? surface(at) : word)),
    tags: parse.tokens.map(([, tag]) => tag),
    brackets,
  };
}

// Marks the constituents of a tree that another tree over the same words does not have.
function markAgainst(tree, other, mark) {
  const labels = new Map();
  const key = (node) => `${node.start} ${node.end}`;
  for (const node of other.nodes) labels.set(key(node), [...(labels.get(key(node)) || []), node.label]);
  let differences = 0;
  for (const node of tree.nodes) {
    const same = labels.get(key(node)) || [];
    const at = same.indexOf(node.label);
    if (at >= 0) same.splice(at, 1);
    else node.wrong = true;
  }
  for (const node of tree.nodes) {
    if (!node.wrong) continue;
    const left = labels.get(key(node)) || [];
    node.mark = left.length ? 'relabelled' : mark;
    left.pop();
    differences += 1;
  }
  return differences;
}

document.addEventListener('DOMContentLoaded', () => {
  const $ = (id) => document.getElementById(id);
  const { models } = pageLines()[0];
  const { ask, load } = connect();
  // Beside the page, an answer comes as one types.
  const isLive = Boolean(load);
  let [layout, size, asked, searching] = ['auto', 1, null, null];
  // What the search has found, as { box, what }, and which of it is shown.
  let [matches, shownMatch] = [[], -1];
  const drawn = new Map();

  const offer = (name) => {
    for (const id of ['model', 'other']) {
      if (![...$(id).options].some((option) => option.value === name)) $(id).append(make('option', { value: name }, name));
    }
  };
  models.forEach(({ name }) => offer(name));
  const say = (text, isProblem) => {
    $('status').textContent = text;
    $('status').classList.toggle('off-path', Boolean(isProblem));
  };

  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting && !drawn.has(target)) draw(target, target.tree);
  }, { rootMargin: '400px' });

  function draw(box, tree) {
    drawn.set(box, tree);
    const way = layout === 'auto' ? (tree.words.length > MANY_WORDS || innerWidth < 600 && tree.words.length > 12 ? 'right' : 'down') : layout;
    const redraw = (focused) => {
      const svg = drawTree(tree, { layout: way, toggle: redraw });
      const { width, height } = svg.viewBox.baseVal;
      setAll(svg, { width: width * size, height: height * size });
      box.replaceChildren(svg);
      const group = focused === undefined ? null : svg.querySelector(`[data-node="${focused}"]`);
      if (!group) return;
      for (const other of svg.querySelectorAll('.toggle[tabindex="0"]')) other.setAttribute('tabindex', -1);
      group.setAttribute('tabindex', 0);
      group.focus();
    };
    redraw();
  }

  function treeOf(parse) {
    const tree = readTree(treeData(parse));
    collapseTo(tree, MANY_WORDS);
    return tree;
  }

  function boxOf(tree, brackets) {
    const box = make('div', { class: 'tree' });
    box.tree = tree;
    box.brackets = brackets;
    watcher.observe(box);
    return box;
  }

  const copiers = [
    ['Brackets', (parse) => parse.tree],
    ['LaTeX: qtree', (parse) => qtreeText(readTree(treeData(parse)))],
    ['LaTeX: forest', (parse) => forestText(readTree(treeData(parse)))],
  ];

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      say(`${what} copied`);
    } catch {
      // Only pages of this machine or with TLS may write to the clipboard.
      save(new Blob([text], { type: 'text/plain' }), 'tree.txt');
    }
  }

  async function picture(box) {
    try {
      if (!drawn.has(box)) draw(box, box.tree);
      save(await pngOf(box.querySelector('svg')), 'tree.png');
    } catch (error) {
      say(error.message, true);
    }
  }

  // A sentence with its parses, of which one is shown.
  function sectionOf(parses, model) {
    const number = $('trees').children.length + 1;
    const section = make('section', { class: 'sentence', id: `sentence-${number}`, tabindex: -1 });
    const [best] = parses;
    section.append(make('h2', {}, String(number)));
    if (best.error) {
      section.append(make('p', { class: 'off-path' }, best.error));
      return section;
    }
    section.append(make('p', { dir: 'auto' }, best.text || best.tokens.map(([word]) => word).join(' ')));
    const shownParse = make('div', { class: 'columns pair' });
    let current = best;
    const bar = make('div', { class: 'bar' });
    const show = (rank) => {
      current = parses[rank];
      section.tree = treeOf(current);
      section.parse = current;
      shownParse.replaceChildren(sideOf(model, current, boxOf(section.tree, current.tree)));
      bar.querySelectorAll('[data-rank]').forEach((button) => button.setAttribute('aria-pressed', String(Number(button.dataset.rank) === rank)));
    };
    if (parses.length > 1) {
      const ranks = parses.map((_, rank) => make('button', { 'data-rank': rank, 'aria-pressed': rank === 0, onclick: () => { show(rank); find(); } }, String(rank + 1)));
      bar.append(make('span', { role: 'group', 'aria-label': 'trees, best first' }, ...ranks));
    }
    const copies = copiers.map(([name, text]) => make('button', { onclick: () => copy(text(current), name) }, name));
    bar.append(make('span', { role: 'group', 'aria-label': 'copy' }, 'copy ', ...copies),
      make('button', { onclick: () => picture(shownParse.querySelector('.tree')) }, 'Save PNG'),
      make('button', { onclick: (event) => steps(section, current, model, event.target), 'aria-expanded': 'false' }, 'Steps'));
    section.append(bar, shownParse);
    show(0);
    return section;
  }

  // What stands above a tree.
  function sideOf(name, parse, box) {
    const facts = [name];
    if (typeof parse.score === 'number') facts.push(`score ${parse.score.toFixed(2)}`);
    if (!parse.complete) facts.push('partial');
    return make('div', { class: 'side' }, make('p', { class: 'note' }, facts.join(', ')), box);
  }

  // How a tree was found, step by step.
  async function steps(section, parse, model, button) {
    const old = section.querySelector('.player-box');
    button.setAttribute('aria-expanded', String(!old));
    if (old) return old.remove();
    const holder = make('div', { class: 'player-box' });
    section.append(holder);
    try {
      await ask('parse', { tokens: parse.tokens.map(([word]) => word), model, trace: 5 }, undefined, (trace) => holder.append(player(trace)));
    } catch (error) {
      holder.append(make('p', { class: 'off-path' }, error.message));
    }
    return undefined;
  }

  function player(trace) {
    const panel = panelOf(trace);
    const last = trace.steps.length - 1;
    const slider = make('input', { type: 'range', min: 0, max: last, value: 0, 'aria-label': 'step' });
    const show = (step) => {
      slider.value = step;
      panel.show(Number(slider.value));
    };
    slider.addEventListener('input', () => show(slider.value));
    show(0);
    return make('div', {}, make('div', { class: 'bar' },
      make('button', { onclick: () => show(Number(slider.value) - 1) }, '◀ Back'),
      make('button', { onclick: () => show(Number(slider.value) + 1) }, 'Step ▶'), slider), panel.element);
  }

  // Parses the same words with another model, and marks what differs.
  async function beside(name, signal) {
    const sections = [...$('trees').children].filter((section) => section.parse);
    const sentences = sections.map(({ parse }) => parse.tokens.map(([word]) => word));
    let [at, differences] = [0, 0];
    if (!sentences.length) return 0;
    await ask('parse', { sentences, model: name }, signal, (parse) => {
      const section = sections[at++];
      const first = section.parse;
      const second = { ...parse, text: first.text, start: first.start, end: first.end };
      const [left, right] = [treeOf(first), treeOf(second)];
      const wrong = markAgainst(left, treeOf(second), 'missed');
      markAgainst(right, treeOf(first), 'spurious');
      differences += wrong > 0 || right.nodes.some((node) => node.wrong) ? 1 : 0;
      section.tree = left;
      section.querySelector('.pair').replaceChildren(sideOf($('model').value, first, boxOf(left, first.tree)), sideOf(name, second, boxOf(right, second.tree)));
    });
    return differences;
  }

  // Lights what a search finds in the trees that are shown.
  async function find() {
    if (searching) searching.abort();
    searching = new AbortController();
    const pattern = $('pattern').value.trim();
    const boxes = [...document.querySelectorAll('#trees .pair .tree')].filter((box) => box.tree.nodes.length);
    [matches, shownMatch] = [[], -1];
    $('pattern').asked = pattern;
    for (const { tree } of boxes) [tree.lit, tree.current] = [new Set(), undefined];
    let problem = '';
    try {
      if (pattern && boxes.length) {
        const trees = boxes.map((box) => box.brackets);
        await ask('find', { pattern, trees }, searching.signal, (match) => {
          if (match.error) problem = match.error;
          else matches.push(matchIn(boxes[match.tree - 1], match.node));
        });
      }
    } catch (error) {
      if (error.name === 'AbortError') return;
      problem = error.message;
    }
    for (const [box, tree] of drawn) draw(box, tree);
    sayMatches(problem);
    for (const id of ['previous', 'next']) $(id).disabled = !matches.length;
  }

  // What has this number in the brackets, in which the root may be over that of the drawing.
  function matchIn(box, number) {
    const { tree, brackets } = box;
    const over = brackets.split('(').length - 1 - tree.nodes.length - tree.words.length;
    const what = inOrder(tree)[Math.max(0, number - over)];
    tree.lit.add(what);
    return { box, what };
  }

  function sayMatches(problem) {
    const count = `${matches.length} ${matches.length === 1 ? 'match' : 'matches'}`;
    const place = shownMatch < 0 ? count : `${shownMatch + 1} of ${count}`;
    $('matches').textContent = problem || ($('pattern').asked ? place : '');
    $('matches').classList.toggle('off-path', Boolean(problem));
  }

  // Shows the next match, or the one before.
  function moveMatch(step) {
    if (!matches.length) return;
    const before = matches[shownMatch];
    shownMatch = shownMatch < 0 && step < 0 ? matches.length - 1 : (shownMatch + step + matches.length) % matches.length;
    const { box, what } = matches[shownMatch];
    if (before) {
      before.box.tree.current = undefined;
      draw(before.box, before.box.tree);
    }
    box.tree.current = what;
    const over = typeof what === 'string' ? nodeOver(box.tree, Number(what.split(' ')[1])) : what.parent;
    for (let node = over; node; node = node.parent) node.collapsed = false;
    draw(box, box.tree);
    box.querySelector('.current').scrollIntoView({ block: 'center', inline: 'center' });
    sayMatches('');
  }

  const settings = () => ({
    text: $('text').value, model: $('model').value, other: $('other').value, nbest: $('nbest').value, lines: $('lines').checked ? 'true' : '',
    pattern: $('pattern').value.trim(),
  });

  async function parse() {
    if (asked) asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    const { text, model, other, lines } = settings();
    const nbest = Number($('nbest').value) || 1;
    // What was there stays until there is something new, so that nothing flickers as one types.
    let isOld = true;
    const clear = () => {
      if (!isOld) return;
      isOld = false;
      drawn.clear();
      [matches, shownMatch] = [[], -1];
      $('trees').replaceChildren();
    };
    if (!isLive) clear();
    $('key').hidden = !other;
    say('parsing …');
    let [count, partial] = [0, 0];
    const start = performance.now();
    try {
      await ask('parse', { text, model, lines: Boolean(lines), ...(nbest > 1 && { nbest }) }, signal, (line) => {
        const parses = Array.isArray(line) ? line : [line];
        if (!parses[0].tokens.length && !parses[0].error) return;
        clear();
        count += 1;
        partial += parses[0].complete ? 0 : 1;
        $('trees').append(sectionOf(parses, model));
      });
      clear();
      const seconds = ((performance.now() - start) / 1000).toFixed(2);
      const differences = other ? await beside(other, signal) : 0;
      say([`${count} ${count === 1 ? 'sentence' : 'sentences'} in ${seconds} s`, ...(partial ? [`${partial} partial`] : []),
        ...(other ? [`${differences} with differences`] : [])].join(', '));
      await find();
    } catch (error) {
      if (error.name !== 'AbortError') say(error.message, true);
    }
  }

  const link = () => {
    const values = Object.entries(settings()).filter(([name, value]) => value !== '' && !(name === 'nbest' && value === '1'));
    const address = new URL(location.href);
    address.hash = new URLSearchParams(values).toString();
    return address.href;
  };

  function openLink() {
    const values = new URLSearchParams(location.hash.slice(1));
    if (!values.has('text')) return;
    $('text').value = values.get('text');
    $('pattern').value = values.get('pattern') || '';
    $('nbest').value = values.get('nbest') || 1;
    $('lines').checked = values.get('lines') === 'true';
    for (const id of ['model', 'other']) {
      const known = [...$(id).options].some((option) => option.value === values.get(id));
      $(id).value = known ? values.get(id) : $(id).options[0].value;
    }
    parse();
  }

  function drawAll(change) {
    change();
    for (const [box, tree] of drawn) draw(box, tree);
    $('size').textContent = `${Math.round(size * 100)} %`;
  }
  const resize = (factor) => drawAll(() => { size = factor ? Math.min(4, Math.max(0.25, size * factor)) : 1; });

  for (const button of document.querySelectorAll('[data-layout]')) {
    button.addEventListener('click', () => drawAll(() => {
      layout = button.dataset.layout;
      for (const other of document.querySelectorAll('[data-layout]')) other.setAttribute('aria-pressed', String(other === button));
    }));
  }
  $('smaller').addEventListener('click', () => resize(0.8));
  $('larger').addEventListener('click', () => resize(1.25));
  $('size').addEventListener('click', () => resize(0));
  $('ask').addEventListener('submit', (event) => {
    event.preventDefault();
    history.replaceState(null, '', link());
    parse();
  });
  $('search').addEventListener('submit', (event) => {
    event.preventDefault();
    if (matches.length && $('pattern').asked === $('pattern').value.trim()) return moveMatch(1);
    if ($('text').value) history.replaceState(null, '', link());
    return find();
  });
  $('next').addEventListener('click', () => moveMatch(1));
  $('previous').addEventListener('click', () => moveMatch(-1));
  $('share').addEventListener('click', () => copy(link(), 'the link'));

  const move = (step) => {
    const sections = [...$('trees').children];
    const at = sections.indexOf(document.activeElement.closest('.sentence'));
    const next = sections[at < 0 ? 0 : Math.min(sections.length - 1, Math.max(0, at + step))];
    if (next) next.focus();
  };
  const keys = {
    n: () => move(1), p: () => move(-1), f: () => $('pattern').focus(), m: () => moveMatch(1), M: () => moveMatch(-1),
    '+': () => resize(1.25), '-': () => resize(0.8), 0: () => resize(0), '/': () => $('text').focus(),
  };
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) return $('ask').requestSubmit();
    if (event.key === 'Enter' && event.shiftKey && event.target === $('pattern')) {
      event.preventDefault();
      return moveMatch(-1);
    }
    const inControl = event.target.closest('textarea, select, input');
    if (inControl || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return undefined;
    event.preventDefault();
    return keys[event.key]();
  });

  if (isLive) {
    let timer = null;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(parse, 150);
    };
    for (const id of ['text', 'nbest']) $(id).addEventListener('input', soon);
    for (const id of ['model', 'other', 'lines']) $(id).addEventListener('change', parse);
  }

  // A model of the user.
  async function addModel(name, bytes) {
    say(`loading ${name} …`);
    try {
      await load(name, await bytes());
      offer(name);
      $('model').value = name;
      await parse();
    } catch (error) {
      say(error.message, true);
    }
  }
  const addFile = (file) => addModel(file.name, () => file.arrayBuffer());
  const addAddress = (address) => addModel(address, async () => {
    const reply = await fetch(address);
    if (!reply.ok) throw new Error(`${address}: ${reply.status} ${reply.statusText}`);
    return reply.arrayBuffer();
  });
  if (load) {
    $('model-file').addEventListener('change', () => [...$('model-file').files].forEach(addFile));
    $('model-form').addEventListener('submit', (event) => {
      event.preventDefault();
      if ($('model-address').value) addAddress($('model-address').value);
    });
  }

  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', async (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (load && file && file.name.endsWith('.srm')) return addFile(file);
    $('text').value = file ? await file.text() : event.dataTransfer.getData('text');
    return $('ask').requestSubmit();
  });
  window.addEventListener('hashchange', openLink);
  openLink();
});
