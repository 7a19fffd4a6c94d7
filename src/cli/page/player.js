// The page of `srparse oracle --output html` and `srparse parse --trace`: plays derivations side by side.

document.addEventListener('DOMContentLoaded', () => {
  const $ = (id) => document.getElementById(id);
  // Other pages use the panels only.
  if (!$('players')) return;
  const sentences = pageLines();
  let [systems, at, timer] = [[], 0, null];

  sentences.forEach(({ systems: all }, number) => {
    const played = all.find((one) => one.words);
    const text = played ? played.words.map(shown).join(' ') : '';
    $('sentence').append(make('option', { value: number }, `${number + 1}: ${text.slice(0, 60)}`));
  });

  const length = () => Math.max(1, ...systems.map(({ data }) => (data.steps ? data.steps.length : 1)));

  function open(number) {
    stop();
    systems = (sentences[number] ? sentences[number].systems : []).map((data) => ({ data, panel: panelOf(data) }));
    $('players').replaceChildren(...systems.map(({ panel }) => panel.element));
    $('slider').max = length() - 1;
    $('nearest').hidden = !systems.some(({ data }) => nearlyLost(data) !== undefined);
    $('gold').hidden = !systems.some(({ data }) => data.left_gold !== undefined);
    show(0);
  }

  function show(step) {
    at = Math.min(Math.max(step, 0), length() - 1);
    $('slider').value = at;
    $('number').textContent = `${at} of ${length() - 1}`;
    $('back').disabled = $('first').disabled = at === 0;
    $('step').disabled = $('last').disabled = at === length() - 1;
    for (const { data, panel } of systems) if (data.steps) panel.show(Math.min(at, data.steps.length - 1));
    if (at === length() - 1) stop();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    $('play').setAttribute('aria-pressed', 'false');
    $('play').textContent = '▶ Play';
  }

  function play() {
    if (timer) return stop();
    if (at === length() - 1) show(0);
    timer = setInterval(() => show(at + 1), Number($('speed').value));
    $('play').setAttribute('aria-pressed', 'true');
    $('play').textContent = '⏸ Pause';
    return undefined;
  }

  const keys = { ArrowRight: () => show(at + 1), ArrowLeft: () => show(at - 1), Home: () => show(0), End: () => show(length()), ' ': play };
  document.addEventListener('keydown', (event) => {
    const inControl = event.target.closest('select, input') || (event.key === ' ' && event.target.closest('button, summary'));
    if (inControl || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
  });
  $('first').addEventListener('click', () => show(0));
  $('back').addEventListener('click', () => show(at - 1));
  $('step').addEventListener('click', () => show(at + 1));
  $('last').addEventListener('click', () => show(length()));
  $('play').addEventListener('click', play);
  $('gold').addEventListener('click', () => show(Math.min(...systems.map(({ data }) => data.left_gold ?? Infinity))));
  $('nearest').addEventListener('click', () => show(Math.min(...systems.map(({ data }) => nearlyLost(data) ?? Infinity))));
  $('slider').addEventListener('input', () => { stop(); show(Number($('slider').value)); });
  $('sentence').addEventListener('change', () => open(Number($('sentence').value)));
  $('speed').addEventListener('change', () => { if (timer) { stop(); play(); } });
  open(0);
});

// The trees on the stack and the words after them, under a root that is not drawn.
function forestAt(data, step) {
  const { stack, buffer } = data.steps[step];
  const nodes = [];
  const root = { label: '', mark: 'matched', invisible: true, children: [], start: 0, end: data.words.length, index: 0 };
  nodes.push(root);
  const waiting = [];
  const push = (ids, parent) => { for (let i = ids.length - 1; i >= 0; i--) waiting.push([ids[i], parent]); };
  push(stack, root);
  while (waiting.length) {
    const [id, parent] = waiting.pop();
    const { label, open, start, end, children } = data.constituents[id];
    if (label === null) {
      parent.children.push(start);
      continue;
    }
    const node = { label: (open ? '(' : '') + label, mark: open ? 'open' : 'matched', children: [], start, end, parent, index: nodes.length };
    parent.children.push(node);
    nodes.push(node);
    push(children, node);
  }
  for (let word = buffer; word < data.words.length; word++) root.children.push(word);
  return { words: data.words, tags: data.tags, nodes };
}

function heightOf(tree) {
  for (let i = tree.nodes.length - 1; i >= 0; i--) {
    tree.nodes[i].height = 1 + Math.max(0, ...tree.nodes[i].children.map((child) => child.height || 0));
  }
  return tree.nodes[0].height;
}

function itemText(data, id) {
  const { label, open, start, head } = data.constituents[id];
  if (label === null) return `${shown(data.words[start])}/${shown(data.tags[start])}`;
  const word = head === null ? '' : `[${shown(data.words[head])}]`;
  return `${open ? '(' : ''}${shown(label)}${word}`;
}

function panelOf(data) {
  const name = data.name || 'derivation';
  const element = make('section', { class: 'player', 'aria-label': name });
  if (data.name) element.append(make('h2', {}, data.name));
  if (!data.steps) {
    element.append(make('p', { class: 'off-path' }, data.problem || 'no derivation'));
    return { element };
  }
  const action = make('p', { class: 'action', role: 'status' });
  const box = make('div', { class: 'tree' });
  const stack = make('ol', { class: 'blocks', 'aria-label': 'stack, from bottom to top' });
  const buffer = make('ol', { class: 'blocks buffer', 'aria-label': 'buffer' });
  const decision = make('div', { class: 'columns' });
  const facts = [];
  if (typeof data.score === 'number') facts.push(`score ${data.score.toFixed(2)}`);
  if (data.complete === false) facts.push('partial');
  if (data.unfit) facts.push(`gold tree: ${data.unfit}`);
  if (data.left_gold !== undefined) facts.push(`leaves the gold path at step ${data.left_gold + 1}`);
  const nearest = nearlyLost(data);
  if (nearest !== undefined) {
    const { rank, size, margin } = data.beam.steps[nearest];
    facts.push(`nearly lost from the beam at step ${nearest + 1}: rank ${rank} of ${size}, margin ${margin.toFixed(2)}`);
  }
  if (facts.length) element.append(make('p', { class: 'note' }, facts.join('; ')));
  element.append(action, box, make('h3', {}, 'Stack'), stack, make('h3', {}, 'Buffer'), buffer, decision, actionList(data));
  const tallest = Math.max(...data.steps.slice(-1).map((_, i) => heightOf(forestAt(data, data.steps.length - 1 - i))));
  const isLong = data.words.length > MANY_WORDS;
  const show = (step) => {
    const { stack: ids, below, buffer: next, action: taken, decision: decided } = data.steps[step];
    const isOff = data.left_gold === step;
    action.textContent = taken ? `${step + 1}. ${taken}${isOff ? ' (leaves the gold path)' : ''}` : 'end';
    action.classList.toggle('off-path', isOff);
    const tree = forestAt(data, step);
    const [left, top] = [box.scrollLeft, box.scrollTop];
    box.replaceChildren(drawTree(tree, { layout: isLong ? 'right' : 'down', levels: tallest, name: `step ${step}` }));
    [box.scrollLeft, box.scrollTop] = [left, top];
    stack.replaceChildren(...ids.map((id, i) => make('li', {
      class: `${data.constituents[id].open ? 'open' : ''}${i === ids.length - 1 ? ' top' : ''}`,
    }, itemText(data, id))));
    if (!ids.length) stack.append(make('li', { class: 'note' }, 'empty'));
    if (below) stack.prepend(make('li', { class: 'note' }, `${below} more`));
    const rest = data.words.slice(next);
    buffer.replaceChildren(...rest.slice(0, 12).map((word, i) => make('li', {}, `${shown(word)}/${shown(data.tags[next + i])}`)));
    if (rest.length > 12) buffer.append(make('li', { class: 'note' }, `and ${rest.length - 12} more`));
    if (!rest.length) buffer.append(make('li', { class: 'note' }, 'empty'));
    // At the end, the beams of all idle steps.
    const beams = data.beam ? data.beam.steps.slice(step, taken ? step + 1 : undefined) : [];
    decision.replaceChildren(...(decided ? drawDecision(decided) : []), ...beams.flatMap((beam, i) => drawBeam(beam, step + i, data)));
    for (const row of element.querySelectorAll('.steps tbody tr')) {
      if (Number(row.dataset.step) === step) row.setAttribute('aria-current', 'step');
      else row.removeAttribute('aria-current');
    }
  };
  return { element, show };
}

// All actions, as a table that shows which one is next.
function actionList(data) {
  const inBeam = (step) => {
    const { rank, margin } = data.beam.steps[step];
    return [make('td', { class: 'number' }, String(rank)), make('td', { class: 'number' }, marginText(margin))];
  };
  const rows = data.steps.filter(({ action }) => action).map(({ action }, step) => make('tr', { 'data-step': step },
    make('td', { class: 'number' }, String(step + 1)), make('td', {}, make('code', {}, action)), ...(data.beam ? inBeam(step) : [])));
  const heads = [['step', true], ['action'], ...(data.beam ? [['rank in the beam', true], ['margin', true]] : [])];
  const table = tableOf('Derivation', heads, rows);
  return make('details', {}, make('summary', {}, 'All actions'), make('div', { class: 'steps', tabindex: 0, role: 'region', 'aria-label': 'all actions' }, table));
}

function tableOf(caption, heads, rows) {
  const head = ([text, isNumber]) => make('th', { scope: 'col', class: isNumber ? 'number' : '' }, text);
  return make('table', {}, make('caption', {}, caption), make('thead', {}, make('tr', {}, ...heads.map(head))), make('tbody', {}, ...rows));
}

function drawDecision({ ranked, legal, reasons, correct }) {
  const isCosted = ranked.some(({ cost }) => cost !== undefined);
  const hasGold = isCosted || correct;
  // What cannot be chosen stands below what can, with the rank of its score.
  const numbered = ranked.map((one, rank) => ({ ...one, rank })).sort((a, b) => b.legal - a.legal || a.rank - b.rank);
  const listed = numbered.map(({ action, score, legal: isLegal, taken, cost, rank }) => {
    const notes = [taken ? 'taken' : '', isLegal ? '' : 'illegal', (correct || []).includes(action) ? 'correct' : ''].filter((note) => note);
    return make('tr', { class: `${taken ? 'taken' : ''}${isLegal ? '' : ' illegal'}` },
      make('td', { class: 'number' }, String(rank + 1)), make('td', {}, make('code', {}, action)),
      make('td', { class: 'number' }, score === null ? 'never' : score.toFixed(2)),
      ...(hasGold ? [make('td', { class: `number${cost > 0 ? ' off-path' : ''}` }, cost === undefined ? '' : String(cost))] : []),
      make('td', {}, notes.join(', ')));
  });
  const heads = [['rank', true], ['action'], ['score', true], ...(hasGold ? [['cost', true]] : []), ['']];
  const parts = [make('h3', {}, 'Decision'), tableOf(`The best actions; ${legal} ${legal === 1 ? 'is' : 'are'} legal`, heads, listed)];
  const others = (correct || []).filter((name) => !ranked.some(({ action }) => action === name));
  if (others.length) parts.push(make('p', {}, `Correct: ${others.join(', ')}`));
  if (reasons && reasons.weights && reasons.weights.length) {
    const rows = reasons.weights.map(({ feature, weight, rival }) => make('tr', {}, make('td', { class: 'number' }, signedTo(weight - rival)),
      make('td', {}, make('code', {}, feature)), make('td', { class: 'number' }, weight.toFixed(2)), make('td', { class: 'number' }, rival.toFixed(2))));
    parts.push(tableOf('Features with the largest contributions to the lead over the next legal action',
      [['lead', true], ['feature'], ['weight', true], ['rival', true]], rows));
  }
  if (reasons && reasons.path) {
    parts.push(make('h3', {}, 'Path through the decision tree'), make('ol', {}, ...reasons.path.map((test) => make('li', {}, make('code', {}, test)))));
  }
  if (reasons && reasons.trees) {
    const rows = reasons.trees.map(({ confidence, tests }) => make('tr', {}, make('td', { class: 'number' }, signedTo(confidence)),
      make('td', {}, tests.length ? make('code', {}, tests.join(', ')) : 'no test holds')));
    parts.push(tableOf('Trees with the largest confidences for the action taken', [['confidence', true], ['tests that hold']], rows));
  }
  if (reasons && reasons.members) {
    const rows = reasons.members.map(({ action, score, followed }, number) => make('tr', { class: followed ? 'taken' : '' },
      make('td', { class: 'number' }, String(number + 1)), make('td', {}, make('code', {}, action)),
      make('td', { class: 'number' }, score === null ? '' : score.toFixed(2)), make('td', {}, followed ? 'followed' : '')));
    parts.push(tableOf('Members of the ensemble', [['member', true], ['prefers'], ['score', true], ['']], rows));
  }
  if (reasons && reasons.neighbours) {
    const rows = reasons.neighbours.map(({ distance, actions }) => make('tr', {}, make('td', { class: 'number' }, distance.toFixed(4)),
      make('td', {}, actions.map(([name, count]) => `${count} × ${name}`).join(', '))));
    parts.push(tableOf('Nearest training rows', [['distance', true], ['instances']], rows));
  }
  return parts;
}

// The step at which the winner of a beam was nearest to being dropped.
function nearlyLost(data) {
  return data.beam ? data.beam.nearly_lost : undefined;
}

function marginText(margin) {
  return margin === null ? '' : margin.toFixed(2);
}

function drawBeam({ hypotheses, size, margin }, step, data) {
  const isNearest = nearlyLost(data) === step;
  const rows = hypotheses.map(({ rank, score, action, from, winner }) => make('tr', { class: winner ? 'taken' : '' },
    make('td', { class: 'number' }, String(rank)), make('td', {}, action === null ? 'idle' : make('code', {}, action)),
    make('td', { class: 'number' }, score === null ? '' : score.toFixed(2)), make('td', { class: 'number' }, String(from)),
    make('td', { class: 'number' }, winner ? marginText(margin) : ''), make('td', {}, winner ? 'winner' : '')));
  const table = tableOf(`Beam after step ${step + 1}: ${size} of at most ${data.beam.width} hypotheses`,
    [['rank', true], ['last action'], ['path score', true], ['from rank', true], ['margin', true], ['']], rows);
  table.className = 'beam';
  return isNearest ? [table, make('p', { class: 'off-path' }, 'The winner was nearly lost here.')] : [table];
}

function signedTo(number) {
  return (number >= 0 ? '+' : '−') + Math.abs(number).toFixed(2);
}
