//! Drawings of trees: as indented text, which stays readable for wide trees, and as SVG.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use super::{Child, NodeId, Tree};

/// Deeper levels are drawn at this indentation, with their number; otherwise the size of a drawing would be
/// quadratic in the depth.
const DEEPEST: usize = 60;

/// Draws a tree as text, one node or token per line.
///
/// ```
/// use srparse::tree::{TreeBuilder, draw};
/// let mut builder = TreeBuilder::new();
/// builder.open("S");
/// builder.open("NP");
/// builder.token("dogs", "NNS");
/// builder.close();
/// builder.token("bark", "VBP");
/// builder.close();
/// let mut out = Vec::new();
/// draw::text(&builder.finish(), &mut out).unwrap();
/// assert_eq!(String::from_utf8(out).unwrap(), "S\n├─ NP\n│  └─ NNS  dogs\n└─ VBP  bark\n");
/// ```
///
/// # Errors
/// When writing fails.
pub fn text(tree: &Tree, out: &mut impl Write) -> io::Result<()> {
    text_in(tree, &TextStyle::default(), out)
}

/// How a tree is drawn as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextStyle {
    /// Lines of ASCII characters instead of box-drawing ones.
    pub ascii: bool,
    /// The number of columns after which lines are cut; a cut line ends in `…`, or `>` in ASCII.
    pub width: Option<usize>,
}

/// The parts of the lines of a drawing.
struct Lines {
    through: &'static str,
    branch: &'static str,
    last: &'static str,
    cut: &'static str,
}

const UNICODE: Lines = Lines { through: "│  ", branch: "├─ ", last: "└─ ", cut: "…" };
const ASCII: Lines = Lines { through: "|  ", branch: "|- ", last: "`- ", cut: ">" };

/// The same as [`text`], in a style.
///
/// # Errors
/// When writing fails.
pub fn text_in(tree: &Tree, style: &TextStyle, out: &mut impl Write) -> io::Result<()> {
    let Some(root) = tree.root() else { return writeln!(out, "()") };
    let lines = if style.ascii { &ASCII } else { &UNICODE };
    let mut line = shown(&tree.node(root).label);
    write_cut(&line, style, lines, out)?;
    // Open nodes with their next child; `rails` has for each whether its vertical line continues.
    let mut stack = vec![(root, 0)];
    let mut rails: Vec<bool> = Vec::new();
    while let Some((id, next)) = stack.last_mut() {
        let children = tree.children(*id);
        let Some(&child) = children.get(*next) else {
            stack.pop();
            rails.pop();
            continue;
        };
        *next += 1;
        let last = *next == children.len();
        line.clear();
        for &rail in rails.iter().take(DEEPEST) {
            line.push_str(if rail { lines.through } else { "   " });
        }
        if rails.len() > DEEPEST {
            // Writing to a string does not fail.
            let _ = write!(line, "[{}] ", rails.len() + 1);
        }
        line.push_str(if last { lines.last } else { lines.branch });
        match child {
            Child::Token(position) => {
                let token = &tree.tokens()[position as usize];
                line.extend([&shown(&token.tag), "  ", &shown(&token.word)]);
            }
            Child::Node(id) => {
                line.push_str(&shown(&tree.node(id).label));
                stack.push((id, 0));
                rails.push(!last);
            }
        }
        write_cut(&line, style, lines, out)?;
    }
    Ok(())
}

/// Writes a line, cut to the width of the style.
fn write_cut(line: &str, style: &TextStyle, lines: &Lines, out: &mut impl Write) -> io::Result<()> {
    let width = style.width.unwrap_or(usize::MAX);
    let (mut columns, mut kept, mut is_cut) = (0, 0, false);
    for (at, c) in line.char_indices() {
        columns += cells(c) as usize;
        if columns > width {
            is_cut = true;
            break;
        }
        if columns < width {
            kept = at + c.len_utf8();
        }
    }
    if is_cut { writeln!(out, "{}{}", &line[..kept], lines.cut) } else { writeln!(out, "{line}") }
}

