//! A tree as EVALB sees it: the words that remain after deletion, and brackets over their positions.
//!
//! Deleted words have no position, so punctuation does not affect spans. A [`Bracketing`] is collected from a
//! [`Tree`], or from a line of text read by EVALB's own lenient rules ([`Bracketing::from_line`]), under which
//! `(P this) (Q is)` is a sentence and `(NP )` an empty word.

use crate::eval::Params;
use crate::tree::{OTHER_ROOTS, TOP, Tree, Visit};

/// The end of a bracket that was never closed.
pub(crate) const UNCLOSED: u32 = u32::MAX;

/// A sentence as EVALB compares it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bracketing<'a> {
    /// The words that remain after deletion.
    pub(crate) words: Vec<Terminal<'a>>,
    /// All brackets in the order in which they open, including those that will be deleted.
    pub(crate) brackets: Vec<Bracket<'a>>,
    /// The words that may be quotes, including deleted ones.
    pub(crate) quotes: Vec<Quote<'a>>,
    /// The number of words that count for the length of the sentence.
    pub(crate) length: u32,
    /// The problem of the line, in EVALB's words.
    pub(crate) fault: Option<&'static str>,
}

/// A word that remains after deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terminal<'a> {
    pub(crate) word: &'a str,
    pub(crate) tag: &'a str,
}

/// A bracket over positions of the remaining words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bracket<'a> {
    /// The label up to the first `-` or `=`.
    pub(crate) label: &'a str,
    /// The rest of the label.
    pub(crate) functions: &'a str,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The number of children with at least one word that counts for length.
    pub(crate) children: u32,
    /// The bracket that contains it.
    parent: Option<u32>,
}

impl Bracket<'_> {
    /// Returns whether the bracket is scored: it is not empty, and its label is not deleted.
    pub(crate) fn counts(&self, params: &Params) -> bool {
        self.start != self.end && !params.deletes_bracket(self.label)
    }
}

/// A word that may be a quote, with what is needed to restore it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quote<'a> {
    pub(crate) terminal: Terminal<'a>,
    /// The position it has, or would have if it were not deleted.
    pub(crate) position: usize,
    /// The number of brackets opened before it.
    opened: usize,
    /// The bracket that contains it.
    parent: Option<u32>,
}

impl<'a> Bracketing<'a> {
    /// Collects the words and brackets of a tree; a root labelled as in [`OTHER_ROOTS`] becomes `TOP`, which EVALB's
    /// parameters expect.
    pub(crate) fn from_tree(tree: &'a Tree, params: &Params) -> Self {
        let mut builder = BracketingBuilder::new(params);
        let root = tree.root();
        for step in tree.traverse() {
            match step {
                Visit::Open(id) => {
                    let label = tree.node(id).label.as_str();
                    let is_root = Some(id) == root && OTHER_ROOTS.contains(&label);
                    builder.open(if is_root { TOP } else { label });
                }
                Visit::Token(position) => {
                    let token = &tree.tokens()[position as usize];
                    builder.word(&token.tag, &token.word);
                }
                Visit::Close(_) => builder.close(),
            }
        }
        builder.out
    }

