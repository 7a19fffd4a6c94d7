//! Head-outward binarization with marked temporary nodes, and its exact inverse.
//!
//! A node with more than two children becomes a chain of binary nodes that grows outward from its head
//! child: first every left sibling, nearest first, then every right sibling, nearest first. The nodes
//! between are temporary: they carry the node's label and are marked (Sagae and Lavie 2005, section 2
//! and figure 1; the paper leaves the order of the sides open). Attaching left siblings first lets a
//! bottom-up parser attach them as soon as the head is on top of its stack, and keeps the stack short.
//!
//! [`Scheme`] has the other binarizations of the field, which need no heads (Kalt 2004, figure 1). Labels can remember
//! siblings and ancestors: [`Markovization`].

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::markovize::{Markovization, without_ancestors};
use super::{Child, NodeId, Tree, TreeBuilder};

/// A binarization with the context that its labels remember.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binarization {
    /// Where the temporary nodes are.
    pub scheme: Scheme,
    /// What labels remember.
    #[serde(default)]
    pub markovization: Markovization,
}

impl From<Scheme> for Binarization {
    fn from(scheme: Scheme) -> Self {
        Self { scheme, markovization: Markovization::default() }
    }
}

impl Binarization {
    /// Whether trees stay as they are.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns the binarized tree. The children of the root stay siblings, except with `HeadOutward`.
    pub fn apply(self, tree: &Tree) -> Tree {
        match self.markovization {
            Markovization { horizontal, vertical: ..=1 } => self.scheme.apply(tree, horizontal),
            markovization => {
                self.scheme.apply(&markovization.annotate(tree), markovization.horizontal)
            }
        }
    }
}

/// A binarization; [`restore`] undoes all of them.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// No binarization.
    #[default]
    None,
    /// Outward from the head: [`binarize`].
    HeadOutward,
    /// To the left: `(NP (NP* (NP* a b) c) d)`.
    L,
    /// To the right, down to two children: `(NP a (NP* b (NP* c d)))`.
    R2,
    /// To the right, down to one child: `(NP a (NP* b (NP* c (NP* d))))`.
    R1,
    /// To the right, down to nothing: `(NP a (NP* b (NP* c (NP* d (NP*)))))`. Every node ends with a
    /// temporary node over no words.
    R0,
}

impl Scheme {
    /// Returns the binarized tree, with labels of temporary nodes that remember up to `horizontal` siblings.
    fn apply(self, tree: &Tree, horizontal: u32) -> Tree {
        if self == Self::HeadOutward {
            return binarize(tree);
        }
        build(tree, horizontal, |id, tasks| {
            let whole = self == Self::None || Some(id) == tree.root();
            let n = tree.children(id).len();
            match self {
                _ if whole => plan_flat(tree, id, tasks),
                Self::L => plan_left(tree, id, tasks),
                Self::R2 => plan_right(tree, id, n.saturating_sub(2), tasks),
                Self::R1 => plan_right(tree, id, n.saturating_sub(1), tasks),
                _ => plan_right(tree, id, n, tasks),
            }
        })
    }
}

/// A step of building the binary tree, taken from an explicit stack.
enum Task {
    Visit(Child),
    Close(NodeId),
    CloseTemporary {
        head: u32,
    },
    CloseBinary {
        head: Option<u32>,
    },
    Open(NodeId),
    /// Opens a temporary node of a node: the siblings from this position on are in it, or follow it.
    OpenTemporary(NodeId, usize),
}

/// Binarizes a tree head-outward. In a node without a marked head the last child is the head. [`restore`] gives
/// the tree back.
pub fn binarize(tree: &Tree) -> Tree {
    build(tree, 0, |id, tasks| plan_head_outward(tree, id, tasks))
}

/// Builds the tree from the steps that `plan` pushes for each node, the last step first.
fn build(tree: &Tree, horizontal: u32, plan: impl Fn(NodeId, &mut Vec<Task>)) -> Tree {
    let mut builder = TreeBuilder::new();
    let mut tasks: Vec<Task> =
        tree.root().map(|root| Task::Visit(Child::Node(root))).into_iter().collect();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(Child::Token(position)) => {
                let token = &tree.tokens()[position as usize];
                builder.token(token.word.clone(), token.tag.clone());
            }
            Task::Visit(Child::Node(id)) => plan(id, &mut tasks),
            Task::Open(id) => builder.open(tree.node(id).label.clone()),
            Task::OpenTemporary(id, at) => builder.open(temporary_label(tree, id, at, horizontal)),
            Task::Close(id) => builder.close_with_head(tree.node(id).head),
            Task::CloseBinary { head } => builder.close_with_head(head),
            Task::CloseTemporary { head } => builder.close_temporary(Some(head)),
        }
    }
    builder.finish()
}

