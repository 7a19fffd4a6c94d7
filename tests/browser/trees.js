// What is wrong with drawn trees: edges that cross, labels and words that overlap. Runs in a page that has `drawTree`.

export const faultsOf = (n) => {
  // A small generator of random numbers, the same in every run.
  let state = 1;
  const below = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 4294967296 * limit);
  };
  const labels = ['S', 'NP', 'VP', 'ADJP-PRD', 'X', 'SBARQ-TMP-LONG'];
  const grow = (words, depth, brackets) => {
    brackets.push(labels[below(labels.length)]);
    const parts = words === 1 ? 1 : 1 + below(Math.min(words, 5));
    const sizes = Array(parts).fill(1);
    for (let i = parts; i < words; i++) sizes[below(parts)]++;
    for (const size of sizes) {
      if (size === 1 && (depth > 12 || below(3))) brackets.push(1);
      else grow(size, parts === 1 ? depth + 4 : depth + 1, brackets);
    }
    brackets.push(0);
  };
  const faults = [];
  for (let number = 0; number < n; number++) {
    const brackets = [];
    const words = Array(1 + below(25)).fill(0).map(() => 'w'.repeat(1 + below(9)));
    grow(words.length, 0, brackets);
    const tree = readTree({ words, tags: words.map(() => 'T'.repeat(1 + below(5))), brackets });
    const svg = drawTree(tree, { layout: 'down', toggle: () => {} });
    const edges = [...svg.querySelectorAll('.edge')].map((edge) => {
      const [, x1, y1, x2, bend, y2] = edge.getAttribute('d').match(/^M(\S+) (\S+)L(\S+) (\S+)V(\S+)$/).map(Number);
      return { from: `${x1} ${y1}`, lines: [[x1, y1, x2, bend], [x2, bend, x2, y2]] };
    });
    const boxes = [...svg.querySelectorAll('[data-node]')].map((group) => {
      const [x, y] = group.getAttribute('transform').match(/[-\d.]+/g).map(Number);
      const rect = group.querySelector('rect');
      const [dx, dy, width, height] = ['x', 'y', 'width', 'height'].map((name) => Number(rect.getAttribute(name)));
      return [x + dx, y + dy, x + dx + width, y + dy + height];
    });
    for (const text of svg.querySelectorAll(':scope > g:last-child > text')) {
      const [x, y] = [Number(text.getAttribute('x')), Number(text.getAttribute('y'))];
      const width = textWidth(text.textContent);
      boxes.push([x - width / 2, y - 11, x + width / 2, y + 3]);
    }
    const turn = ([ax, ay, bx, by], x, y) => Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
    const cross = (a, b) => turn(a, b[0], b[1]) * turn(a, b[2], b[3]) < 0 && turn(b, a[0], a[1]) * turn(b, a[2], a[3]) < 0;
    const cuts = ([x1, y1, x2, y2], [left, top, right, bottom]) => {
      const [l, t, r, b] = [left + 0.5, top + 0.5, right - 0.5, bottom - 0.5];
      const inside = (x, y) => x > l && x < r && y > t && y < b;
      return inside(x1, y1) || inside(x2, y2) || cross([x1, y1, x2, y2], [l, t, r, b]) || cross([x1, y1, x2, y2], [l, b, r, t]);
    };
    edges.forEach((a, i) => edges.slice(0, i).forEach((b) => {
      if (a.lines.some((one) => b.lines.some((other) => cross(one, other)))) faults.push(`tree ${number}: edges cross`);
    }));
    boxes.forEach((a, i) => {
      for (const b of boxes.slice(0, i)) {
        if (a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]) faults.push(`tree ${number}: labels overlap`);
      }
      for (const { lines } of edges) if (lines.some((line) => cuts(line, a))) faults.push(`tree ${number}: an edge cuts a label`);
    });
  }
  return faults;
};
