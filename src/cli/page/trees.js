// The page of `srparse tree` and `srparse parse`: trees, each drawn when it comes into view.

document.addEventListener('DOMContentLoaded', () => {
  const $ = (id) => document.getElementById(id);
  let layout = 'auto';
  const drawn = new Map();

  const draw = (box, data) => {
    const tree = drawn.get(box) || readTree(data);
    if (!drawn.has(box)) collapseTo(tree, Number($('most').value) || MANY_WORDS);
    drawn.set(box, tree);
    const isLong = tree.words.length > MANY_WORDS;
    const redraw = (focused) => {
      const way = layout === 'auto' ? (isLong ? 'right' : 'down') : layout;
      const svg = drawTree(tree, { layout: way, toggle: redraw });
      box.replaceChildren(svg);
      const group = focused === undefined ? null : svg.querySelector(`[data-node="${focused}"]`);
      if (group) {
        for (const other of svg.querySelectorAll('.toggle[tabindex="0"]')) other.setAttribute('tabindex', -1);
        group.setAttribute('tabindex', 0);
        group.focus();
      }
    };
    box.redraw = redraw;
    redraw();
  };

  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting && !drawn.has(target)) draw(target, target.data);
    }
  }, { rootMargin: '400px' });

  pageLines().forEach((line, at) => {
    const section = make('section', { class: 'sentence' });
    const number = line.n || at + 1;
    section.append(make('h2', { id: `tree-${number}` }, line.name || String(number)));
    if (line.problem) section.append(make('p', { class: 'off-path' }, line.problem));
    for (const data of line.trees) {
      const facts = [];
      if (line.trees.length > 1) facts.push(`rank ${data.rank}`);
      if (typeof data.score === 'number') facts.push(`score ${data.score.toFixed(2)}`);
      if (data.complete === false) facts.push('partial');
      section.append(make('p', { dir: 'auto' }, data.words.map(shown).join(' ')));
      if (facts.length) section.append(make('p', { class: 'note' }, facts.join(', ')));
      const box = make('div', { class: 'tree' });
      box.data = data;
      section.append(box);
      watcher.observe(box);
    }
    if (!line.trees.length && !line.problem) section.append(make('p', { class: 'note' }, 'no words'));
    $('trees').append(section);
  });

  const each = (change) => {
    for (const [box, tree] of drawn) {
      change(tree);
      box.redraw();
    }
  };
  for (const button of document.querySelectorAll('[data-layout]')) {
    button.addEventListener('click', () => {
      layout = button.dataset.layout;
      for (const other of document.querySelectorAll('[data-layout]')) other.setAttribute('aria-pressed', String(other === button));
      each(() => {});
    });
  }
  $('expand').addEventListener('click', () => each((tree) => { for (const node of tree.nodes) node.collapsed = false; }));
  $('most').addEventListener('change', () => each((tree) => collapseTo(tree, Number($('most').value) || MANY_WORDS)));
  window.addEventListener('beforeprint', () => {
    for (const box of document.querySelectorAll('.tree')) if (!drawn.has(box)) draw(box, box.data);
  });
});
