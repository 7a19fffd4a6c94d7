//! The search for the best stump: branch and bound over rightmost extensions.
//!
//! The subtrees form a tree of their own: the parent of a subtree is the subtree without its last node in preorder, so
//! each subtree is reached once. A row with a subtree has the parent of that subtree too, which gives the bound (Kudo
//! and Matsumoto 2004, section 3).

use rustc_hash::FxHashMap;

use super::SubtreeBoostingParams;
use crate::classifier::forest::Forest;
use crate::sort::sort_by_key;

/// The last node of a subtree: how many levels above the node before it its parent is, and its label. For a subtree of
/// one node the first is 0.
pub(super) type Key = (u32, u64);

/// A stump: a row that has the subtree is on side `sign`, all others are on the other side.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stump {
    /// The subtree, node by node in preorder.
    pub(super) subtree: Vec<Key>,
    pub(super) sign: f64,
    /// The weight of the rows that are on the right side, less that of the others.
    pub(super) gain: f64,
    /// The rows that have the subtree, in ascending order.
    pub(super) rows: Vec<u32>,
}

/// The most numbers of nodes and rows that a search keeps for the next one.
const MAX_KEPT: usize = 40_000_000;

/// A subtree with its occurrences.
#[derive(Debug, Default)]
struct Subtree {
    key: Key,
    /// The depth of its last node.
    depth: u32,
    /// The rows that have it, in ascending order.
    rows: Vec<u32>,
    /// The last node of each occurrence; none once the children are known.
    occurrences: Vec<u32>,
    children: Option<Vec<Self>>,
}

/// Searches with the same trees and other weights. Subtrees that were visited once are kept.
pub(super) struct Search<'a> {
    forest: &'a Forest,
    params: &'a SubtreeBoostingParams,
    /// The subtree without nodes.
    root: Subtree,
    kept: usize,
}

/// The state of a search.
struct Round<'a> {
    /// For each row its weight, negative if it is not of the class.
    weights: &'a [f64],
    /// Their sum.
    sum: f64,
    /// The largest weight without its sign.
    largest: f64,
    /// The subtree that is visited.
    path: Vec<Key>,
    best: Option<Stump>,
}

impl<'a> Search<'a> {
    pub(super) fn new(forest: &'a Forest, params: &'a SubtreeBoostingParams) -> Self {
        Self { forest, params, root: Subtree::default(), kept: 0 }
    }

    /// The stump of largest gain; among equals the first in the order of the subtrees. `weights` are those of the rows,
    /// negative if a row is not of the class. `None` if no subtree is frequent enough.
    pub(super) fn best(&mut self, weights: &[f64]) -> Option<Stump> {
        let largest = weights.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
        let sum = weights.iter().sum();
        let mut round = Round { weights, sum, largest, path: Vec::new(), best: None };
        let mut root = std::mem::take(&mut self.root);
        self.visit_children(&mut root, true, &mut round);
        self.root = root;
        round.best
    }

    /// Visits the children of a subtree, and keeps them if there is room and the subtree itself is kept; the recursion
    /// is as deep as the largest subtree has nodes.
    fn visit_children(&mut self, subtree: &mut Subtree, keep: bool, round: &mut Round<'_>) {
        if round.path.len() >= self.params.max_nodes as usize {
            return;
        }
        let known = subtree.children.take();
        let is_known = known.is_some();
        let mut children = known.unwrap_or_else(|| self.expand(subtree));
        let size = children.iter().map(|child| child.rows.len() + child.occurrences.len()).sum();
        let keep = is_known || keep && self.keeps(size);
        for child in &mut children {
            if !round.may_improve(child.rows.len()) {
                continue;
            }
            let (bound, gain, sign) = round.measure(&child.rows);
            round.path.push(child.key);
            if round.is_better(gain) {
                let (subtree, rows) = (round.path.clone(), child.rows.clone());
                round.best = Some(Stump { subtree, sign, gain, rows });
            }
            if round.is_better(bound) {
                self.visit_children(child, keep, round);
            }
            round.path.pop();
        }
        if keep {
            subtree.children = Some(children);
            let occurrences = std::mem::take(&mut subtree.occurrences);
            self.kept = self.kept.saturating_sub(occurrences.len());
        }
    }

    /// Whether there is room for so many numbers, which it then takes.
    fn keeps(&mut self, size: usize) -> bool {
        let fits = self.kept + size <= MAX_KEPT;
        self.kept += if fits { size } else { 0 };
        fits
    }

    /// The frequent subtrees with one more node, in the order of their keys.
    fn expand(&self, subtree: &Subtree) -> Vec<Subtree> {
        let forest = self.forest;
        let mut found: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
        let mut add = |up: u32, node: u32| {
            found.entry((up, forest.label(node))).or_default().push(node);
        };
        let is_root = subtree.rows.is_empty();
        if is_root {
            (0..forest.len() as u32).for_each(|node| add(0, node));
        }
        for &node in &subtree.occurrences {
            forest.extensions(node, subtree.depth, &mut add);
        }
        let mut children = Vec::new();
        for (key, mut occurrences) in found {
            occurrences.sort_unstable();
            occurrences.dedup();
            let mut rows: Vec<u32> = occurrences.iter().map(|&node| forest.tree(node)).collect();
            rows.dedup();
            if rows.len() >= self.params.min_rows as usize {
                let depth = if is_root { 0 } else { subtree.depth + 1 - key.0 };
                children.push(Subtree { key, depth, rows, occurrences, children: None });
            }
        }
        sort_by_key(&mut children, |child| child.key);
        children
    }
}

impl Round<'_> {
    fn is_better(&self, gain: f64) -> bool {
        self.best.as_ref().is_none_or(|best| gain > best.gain)
    }

    /// Whether a subtree in this number of rows may be better: the bound, if all of them had the largest weight.
    fn may_improve(&self, n_rows: usize) -> bool {
        self.is_better(2.0 * self.largest * n_rows as f64 + self.sum.abs())
    }

    /// The bound of the gain of a subtree and of all that contain it; its own gain; and its better sign.
    fn measure(&self, rows: &[u32]) -> (f64, f64, f64) {
        let (mut own, mut others) = (0.0, 0.0);
        for &row in rows {
            let weight = self.weights[row as usize];
            own += weight.max(0.0);
            others -= weight.min(0.0);
        }
        let bound = (2.0 * own - self.sum).max(2.0 * others + self.sum);
        let gain = 2.0 * (own - others) - self.sum;
        (bound, gain.abs(), if gain < 0.0 { -1.0 } else { 1.0 })
    }
}

#[cfg(test)]
mod tests;
