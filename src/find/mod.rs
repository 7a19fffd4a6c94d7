//! Tree search in the language of Tregex (Levy and Andrew, 2006, "Tregex and Tsurgeon", LREC), as CoreNLP documents it.
//!
//! ```
//! use srparse::find::{Pattern, Searcher};
//! # fn main() -> srparse::Result<()> {
//! let tree: srparse::Tree = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))".parse()?;
//! let pattern = Pattern::parse("NP < NN=noun $+ VP")?;
//! let mut searcher = Searcher::new(&pattern);
//! let found = searcher.find(&tree)?;
//! assert_eq!(found.len(), 1);
//! assert_eq!(found[0].position.label(&tree), "NP");
//! assert_eq!(found[0].nodes[0].0, "noun");
//! # Ok(())
//! # }
//! ```
//!
//! Promises:
//! 1. A pattern has the same matches as in CoreNLP's Tregex 3.4.1, each as often as there are ways to find it, ordered by
//!    the node that is found. Of several nodes for an optional relation (`?`) the first in reading order is taken.
//! 2. Any text is a pattern or gets an error with its column.
//! 3. Trees of any depth are searched without recursion.
//!
//! Differences from Tregex: expressions are those of the crate `fancy-regex`, in which `\w`, `\d` and `\s` know all of
//! Unicode, and `\Q`, `\h` and the names of Java's character classes are unknown; `?[…]` counts once, where Tregex never
//! ends; a number can be a label where no position can stand, and no label has quotation marks.

#[doc(hidden)]
pub mod complexity;
mod index;
mod labels;
mod parser;
mod program;
mod relation;
mod scanner;
mod search;
#[cfg(test)]
mod tests;
#[doc(hidden)]
pub mod transform;

use std::ops::ControlFlow::{self, Break, Continue};

use crate::error::{Error, Result};
use crate::tree::Tree;
use crate::tree::heads::HeadRules;
pub use index::Position;
use index::{NONE, TreeIndex, View};
use labels::Labels;
#[doc(hidden)]
pub use labels::basic_category;
use program::Program;
use scanner::Scanner;
use search::{Memory, Search};