/// A label or word as drawn: something, on one line.
pub(crate) fn shown(text: &str) -> String {
    if text.is_empty() {
        return "()".to_owned();
    }
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Sizes of the SVG drawing, in pixels.
const CELL: f64 = 8.5;
const FONT: u32 = 14;
const GAP: f64 = 14.0;
const LEVEL: f64 = 46.0;
const LINE: f64 = 18.0;
const MARGIN: f64 = 12.0;

/// Draws a tree as a self-contained SVG file, the root at the top.
///
/// # Errors
/// When writing fails.
pub fn svg(tree: &Tree, out: &mut impl Write) -> io::Result<()> {
    let layout = Layout::of(tree);
    let width = layout.width + 2.0 * MARGIN;
    let height = layout.height + 2.0 * MARGIN;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"monospace\" font-size=\"{FONT}\" \
         text-anchor=\"middle\">"
    )?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
    writeln!(out, "<g stroke=\"#888\" fill=\"none\">")?;
    for id in tree.ids() {
        let from = layout.nodes[id.index()];
        for &child in tree.children(id) {
            let to = layout.at(child);
            let (y1, y2) = (from.y + 5.0, to.y - f64::from(FONT));
            writeln!(
                out,
                "<line x1=\"{:.1}\" y1=\"{y1:.1}\" x2=\"{:.1}\" y2=\"{y2:.1}\"/>",
                from.x, to.x
            )?;
        }
    }
    writeln!(out, "</g>\n<g fill=\"#00539c\">")?;
    for (node, at) in tree.nodes().iter().zip(&layout.nodes) {
        writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", at.x, at.y, Xml(&node.label))?;
    }
    writeln!(out, "</g>\n<g>")?;
    for (token, at) in tree.tokens().iter().zip(&layout.tokens) {
        let (x, y, below) = (at.x, at.y, at.y + LINE);
        writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"#555\">{}</text>", Xml(&token.tag))?;
        writeln!(out, "<text x=\"{x:.1}\" y=\"{below:.1}\">{}</text>", Xml(&token.word))?;
    }
    writeln!(out, "</g>\n</svg>")
}

/// Where a label stands: the middle of its baseline.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spot {
    x: f64,
    y: f64,
}

#[derive(Debug, Default)]
struct Layout {
    nodes: Vec<Spot>,
    tokens: Vec<Spot>,
    width: f64,
    height: f64,
}

impl Layout {
    /// Computes widths bottom-up, then positions top-down; both are loops over the nodes.
    fn of(tree: &Tree) -> Self {
        let mut widths = vec![0.0; tree.nodes().len()];
        for id in tree.ids() {
            let below = row_width(tree, id, &widths);
            widths[id.index()] = f64::max(below, pixels(&tree.node(id).label));
        }
        let mut layout = Self {
            nodes: vec![Spot::default(); tree.nodes().len()],
            tokens: vec![Spot::default(); tree.tokens().len()],
            ..Self::default()
        };
        let mut left = vec![MARGIN; tree.nodes().len()];
        if let Some(root) = tree.root() {
            layout.width = widths[root.index()];
            layout.nodes[root.index()].y = MARGIN + f64::from(FONT);
        }
        for id in tree.ids().rev() {
            let y = layout.nodes[id.index()].y;
            layout.height = layout.height.max(y);
            let spare = widths[id.index()] - row_width(tree, id, &widths);
            let mut x = left[id.index()] + spare / 2.0;
            for &child in tree.children(id) {
                let width = child_width(tree, child, &widths);
                match child {
                    Child::Node(child) => {
                        left[child.index()] = x;
                        layout.nodes[child.index()].y = y + LEVEL;
                    }
                    Child::Token(position) => {
                        layout.tokens[position as usize] =
                            Spot { x: x + width / 2.0, y: y + LEVEL };
                        layout.height = layout.height.max(y + LEVEL + LINE);
                    }
                }
                x += width + GAP;
            }
        }
        // A parent is centred over its outer children, within the strip that was reserved for it.
        for id in tree.ids() {
            let middle = match tree.children(id) {
                [] => left[id.index()],
                [first, .., last] => (layout.at(*first).x + layout.at(*last).x) / 2.0,
                [only] => layout.at(*only).x,
            };
            let half = pixels(&tree.node(id).label) / 2.0;
            let right = left[id.index()] + widths[id.index()];
            layout.nodes[id.index()].x = middle.min(right - half).max(left[id.index()] + half);
        }
        layout
    }

