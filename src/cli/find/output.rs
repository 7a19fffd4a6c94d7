//! What is printed of a match.

use std::io::Write;

use console::measure_text_width;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{FindArgs, FindOutput};
use crate::cli::page;
use crate::cli::page::trees::{PageTree, SentenceTrees};
use crate::cli::sentences::Sentence;
use crate::find::{Match, Position};
use crate::tree::{Child, TRACE};
use crate::treebank::penn;

/// The output of the matches of a tree.
pub(super) struct Output<'o> {
    pub(super) args: &'o FindArgs,
    pub(super) sentence: &'o Sentence,
}

/// A match in JSON.
#[derive(Serialize)]
struct JsonMatch<'j> {
    file: &'j str,
    tree: u64,
    #[serde(flatten)]
    node: JsonNode<'j>,
    brackets: String,
    nodes: Map<String, Value>,
}

#[derive(Serialize)]
struct JsonNode<'j> {
    label: &'j str,
    /// The span in tokens.
    span: (u32, u32),
    words: String,
    /// The span in characters of raw text.
    #[serde(skip_serializing_if = "Option::is_none")]
    characters: Option<(u64, u64)>,
}

impl Output<'_> {
    /// Whether whole trees are printed.
    pub(super) fn is_of_trees(&self) -> bool {
        matches!(self.args.output, FindOutput::Trees | FindOutput::Html)
    }

    /// The words of a node, without traces, as in the text.
    pub(super) fn words(&self, position: Position) -> String {
        let (start, end) = position.span(&self.sentence.tree);
        self.words_of(start, end)
    }

    fn words_of(&self, start: u32, end: u32) -> String {
        let mut words = String::new();
        for token in &self.sentence.tree.tokens()[start as usize..end as usize] {
            if token.tag != TRACE {
                words.push_str(if words.is_empty() { "" } else { " " });
                words.push_str(&penn::unescape(&token.word));
            }
        }
        words
    }

    /// Writes a match as a line. Writing to memory does not fail.
    pub(super) fn write(&self, position: Position, found: &Match<'_>, out: &mut Vec<u8>) {
        if self.args.output == FindOutput::Json {
            let _ = serde_json::to_writer(&mut *out, &self.json(position, found));
            out.push(b'\n');
            return;
        }
        self.write_place(out);
        match self.args.output {
            FindOutput::Words => out.extend_from_slice(self.words(position).as_bytes()),
            FindOutput::Kwic => self.write_in_context(position, out),
            _ => self.write_brackets(position, out),
        }
        out.push(b'\n');
    }

    fn write_place(&self, out: &mut Vec<u8>) {
        if !self.args.no_place {
            let _ = write!(out, "{}:{}\t", self.sentence.file, self.sentence.number);
        }
    }

    fn write_brackets(&self, position: Position, out: &mut Vec<u8>) {
        let tree = &self.sentence.tree;
        let top = match position {
            Position::Node(id) => Child::Node(id),
            Position::Tag(token) => Child::Token(token),
            Position::Word(_) => {
                return out.extend_from_slice(penn::escape(position.label(tree)).as_bytes());
            }
        };
        let _ = penn::write_subtree(tree, top, out);
    }

    fn json(&self, position: Position, found: &Match<'_>) -> JsonMatch<'_> {
        let mut brackets = Vec::new();
        self.write_brackets(position, &mut brackets);
        let named = |(name, position): (&str, Position)| {
            let node = serde_json::to_value(self.json_node(position)).unwrap_or_default();
            (name.to_owned(), node)
        };
        JsonMatch {
            file: &self.sentence.file,
            tree: self.sentence.number,
            node: self.json_node(position),
            brackets: String::from_utf8_lossy(&brackets).into_owned(),
            nodes: found.nodes().map(named).collect(),
        }
    }

    fn json_node(&self, position: Position) -> JsonNode<'_> {
        let (start, end) = position.span(&self.sentence.tree);
        let characters = self.sentence.layout.as_ref().and_then(|layout| {
            let spans = layout.spans.get(start as usize..end as usize)?;
            Some((spans.first()?.start, spans.last()?.end))
        });
        let label = position.label(&self.sentence.tree);
        JsonNode { label, span: (start, end), words: self.words(position), characters }
    }

    /// Writes the words of a node between what stands before and after them.
    fn write_in_context(&self, position: Position, out: &mut Vec<u8>) {
        let (start, end) = position.span(&self.sentence.tree);
        let (width, n) = (self.args.width, self.sentence.tree.tokens().len() as u32);
        let before = self.words_of(0, start);
        let before = last_columns(&before, width);
        let after = self.words_of(end, n);
        let space = " ".repeat(width - measure_text_width(before));
        let words = self.words(position);
        let _ = write!(out, "{space}{before}  {words}  {}", first_columns(&after, width));
        while out.last() == Some(&b' ') {
            out.pop();
        }
    }

    /// Writes the whole tree.
    pub(super) fn write_tree(&self, positions: &[Position], out: &mut Vec<u8>) {
        let Sentence { tree, file, number, .. } = self.sentence;
        if self.args.output == FindOutput::Html {
            let name = format!("{file}:{number}");
            let trees = vec![PageTree::with_found(tree, positions)];
            let sentence = SentenceTrees { n: None, name: Some(&name), trees, problem: None };
            let _ = page::write_line(&sentence, out);
            return;
        }
        self.write_place(out);
        let _ = penn::write_line(tree, out);
    }
}

/// As much of the end of a text as fits into a number of columns.
fn last_columns(text: &str, width: usize) -> &str {
    if measure_text_width(text) <= width {
        return text;
    }
    let mut from = text.len();
    for (at, _) in text.char_indices().rev() {
        if measure_text_width(&text[at..]) > width {
            break;
        }
        from = at;
    }
    &text[from..]
}

/// As much of the beginning of a text as fits.
fn first_columns(text: &str, width: usize) -> &str {
    let mut to = 0;
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        if measure_text_width(&text[..end]) > width {
            break;
        }
        to = end;
    }
    &text[..to]
}
