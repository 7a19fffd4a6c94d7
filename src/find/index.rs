//! A tree laid out for search: every node, tag and word is a node with a position in preorder.

use std::ops::ControlFlow;

use super::labels::{Labels, TestId};
use super::relation::Relation;
use crate::tree::heads::HeadRules;
use crate::tree::{Child, NodeId, Tree};

/// Stands for no node.
pub(super) const NONE: u32 = u32::MAX;

/// A node of a tree as searches see it: tags stand above their words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Position {
    /// An inner node.
    Node(NodeId),
    /// The tag of the token at this position, from 0.
    Tag(u32),
    /// The word of the token at this position, from 0.
    Word(u32),
}

impl Position {
    /// The label of the node: a constituent's label, a tag or a word.
    pub fn label(self, tree: &Tree) -> &str {
        match self {
            Self::Node(id) => &tree.node(id).label,
            Self::Tag(at) => &tree.tokens()[at as usize].tag,
            Self::Word(at) => &tree.tokens()[at as usize].word,
        }
    }

    /// The span as `(start, end)` in tokens.
    pub fn span(self, tree: &Tree) -> (u32, u32) {
        match self {
            Self::Node(id) => (tree.node(id).start, tree.node(id).end),
            Self::Tag(at) | Self::Word(at) => (at, at + 1),
        }
    }
}

/// The nodes of one tree in preorder, tags and words included. Its memory is used again for the next tree.
#[derive(Debug, Default)]
pub(super) struct TreeIndex {
    /// The place of each node in the tree.
    origins: Vec<Position>,
    /// The number of its label.
    labels: Vec<u32>,
    parents: Vec<u32>,
    /// One past the last position below the node.
    ends: Vec<u32>,
    /// The sister before the node.
    previous: Vec<u32>,
    /// The last child.
    last: Vec<u32>,
    /// How many leaves stand before the node, and before the node that follows it.
    leaves: Vec<(u32, u32)>,
    /// The position of each leaf.
    leaf_positions: Vec<u32>,
    /// The head child, if the search needs it.
    heads: Vec<u32>,
    /// For each node of the tree its position.
    positions: Vec<u32>,
    /// For each node of the tree how many positions it takes, itself included.
    sizes: Vec<u32>,
}

impl TreeIndex {
    /// The number of positions.
    pub(super) fn len(&self) -> u32 {
        self.labels.len() as u32
    }

    /// The place of a position in the tree.
    pub(super) fn origin(&self, at: u32) -> Position {
        self.origins[at as usize]
    }

    /// The position of a node, after [`TreeIndex::read_shape`].
    pub(super) fn number(&self, origin: Position) -> u32 {
        let word = |token: u32| {
            // Nodes without children are leaves too.
            let leaves = &self.leaf_positions[token as usize..];
            let is_word = |&&at: &&u32| self.origin(at) == Position::Word(token);
            leaves.iter().find(is_word).copied().unwrap_or(NONE)
        };
        match origin {
            Position::Node(id) => self.positions[id.index()],
            Position::Tag(token) => word(token) - 1,
            Position::Word(token) => word(token),
        }
    }

    /// The number of the label at a position.
    pub(super) fn label(&self, at: u32) -> u32 {
        self.labels[at as usize]
    }

    /// Numbers the labels of a tree, without its shape; returns which of the first 64 tests hold somewhere in it.
    pub(super) fn read_labels(&mut self, tree: &Tree, labels: &mut Labels) -> u64 {
        self.place(tree);
        let n = self.origins.len();
        self.labels.clear();
        self.labels.resize(n, 0);
        let mut found = 0;
        for (at, origin) in self.origins.iter().enumerate() {
            let label = labels.number(origin.label(tree));
            self.labels[at] = label;
            found |= labels.tests(label);
        }
        found
    }

