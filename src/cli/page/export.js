// A parse as it goes into papers and slides: LaTeX, and pictures.

const LATEX = { '\\': '\\textbackslash{}', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}' };

function latexText(text) {
  return text.replace(/[\\~^&%$#_{}]/g, (c) => LATEX[c] || `\\${c}`);
}

// A tree without its root `TOP`, which papers leave out; `node` and `leaf` write.
function writeTree(tree, node, leaf) {
  const write = (one) => node(one, one.children.map((child) => (typeof child === 'number' ? leaf(child) : write(child))).join(' '));
  const [root] = tree.nodes;
  const only = root.children.length === 1 && typeof root.children[0] !== 'number';
  return write(only && root.label === 'TOP' ? root.children[0] : root);
}

function qtreeText(tree) {
  const word = (text) => `{${latexText(text)}}`;
  return '\\Tree ' + writeTree(tree, (node, inside) => `[.${word(node.label)} ${inside} ]`,
    (at) => `[.${word(tree.tags[at])} ${word(tree.words[at])} ]`);
}

function forestText(tree) {
  const word = (text) => `{${latexText(text)}}`;
  return '\\begin{forest}\n' + writeTree(tree, (node, inside) => `[${word(node.label)} ${inside}]`,
    (at) => `[${word(tree.tags[at])} [${word(tree.words[at])}]]`) + '\n\\end{forest}';
}

const PAINTED = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'text-decoration'];

// An SVG that looks the same without the styles of the page.
function standalone(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((element, at) => {
    const style = getComputedStyle(originals[at]);
    for (const name of PAINTED) element.setAttribute(name, style.getPropertyValue(name));
  });
  const { width, height } = svg.viewBox.baseVal;
  setAll(copy, { xmlns: SVG, width, height });
  return new XMLSerializer().serializeToString(copy);
}

// A drawing as a PNG of twice its size.
async function pngOf(svg) {
  const address = URL.createObjectURL(new Blob([standalone(svg)], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = 2 * svg.viewBox.baseVal.width;
    canvas.height = 2 * svg.viewBox.baseVal.height;
    const context = canvas.getContext('2d');
    context.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const png = await new Promise((done) => canvas.toBlob(done, 'image/png'));
    if (!png) throw new Error('the tree is too large for a picture');
    return png;
  } finally {
    URL.revokeObjectURL(address);
  }
}

function save(blob, name) {
  const link = make('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
