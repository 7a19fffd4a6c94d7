//! Two trees side by side, word by word, with marks on the brackets that differ.

use std::io::{self, Write};

use console::{Style, measure_text_width};

use crate::eval::Mark;
use crate::tree::draw::shown;
use crate::tree::{TRACE, Tree, Visit};

/// Deeper nodes are indented no further.
const DEEPEST: usize = 30;
/// The right tree is not moved to the right for lines of the left one that are wider.
const WIDEST: usize = 60;

/// A line of a column.
#[derive(Debug, Clone, Default)]
struct Line {
    text: String,
    mark: Mark,
}

/// Writes a gold tree with its marks on the left and a parse on the right; a word stands on one line in both.
///
/// # Errors
/// When writing fails.
pub(super) fn write(
    columns: [(&Tree, &[Mark]); 2],
    colors: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let [left, right] = columns.map(lines_by_word);
    let widths = left.iter().flatten().map(|line| measure_text_width(&line.text));
    let width = widths.filter(|&width| width <= WIDEST).max().unwrap_or(0);
    let none = Vec::new();
    for word in 0..left.len().max(right.len()) {
        let [left, right] = [&left, &right].map(|side| side.get(word).unwrap_or(&none));
        let rows = left.len().max(right.len());
        // The line of the word is the last on both sides.
        let line = |side: &[Line], row: usize| {
            let at = (row + side.len()).checked_sub(rows);
            at.and_then(|at| side.get(at).cloned()).unwrap_or_default()
        };
        for row in 0..rows {
            let (left, right) = (line(left, row), line(right, row));
            let padding = width.saturating_sub(measure_text_width(&left.text));
            let (left, right) = (left.painted('-', colors), right.painted('+', colors));
            writeln!(out, "{}", format!("{left}{:padding$}   {right}", "").trim_end())?;
        }
    }
    Ok(())
}

impl Line {
    /// The line after the sign of its mark: `~` for another label, and that of its side for a wrong bracket.
    fn painted(&self, wrong: char, colors: bool) -> String {
        let (sign, style) = match self.mark {
            Mark::Wrong if wrong == '-' => (wrong, Style::new().red()),
            Mark::Wrong => (wrong, Style::new().blue()),
            Mark::Relabelled => ('~', Style::new().yellow()),
            Mark::Matched | Mark::Unscored => return format!("  {}", self.text),
        };
        let text = format!("{sign} {}", self.text);
        if colors { style.bold().apply_to(text).to_string() } else { text }
    }
}

/// For each word, the lines of the nodes that open before it, and its own.
fn lines_by_word((tree, marks): (&Tree, &[Mark])) -> Vec<Vec<Line>> {
    let mut words = vec![Vec::new()];
    let mut depth = 0;
    for step in tree.traverse() {
        let indent = " ".repeat(2 * depth.min(DEEPEST));
        match step {
            Visit::Open(id) => {
                let label = shown(&tree.node(id).label);
                let line = Line { text: format!("{indent}{label}"), mark: marks[id.index()] };
                words.last_mut().into_iter().for_each(|lines| lines.push(line.clone()));
                depth += 1;
            }
            Visit::Token(position) => {
                let token = &tree.tokens()[position as usize];
                let text = format!("{indent}{} {}", shown(&token.tag), shown(&token.word));
                words.last_mut().into_iter().for_each(|lines| {
                    lines.push(Line { text: text.clone(), mark: Mark::Unscored });
                });
                // Traces are words of one of the trees only.
                if token.tag != TRACE {
                    words.push(Vec::new());
                }
            }
            Visit::Close(_) => depth -= 1,
        }
    }
    words
}
