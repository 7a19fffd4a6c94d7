//! Gold brackets by their left edges, and which of them have been built.

use super::Forest;
use super::gold_tree::{ROOT, check_tree, label_of};
use crate::Result;
use crate::symbols::{Label, Symbols};
use crate::tree::{Child, Tree};

/// A gold bracket without its left edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    /// One past its last token.
    pub(super) end: u32,
    /// Its label.
    pub(super) label: Label,
    /// Its head token; the last one where heads are not marked.
    pub(super) head: u32,
}

/// The brackets of a gold tree, without its root, by their left edges.
#[derive(Debug, Clone)]
pub(super) struct Gold {
    /// The brackets of each left edge in turn, the innermost first.
    brackets: Vec<Bracket>,
    /// The position of the first bracket of each left edge.
    first: Vec<u32>,
    /// The label of roots, if the system builds them.
    root: Option<Label>,
}

impl Gold {
    /// The brackets of a tree rooted in `TOP`.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the root is not `TOP`, a node has no words, or a label is unknown.
    pub(super) fn new(tree: &Tree, labels: &Symbols) -> Result<Self> {
        check_tree(tree)?;
        let below = tree.nodes().split_last().map_or(&[][..], |(_, below)| below);
        let mut first = vec![0u32; tree.tokens().len() + 2];
        for node in below {
            first[node.start as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        // Nodes are in post-order, so the innermost of one left edge comes first.
        let mut next = first.clone();
        let mut brackets = vec![Bracket { end: 0, label: Label(0), head: 0 }; below.len()];
        for (node, id) in below.iter().zip(tree.ids()) {
            let place = &mut next[node.start as usize];
            let label = label_of(labels, &node.label)?;
            let head = tree.head_token(Child::Node(id)).unwrap_or(node.start);
            brackets[*place as usize] = Bracket { end: node.end, label, head };
            *place += 1;
        }
        let root = labels.position(ROOT).map(|position| Label(position as u16));
        Ok(Self { brackets, first, root })
    }

    /// The number of brackets.
    pub(super) fn len(&self) -> u32 {
        self.brackets.len() as u32
    }

    /// The number of brackets that begin at a position or after it.
    pub(super) fn from(&self, left: u32) -> u32 {
        self.len() - self.first[(left as usize).min(self.first.len() - 1)]
    }

    /// The brackets that begin at a position and end at `least` or after it, the innermost first.
    pub(super) fn at(&self, left: u32, least: u32) -> &[Bracket] {
        let (from, to) = (self.first[left as usize], self.first[left as usize + 1]);
        let all = &self.brackets[from as usize..to as usize];
        &all[all.partition_point(|bracket| bracket.end < least)..]
    }

    /// The labels of the brackets over a span without those of a unary chain that has been built, both from the
    /// lowest up. Labels may repeat.
    pub(super) fn remaining(&self, left: u32, end: u32, built: &[Label]) -> Vec<Label> {
        let over_span = self.at(left, end).iter().take_while(|bracket| bracket.end == end);
        let mut labels: Vec<Label> = over_span.map(|bracket| bracket.label).collect();
        for label in built {
            if let Some(at) = labels.iter().position(|remaining| remaining == label) {
                labels.remove(at);
            }
        }
        labels
    }

    /// The number of constituents at or below these nodes that are not gold brackets, and of those that are,
    /// without roots and temporary nodes.
    pub(super) fn compare(&self, forest: &Forest, roots: &[u32]) -> (u32, u32) {
        let mut built = vec![false; self.brackets.len()];
        let wrong = self.mark_built(forest, roots, &mut built);
        (wrong, built.into_iter().map(u32::from).sum())
    }

    /// The gold brackets that are not among the constituents at or below these nodes, with their left edges, and
    /// the number of constituents that are not gold brackets, without roots and temporary nodes.
    pub(super) fn missing(&self, forest: &Forest, roots: &[u32]) -> (Vec<(u32, Bracket)>, u32) {
        let mut built = vec![false; self.brackets.len()];
        let wrong = self.mark_built(forest, roots, &mut built);
        let of_edge = |(left, edges): (usize, &[u32])| {
            let positions = edges[0] as usize..edges[1] as usize;
            positions.map(move |at| (left as u32, at))
        };
        let all = self.first.windows(2).enumerate().flat_map(of_edge);
        let missing = all.filter(|&(_, at)| !built[at]);
        (missing.map(|(left, at)| (left, self.brackets[at])).collect(), wrong)
    }

    /// Marks the gold brackets that have been built; returns the number of other constituents.
    fn mark_built(&self, forest: &Forest, roots: &[u32], built: &mut [bool]) -> u32 {
        let mut wrong = 0;
        let mut ids = roots.to_vec();
        while let Some(id) = ids.pop() {
            let node = forest.node(id);
            ids.extend_from_slice(forest.children(id));
            let Some(label) = node.label.filter(|_| !node.temporary) else { continue };
            if Some(label) == self.root {
                continue;
            }
            let from = self.first[node.start as usize] as usize;
            let to = self.first[node.start as usize + 1] as usize;
            let is_it = |gold: &Bracket| (gold.end, gold.label) == (node.end, label);
            match (from..to).find(|&at| !built[at] && is_it(&self.brackets[at])) {
                Some(at) => built[at] = true,
                None => wrong += 1,
            }
        }
        wrong
    }
}

/// The labels of the unary chain that ends in a node, from the lowest to its own; empty for a token or a
/// temporary node.
pub(super) fn chain(forest: &Forest, id: u32) -> Vec<Label> {
    let mut labels = Vec::new();
    let mut id = id;
    while let (Some(label), false) = (forest.node(id).label, forest.node(id).temporary) {
        labels.push(label);
        match *forest.children(id) {
            [child] => id = child,
            _ => break,
        }
    }
    labels.reverse();
    labels
}
