//! Ordered labelled trees in flat arrays, for learners that look at trees.

use crate::feature::{ColumnKind, RowRef};

/// Stands for no node.
pub const NO_NODE: u32 = u32::MAX;
/// The label of the root of a row.
const ROW: u64 = 0;
/// Marks labels of nodes of a tree column.
const IN_TREE: u64 = 1 << 63;

/// The nodes of trees, tree by tree in preorder. The first child of a node, if it has any, is the next node.
#[derive(Debug, Clone, Default)]
pub struct Forest {
    labels: Vec<u64>,
    /// The parent of each node, or [`NO_NODE`].
    parents: Vec<u32>,
    /// The next sibling of each node, or [`NO_NODE`].
    siblings: Vec<u32>,
    /// The number of the tree of each node.
    trees: Vec<u32>,
    n_trees: u32,
    /// The latest node at each depth of the last tree.
    path: Vec<u32>,
}

impl Forest {
    /// Removes all trees.
    pub fn clear(&mut self) {
        let Self { labels, parents, siblings, trees, n_trees, path } = self;
        labels.clear();
        parents.clear();
        siblings.clear();
        trees.clear();
        path.clear();
        *n_trees = 0;
    }

    /// Begins a tree with its root.
    pub fn begin(&mut self, root: u64) {
        self.path.clear();
        self.n_trees += 1;
        self.push(root, 0);
    }

    /// Adds the next node of a tree, which is not deeper than one level below the node before it.
    pub fn push(&mut self, label: u64, depth: usize) {
        let node = self.labels.len() as u32;
        if let Some(&before) = self.path.get(depth) {
            self.siblings[before as usize] = node;
        }
        let parent = depth.checked_sub(1).map_or(NO_NODE, |above| self.path[above]);
        self.path.truncate(depth);
        self.path.push(node);
        self.labels.push(label);
        self.parents.push(parent);
        self.siblings.push(NO_NODE);
        self.trees.push(self.n_trees - 1);
    }

    /// Adds a row as one tree, as [`super::subtree_boosting`] describes.
    pub fn push_row(&mut self, kinds: &[ColumnKind], row: RowRef<'_>) {
        self.begin(ROW);
        for (column, &kind) in kinds.iter().enumerate() {
            let value = row.values[column];
            match kind {
                ColumnKind::Tree => self.push_folded(row.tree(column)),
                ColumnKind::Nominal if value == 0 => {}
                _ => self.push((column as u64 + 1) << 32 | u64::from(value), 1),
            }
        }
    }

    /// Adds the nodes below the root of a tree column; each position and its only child become one node.
    fn push_folded(&mut self, nodes: impl Iterator<Item = (u32, u32)>) {
        let mut nodes = nodes.skip(1).peekable();
        while let Some((label, depth)) = nodes.next() {
            if depth > 1 {
                self.push(IN_TREE | u64::from(label), depth as usize - 1);
                continue;
            }
            let below = nodes.next_if(|&(_, depth)| depth == 2).map_or(0, |(label, _)| label);
            self.push(IN_TREE | u64::from(label) << 32 | u64::from(below), 1);
        }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The label of a node.
    pub fn label(&self, node: u32) -> u64 {
        self.labels[node as usize]
    }

    /// The number of the tree of a node.
    pub fn tree(&self, node: u32) -> u32 {
        self.trees[node as usize]
    }

    /// The children of a node, from left to right.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> {
        let first = node + 1;
        let is_child = self.parents.get(first as usize) == Some(&node);
        self.from(if is_child { first } else { NO_NODE })
    }

    /// A node and the siblings to its right.
    fn from(&self, node: u32) -> impl Iterator<Item = u32> {
        let some = |node: u32| (node != NO_NODE).then_some(node);
        std::iter::successors(some(node), move |&node| some(self.siblings[node as usize]))
    }

    /// The rightmost extensions of an occurrence of a subtree (Asai et al. 2002; Zaki 2002): each node that can become
    /// its next node in preorder, and how many levels above `rightmost` its parent is. `rightmost` is the last node of
    /// the occurrence in preorder, and `depth` its depth in the subtree.
    pub fn extensions(&self, rightmost: u32, depth: u32, mut each: impl FnMut(u32, u32)) {
        self.children(rightmost).for_each(|node| each(0, node));
        let mut node = rightmost;
        for up in 1..=depth {
            self.from(self.siblings[node as usize]).for_each(|node| each(up, node));
            node = self.parents[node as usize];
        }
    }
}
