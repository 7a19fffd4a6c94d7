//! The data of configurations: constituents, dependents, and the view for features.

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

/// The constituents of a configuration; children come before parents.
#[derive(Debug, Default)]
pub struct Forest {
    nodes: Vec<Constituent>,
    children: Vec<u32>,
}

clone_in_place!(Forest { nodes, children });

impl Forest {
    /// An empty forest with room for the derivation of a sentence.
    pub fn with_room_for(n_tokens: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(3 * n_tokens + 1),
            children: Vec::with_capacity(3 * n_tokens),
        }
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
        self.nodes.push(token);
        self.nodes.len() as u32 - 1
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
        self.nodes.push(Constituent {
            label: Some(label),
            temporary,
            open: true,
            start,
            end,
            head: corner.map_or(NO_HEAD, |corner| corner.head),
            first_child,
            n_children,
        });
        self.nodes.len() as u32 - 1
    }

    /// Adds a constituent over adjacent children, at least one.
    pub fn push(&mut self, label: Label, temporary: bool, children: &[u32], head: u32) -> u32 {
        let (first_child, n_children) = (self.children.len() as u32, children.len() as u32);
        self.children.extend_from_slice(children);
        let start = self.node(children[0]).start;
        let end = self.node(children[children.len() - 1]).end;
        self.nodes.push(Constituent {
            label: Some(label),
            temporary,
            open: false,
            start,
            end,
            head,
            first_child,
            n_children,
        });
        self.nodes.len() as u32 - 1
    }
}

/// The lexical dependents attached so far, by head token.
#[derive(Debug, Default)]
pub struct Dependents {
    tokens: Vec<TokenDependents>,
}

clone_in_place!(Dependents { tokens });

/// The dependents of one token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenDependents {
    /// One past the position of the latest left dependent; 0 without one.
    pub left: u32,
    /// One past the position of the latest right dependent; 0 without one.
    pub right: u32,
    /// The number of left dependents.
    pub n_left: u32,
    /// The number of right dependents.
    pub n_right: u32,
}

impl Dependents {
    /// No dependents, for a sentence of `n` tokens.
    pub fn new(n: usize) -> Self {
        Self { tokens: vec![TokenDependents::default(); n] }
    }

    /// The dependents of a token.
    pub fn of(&self, token: u32) -> TokenDependents {
        self.tokens.get(token as usize).copied().unwrap_or_default()
    }

    /// Makes `dependent` a dependent of `head`.
    pub fn attach(&mut self, head: u32, dependent: u32) {
        let entry = &mut self.tokens[head as usize];
        if dependent < head {
            entry.left = dependent + 1;
            entry.n_left += 1;
        } else {
            entry.right = dependent + 1;
            entry.n_right += 1;
        }
    }
}

/// An open constituent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// The constituent.
    pub node: u32,
    /// The position of its first complete child in [`View::complete`].
    pub first: u32,
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
    /// The stack from bottom to top; for item systems the whole frontier.
    pub stack: &'a [u32],
    /// The open constituents from the outermost to the innermost; empty in bottom-up systems.
    pub open: &'a [Open],
    /// The complete constituents and tokens that are not yet part of a complete one, from left to right;
    /// the stack in bottom-up systems.
    pub complete: &'a [u32],
    /// The position of the first token of the buffer.
    pub buffer: u32,
    /// The dependents attached so far; `None` without heads.
    pub dependents: Option<&'a Dependents>,
    /// One more than the codes of the last two actions, the latest first; 0 before the first action.
    pub recent: [u32; 2],
    /// The candidate's children on the stack.
    pub focus: Option<Focus>,
    /// A hash of each item of the stack with everything below it; empty in systems without candidates.
    pub signatures: &'a [u64],
}