/// The label of a temporary node: that of the node and the last `horizontal` of its children before `at`.
fn temporary_label(tree: &Tree, id: NodeId, at: usize, horizontal: u32) -> CompactString {
    let label = &tree.node(id).label;
    if horizontal == 0 {
        return label.clone();
    }
    let before = &tree.children(id)[at.saturating_sub(horizontal as usize)..at];
    let names: Vec<&str> = before
        .iter()
        .map(|child| match *child {
            Child::Node(child) => without_ancestors(&tree.node(child).label),
            Child::Token(position) => &tree.tokens()[position as usize].tag,
        })
        .collect();
    format!("{label}|<{}>", names.join("-")).into()
}

/// Plans an unchanged node.
fn plan_flat(tree: &Tree, id: NodeId, tasks: &mut Vec<Task>) {
    tasks.push(Task::Close(id));
    tasks.extend(tree.children(id).iter().rev().map(|&child| Task::Visit(child)));
    tasks.push(Task::Open(id));
}

/// Plans a node in which each child except the first two is the right sister of a temporary node over the
/// children before it.
fn plan_left(tree: &Tree, id: NodeId, tasks: &mut Vec<Task>) {
    let children = tree.children(id);
    let n = children.len();
    if n <= 2 {
        return plan_flat(tree, id, tasks);
    }
    let marked = tree.node(id).head;
    let side = |last: usize| u32::from(marked.is_some_and(|head| head as usize >= last));
    let mut written = vec![Task::Open(id)];
    written.extend((2..n).rev().map(|at| Task::OpenTemporary(id, at)));
    written.push(Task::Visit(children[0]));
    for (last, &child) in children.iter().enumerate().skip(1) {
        written.push(Task::Visit(child));
        written.push(if last + 1 == n {
            Task::CloseBinary { head: marked.map(|_| side(last)) }
        } else {
            Task::CloseTemporary { head: side(last) }
        });
    }
    tasks.extend(written.into_iter().rev());
}

/// Plans a node with `n_temporary` temporary nodes, each over everything to the right of a child.
fn plan_right(tree: &Tree, id: NodeId, n_temporary: usize, tasks: &mut Vec<Task>) {
    if n_temporary == 0 {
        return plan_flat(tree, id, tasks);
    }
    let children = tree.children(id);
    let marked = tree.node(id).head;
    // A node that begins with the child at `first` has its head there or in the temporary node after it.
    let side = |first: usize| u32::from(marked.is_some_and(|head| head as usize > first));
    let mut written = Vec::with_capacity(3 * children.len() + 2);
    written.push(Task::Open(id));
    for (at, &child) in children.iter().enumerate() {
        if (1..=n_temporary).contains(&at) {
            written.push(Task::OpenTemporary(id, at));
        }
        written.push(Task::Visit(child));
    }
    if n_temporary == children.len() {
        written.push(Task::OpenTemporary(id, children.len()));
    }
    written.extend((1..=n_temporary).rev().map(|first| Task::CloseTemporary { head: side(first) }));
    written.push(Task::CloseBinary { head: marked.map(|_| side(0)) });
    tasks.extend(written.into_iter().rev());
}

/// Plans a node head-outward.
fn plan_head_outward(tree: &Tree, id: NodeId, tasks: &mut Vec<Task>) {
    let children = tree.children(id);
    let n = children.len();
    if n <= 2 {
        return plan_flat(tree, id, tasks);
    }
    let head = tree.node(id).head.map_or(n - 1, |head| head as usize);
    let (n_left, n_right) = (head, n - 1 - head);
    // In reading order: first the brackets that take right siblings open, then each left sibling follows the
    // bracket that takes it, then the head, then everything closes inside out.
    let mut written: Vec<Task> = Vec::with_capacity(3 * n);
    written.extend((0..n_right).map(|_| Task::Open(id)));
    for &sibling in &children[..head] {
        written.extend([Task::Open(id), Task::Visit(sibling)]);
    }
    written.push(Task::Visit(children[head]));
    for left_to_close in (0..n_left).rev() {
        let last = left_to_close == 0 && n_right == 0;
        written.push(if last {
            Task::CloseBinary { head: Some(1) }
        } else {
            Task::CloseTemporary { head: 1 }
        });
    }
    for (sibling, left_to_close) in children[head + 1..].iter().zip((0..n_right).rev()) {
        let last = left_to_close == 0;
        written.push(Task::Visit(*sibling));
        written.push(if last {
            Task::CloseBinary { head: Some(0) }
        } else {
            Task::CloseTemporary { head: 0 }
        });
    }
    tasks.extend(written.into_iter().rev());
}

