//! The data of configurations: what has been built, the state of one hypothesis, and the view for features.
//!
//! Heads are optional. With head rules, the rules determine the head child of a constituent from its label and children
//! when it is built, so features see head words and dependents. Without head rules, a constituent is headed by its last
//! child: its head word is its last word, and there are no dependents. A system whose actions name the head child sets it
//! itself.

use super::action_table::ActionTable;
use super::head_finder::HeadFinder;
use super::shared_stack::{Cells, Stack, StackView};
use crate::symbols::{Label, Sentence, Symbols};

/// A token on the stack or a constituent built over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constituent {
    /// The label; `None` for a token.
    pub label: Option<Label>,
    /// Whether it is a temporary node of a binarization.
    pub temporary: bool,
    /// Whether it is open: not complete yet.
    pub open: bool,
    /// The first token.
    pub start: u32,
    /// One past the last token.
    pub end: u32,
    /// The head token, or [`NO_HEAD`].
    pub head: u32,
    /// The position of its first child in the children of the [`Forest`].
    first_child: u32,
    /// The number of its children.
    n_children: u32,
}

/// The head of an open constituent without tokens.
pub const NO_HEAD: u32 = u32::MAX;

impl Constituent {
    /// The label and the flags for temporary and open constituents as one integer; 0 for a token.
    pub fn symbol(&self) -> u32 {
        let open = u32::from(self.open) << 18;
        self.label
            .map_or(0, |label| ((u32::from(label.0) + 1) * 2 + u32::from(self.temporary)) | open)
    }
}

/// The constituents built over a sentence, by one derivation or by all hypotheses of a search: constituents, of which
/// children come before parents, and stacks. Nothing in it ever changes, so hypotheses share what they have in common.
#[derive(Debug, Clone, Default)]
pub struct Forest {
    nodes: Vec<Constituent>,
    children: Vec<u32>,
    /// Of the head of each node; `None` in systems without heads.
    dependents: Option<Vec<Dependents>>,
    /// The cells of stacks of nodes.
    pub stacks: Cells<u32>,
    /// The cells of stacks of open constituents.
    pub opened: Cells<Open>,
    /// The tags of the sentence, if head rules look at them.
    tags: Option<Vec<u32>>,
}

impl Forest {
    /// An empty forest with room for the derivation of a sentence.
    pub fn with_room_for(n_tokens: usize, with_heads: bool) -> Self {
        Self {
            nodes: Vec::with_capacity(3 * n_tokens + 1),
            children: Vec::with_capacity(3 * n_tokens),
            dependents: with_heads.then(|| Vec::with_capacity(3 * n_tokens + 1)),
            stacks: Cells::with_capacity(3 * n_tokens + 1),
            opened: Cells::default(),
            tags: None,
        }
    }

    /// The same for a sentence and head rules, if there are any.
    pub fn of_sentence(sentence: &Sentence, heads: Option<&HeadFinder>) -> Self {
        let tags = heads.map(|_| sentence.tags.clone());
        Self { tags, ..Self::with_room_for(sentence.len(), heads.is_some()) }
    }

    /// Whether the system knows heads.
    pub fn has_heads(&self) -> bool {
        self.dependents.is_some()
    }

    /// The dependents that the head of a constituent has within it; none in systems without heads.
    pub fn dependents(&self, id: u32) -> Dependents {
        self.dependents.as_ref().map_or_else(Dependents::default, |all| all[id as usize])
    }

    /// The number of constituents and tokens.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// One constituent.
    pub fn node(&self, id: u32) -> &Constituent {
        &self.nodes[id as usize]
    }

    /// The children of a constituent, from left to right.
    pub fn children(&self, id: u32) -> &[u32] {
        let node = self.node(id);
        let first = node.first_child as usize;
        &self.children[first..first + node.n_children as usize]
    }

    /// Adds a token.
    pub fn push_token(&mut self, position: u32) -> u32 {
        let (start, end) = (position, position + 1);
        let token = Constituent {
            label: None,
            temporary: false,
            open: false,
            start,
            end,
            head: start,
            first_child: 0,
            n_children: 0,
        };
        self.add(token, Dependents::default())
    }

    /// Adds an open constituent that begins before the token `at`, or over its left corner.
    pub fn push_open(
        &mut self,
        label: Label,
        temporary: bool,
        left_corner: Option<u32>,
        at: u32,
    ) -> u32 {
        let corner = left_corner.map(|id| *self.node(id));
        let (start, end) = corner.map_or((at, at), |corner| (corner.start, corner.end));
        let (first_child, n_children) = (self.children.len() as u32, u32::from(corner.is_some()));
        self.children.extend(left_corner);
        let open = Constituent {
            label: Some(label),
            temporary,
            open: true,
            start,
            end,
            head: corner.map_or(NO_HEAD, |corner| corner.head),
            first_child,
            n_children,
        };
        self.add(open, left_corner.map_or_else(Dependents::default, |id| self.dependents(id)))
    }