/// The head rules of searches unless others are given.
#[doc(hidden)]
pub const HEADS: &str = "collins-modified";

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    program: Program,
    text: String,
    warnings: Vec<String>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// ```
    /// use srparse::find::Pattern;
    /// let error = Pattern::parse("NP < DT VP").unwrap_err();
    /// assert!(error.to_string().starts_with("pattern:1:9: "));
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Syntax`], with the column.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_at(text, "pattern", 1)
    }

    /// Compiles a pattern from a file that messages call `name`, in which it begins at a line.
    ///
    /// # Errors
    /// As [`Pattern::parse`].
    pub fn parse_at(text: &str, name: &str, line: u64) -> Result<Self> {
        let (program, warnings) = parser::parse(&mut Scanner::new(text, name, line))?;
        Ok(Self { program, text: text.to_owned(), warnings })
    }

    /// The text of the pattern.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that it gives to nodes, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.program.names.iter().map(String::as_str)
    }

    /// Whether head rules decide some of its relations.
    pub fn needs_heads(&self) -> bool {
        self.program.needs_heads
    }

    /// Patterns that are allowed and seldom meant, with the place.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// A match, during the call of the visitor of [`Searcher::for_each`].
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Match<'m> {
    index: &'m TreeIndex,
    at: u32,
    names: &'m [u32],
    pattern: &'m Pattern,
}

impl<'m> Match<'m> {
    /// The node that was found.
    pub fn position(&self) -> Position {
        self.index.origin(self.at)
    }

    /// The number of a node of the tree, in the order in which nodes open, from 0: tags and words are nodes too.
    pub fn number(&self, position: Position) -> u32 {
        self.index.number(position)
    }

    /// The node with a name; `None` if there is none, as after an optional relation.
    pub fn named(&self, name: &str) -> Option<Position> {
        self.nodes().find(|(known, _)| *known == name).map(|(_, position)| position)
    }

    /// The named nodes, in the order of the pattern.
    pub fn nodes(&self) -> impl Iterator<Item = (&'m str, Position)> + use<'m> {
        let Self { index, names, pattern, .. } = *self;
        let named = pattern.names().zip(names).filter(|&(_, &at)| at != NONE);
        named.map(|(name, &at)| (name, index.origin(at)))
    }
}

/// A match that does not borrow from the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The node that was found.
    pub position: Position,
    /// The named nodes, in the order of the pattern.
    pub nodes: Vec<(String, Position)>,
}

/// Searches trees for a pattern, one after the other, with memory that is used again. Each thread needs its own.
#[derive(Debug)]
pub struct Searcher<'p> {
    pattern: &'p Pattern,
    heads: Option<HeadRules>,
    labels: Labels,
    index: TreeIndex,
    memory: Memory,
    is_once: bool,
    max_steps: u64,
}

impl<'p> Searcher<'p> {
    /// A searcher with the head rules [`HEADS`].
    ///
    /// # Panics
    /// Never: the rules are built in.
    pub fn new(pattern: &'p Pattern) -> Self {
        let heads = pattern.needs_heads().then(|| HeadRules::named(HEADS));
        let heads = heads.map(|rules| rules.expect("the rules are built in"));
        Self {
            pattern,
            heads,
            labels: Labels::new(&pattern.program.tests),
            index: TreeIndex::default(),
            memory: Memory::default(),
            is_once: false,
            max_steps: u64::MAX,
        }
    }

    /// The searcher with other head rules.
    #[must_use]
    pub fn with_heads(self, rules: &HeadRules) -> Self {
        Self { heads: self.pattern.needs_heads().then(|| rules.clone()), ..self }
    }

    /// The searcher that finds each node once, in the first of its ways.
    #[must_use]
    pub fn once(self, is_once: bool) -> Self {
        Self { is_once, ..self }
    }

    /// The searcher that gives up a tree after so many steps, each of which tries a node of the tree.
    ///
    /// ```
    /// use srparse::find::{Pattern, Searcher};
    /// # fn main() -> srparse::Result<()> {
    /// let tree: srparse::Tree = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))".parse()?;
    /// let pattern = Pattern::parse("__=a : __=b : __=c : (DT > =a !> __)")?;
    /// assert!(Searcher::new(&pattern).find(&tree)?.is_empty());
    /// assert!(Searcher::new(&pattern).within(100).find(&tree).is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn within(self, max_steps: u64) -> Self {
        Self { max_steps, ..self }
    }

    /// Calls `visit` with every match, until it breaks.
    ///
    /// # Errors
    /// When an expression takes too many steps on a label of the tree, or the search more than it may.
    #[doc(hidden)]
    pub fn for_each(
        &mut self,
        tree: &Tree,
        mut visit: impl FnMut(Match<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        if !self.read(tree, false)? {
            return Ok(());
        }
        let Self { pattern, index, labels, memory, is_once, .. } = self;
        let view = View { index, labels };
        let mut search = Search { program: &pattern.program, view, memory };
        for at in 0..index.len() {
            let mut is_over = false;
            for &root in &pattern.program.roots {
                let mut sink = |names: &[u32]| {
                    is_over = visit(Match { index, at, names, pattern }).is_break();
                    if is_over || *is_once { Break(()) } else { Continue(()) }
                };
                if search.at(root, at, &mut sink).is_break() {
                    break;
                }
            }
            if is_over {
                return Ok(());
            }
        }
        self.finished()
    }

    /// Nothing, unless the search was given up.
    fn finished(&self) -> Result<()> {
        if self.memory.is_exhausted() {
            let problem = format!(
                "the search takes more than {} steps in one tree: make the pattern simpler",
                self.max_steps
            );
            return Err(Error::config("pattern", problem));
        }
        Ok(())
    }

    /// All matches.
    ///
    /// # Errors
    /// As [`Searcher::for_each`].
    pub fn find(&mut self, tree: &Tree) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        self.for_each(tree, |one| {
            let nodes = one.nodes().map(|(name, position)| (name.to_owned(), position)).collect();
            found.push(Found { position: one.position(), nodes });
            Continue(())
        })?;
        Ok(found)
    }

    /// The number of matches; `u64::MAX` stands for more.
    ///
    /// # Errors
    /// As [`Searcher::for_each`].
    pub fn count(&mut self, tree: &Tree) -> Result<u64> {
        let mut count = 0_u64;
        if self.is_once || !self.pattern.program.is_closed {
            self.for_each(tree, |_| {
                count += 1;
                Continue(())
            })?;
            return Ok(count);
        }
        if !self.read(tree, true)? {
            return Ok(0);
        }
        let Self { pattern, index, labels, memory, .. } = self;
        let view = View { index, labels };
        let mut search = Search { program: &pattern.program, view, memory };
        for at in 0..index.len() {
            for &root in &pattern.program.roots {
                count = count.saturating_add(search.count(root, at));
            }
        }
        self.finished().map(|()| count)
    }

    /// Prepares a tree; returns false if it has no match, because it lacks labels.
    fn read(&mut self, tree: &Tree, counts: bool) -> Result<bool> {
        self.labels.begin_tree();
        let required = self.pattern.program.required;
        let passed = self.index.read_labels(tree, &mut self.labels);
        if let Some(fault) = self.labels.take_fault() {
            return Err(fault);
        }
        if passed & required != required {
            return Ok(false);
        }
        self.index.read_shape(tree);
        if let Some(rules) = &self.heads {
            self.index.read_heads(tree, rules);
        }
        self.memory.begin(&self.pattern.program, self.index.len(), counts, self.max_steps);
        Ok(true)
    }
}