/// Returns the tree without its temporary nodes: their children pass to the parent, and the head of a node is
/// the child over its head token.
pub fn restore(tree: &Tree) -> Tree {
    let mut builder = TreeBuilder::new();
    let mut head_tokens = Vec::new();
    for step in tree.traverse() {
        match step {
            super::Visit::Token(position) => {
                let token = &tree.tokens()[position as usize];
                builder.token(token.word.clone(), token.tag.clone());
            }
            super::Visit::Open(id) if !tree.node(id).temporary => {
                builder.open(tree.node(id).label.clone());
            }
            super::Visit::Close(id) if !tree.node(id).temporary => {
                builder.close();
                let marked = tree.node(id).head.is_some();
                head_tokens.push(if marked { tree.head_token(Child::Node(id)) } else { None });
            }
            _ => {}
        }
    }
    let mut restored = builder.finish();
    mark_heads(&mut restored, &head_tokens);
    restored
}

/// Marks in every node the child over its head token, if it has one.
pub(crate) fn mark_heads(tree: &mut Tree, head_tokens: &[Option<u32>]) {
    for (id, &head) in tree.ids().zip(head_tokens) {
        let position = head.and_then(|head| {
            let spans = tree.children(id).iter().map(|&child| tree.child_span(child));
            spans.into_iter().position(|(start, end)| start <= head && head < end)
        });
        tree.nodes_mut()[id.index()].head = position.map(|position| position as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flat(n: usize, head: u32) -> Tree {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.open("NP");
        for i in 0..n {
            builder.token(format!("w{i}"), "T");
        }
        builder.close_with_head(Some(head));
        builder.close_with_head(Some(0));
        builder.finish()
    }

    #[test]
    fn left_siblings_attach_first_then_right_ones() {
        let binary = binarize(&flat(4, 1));
        let rows: Vec<_> =
            binary.nodes().iter().map(|n| (n.start, n.end, n.temporary, n.head.unwrap())).collect();
        assert_eq!(rows, [(0, 2, true, 1), (0, 3, true, 0), (0, 4, false, 0), (0, 4, false, 0)]);
    }

    #[test]
    fn schemes_are_those_of_the_figure() {
        let rows = |scheme: Scheme| -> Vec<(u32, u32, bool)> {
            let tree = Binarization::from(scheme).apply(&flat(4, 1));
            tree.nodes().iter().map(|n| (n.start, n.end, n.temporary)).collect()
        };
        let (np, top) = ((0, 4, false), (0, 4, false));
        assert_eq!(rows(Scheme::None), [np, top]);
        assert_eq!(rows(Scheme::L), [(0, 2, true), (0, 3, true), np, top]);
        assert_eq!(rows(Scheme::R2), [(2, 4, true), (1, 4, true), np, top]);
        assert_eq!(rows(Scheme::R1), [(3, 4, true), (2, 4, true), (1, 4, true), np, top]);
        let nothing = (4, 4, true);
        assert_eq!(rows(Scheme::R0), [nothing, (3, 4, true), (2, 4, true), (1, 4, true), np, top]);
    }

    #[test]
    fn temporary_nodes_remember_the_last_siblings_to_the_left_of_their_border() {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.open("NP");
        for tag in ["A", "B", "C"] {
            builder.token("w", tag);
        }
        builder.open("PP");
        builder.token("w", "P");
        (0..3).for_each(|_| builder.close());
        let tree = builder.finish();
        let labels = |scheme, horizontal, vertical| -> Vec<String> {
            let markovization = Markovization { horizontal, vertical };
            let binary = Binarization { scheme, markovization }.apply(&tree);
            let below = &binary.nodes()[..binary.nodes().len() - 1];
            below.iter().map(|node| node.label.to_string()).collect()
        };
        assert_eq!(labels(Scheme::L, 0, 1), ["NP", "NP", "PP", "NP"]);
        assert_eq!(labels(Scheme::L, 1, 1), ["NP|<B>", "NP|<C>", "PP", "NP"]);
        assert_eq!(labels(Scheme::L, 9, 1), ["NP|<A-B>", "NP|<A-B-C>", "PP", "NP"]);
        assert_eq!(labels(Scheme::R2, 1, 1), ["PP", "NP|<B>", "NP|<A>", "NP"]);
        let annotated = ["PP^<NP>", "NP^<TOP>|<A-B>", "NP^<TOP>|<A>", "NP^<TOP>"];
        assert_eq!(labels(Scheme::R2, 2, 2), annotated);
    }

    proptest! {
        #[test]
        fn restoring_a_binarized_flat_tree_gives_it_back(n in 1usize..12, head in 0usize..12) {
            let tree = flat(n, (head % n) as u32);
            prop_assert_eq!(&restore(&binarize(&tree)), &tree);
            for scheme in [Scheme::None, Scheme::L, Scheme::R2, Scheme::R1, Scheme::R0] {
                prop_assert_eq!(&restore(&Binarization::from(scheme).apply(&tree)), &tree);
            }
        }
    }
}