    /// Adds a constituent over adjacent children, at least one. Its head is that of the child at the index that `head`
    /// returns.
    pub fn push(
        &mut self,
        symbol: (Label, bool),
        children: &[u32],
        head: impl FnOnce(&Self, &[u32]) -> usize,
    ) -> u32 {
        let first = self.children.len();
        self.children.extend_from_slice(children);
        self.close(symbol, first, head)
    }

    /// The same over the topmost `n` items of a stack, which are removed from it.
    pub fn push_over(
        &mut self,
        symbol: (Label, bool),
        (stack, n): (&mut Stack, usize),
        head: impl FnOnce(&Self, &[u32]) -> usize,
    ) -> u32 {
        let first = self.children.len();
        self.children.extend((0..n).map_while(|_| self.stacks.pop(stack)));
        self.children[first..].reverse();
        self.close(symbol, first, head)
    }

    /// The index of the head among children under a label, by head rules; without any, the last child.
    pub fn head_among(&self, heads: Option<&HeadFinder>, label: Label, children: &[u32]) -> usize {
        let heads = match heads {
            Some(heads) if children.len() > 1 => heads,
            _ => return children.len() - 1,
        };
        let category = |child: usize| {
            let node = self.node(children[child]);
            match (node.label, &self.tags) {
                (Some(label), _) => usize::from(label.0),
                (None, Some(tags)) => heads.n_labels + tags[node.start as usize] as usize,
                (None, None) => heads.n_labels,
            }
        };
        heads.table.head_of(usize::from(label.0), children.len(), category)
    }

    /// Adds a constituent over the children from `first` on.
    fn close(
        &mut self,
        (label, temporary): (Label, bool),
        first: usize,
        head: impl FnOnce(&Self, &[u32]) -> usize,
    ) -> u32 {
        let children = &self.children[first..];
        let at = head(self, children);
        let (start, end) = (children[0], children[children.len() - 1]);
        let node = Constituent {
            label: Some(label),
            temporary,
            open: false,
            start: self.node(start).start,
            end: self.node(end).end,
            head: self.node(children[at]).head,
            first_child: first as u32,
            n_children: children.len() as u32,
        };
        let dependents = self.dependents(children[at]).with_siblings(children, at);
        self.add(node, dependents)
    }

    fn add(&mut self, node: Constituent, dependents: Dependents) -> u32 {
        self.nodes.push(node);
        if let Some(all) = &mut self.dependents {
            all.push(dependents);
        }
        self.nodes.len() as u32 - 1
    }
}

/// The state of one hypothesis: all of a configuration that its [`Forest`] does not hold. It is small, and the time to copy
/// it does not grow with the derivation, except in item systems.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The complete items.
    pub items: Stack,
    /// In systems that open constituents, what features see as the stack: complete items, and open constituents at the
    /// place where they were opened; or predictions, the next one on top.
    pub stack: Stack,
    /// The open constituents.
    pub open: Stack,
    /// The position of the first token of the buffer.
    pub buffer: u32,
    /// The number of tokens.
    pub n_tokens: u32,
    /// One more than the codes of the last two actions, the latest first; 0 before the first action.
    pub recent: [u32; 2],
    /// The number of actions taken.
    pub steps: u32,
    /// The number of consecutive actions that could go on for ever: unary reductions, or constituents opened or predicted
    /// since the last word.
    pub run: u32,
    /// Top-down, the number of open constituents whose only child, open or complete, has their label. Each needs another
    /// child.
    pub repetitions: u32,
    /// Whether the derivation has ended.
    pub finished: bool,
    /// In item systems, the items.
    pub frontier: Frontier,
}

/// The items of an item system.
#[derive(Debug, Default)]
pub struct Frontier {
    /// The topmost items and tokens, from left to right.
    pub items: Vec<u32>,
    /// A hash of each with everything below it.
    pub signatures: Vec<u64>,
    /// In a fixed order, the end (left to right) or the start (right to left) of the last inferred item.
    pub edge: u32,
    /// The sum of the hashes of all inferred items, which does not depend on their order.
    pub sum: u64,
}

impl Clone for Frontier {
    fn clone(&self) -> Self {
        let Self { items, signatures, edge, sum } = self;
        Self { items: items.clone(), signatures: signatures.clone(), edge: *edge, sum: *sum }
    }

    /// Reuses memory: a beam copies states often.
    fn clone_from(&mut self, source: &Self) {
        self.items.clone_from(&source.items);
        self.signatures.clone_from(&source.signatures);
        (self.edge, self.sum) = (source.edge, source.sum);
    }
}