    /// Gives every node its position: children take the positions after their parent, from left to right.
    fn place(&mut self, tree: &Tree) {
        let n_nodes = tree.nodes().len();
        self.sizes.clear();
        for id in tree.ids() {
            let below: u32 = tree
                .children(id)
                .iter()
                .map(|child| match child {
                    Child::Node(child) => self.sizes[child.index()],
                    Child::Token(_) => 2,
                })
                .sum();
            self.sizes.push(below + 1);
        }
        let n = self.sizes.last().map_or(0, |&size| size as usize);
        self.origins.clear();
        self.origins.resize(n, Position::Tag(0));
        self.parents.clear();
        self.parents.resize(n, NONE);
        self.positions.clear();
        self.positions.resize(n_nodes, 0);
        for id in tree.ids().rev() {
            let at = self.positions[id.index()];
            self.origins[at as usize] = Position::Node(id);
            let mut next = at + 1;
            for &child in tree.children(id) {
                self.parents[next as usize] = at;
                match child {
                    Child::Node(child) => {
                        self.positions[child.index()] = next;
                        next += self.sizes[child.index()];
                    }
                    Child::Token(token) => {
                        self.origins[next as usize] = Position::Tag(token);
                        self.origins[next as usize + 1] = Position::Word(token);
                        self.parents[next as usize + 1] = next;
                        next += 2;
                    }
                }
            }
        }
    }

    /// Finds sisters, ends and leaves, after [`TreeIndex::read_labels`].
    pub(super) fn read_shape(&mut self, tree: &Tree) {
        let n = self.origins.len();
        for list in [&mut self.ends, &mut self.previous, &mut self.last, &mut self.heads] {
            list.clear();
            list.resize(n, NONE);
        }
        self.leaves.clear();
        self.leaves.resize(n, (0, 0));
        self.leaf_positions.clear();
        for at in 0..n {
            let size = match self.origins[at] {
                Position::Node(id) => self.sizes[id.index()],
                Position::Tag(_) => 2,
                Position::Word(_) => 1,
            };
            self.ends[at] = at as u32 + size;
            if self.parents[at] != NONE {
                let parent = self.parents[at] as usize;
                self.previous[at] = self.last[parent];
                self.last[parent] = at as u32;
            }
            self.leaves[at].0 = self.leaf_positions.len() as u32;
            if size == 1 {
                self.leaf_positions.push(at as u32);
            }
        }
        for at in 0..n {
            let after = self.ends[at] as usize;
            self.leaves[at].1 =
                if after < n { self.leaves[after].0 } else { self.leaf_positions.len() as u32 };
        }
        debug_assert_eq!(self.positions.len(), tree.nodes().len());
    }

    /// Finds the head child of every node, after [`TreeIndex::read_shape`].
    pub(super) fn read_heads(&mut self, tree: &Tree, rules: &HeadRules) {
        let mut children = Vec::new();
        for at in 0..self.len() {
            let Some(first) = self.first(at) else { continue };
            children.clear();
            let mut child = first;
            while child < self.ends[at as usize] {
                children.push(self.origin(child).label(tree));
                child = self.ends[child as usize];
            }
            let head = rules.head_of(self.origin(at).label(tree), &children);
            self.heads[at as usize] = self.child(at, head as u32).unwrap_or(first);
        }
    }

    /// The parent.
    pub(super) fn parent(&self, at: u32) -> Option<u32> {
        some(self.parents[at as usize])
    }

    /// The first child.
    fn first(&self, at: u32) -> Option<u32> {
        (self.ends[at as usize] > at + 1).then_some(at + 1)
    }

    /// The last child.
    fn last(&self, at: u32) -> Option<u32> {
        some(self.last[at as usize])
    }

    /// The next sister.
    fn next(&self, at: u32) -> Option<u32> {
        let (parent, next) = (self.parent(at)?, self.ends[at as usize]);
        (next < self.ends[parent as usize]).then_some(next)
    }

    /// The sister before.
    fn previous(&self, at: u32) -> Option<u32> {
        some(self.previous[at as usize])
    }

    /// The child with this number, from 0.
    fn child(&self, at: u32, number: u32) -> Option<u32> {
        let mut child = self.first(at)?;
        for _ in 0..number {
            child = self.next(child)?;
        }
        Some(child)
    }

    /// The child with this number from the last, which is 0.
    fn child_from_last(&self, at: u32, number: u32) -> Option<u32> {
        let mut child = self.last(at)?;
        for _ in 0..number {
            child = self.previous(child)?;
        }
        Some(child)
    }

    /// The only child.
    fn only(&self, at: u32) -> Option<u32> {
        self.first(at).filter(|&first| self.last(at) == Some(first))
    }

    /// The parent, if this is its only child.
    fn parent_of_only(&self, at: u32) -> Option<u32> {
        self.parent(at).filter(|&parent| self.only(parent) == Some(at))
    }

