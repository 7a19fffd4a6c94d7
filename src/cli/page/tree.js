// Trees as SVG. A page gets a tree as words, tags and brackets: a string opens a node with this label, a positive number
// stands for as many words, 0 closes a node. Marks have one character for each node, in the order in which nodes open.

const SVG = 'http://www.w3.org/2000/svg';
const MARKS = { '=': 'matched', '.': 'unscored', '~': 'relabelled', '-': 'missed', '+': 'spurious', '*': 'found' };
const SIGNS = { relabelled: '~', missed: '−', spurious: '+' };
const SIZES = { level: 44, row: 24, gap: 14, margin: 14, pad: 5, font: 14 };
// Trees with more words are laid out from left to right, and only as many are shown at first.
const MANY_WORDS = 60;

// The data of the page.
function pageData() {
  return JSON.parse(document.getElementById('data').textContent);
}

function pageLines() {
  const lines = document.getElementById('data').textContent.split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}

function make(name, properties, ...children) {
  const element = document.createElement(name);
  setAll(element, properties);
  element.append(...children);
  return element;
}

function makeSvg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  setAll(element, attributes);
  element.append(...children);
  return element;
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? '' : value);
  }
}

const measured = new Map();
const ruler = document.createElement('canvas').getContext('2d');

function textWidth(text, bold) {
  const key = (bold ? '*' : ' ') + text;
  let width = measured.get(key);
  if (width === undefined) {
    ruler.font = `${bold ? '600 ' : ''}${SIZES.font}px system-ui, sans-serif`;
    width = ruler.measureText(text).width;
    measured.set(key, width);
  }
  return width;
}

// A function that remembers its answers, which are asked for again and again.
function remembered(compute) {
  const known = new Map();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) known.set(text, found = compute(text));
    return found;
  };
}

// Control characters would be invisible, or move what follows.
const shown = remembered((text) => {
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
  return plain === '' ? '()' : plain;
});