impl State {
    /// Empty stacks, all tokens in the buffer.
    pub fn new(sentence: &Sentence) -> Self {
        Self { n_tokens: sentence.len() as u32, ..Self::default() }
    }

    /// Copies another state; a search copies states at every step, so memory is reused.
    pub fn copy_from(&mut self, source: &Self) {
        let mut frontier = std::mem::take(&mut self.frontier);
        frontier.clone_from(&source.frontier);
        *self = Self { frontier, ..*source };
    }

    /// The topmost complete item.
    pub fn top(&self, forest: &Forest) -> Option<u32> {
        forest.stacks.last(self.items)
    }

    /// The only complete item.
    pub fn only_item(&self, forest: &Forest) -> Option<u32> {
        self.top(forest).filter(|_| self.items.len() == 1)
    }

    /// The complete item `n` below the top.
    pub fn item<'a>(&self, forest: &'a Forest, n: usize) -> Option<&'a Constituent> {
        forest.stacks.view(self.items).nth(n).map(|id| forest.node(id))
    }

    /// The complete items from the top down.
    pub fn from_top<'a>(&self, forest: &'a Forest) -> impl Iterator<Item = &'a Constituent> {
        forest.stacks.view(self.items).from_top().map(|id| forest.node(id))
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

    /// Moves the first token of the buffer to the complete items; returns its node.
    pub fn shift(&mut self, forest: &mut Forest) -> u32 {
        let id = forest.push_token(self.buffer);
        forest.stacks.push(&mut self.items, id);
        self.buffer += 1;
        id
    }

    /// Joins the topmost `n` complete items, at least one, into a constituent, whose head is that of the child at the
    /// index that `head` returns; returns its node.
    pub fn join(
        &mut self,
        forest: &mut Forest,
        symbol: (Label, bool),
        n: usize,
        head: impl FnOnce(&Forest, &[u32]) -> usize,
    ) -> u32 {
        let id = forest.push_over(symbol, (&mut self.items, n), head);
        forest.stacks.push(&mut self.items, id);
        id
    }
}

/// The lexical dependents of the head of a constituent: the heads of the siblings of its head child, of the head child
/// of that, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependents {
    /// The constituent whose head is the latest left dependent, or [`NO_NODE`].
    pub left: u32,
    /// The constituent whose head is the latest right dependent, or [`NO_NODE`].
    pub right: u32,
    /// The number of left dependents.
    pub n_left: u32,
    /// The number of right dependents.
    pub n_right: u32,
}

/// Stands for no node of a forest.
pub const NO_NODE: u32 = u32::MAX;

impl Default for Dependents {
    fn default() -> Self {
        Self { left: NO_NODE, right: NO_NODE, n_left: 0, n_right: 0 }
    }
}

impl Dependents {
    /// The dependents of the child `at` after the other children, which are attached nearest first on both sides: the
    /// order of a parser that joins two items at a time.
    fn with_siblings(mut self, children: &[u32], at: usize) -> Self {
        let last = children.len() - 1;
        if at > 0 {
            self.left = children[0];
            self.n_left += at as u32;
        }
        if at < last {
            self.right = children[last];
            self.n_right += (last - at) as u32;
        }
        self
    }
}

/// An open constituent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// The constituent.
    pub node: u32,
    /// The number of items of [`View::complete`] before its first complete child.
    pub first: u32,
    /// The height of the stack without it and all that is above it.
    pub base: u32,
}

/// The candidate constituent a view is focused on, as a range of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Focus {
    /// The first of its children on the stack (the frontier, for item systems).
    pub first: u32,
    /// One past the last of its children.
    pub last: u32,
    /// Its head child on the stack.
    pub head: u32,
}

/// The part of a configuration that features see.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// All constituents.
    pub forest: &'a Forest,
    /// The names of their labels.
    pub labels: &'a Symbols,
    /// The stack; for item systems the whole frontier.
    pub stack: StackView<'a, u32>,
    /// The frontier of item systems, from left to right; empty in others.
    pub frontier: &'a [u32],
    /// The open constituents, the innermost on top; empty in bottom-up systems.
    pub open: StackView<'a, Open>,
    /// The complete constituents and tokens that are not yet part of a complete one, from left to right;
    /// the stack in bottom-up systems.
    pub complete: StackView<'a, u32>,
    /// The position of the first token of the buffer.
    pub buffer: u32,
    /// One more than the codes of the last two actions, the latest first; 0 before the first action.
    pub recent: [u32; 2],
    /// The actions, by code.
    pub actions: &'a ActionTable,
    /// The candidate's children on the stack.
    pub focus: Option<Focus>,
    /// A hash of each item of the stack with everything below it; empty in systems without candidates.
    pub signatures: &'a [u64],
}