    /// The parent, if this is its first child.
    fn parent_of_first(&self, at: u32) -> Option<u32> {
        self.parent(at).filter(|&parent| parent + 1 == at)
    }

    /// The parent, if this is its last child.
    fn parent_of_last(&self, at: u32) -> Option<u32> {
        self.parent(at).filter(|&parent| self.last(parent) == Some(at))
    }

    /// The head child.
    fn head(&self, at: u32) -> Option<u32> {
        some(self.heads[at as usize])
    }

    /// The parent, if this is its head.
    fn parent_of_head(&self, at: u32) -> Option<u32> {
        self.parent(at).filter(|&parent| self.head(parent) == Some(at))
    }

    /// The largest node that begins right after a node ends.
    fn after(&self, at: u32) -> Option<u32> {
        let end = self.ends[at as usize];
        (end < self.len()).then_some(end)
    }

    /// The largest node that ends right before a node begins.
    fn before(&self, at: u32) -> Option<u32> {
        let mut at = at;
        loop {
            if let Some(previous) = self.previous(at) {
                return Some(previous);
            }
            at = self.parent(at)?;
        }
    }

    /// Whether the node at `at` is below the node at `by`.
    pub(super) fn is_dominated(&self, at: u32, by: u32) -> bool {
        by < at && at < self.ends[by as usize]
    }
}

fn some(at: u32) -> Option<u32> {
    (at != NONE).then_some(at)
}

/// Calls `visit` for a node and what `next` makes of it, again and again.
fn chain<B>(
    first: Option<u32>,
    next: impl Fn(u32) -> Option<u32>,
    visit: &mut impl FnMut(u32) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut at = first;
    while let Some(node) = at {
        visit(node)?;
        at = next(node);
    }
    ControlFlow::Continue(())
}

/// A tree with the answers of the tests of a pattern.
#[derive(Clone, Copy)]
pub(super) struct View<'v> {
    pub(super) index: &'v TreeIndex,
    pub(super) labels: &'v Labels,
}

