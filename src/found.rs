//! The output for a match of a tree search, and its limits: the same for `find`, for the server, and in a browser.

use std::ops::ControlFlow::{self, Break, Continue};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::find::{Match, Pattern, Position, Searcher};
use crate::text::Layout;
use crate::tree::heads::HeadRules;
use crate::tree::{Child, TRACE, Tree};
use crate::treebank::penn;

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 1_000;
/// How many nodes are tried in one tree: less than a second.
const MAX_STEPS: u64 = 10_000_000;
/// How many matches of one tree are written, and about how many bytes.
const MAX_MATCHES: usize = 10_000;
const MAX_BYTES: usize = 8 << 20;

/// A pattern that trees are searched for.
#[derive(Debug)]
pub struct Search {
    pattern: Pattern,
    heads: HeadRules,
    once: bool,
}

impl Search {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// When it is wrong or too long.
    pub fn new(pattern: &str, heads: HeadRules, once: bool) -> Result<Self> {
        if pattern.len() > MAX_PATTERN {
            let problem = format!("more than {MAX_PATTERN} bytes: make it shorter");
            return Err(Error::config("pattern", problem));
        }
        Ok(Self { pattern: Pattern::parse(pattern)?, heads, once })
    }

    /// Calls `write` with every match in a tree, until there is too much of it in `out`.
    ///
    /// # Errors
    /// When the search takes too long or finds too much.
    pub fn write_all(
        &self,
        tree: &Tree,
        out: &mut Vec<u8>,
        mut write: impl FnMut(usize, &Match<'_>, &mut Vec<u8>),
    ) -> Result<()> {
        let searcher = Searcher::new(&self.pattern).with_heads(&self.heads).once(self.once);
        let (start, mut count, mut is_too_much) = (out.len(), 0, false);
        searcher.within(MAX_STEPS).for_each(tree, |found| -> ControlFlow<()> {
            is_too_much = count == MAX_MATCHES || out.len() - start > MAX_BYTES;
            if is_too_much {
                return Break(());
            }
            write(count, &found, out);
            count += 1;
            Continue(())
        })?;
        if is_too_much {
            let problem = format!(
                "more than {MAX_MATCHES} matches, or {} MB of them, in one tree: make the pattern narrower",
                MAX_BYTES >> 20
            );
            return Err(Error::config("pattern", problem));
        }
        Ok(())
    }
}

/// A tree that is searched, and where it is from.
#[derive(Debug, Clone, Copy)]
pub struct Searched<'s> {
    /// The tree.
    pub tree: &'s Tree,
    /// Its number, from 1.
    pub number: u64,
    /// The name of its file.
    pub file: Option<&'s str>,
    /// The raw text.
    pub layout: Option<&'s Layout>,
}

/// A match in JSON.
#[derive(Serialize)]
struct JsonMatch<'j> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'j str>,
    tree: u64,
    #[serde(flatten)]
    node: JsonNode<'j>,
    brackets: String,
    nodes: Map<String, Value>,
}

#[derive(Serialize)]
struct JsonNode<'j> {
    /// Its number in the order in which nodes open; tags and words are nodes.
    node: u32,
    label: &'j str,
    /// The span in tokens.
    span: (u32, u32),
    words: String,
    /// The span in characters of raw text.
    #[serde(skip_serializing_if = "Option::is_none")]
    characters: Option<(u64, u64)>,
}

impl Searched<'_> {
    /// The words of a node, without traces, as in the text.
    pub fn words(&self, position: Position) -> String {
        let (start, end) = position.span(self.tree);
        self.words_of(start, end)
    }

    /// The words from one token to before another.
    ///
    /// # Panics
    /// If the tree has fewer tokens.
    pub fn words_of(&self, start: u32, end: u32) -> String {
        let mut words = String::new();
        for token in &self.tree.tokens()[start as usize..end as usize] {
            if token.tag != TRACE {
                words.push_str(if words.is_empty() { "" } else { " " });
                words.push_str(&penn::unescape(&token.word));
            }
        }
        words
    }

    /// Writes the brackets of a node; a word stands alone.
    pub fn write_brackets(&self, position: Position, out: &mut Vec<u8>) {
        let top = match position {
            Position::Node(id) => Child::Node(id),
            Position::Tag(token) => Child::Token(token),
            Position::Word(_) => {
                return out.extend_from_slice(penn::escape(position.label(self.tree)).as_bytes());
            }
        };
        // Writing to memory does not fail.
        let _ = penn::write_subtree(self.tree, top, out);
    }

    /// Writes a match as a line of JSON; `position` is that of the node that is shown, which is found or named.
    pub fn write_json(&self, position: Position, found: &Match<'_>, out: &mut Vec<u8>) {
        let mut brackets = Vec::new();
        self.write_brackets(position, &mut brackets);
        let named = |(name, position): (&str, Position)| {
            let node = serde_json::to_value(self.json_node(position, found)).unwrap_or_default();
            (name.to_owned(), node)
        };
        let object = JsonMatch {
            file: self.file,
            tree: self.number,
            node: self.json_node(position, found),
            brackets: String::from_utf8_lossy(&brackets).into_owned(),
            nodes: found.nodes().map(named).collect(),
        };
        // Writing to memory does not fail.
        let _ = serde_json::to_writer(&mut *out, &object);
        out.push(b'\n');
    }

    fn json_node(&self, position: Position, found: &Match<'_>) -> JsonNode<'_> {
        let (start, end) = position.span(self.tree);
        let characters = self.layout.and_then(|layout| {
            let spans = layout.spans.get(start as usize..end as usize)?;
            Some((spans.first()?.start, spans.last()?.end))
        });
        JsonNode {
            node: found.number(position),
            label: position.label(self.tree),
            span: (start, end),
            words: self.words(position),
            characters,
        }
    }
}