    /// Reads a line as EVALB does.
    ///
    /// Never fails: a fault that EVALB would report is stored and makes the sentence an error when it is scored.
    /// A byte that EVALB would report forever is skipped.
    pub(crate) fn from_line(line: &'a str, params: &Params) -> Self {
        let mut builder = BracketingBuilder::new(params);
        let bytes = line.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'(' => {
                    let label_end = until(bytes, at + 1, is_terminator);
                    let label = &line[at + 1..label_end];
                    let word_start = until(bytes, label_end, |b| !is_space(b));
                    let word_end = until(bytes, word_start, is_terminator);
                    at = label_end;
                    let next = bytes.get(word_end);
                    if word_start > label_end && next == Some(&b')') {
                        builder.word(label, &line[word_start..word_end]);
                        at = word_end + 1;
                        continue;
                    }
                    if word_start > label_end && next != Some(&b'(') {
                        builder.fault("More than two elements in a bracket");
                    }
                    builder.open(label);
                }
                b')' => {
                    builder.close();
                    at += 1;
                }
                _ if is_space(byte) => at += 1,
                _ => {
                    builder.fault("Reading sentence");
                    at = until(bytes, at, is_terminator);
                }
            }
        }
        if !builder.open.is_empty() {
            builder.fault("Bracketing is unbalanced (too many open bracket)");
        }
        builder.out
    }

    /// Returns the number of scored brackets.
    pub(crate) fn count(&self, params: &Params) -> u32 {
        self.brackets.iter().filter(|bracket| bracket.counts(params)).count() as u32
    }

    /// Restores a deleted quote and shifts everything after it.
    pub(crate) fn reinsert(&mut self, quote: usize) {
        let Quote { terminal, position, opened, mut parent } = self.quotes[quote];
        self.words.insert(position.min(self.words.len()), terminal);
        for bracket in self.brackets.iter_mut().skip(opened) {
            bracket.start += 1;
            bracket.end = bracket.end.wrapping_add(1);
        }
        while let Some(open) = parent {
            let bracket = &mut self.brackets[open as usize];
            bracket.end = bracket.end.wrapping_add(1);
            parent = bracket.parent;
        }
        for later in &mut self.quotes[quote..] {
            later.position += 1;
        }
    }
}

/// Returns a label as brackets are compared: up to the first `-` or `=`.
pub(crate) fn bare_label(label: &str) -> &str {
    &label[..label.find(['-', '=']).unwrap_or(label.len())]
}

/// Returns whether C's `isspace` accepts a byte: ASCII white space, including the vertical tab.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn is_terminator(byte: u8) -> bool {
    is_space(byte) || byte == b'(' || byte == b')'
}

/// Returns the first position from `from` on that satisfies `stop`, or the end.
fn until(bytes: &[u8], from: usize, stop: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&b| stop(b)).map_or(bytes.len(), |offset| from + offset)
}

/// Builds a [`Bracketing`] from brackets in reading order.
struct BracketingBuilder<'a, 'p> {
    params: &'p Params,
    out: Bracketing<'a>,
    /// The open brackets, with the length of the sentence when they opened.
    open: Vec<(u32, u32)>,
}

impl<'a, 'p> BracketingBuilder<'a, 'p> {
    fn new(params: &'p Params) -> Self {
        Self { params, out: Bracketing::default(), open: Vec::new() }
    }

    fn open(&mut self, label: &'a str) {
        let (label, functions) = label.split_at(bare_label(label).len());
        let (start, parent) = (self.out.words.len() as u32, self.parent());
        let bracket = Bracket { label, functions, start, end: UNCLOSED, children: 0, parent };
        self.open.push((self.out.brackets.len() as u32, self.out.length));
        self.out.brackets.push(bracket);
    }

    fn close(&mut self) {
        let Some((bracket, length)) = self.open.pop() else {
            self.fault("Bracketing unbalance (too many close bracket)");
            return;
        };
        self.out.brackets[bracket as usize].end = self.out.words.len() as u32;
        if self.out.length > length {
            self.add_child();
        }
    }

    fn word(&mut self, tag: &'a str, word: &'a str) {
        if !self.params.deletes_for_length(tag) {
            self.out.length += 1;
            self.add_child();
        }
        let terminal = Terminal { word, tag };
        if self.params.may_be_quote(tag, word) {
            self.out.quotes.push(Quote {
                terminal,
                position: self.out.words.len(),
                opened: self.out.brackets.len(),
                parent: self.parent(),
            });
        }
        if !self.params.deletes(tag) {
            self.out.words.push(terminal);
        }
    }

    fn add_child(&mut self) {
        if let Some(parent) = self.parent() {
            self.out.brackets[parent as usize].children += 1;
        }
    }

    /// Returns the innermost open bracket.
    fn parent(&self) -> Option<u32> {
        self.open.last().map(|&(bracket, _)| bracket)
    }

    /// Stores the first fault of the line.
    fn fault(&mut self, fault: &'static str) {
        self.out.fault.get_or_insert(fault);
    }
}