    fn at(&self, child: Child) -> Spot {
        match child {
            Child::Node(id) => self.nodes[id.index()],
            Child::Token(position) => self.tokens[position as usize],
        }
    }
}

/// The width of the children of a node side by side.
fn row_width(tree: &Tree, id: NodeId, widths: &[f64]) -> f64 {
    let children = tree.children(id);
    let gaps = GAP * children.len().saturating_sub(1) as f64;
    gaps + children.iter().map(|&child| child_width(tree, child, widths)).sum::<f64>()
}

fn child_width(tree: &Tree, child: Child, widths: &[f64]) -> f64 {
    match child {
        Child::Node(id) => widths[id.index()],
        Child::Token(position) => {
            let token = &tree.tokens()[position as usize];
            f64::max(pixels(&token.word), pixels(&token.tag))
        }
    }
}

fn pixels(text: &str) -> f64 {
    CELL * f64::from(text.chars().map(cells).sum::<u32>())
}

/// How many columns of a monospaced font a character takes; an estimate by blocks of Unicode.
fn cells(c: char) -> u32 {
    match c as u32 {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Text escaped for XML; characters that XML forbids are replaced.
struct Xml<'a>(&'a str);

impl fmt::Display for Xml<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                    f.write_char('\u{fffd}')?;
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeBuilder;

    fn drawn(tree: &Tree) -> (String, String) {
        let (mut as_text, mut as_svg) = (Vec::new(), Vec::new());
        text(tree, &mut as_text).unwrap();
        svg(tree, &mut as_svg).unwrap();
        (String::from_utf8(as_text).unwrap(), String::from_utf8(as_svg).unwrap())
    }

    #[test]
    fn lines_go_on_where_children_follow() {
        let mut builder = TreeBuilder::new();
        builder.open("");
        builder.open("S");
        builder.token("a", "A");
        builder.close();
        builder.open("X");
        builder.close();
        builder.close();
        let (text, svg) = drawn(&builder.finish());
        assert_eq!(text, "()\n├─ S\n│  └─ A  a\n└─ X\n");
        assert_eq!(svg.matches("<line").count(), 3);
    }

    #[test]
    fn svg_escapes_what_xml_means_otherwise() {
        let mut builder = TreeBuilder::new();
        builder.open("S");
        builder.token("<&\u{1}>", "\"");
        builder.close();
        let (_, svg) = drawn(&builder.finish());
        assert!(svg.contains(">&lt;&amp;\u{fffd}&gt;</text>"), "{svg}");
    }

    #[test]
    fn siblings_do_not_overlap() {
        let mut builder = TreeBuilder::new();
        builder.open("S");
        for (label, word) in [("A-VERY-LONG-LABEL", "a"), ("B", "\u{4f60}\u{597d}\u{4f60}\u{597d}")]
        {
            builder.open(label);
            builder.token(word, "T");
            builder.token(word, "T");
            builder.close();
        }
        builder.close();
        let tree = builder.finish();
        let layout = Layout::of(&tree);
        for pair in layout.tokens.windows(2) {
            assert!(pair[1].x - pair[0].x >= CELL, "{pair:?}");
        }
        let (a, b) = (layout.nodes[0].x, layout.nodes[1].x);
        assert!(b - a >= pixels("A-VERY-LONG-LABEL") / 2.0 + pixels("B") / 2.0);
    }

    #[test]
    fn odd_trees_are_drawn_too() {
        drawn(&Tree::default());
        let depth = 20_000;
        let mut builder = TreeBuilder::new();
        (0..depth).for_each(|_| builder.open("X"));
        (0..depth).for_each(|_| builder.close());
        let (text, svg) = drawn(&builder.finish());
        assert_eq!(text.lines().count(), depth);
        assert_eq!(svg.matches("<text").count(), depth);
        assert!(text.len() < depth * 300);
    }
}
