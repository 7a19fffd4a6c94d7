//! Gold brackets by their left edges, and the bookkeeping of what has been built of them.

use crate::Result;
use crate::symbols::{Label, Symbols};
use crate::transition::Forest;
use crate::transition::stacked::{check_tree, label_of};
use crate::tree::Tree;

/// A gold bracket, without the left edge it is filed under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Right {
    /// One past its last token.
    pub(super) end: u32,
    /// Its label.
    pub(super) label: Label,
}

/// The brackets of a gold tree, its root left out, by their left edges.
#[derive(Debug, Clone)]
pub struct Gold {
    /// For each left edge its brackets, the innermost first.
    brackets: Vec<Right>,
    /// Where the brackets of each left edge begin; one more entry than left edges.
    first: Vec<u32>,
}

impl Gold {
    /// The brackets of a tree rooted in `TOP`.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the root is not `TOP`, a node has no words, or a label is unknown.
    pub fn new(tree: &Tree, labels: &Symbols) -> Result<Self> {
        check_tree(tree)?;
        let below = tree.nodes().split_last().map_or(&[][..], |(_, below)| below);
        let mut first = vec![0u32; tree.tokens().len() + 2];
        for node in below {
            first[node.start as usize + 1] += 1;
        }
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        // Nodes stand in post-order, so of one left edge the innermost comes first.
        let mut next = first.clone();
        let mut brackets = vec![Right { end: 0, label: Label(0) }; below.len()];
        for node in below {
            let place = &mut next[node.start as usize];
            let label = label_of(labels, &node.label)?;
            brackets[*place as usize] = Right { end: node.end, label };
            *place += 1;
        }
        Ok(Self { brackets, first })
    }

    /// How many brackets there are.
    pub(super) fn len(&self) -> u32 {
        self.brackets.len() as u32
    }

    /// How many brackets begin at a position or after it.
    pub(super) fn from(&self, left: u32) -> u32 {
        self.len() - self.first[(left as usize).min(self.first.len() - 1)]
    }

    /// The brackets that begin at a position and end at `least` or after it, the innermost first.
    pub(super) fn at(&self, left: u32, least: u32) -> &[Right] {
        let (from, to) = (self.first[left as usize], self.first[left as usize + 1]);
        let all = &self.brackets[from as usize..to as usize];
        &all[all.partition_point(|bracket| bracket.end < least)..]
    }

    /// The labels of brackets over a span that remain when those of a unary chain, the lowest first, have
    /// been built. The lowest comes first; labels may repeat.
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

    /// How many of the constituents below these nodes are no gold brackets, and how many are.
    pub(super) fn compare(&self, forest: &Forest, roots: &[u32]) -> (u32, u32) {
        let mut taken = vec![false; self.brackets.len()];
        let (mut wrong, mut right) = (0, 0);
        let mut ids = roots.to_vec();
        while let Some(id) = ids.pop() {
            let node = forest.node(id);
            ids.extend_from_slice(forest.children(id));
            let Some(label) = node.label else { continue };
            let from = self.first[node.start as usize] as usize;
            let to = self.first[node.start as usize + 1] as usize;
            let wanted = Right { end: node.end, label };
            match (from..to).find(|&at| !taken[at] && self.brackets[at] == wanted) {
                Some(at) => {
                    taken[at] = true;
                    right += 1;
                }
                None => wrong += 1,
            }
        }
        (wrong, right)
    }
}

/// The labels over exactly the span of a node, from the lowest to its own; none for a token.
pub(super) fn chain(forest: &Forest, id: u32) -> Vec<Label> {
    let mut labels = Vec::new();
    let mut id = id;
    while let Some(label) = forest.node(id).label {
        labels.push(label);
        match *forest.children(id) {
            [child] => id = child,
            _ => break,
        }
    }
    labels.reverse();
    labels
}
