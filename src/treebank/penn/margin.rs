//! Brackets where trees begin, at the margin: they may begin the next tree though the last one is not closed.

use std::io::Read;

use compact_str::CompactString;

use super::{CLASS, Inside, PennReader, SPACE, is_space};
use crate::error::Result;
use crate::tree::is_root_label;
use crate::treebank::text_window::More;

/// How far the reader looks for the ends of trees that may go on, in bytes, until a whole tree is read, and past how many
/// trees.
const MAX_LOOKED: usize = 16 << 20;
const MAX_TREES: usize = 64;
/// The number of bytes that have any label of a root.
const MAX_LABEL: usize = 256;

/// Where the trees so far began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Margin {
    /// There was none.
    Unknown,
    /// At the beginning of lines with this indentation.
    At(u64),
    /// Elsewhere.
    Varies,
}

impl<R: Read> PennReader<R> {
    /// Notes where a tree begins.
    pub(super) fn begins_at(&mut self, position: usize) {
        self.indentation = self.text.indentation(position);
        self.is_flush_left = false;
        self.margin = match (self.margin, self.indentation) {
            (Margin::Unknown, Some(own)) => Margin::At(own),
            (Margin::At(margin), Some(own)) if own == margin => Margin::At(own),
            _ => Margin::Varies,
        };
    }

    /// Returns whether a bracket inside a tree stands where trees begin: at the beginning of a line or, in a file with
    /// malformed trees, indented no more than this tree.
    #[inline]
    pub(super) fn is_at_margin(&self, at: usize) -> bool {
        let is_indented = || Some(self.text.indentation(at)? <= self.indentation?);
        self.text.starts_line(at) || self.lenient && is_indented() == Some(true)
    }

    /// Checks a bracket at the margin inside a tree, which may begin the next tree.
    pub(super) fn check_margin(&mut self, inside: &Inside) -> Result<()> {
        if matches!(inside, Inside::Bracket) && self.builder.depth() == 0 {
            return Ok(());
        }
        if self.begins_tree(self.open_brackets(inside))? {
            self.text.pos -= 1;
            return Err(self.unclosed(inside, "the next tree begins"));
        }
        Ok(())
    }

    /// Returns whether the bracket before the position, which is at the margin, begins a tree, although `open` brackets
    /// are open.
    pub(super) fn begins_tree(&mut self, open: usize) -> Result<bool> {
        // A label must be whole.
        while !self.text.window()[self.text.pos..].trim_start_matches(is_space).contains(is_stop)
            && self.more(self.text.pos - 1)? == More::Text
        {}
        let is_root = begins_with_root(&self.text.window()[self.text.pos..]);
        if is_root || !self.lenient || self.is_flush_left {
            return Ok(is_root);
        }
        self.is_flush_left = self.goes_on(open)?;
        Ok(!self.is_flush_left)
    }

    /// Returns whether a tree goes on with the bracket before the position, which is at the margin: its `open` brackets are
    /// closed before [`MAX_TREES`] brackets at the margin could have begun other trees, no root is among these, and one has
    /// another label than the tree, unless whole trees so far had brackets at the margin.
    fn goes_on(&mut self, open: usize) -> Result<bool> {
        let root = CompactString::from(self.builder.root_label().unwrap_or_default());
        let is_like_root = |text: &str| !root.is_empty() && label(text) == root;
        let mut has_other =
            self.was_flush_left || !is_like_root(&self.text.window()[self.text.pos..]);
        // After a stray bracket as many are open as can be counted.
        let open = i64::try_from(open).unwrap_or(i64::MAX);
        let (mut depth, mut trees) = (1_i64, 0);
        let margin = self.indentation.unwrap_or(0);
        let (mut length, mut before, mut indentation) = (0, b'(', None);
        let mut is_all = false;
        while self.looked + length < MAX_LOOKED {
            let at = self.text.pos + length;
            let Some(&byte) = self.text.window().as_bytes().get(at) else {
                match self.more(self.text.pos - 1)? {
                    More::Text => continue,
                    More::End | More::Bad => return self.look_in_vain(length),
                }
            };
            // A label must be whole.
            if byte == b'(' && !is_all && self.text.window().len() < at + MAX_LABEL {
                is_all = self.more(self.text.pos - 1)? != More::Text;
                continue;
            }
            match byte {
                b'(' if before != b'\\' => {
                    if indentation.is_some_and(|width| width <= margin) {
                        let inside = &self.text.window()[at + 1..];
                        if depth == 0 {
                            trees += 1;
                            has_other |= !is_like_root(inside);
                        }
                        if trees == MAX_TREES || begins_with_root(inside) {
                            return self.look_in_vain(length);
                        }
                    }
                    depth += 1;
                }
                b')' if before != b'\\' => {
                    depth -= 1;
                    if depth == -open {
                        return Ok(has_other);
                    }
                }
                _ => {}
            }
            indentation = indentation_after(indentation, byte);
            (before, length) = (byte, length + 1);
        }
        // Nothing shows that another tree begins.
        Ok(true)
    }

    fn look_in_vain(&mut self, length: usize) -> Result<bool> {
        self.looked += length;
        Ok(false)
    }
}

/// Returns how much white space the line begins with after one more byte; `None` after anything else.
pub(super) fn indentation_after(before: Option<u64>, byte: u8) -> Option<u64> {
    match byte {
        b'\n' => Some(0),
        byte if CLASS[usize::from(byte)] == SPACE => before.map(|width| width + 1),
        _ => None,
    }
}

/// Returns whether the text after a bracket certainly begins a tree: with no label, or with that of a root.
fn begins_with_root(text: &str) -> bool {
    let label = label(text);
    is_root_label(label) || label.is_empty() && !text.trim_start_matches(is_space).is_empty()
}

/// Returns the label after a bracket.
fn label(text: &str) -> &str {
    let text = text.trim_start_matches(is_space);
    &text[..text.find(is_stop).unwrap_or(text.len())]
}

/// Returns whether a character ends a label.
fn is_stop(c: char) -> bool {
    is_space(c) || matches!(c, '(' | ')')
}
