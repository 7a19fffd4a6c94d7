//! The stack and the buffer that the states of all systems share, and how a constituent is built over the
//! topmost items.
//!
//! Heads are optional. With head rules, the rules determine the head child of a constituent from its label
//! and children when it is built, so features see head words and dependents. Without head rules, a
//! constituent is headed by its last child: its head word is its last word, and there are no dependents. A
//! system whose actions name the head child sets it itself.

use std::sync::Arc;

use super::built_tree::tree_of;
use super::head_finder::HeadFinder;
use super::shared_stack::{Stack, StackView};
use super::state::{Constituent, Forest, clone_in_place};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::{Token, Tree};

/// A stack of complete items and a buffer. In item systems the buffer is empty, and the items are on the frontier.
#[derive(Debug)]
pub struct StackBuffer {
    /// Everything built so far.
    pub forest: Forest,
    /// The complete items.
    pub items: Stack,
    /// The position of the first token of the buffer.
    pub buffer: u32,
    /// The number of tokens.
    pub n_tokens: u32,
    tags: Option<Arc<[u32]>>,
    /// One more than the codes of the last two actions.
    pub recent: [u32; 2],
    /// The number of actions taken.
    pub steps: u32,
    /// Whether the derivation has ended.
    pub finished: bool,
}

clone_in_place!(StackBuffer { forest, items, buffer, n_tokens, tags, recent, steps, finished });

impl StackBuffer {
    /// An empty stack, all tokens in the buffer.
    pub fn new(sentence: &Sentence, heads: Option<&HeadFinder>) -> Self {
        let tags = heads.map(|_| sentence.tags.as_slice().into());
        Self { tags, ..Self::with_forest(sentence, heads.is_some()) }
    }

    /// The same for a system whose actions name the head child.
    pub fn with_named_heads(sentence: &Sentence) -> Self {
        Self::with_forest(sentence, true)
    }

    fn with_forest(sentence: &Sentence, with_heads: bool) -> Self {
        Self {
            forest: Forest::with_room_for(sentence.len(), with_heads),
            items: Stack::default(),
            buffer: 0,
            n_tokens: sentence.len() as u32,
            tags: None,
            recent: [0; 2],
            steps: 0,
            finished: false,
        }
    }

    /// The complete items.
    pub fn items(&self) -> StackView<'_, u32> {
        self.forest.stacks.view(self.items)
    }

    /// The topmost item.
    pub fn top(&self) -> Option<u32> {
        self.forest.stacks.last(self.items)
    }

    /// The only item.
    pub fn only_item(&self) -> Option<u32> {
        self.top().filter(|_| self.items.len() == 1)
    }

    /// The item `n` below the top of the stack.
    pub fn item(&self, n: usize) -> Option<&Constituent> {
        self.items().nth(n).map(|id| self.forest.node(id))
    }

    /// The items from the top of the stack down.
    pub fn from_top(&self) -> impl Iterator<Item = &Constituent> {
        self.items().from_top().map(|id| self.forest.node(id))
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
        self.forest.stacks.push(&mut self.items, id);
        self.buffer += 1;
        id
    }

    /// Joins the topmost `n` items, at least one, into a constituent; returns its node.
    pub fn join(
        &mut self,
        heads: Option<&HeadFinder>,
        label: Label,
        temporary: bool,
        n: usize,
    ) -> u32 {
        let Self { forest, items, tags, .. } = self;
        let head = |forest: &Forest, children: &[u32]| {
            head_among(forest, children, label, heads, tags.as_deref())
        };
        let id = forest.push_over((label, temporary), (&mut *items, n), head);
        forest.stacks.push(items, id);
        id
    }

    /// The same under the head child at an index.
    pub fn join_under(&mut self, at: usize, label: Label, temporary: bool, n: usize) -> u32 {
        let Self { forest, items, .. } = self;
        let id = forest.push_over((label, temporary), (&mut *items, n), |_, _| at);
        forest.stacks.push(items, id);
        id
    }

    /// Joins items that are not on the stack, at least one, into a constituent; returns its node.
    pub fn join_items(&mut self, heads: Option<&HeadFinder>, label: Label, items: &[u32]) -> u32 {
        let Self { forest, tags, .. } = self;
        let head = |forest: &Forest, children: &[u32]| {
            head_among(forest, children, label, heads, tags.as_deref())
        };
        forest.push((label, false), items, head)
    }

    /// The index of the head among items under a label.
    pub fn head_of(&self, heads: Option<&HeadFinder>, label: Label, items: &[u32]) -> usize {
        head_among(&self.forest, items, label, heads, self.tags.as_deref())
    }

    /// The items and the rest of the buffer as a tree; see [`tree_of`]. Heads are marked if the system knows
    /// them.
    pub fn tree(&self, labels: &Symbols, tokens: &[Token]) -> Tree {
        tree_of(&self.forest, &self.items().to_vec(), self.buffer, labels, tokens)
    }
}

fn head_among(
    forest: &Forest,
    children: &[u32],
    label: Label,
    heads: Option<&HeadFinder>,
    tags: Option<&[u32]>,
) -> usize {
    let heads = match heads {
        Some(heads) if children.len() > 1 => heads,
        _ => return children.len() - 1,
    };
    let category = |child: usize| {
        let node = forest.node(children[child]);
        match (node.label, tags) {
            (Some(label), _) => usize::from(label.0),
            (None, Some(tags)) => heads.n_labels + tags[node.start as usize] as usize,
            (None, None) => heads.n_labels,
        }
    };
    heads.table.head_of(usize::from(label.0), children.len(), category)
}
