//! The data of configurations: constituents, dependents, and the view for features.

use super::shared_stack::{Cells, Stack, StackView};
use crate::symbols::{Label, Symbols};

/// Implements `Clone` field by field, with a `clone_from` that reuses memory: a beam copies states often.
macro_rules! clone_in_place {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl Clone for $name {
            fn clone(&self) -> Self {
                Self { $($field: Clone::clone(&self.$field)),* }
            }

            fn clone_from(&mut self, source: &Self) {
                $(Clone::clone_from(&mut self.$field, &source.$field);)*
            }
        }
    };
}
pub(super) use clone_in_place;

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

/// What has been built over a sentence, by one derivation or by all hypotheses of a search: constituents, of which
/// children come before parents, and stacks. Nothing in it ever changes, so hypotheses share what they have in common.
#[derive(Debug, Default)]
pub struct Forest {
    nodes: Vec<Constituent>,
    children: Vec<u32>,
    /// Of the head of each node; `None` in systems without heads.
    dependents: Option<Vec<Dependents>>,
    /// The cells of stacks of nodes.
    pub stacks: Cells<u32>,
    /// The cells of stacks of open constituents.
    pub opened: Cells<Open>,
}

impl Clone for Forest {
    fn clone(&self) -> Self {
        let Self { nodes, children, dependents, stacks, opened } = self;
        Self {
            nodes: nodes.clone(),
            children: children.clone(),
            dependents: dependents.clone(),
            stacks: stacks.clone(),
            opened: opened.clone(),
        }
    }

    /// Nothing where both are empty, as those of hypotheses that share a forest are.
    fn clone_from(&mut self, source: &Self) {
        if !(self.is_empty() && source.is_empty()) {
            *self = source.clone();
        }
    }
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
        }
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

    /// Whether the forest is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
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
    /// The candidate's children on the stack.
    pub focus: Option<Focus>,
    /// A hash of each item of the stack with everything below it; empty in systems without candidates.
    pub signatures: &'a [u64],
}
