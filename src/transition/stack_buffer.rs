//! The stack and the buffer that the states of all systems share, and how a constituent is built over the
//! topmost items.
//!
//! Heads are optional. With head rules, the rules determine the head child of a constituent from its label
//! and children when it is built, so features see head words and dependents. Without head rules, a
//! constituent is headed by its last child: its head word is its last word, and there are no dependents. A
//! system whose actions name the head child sets it itself.

use std::ops::Range;
use std::sync::Arc;

use super::built_tree::tree_of;
use super::head_finder::HeadFinder;
use super::state::{Constituent, Dependents, Forest, clone_in_place};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::{Token, Tree};

/// A stack of complete items and a buffer. In item systems the stack is the frontier, and the buffer is empty.
#[derive(Debug)]
pub struct StackBuffer {
    /// Everything built so far.
    pub forest: Forest,
    /// The complete items: the stack from bottom to top.
    pub items: Vec<u32>,
    /// The position of the first token of the buffer.
    pub buffer: u32,
    /// The number of tokens.
    pub n_tokens: u32,
    /// The dependents attached so far, if the system knows heads.
    pub dependents: Option<Dependents>,
    tags: Option<Arc<[u32]>>,
    /// One more than the codes of the last two actions.
    pub recent: [u32; 2],
    /// The number of actions taken.
    pub steps: u32,
    /// Whether the derivation has ended.
    pub finished: bool,
}

clone_in_place!(StackBuffer {
    forest,
    items,
    buffer,
    n_tokens,
    dependents,
    tags,
    recent,
    steps,
    finished
});

impl StackBuffer {
    /// An empty stack, all tokens in the buffer.
    pub fn new(sentence: &Sentence, heads: Option<&HeadFinder>) -> Self {
        Self {
            forest: Forest::with_room_for(sentence.len()),
            items: Vec::with_capacity(sentence.len().min(64)),
            buffer: 0,
            n_tokens: sentence.len() as u32,
            dependents: heads.map(|_| Dependents::new(sentence.len())),
            tags: heads.map(|_| sentence.tags.as_slice().into()),
            recent: [0; 2],
            steps: 0,
            finished: false,
        }
    }

    /// The same for a system whose actions name the head child.
    pub fn with_dependents(sentence: &Sentence) -> Self {
        Self { dependents: Some(Dependents::new(sentence.len())), ..Self::new(sentence, None) }
    }

    /// The item `n` below the top of the stack.
    pub fn item(&self, n: usize) -> Option<&Constituent> {
        self.items.len().checked_sub(n + 1).map(|at| self.forest.node(self.items[at]))
    }

    /// The items from the top of the stack down.
    pub fn from_top(&self) -> impl Iterator<Item = &Constituent> {
        self.items.iter().rev().map(|&id| self.forest.node(id))
    }

    /// Counts an action and records its code.
    pub fn note(&mut self, code: u32) {
        self.steps += 1;
        self.recent = [code + 1, self.recent[0]];
    }

    /// The number of tokens in the buffer.
    pub fn remaining(&self) -> u32 {
        self.n_tokens - self.buffer
    }

    /// Moves the first token of the buffer to the stack; returns its node.
    pub fn shift(&mut self) -> u32 {
        let id = self.forest.push_token(self.buffer);
        self.items.push(id);
        self.buffer += 1;
        id
    }

    /// Joins the items from position `first` on, at least one, into a constituent; returns its node.
    pub fn join(
        &mut self,
        heads: Option<&HeadFinder>,
        label: Label,
        temporary: bool,
        first: usize,
    ) -> u32 {
        self.join_range(heads, label, temporary, first..self.items.len())
    }

    /// Joins a non-empty range of items into a constituent; returns its node.
    pub fn join_range(
        &mut self,
        heads: Option<&HeadFinder>,
        label: Label,
        temporary: bool,
        range: Range<usize>,
    ) -> u32 {
        let head = self.head_at(heads, label, range.clone());
        self.join_under(head, label, temporary, range)
    }

    /// Joins a non-empty range of items into a constituent headed by the item `at` of the range; returns its
    /// node.
    pub fn join_under(
        &mut self,
        at: usize,
        label: Label,
        temporary: bool,
        range: Range<usize>,
    ) -> u32 {
        let children = &self.items[range.clone()];
        let head = self.forest.node(children[at]).head;
        if let Some(dependents) = &mut self.dependents {
            // Nearest first on both sides, the order of a parser that joins two items at a time.
            for &child in children[..at].iter().rev().chain(&children[at + 1..]) {
                dependents.attach(head, self.forest.node(child).head);
            }
        }
        let id = self.forest.push(label, temporary, children, head);
        self.items[range.start] = id;
        self.items.drain(range.start + 1..range.end);
        id
    }

    /// The head among a range of items under a label, as an offset in the range.
    pub fn head_at(&self, heads: Option<&HeadFinder>, label: Label, range: Range<usize>) -> usize {
        let children = &self.items[range];
        let heads = match heads {
            Some(heads) if children.len() > 1 => heads,
            _ => return children.len() - 1,
        };
        let category = |child: usize| {
            let node = self.forest.node(children[child]);
            match (node.label, &self.tags) {
                (Some(label), _) => usize::from(label.0),
                (None, Some(tags)) => heads.n_labels + tags[node.start as usize] as usize,
                (None, None) => heads.n_labels,
            }
        };
        heads.table.head_of(usize::from(label.0), children.len(), category)
    }

    /// The items and the rest of the buffer as a tree; see [`tree_of`]. Heads are marked if the system knows
    /// them.
    pub fn tree(&self, labels: &Symbols, tokens: &[Token]) -> Tree {
        tree_of(&self.forest, &self.items, self.buffer, labels, tokens, self.dependents.is_some())
    }
}