// Whether most letters are written from right to left.
function isRightToLeft(words) {
  const text = words.join(' ');
  const right = (text.match(/[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu) || []).length;
  return right > (text.match(/\p{L}/gu) || []).length / 2;
}

// Nodes in the order in which they open; a child is a node or, for a word, a number.
function readTree({ words, tags, brackets, marks }, wrong) {
  const nodes = [];
  const open = [];
  let token = 0;
  for (const item of brackets) {
    const parent = open[open.length - 1];
    if (item === 0) {
      open.pop().end = token;
    } else if (typeof item === 'number') {
      for (let i = 0; i < item; i++) parent.children.push(token++);
    } else {
      let mark = marks ? MARKS[marks[nodes.length]] : 'matched';
      if (mark === 'missed' && wrong) mark = wrong;
      const node = { label: item, mark, children: [], start: token, end: token, parent, index: nodes.length };
      if (parent) parent.children.push(node);
      nodes.push(node);
      open.push(node);
    }
  }
  return { words, tags, nodes };
}

// The brackets of a tree as text.
function bracketText(tree) {
  const parts = [];
  const open = [[tree.nodes[0], 0]];
  if (!tree.nodes.length) return '()';
  parts.push('(' + tree.nodes[0].label);
  while (open.length) {
    const top = open[open.length - 1];
    const child = top[0].children[top[1]++];
    if (child === undefined) {
      parts.push(')');
      open.pop();
    } else if (typeof child === 'number') {
      parts.push(` (${tree.tags[child]} ${tree.words[child]})`);
    } else {
      parts.push(' (' + child.label);
      open.push([child, 0]);
    }
  }
  return parts.join('');
}

function nodeText(node) {
  return (SIGNS[node.mark] ? SIGNS[node.mark] + ' ' : '') + shown(node.label);
}

// What stands for a collapsed node: its first and its last word.
function foldedText(tree, node) {
  const words = tree.words.slice(node.start, node.end).map(shown);
  return words.length > 3 ? `${words[0]} … ${words[words.length - 1]} (${words.length})` : words.join(' ');
}

// Collapses all nodes but the largest, so that about so many words and collapsed nodes are visible.
function collapseTo(tree, most) {
  for (const node of tree.nodes) node.collapsed = node.end - node.start > 1 && node !== tree.nodes[0];
  let visible = tree.nodes.length ? tree.nodes[0].children.length : 0;
  const waiting = tree.nodes.length ? [tree.nodes[0]] : [];
  while (waiting.length) {
    let widest = 0;
    waiting.forEach((node, at) => {
      if (node.end - node.start > waiting[widest].end - waiting[widest].start) widest = at;
    });
    const [node] = waiting.splice(widest, 1);
    visible += node.children.length - 1;
    if (visible > most && node !== tree.nodes[0]) break;
    node.collapsed = false;
    waiting.push(...node.children.filter((child) => typeof child !== 'number'));
  }
}

// Places along the sentence (`at`) and away from the words (`height`) of all visible nodes and words.
function layOut(tree, isDown) {
  const visible = tree.nodes.filter((node) => {
    node.hidden = Boolean(node.parent && (node.parent.hidden || node.parent.collapsed));
    return !node.hidden;
  });
  const leafSize = (token) => isDown
    ? Math.max(textWidth(shown(tree.words[token])), textWidth(shown(tree.tags[token]))) + SIZES.gap
    : SIZES.row;
  const childSize = (child) => (typeof child === 'number' ? leafSize(child) : child.size);
  for (let i = visible.length - 1; i >= 0; i--) {
    const node = visible[i];
    const own = isDown ? textWidth(nodeText(node), true) + 2 * SIZES.pad + SIZES.gap : SIZES.row;
    const folded = node.collapsed && isDown ? textWidth(foldedText(tree, node)) + SIZES.gap : 0;
    const inside = node.collapsed ? [] : node.children;
    node.inner = inside.reduce((sum, child) => sum + childSize(child), 0);
    node.size = Math.max(own, folded, node.inner);
    node.own = own;
    node.height = inside.reduce((most, child) => Math.max(most, (child.height || 0)), 0) + 1;
  }
  const tokens = new Map();
  const size = visible.length ? visible[0].size : 0;
  for (const node of visible) {
    if (!node.parent) node.from = 0;
    let from = node.from + (node.size - node.inner) / 2;
    for (const child of node.collapsed ? [] : node.children) {
      if (typeof child === 'number') tokens.set(child, from + leafSize(child) / 2);
      else child.from = from;
      from += childSize(child);
    }
  }
  const place = (child) => (typeof child === 'number' ? tokens.get(child) : child.at);
  for (let i = visible.length - 1; i >= 0; i--) {
    const node = visible[i];
    const inside = node.collapsed ? [] : node.children;
    const middle = inside.length ? (place(inside[0]) + place(inside[inside.length - 1])) / 2 : node.from + node.size / 2;
    node.at = Math.min(Math.max(middle, node.from + node.own / 2), node.from + node.size - node.own / 2);
  }
  return { visible, tokens, size, levels: visible.length ? visible[0].height : 0 };
}

// The class of what a search has found: a node, or the tag or word of a token as `tag 3` or `word 3`.
function litClass(tree, what) {
  if (!tree.lit || !tree.lit.has(what)) return '';
  return what === tree.current ? ' found current' : ' found';
}

// The lowest node over a word.
function nodeOver(tree, token) {
  return tree.nodes.find((node) => node.children.includes(token));
}

// All nodes, tags and words in the order in which they open.
function inOrder(tree) {
  const order = [];
  const waiting = tree.nodes.slice(0, 1);
  while (waiting.length) {
    const next = waiting.pop();
    if (typeof next === 'number') order.push(`tag ${next}`, `word ${next}`);
    else {
      order.push(next);
      for (let at = next.children.length - 1; at >= 0; at--) waiting.push(next.children[at]);
    }
  }
  return order;
}

function drawNode(tree, node, x, y, options) {
  const width = textWidth(nodeText(node), true) + 2 * SIZES.pad;
  const box = { class: 'box', x: -width / 2, y: -16, width, height: 22, rx: node.mark === 'relabelled' ? 11 : node.mark === 'spurious' ? 0 : 3 };
  const canToggle = options.toggle && node.parent && node.end - node.start > 1;
  const group = makeSvg('g', {
    class: `label ${node.mark}${litClass(tree, node)}${node.collapsed ? ' collapsed' : ''}${canToggle ? ' toggle' : ''}`,
    transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`,
    'data-node': node.index,
  });
  if (canToggle) setAll(group, { role: 'button', tabindex: -1, 'aria-expanded': String(!node.collapsed) });
  const words = tree.words.slice(node.start, node.end).map(shown).join(' ');
  const said = (node.mark === 'matched' || node.mark === 'unscored' ? '' : `, ${node.mark}`) + (tree.lit && tree.lit.has(node) ? ', found' : '');
  group.append(makeSvg('title', {}, `${shown(node.label)}${said}: ${words}`));
  group.append(makeSvg('rect', box), makeSvg('text', { 'text-anchor': 'middle' }, nodeText(node)));
  return group;
}

function withArrows(svg, tree, redraw) {
  const groupOf = (node) => svg.querySelector(`[data-node="${node.index}"].toggle`);
  const first = svg.querySelector('.toggle');
  if (first) first.setAttribute('tabindex', 0);
  const toggle = (group) => {
    const node = tree.nodes[group.dataset.node];
    node.collapsed = !node.collapsed;
    redraw(node.index);
  };
  svg.addEventListener('click', (event) => {
    const group = event.target.closest('.toggle');
    if (group) toggle(group);
  });
  svg.addEventListener('keydown', (event) => {
    const group = event.target.closest('.toggle');
    if (!group) return;
    const node = tree.nodes[group.dataset.node];
    const siblings = node.parent ? node.parent.children.filter((child) => typeof child !== 'number') : [node];
    const beside = (step) => {
      for (let at = siblings.indexOf(node) + step; siblings[at]; at += step) if (groupOf(siblings[at])) return siblings[at];
      return undefined;
    };
    const inside = node.children.find((child) => typeof child !== 'number' && groupOf(child));
    const moves = {
      ArrowUp: () => node.parent, ArrowDown: () => (node.collapsed ? undefined : inside),
      ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
    };
    if (event.key === 'Enter' || event.key === ' ') toggle(group);
    else if (moves[event.key]) {
      const next = moves[event.key]();
      const target = next && groupOf(next);
      if (target) {
        group.setAttribute('tabindex', -1);
        target.setAttribute('tabindex', 0);
        target.focus();
      }
    } else return;
    event.preventDefault();
  });
}

// Draws a tree. Options: layout 'down' or 'right' (the root on top or on the left), toggle (nodes can be collapsed).
function drawTree(tree, options) {
  const isDown = options.layout !== 'right';
  const { visible, tokens, size, levels: own } = layOut(tree, isDown);
  const levels = Math.max(own, options.levels || 0) - (tree.nodes.length && tree.nodes[0].invisible ? 1 : 0);
  const isMirrored = isDown && isRightToLeft(tree.words);
  const along = (at) => SIZES.margin + (isMirrored ? size - at : at);
  const columns = isDown ? [] : columnPlaces(visible);
  const depth = isDown ? levels * SIZES.level + 20 : columns[0] || 0;
  const labelAt = (node) => (isDown
    ? [along(node.at), SIZES.margin + 16 + (levels - node.height) * SIZES.level]
    : [SIZES.margin + depth - columns[node.height], along(node.at) + 5]);
  const tokenAt = (at) => (isDown
    ? [along(at), SIZES.margin + 16 + levels * SIZES.level]
    : [SIZES.margin + depth + 4, along(at) + 5]);
  const edges = makeSvg('g', { class: 'edges' });
  const labels = makeSvg('g', {});
  const words = makeSvg('g', {});
  let widest = 0;
  for (const node of visible) {
    if (node.invisible) continue;
    const [x, y] = labelAt(node);
    labels.append(drawNode(tree, node, x, y, options));
    if (node.collapsed) {
      const text = foldedText(tree, node);
      const at = isDown ? { x, y: y + 28, 'text-anchor': 'middle' } : { x: tokenAt(0)[0], y };
      if (!isDown) edges.append(edgeBetween([x, y], [at.x - 4, y], isDown, node));
      words.append(makeSvg('text', { class: 'tag', ...at }, text));
      widest = Math.max(widest, textWidth(text));
      continue;
    }
    for (const child of node.children) {
      const to = typeof child === 'number' ? tokenAt(tokens.get(child)) : labelAt(child);
      edges.append(edgeBetween([x, y], to, isDown, node));
    }
  }
  const tagWidth = isDown ? 0 : Math.max(0, ...[...tokens.keys()].map((token) => textWidth(shown(tree.tags[token])))) + 10;
  for (const [token, at] of tokens) {
    const [x, y] = tokenAt(at);
    const anchor = isDown ? 'middle' : 'start';
    const [word, tag] = [shown(tree.words[token]), shown(tree.tags[token])];
    const lit = litClass(tree, `word ${token}`).trim() || null;
    words.append(makeSvg('text', { x, y, class: `tag${litClass(tree, `tag ${token}`)}`, 'text-anchor': anchor }, tag));
    words.append(makeSvg('text', isDown ? { x, y: y + 19, 'text-anchor': anchor, class: lit } : { x: x + tagWidth, y, class: lit }, word));
    widest = Math.max(widest, tagWidth + textWidth(word));
  }
  const width = isDown ? size + 2 * SIZES.margin : depth + widest + 2 * SIZES.margin + 20;
  const height = isDown ? depth + 20 + 2 * SIZES.margin : size + 2 * SIZES.margin;
  const svg = makeSvg('svg', {
    width: Math.ceil(width), height: Math.ceil(height), viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`,
    role: 'group', 'aria-label': options.name || `tree: ${tree.words.map(shown).join(' ')}`,
  }, edges, labels, words);
  if (options.toggle) withArrows(svg, tree, options.toggle);
  return svg;
}

// The distance from the words of the middle of each column of labels; the whole width first.
function columnPlaces(visible) {
  const widths = [];
  for (const node of visible) {
    widths[node.height] = Math.max(widths[node.height] || 0, textWidth(nodeText(node), true) + 2 * SIZES.pad);
  }
  const places = [0];
  let at = 0;
  for (let height = 1; height < widths.length; height++) {
    const width = widths[height] || 0;
    places[height] = at + 18 + width / 2;
    at += 18 + width;
  }
  places[0] = at + 4;
  return places;
}

function edgeBetween([x1, y1], [x2, y2], isDown, node) {
  const f = (number) => number.toFixed(1);
  if (isDown) {
    // Slanted above the next level, where the node has nothing but its edges, then straight down in the column of the
    // child: no edge crosses another, or a label.
    const bend = Math.min(y1 + SIZES.level, y2) - 17;
    return makeSvg('path', { class: 'edge', d: `M${f(x1)} ${f(y1 + 8)}L${f(x2)} ${f(bend)}V${f(y2 - 17)}` });
  }
  // Right after the label, where no other label of the same words is.
  const half = textWidth(nodeText(node), true) / 2 + SIZES.pad;
  const middle = x1 + Math.sign(x2 - x1) * Math.min(half + 8, Math.abs(x2 - x1));
  return makeSvg('path', { class: 'edge', d: `M${f(x1)} ${f(y1 - 5)}H${f(middle)}V${f(y2 - 5)}H${f(x2)}` });
}

// Draws two trees over the same words, which stand between them: the roots are on the left and on the right.
function drawPair(left, right, name) {
  const sides = [left, right].map((tree) => {
    const laid = layOut(tree, false);
    return { tree, ...laid, columns: columnPlaces(laid.visible) };
  });
  const rows = left.words.map((_, at) => SIZES.margin + 20 + SIZES.row * (at + 0.5));
  for (const { tree, visible } of sides) {
    for (let i = visible.length - 1; i >= 0; i--) {
      const node = visible[i];
      const of = (child) => (typeof child === 'number' ? rows[child] : child.row);
      const [first, last] = [node.children[0], node.children[node.children.length - 1]];
      node.row = first === undefined ? (rows[node.start] || rows[rows.length - 1]) : (of(first) + of(last)) / 2;
    }
    tree.tagWidth = Math.max(0, ...tree.tags.map((tag) => textWidth(shown(tag)))) + 12;
  }
  const widest = Math.max(0, ...left.words.map((word) => textWidth(shown(word)))) + 24;
  const leftEdge = SIZES.margin + sides[0].columns[0];
  const rightEdge = leftEdge + left.tagWidth + widest + right.tagWidth;
  const width = rightEdge + sides[1].columns[0] + SIZES.margin;
  const height = (rows[rows.length - 1] || 0) + SIZES.row + SIZES.margin;
  const [edges, labels, words] = [makeSvg('g', {}), makeSvg('g', {}), makeSvg('g', {})];
  sides.forEach(({ tree, visible, columns }, side) => {
    const x = (node) => (side === 0 ? leftEdge - columns[node.height] : rightEdge + columns[node.height]);
    const ofWord = side === 0 ? leftEdge : rightEdge;
    for (const node of visible) {
      const group = drawNode(tree, node, x(node), node.row + 5, {});
      group.dataset.side = side;
      labels.append(group);
      for (const child of node.children) {
        const to = typeof child === 'number' ? [ofWord, rows[child] + 5] : [x(child), child.row + 5];
        edges.append(edgeBetween([x(node), node.row + 5], to, false, node));
      }
    }
    words.append(makeSvg('text', { x: ofWord, y: SIZES.margin + 10, class: 'tag', 'text-anchor': 'middle' }, side === 0 ? 'gold' : name));
  });
  const middle = leftEdge + left.tagWidth + widest / 2;
  left.words.forEach((word, at) => {
    const isWrong = left.tags[at] !== right.tags[at];
    const tag = (tree, x, anchor) => makeSvg('text', { x, y: rows[at] + 5, class: isWrong ? 'tag wrong-tag' : 'tag', 'text-anchor': anchor }, shown(tree.tags[at]));
    words.append(tag(left, leftEdge + 4, 'start'), tag(right, rightEdge - 4, 'end'));
    words.append(makeSvg('text', { x: middle, y: rows[at] + 5, 'text-anchor': 'middle' }, shown(word)));
  });
  return makeSvg('svg', {
    width: Math.ceil(width), height: Math.ceil(height), viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: 'group',
    'aria-label': `gold tree on the left, ${name} on the right`,
  }, edges, labels, words);
}