impl View<'_> {
    /// Whether the label at a position passes a test.
    pub(super) fn passes(&self, test: TestId, at: u32) -> bool {
        self.labels.passes(test, self.index.label(at))
    }

    /// Calls `visit` for every node to which the node at a position has a relation.
    pub(super) fn each<B>(
        &self,
        relation: Relation,
        at: u32,
        visit: &mut impl FnMut(u32) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let tree = self.index;
        let one = |node: Option<u32>, visit: &mut dyn FnMut(u32) -> ControlFlow<B>| match node {
            Some(node) => visit(node),
            None => ControlFlow::Continue(()),
        };
        let parent_if = |is: bool| tree.parent(at).filter(|_| is);
        match relation {
            Relation::Equals => visit(at),
            Relation::Segment => (0..tree.len()).try_for_each(visit),
            Relation::Dominates => (at + 1..tree.ends[at as usize]).try_for_each(visit),
            Relation::DominatedBy => chain(tree.parent(at), |node| tree.parent(node), visit),
            Relation::Parent => chain(tree.first(at), |node| tree.next(node), visit),
            Relation::ParentOrEqual => {
                visit(at)?;
                chain(tree.first(at), |node| tree.next(node), visit)
            }
            Relation::Child => one(tree.parent(at), visit),
            Relation::HasChild(n) => one(tree.child(at, n), visit),
            Relation::HasChildFromLast(n) => one(tree.child_from_last(at, n), visit),
            Relation::IsChild(n) => {
                let is = tree.parent(at).is_some_and(|parent| tree.child(parent, n) == Some(at));
                one(parent_if(is), visit)
            }
            Relation::IsChildFromLast(n) => {
                let place = |parent| tree.child_from_last(parent, n);
                one(parent_if(tree.parent(at).is_some_and(|p| place(p) == Some(at))), visit)
            }
            Relation::HasOnlyChild => one(tree.only(at), visit),
            Relation::IsOnlyChild => one(tree.parent_of_only(at), visit),
            Relation::UnaryDominates => chain(tree.only(at), |node| tree.only(node), visit),
            Relation::UnaryDominatedBy => {
                chain(tree.parent_of_only(at), |node| tree.parent_of_only(node), visit)
            }
            Relation::HasLeftmost => chain(tree.first(at), |node| tree.first(node), visit),
            Relation::HasRightmost => chain(tree.last(at), |node| tree.last(node), visit),
            Relation::IsLeftmost => {
                chain(tree.parent_of_first(at), |node| tree.parent_of_first(node), visit)
            }
            Relation::IsRightmost => {
                chain(tree.parent_of_last(at), |node| tree.parent_of_last(node), visit)
            }
            Relation::HasHead => one(tree.head(at), visit),
            Relation::IsHead => one(tree.parent_of_head(at), visit),
            Relation::HeadedBy => chain(tree.head(at), |node| tree.head(node), visit),
            Relation::Heads => {
                chain(tree.parent_of_head(at), |node| tree.parent_of_head(node), visit)
            }
            _ => self.each_beside(relation, at, visit),
        }
    }

    /// The relations between nodes of which neither is above the other, and those along a chain of nodes.
    fn each_beside<B>(
        &self,
        relation: Relation,
        at: u32,
        visit: &mut impl FnMut(u32) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let tree = self.index;
        match relation {
            Relation::Precedes => (tree.ends[at as usize]..tree.len()).try_for_each(visit),
            Relation::Follows => {
                let is_before = |&node: &u32| tree.ends[node as usize] <= at;
                (0..at).filter(is_before).try_for_each(visit)
            }
            Relation::ImmediatelyPrecedes => chain(tree.after(at), |node| tree.first(node), visit),
            Relation::ImmediatelyFollows => chain(tree.before(at), |node| tree.last(node), visit),
            Relation::Sister => {
                let Some(parent) = tree.parent(at) else { return ControlFlow::Continue(()) };
                let mut others =
                    |node| if node == at { ControlFlow::Continue(()) } else { visit(node) };
                chain(tree.first(parent), |node| tree.next(node), &mut others)
            }
            Relation::LeftSister => chain(tree.next(at), |node| tree.next(node), visit),
            Relation::RightSister => chain(tree.previous(at), |node| tree.previous(node), visit),
            Relation::NextSister => tree.next(at).map_or(ControlFlow::Continue(()), visit),
            Relation::PreviousSister => tree.previous(at).map_or(ControlFlow::Continue(()), visit),
            Relation::DominatesBy(test) => {
                let mut node = at + 1;
                while node < tree.ends[at as usize] {
                    visit(node)?;
                    let goes_on = self.passes(test, node);
                    node = if goes_on { node + 1 } else { tree.ends[node as usize] };
                }
                ControlFlow::Continue(())
            }
            Relation::DominatedThrough(test) => {
                let above = |node| tree.parent(node).filter(|_| self.passes(test, node));
                chain(tree.parent(at), above, visit)
            }
            Relation::PrecedesBy(test) => self.each_after(test, at, visit),
            Relation::FollowsBy(test) => self.each_before(test, at, visit),
            _ => ControlFlow::Continue(()),
        }
    }

    /// The nodes to the right that a chain of adjacent nodes, which pass a test, connects with a node; each once.
    fn each_after<B>(
        &self,
        test: TestId,
        at: u32,
        visit: &mut impl FnMut(u32) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let tree = self.index;
        let n = tree.leaf_positions.len();
        // Whether a chain ends before each leaf.
        let mut reached = vec![false; n + 1];
        reached[tree.leaves[at as usize].1 as usize] = true;
        for node in tree.ends[at as usize]..tree.len() {
            let (begins, ends) = tree.leaves[node as usize];
            if reached[begins as usize] {
                visit(node)?;
                reached[ends as usize] |= self.passes(test, node);
            }
        }
        ControlFlow::Continue(())
    }

    /// The same to the left.
    fn each_before<B>(
        &self,
        test: TestId,
        at: u32,
        visit: &mut impl FnMut(u32) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let tree = self.index;
        let first = tree.leaves[at as usize].0 as usize;
        let mut reached = vec![false; first + 1];
        reached[first] = true;
        for boundary in (1..=first).rev() {
            if !reached[boundary] {
                continue;
            }
            let mut node = Some(tree.leaf_positions[boundary - 1]);
            while let Some(above) = node.filter(|&node| !tree.is_dominated(at, node)) {
                visit(above)?;
                reached[tree.leaves[above as usize].0 as usize] |= self.passes(test, above);
                node = tree.parent_of_last(above);
            }
        }
        ControlFlow::Continue(())
    }
}
