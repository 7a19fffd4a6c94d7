//! The subtrees of all classes in a trie: what a model file stores, and what finds them in a row.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Votes;
use super::search::Key;
use crate::classifier::forest::Forest;
use crate::classifier::{Classifier, Scratch};
use crate::feature::{ColumnKind, RowRef};
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// Boosted subtrees of all classes.
///
/// The nodes of the trie are subtrees, numbered by size; the first is the one without nodes. The parent of a subtree is
/// the one without its last node in preorder. Children of a node are adjacent and sorted.
#[derive(Debug, Clone)]
pub struct SubtreeModel {
    kinds: Vec<ColumnKind>,
    /// For each node how many levels above the node before it the parent of its last node is.
    ups: Array<u32>,
    /// For each node the label of its last node.
    labels: Array<u64>,
    /// For each node the end of its children; they begin where those of the node before it end.
    ends: Array<u32>,
    /// For each node the end of its weights.
    weight_ends: Array<u32>,
    weight_classes: Array<u16>,
    weights: Array<f32>,
    /// For each class its bias; minus infinity for a class that was never seen.
    biases: Array<f32>,
}

/// A subtree that was found: the node of the trie, the depth of the last node, and the occurrences.
type SubtreeMatch = (u32, u32, Range<usize>);

/// The number of nodes of a subtree, and the nodes: their order is that of the trie.
type SizedSubtree<'a> = (usize, &'a [Key]);

/// Working memory of one thread.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    forest: Forest,
    found: Vec<SubtreeMatch>,
    /// The last node of each occurrence.
    occurrences: Vec<u32>,
    /// Children of a node of the trie, each with a last node.
    next: Vec<(u32, u32)>,
}

impl SubtreeModel {
    pub(super) fn new(kinds: Vec<ColumnKind>, n_classes: usize, voted: &[(u16, Votes)]) -> Self {
        let mut nodes: BTreeMap<SizedSubtree<'_>, Vec<(u16, f32)>> = BTreeMap::new();
        nodes.insert((0, &[]), Vec::new());
        let mut biases = vec![f32::NEG_INFINITY; n_classes];
        for (class, votes) in voted {
            biases[usize::from(*class)] = votes.bias as f32;
            for (subtree, &weight) in &votes.subtrees {
                for size in 1..=subtree.len() {
                    nodes.entry((size, &subtree[..size])).or_default();
                }
                let weights = nodes.entry((subtree.len(), subtree)).or_default();
                weights.push((*class, weight as f32));
            }
        }
        let mut n_children: BTreeMap<SizedSubtree<'_>, u32> = BTreeMap::new();
        for (size, subtree) in nodes.keys().skip(1) {
            *n_children.entry((size - 1, &subtree[..size - 1])).or_default() += 1;
        }
        let mut end = 1;
        let ends = nodes.keys().map(|node| {
            end += n_children.get(node).copied().unwrap_or(0);
            end
        });
        let last = |(_, subtree): &SizedSubtree<'_>| subtree.last().copied().unwrap_or_default();
        let mut weight_end = 0;
        let weight_ends = nodes.values().map(|weights| {
            weight_end += weights.len() as u32;
            weight_end
        });
        let weights = || nodes.values().flatten();
        Self {
            kinds,
            ups: nodes.keys().map(|node| last(node).0).collect::<Vec<_>>().into(),
            labels: nodes.keys().map(|node| last(node).1).collect::<Vec<_>>().into(),
            ends: ends.collect::<Vec<_>>().into(),
            weight_ends: weight_ends.collect::<Vec<_>>().into(),
            weight_classes: weights().map(|weight| weight.0).collect::<Vec<_>>().into(),
            weights: weights().map(|weight| weight.1).collect::<Vec<_>>().into(),
            biases: biases.into(),
        }
    }

    /// Reads what [`Classifier::store`] wrote; `kinds` are those of the columns of rows.
    ///
    /// # Errors
    /// When a section is missing, or is not of such a model.
    pub fn load(kinds: Vec<ColumnKind>, sections: &Sections) -> Result<Self> {
        let model = Self {
            kinds,
            ups: sections.get("subtrees.ups")?,
            labels: sections.get("subtrees.labels")?,
            ends: sections.get("subtrees.ends")?,
            weight_ends: sections.get("subtrees.weight-ends")?,
            weight_classes: sections.get("subtrees.weight-classes")?,
            weights: sections.get("subtrees.weights")?,
            biases: sections.get("subtrees.biases")?,
        };
        let (n, n_weights) = (model.labels.len(), model.weights.len());
        let is_after = |(at, &end): (usize, &u32)| end as usize > at + usize::from(at + 1 < n);
        let fits = n > 0
            && [&model.ups, &model.ends, &model.weight_ends].iter().all(|array| array.len() == n)
            && model.ends.is_sorted()
            && model.ends.last().copied() == Some(n as u32)
            && model.ends.iter().enumerate().all(is_after)
            && model.weight_ends.is_sorted()
            && model.weight_ends.last().copied() == Some(n_weights as u32)
            && model.weight_classes.len() == n_weights
            && model.weights.iter().all(|weight| weight.is_finite())
            && model.biases.len() <= usize::from(u16::MAX)
            && model.biases.iter().all(|&bias| bias < f32::INFINITY)
            && model.weight_classes.iter().all(|&class| usize::from(class) < model.biases.len());
        if fits {
            return Ok(model);
        }
        Err(Error::Corrupt("the subtrees are not those of a boosted model".into()))
    }

    /// The child of a node with this last node.
    fn child(&self, node: u32, key: Key) -> Option<u32> {
        let children = range(&self.ends, 1, node as usize);
        let (ups, labels) = (&self.ups[children.clone()], &self.labels[children.clone()]);
        let (mut low, mut high) = (0, ups.len());
        while low < high {
            let middle = low.midpoint(high);
            match (ups[middle], labels[middle]).cmp(&key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some((children.start + middle) as u32),
            }
        }
        None
    }

    /// Moves the occurrences of children of a node, whose last node has this depth, to the subtrees that were found.
    fn enter(&self, depth: Option<u32>, memory: &mut Memory) {
        let Memory { found, occurrences, next, .. } = memory;
        next.sort_unstable();
        next.dedup();
        for same in next.chunk_by(|a, b| a.0 == b.0) {
            let start = occurrences.len();
            occurrences.extend(same.iter().map(|&(_, node)| node));
            let child = same[0].0;
            let depth = depth.map_or(0, |depth| depth + 1 - self.ups[child as usize]);
            found.push((child, depth, start..occurrences.len()));
        }
        next.clear();
    }

    /// Finds all subtrees of the trie in the tree in `memory`.
    fn find(&self, memory: &mut Memory) {
        memory.found.clear();
        memory.occurrences.clear();
        memory.next.clear();
        for node in 0..memory.forest.len() as u32 {
            let child = self.child(0, (0, memory.forest.label(node)));
            memory.next.extend(child.map(|child| (child, node)));
        }
        self.enter(None, memory);
        let mut at = 0;
        while let Some((subtree, depth, range)) = memory.found.get(at).cloned() {
            at += 1;
            let Memory { forest, occurrences, next, .. } = memory;
            for &rightmost in &occurrences[range] {
                forest.extensions(rightmost, depth, |up, node| {
                    let child = self.child(subtree, (up, forest.label(node)));
                    next.extend(child.map(|child| (child, node)));
                });
            }
            self.enter(Some(depth), memory);
        }
    }
}

/// A range between two of the ends; the first begins at `start`.
fn range(ends: &[u32], start: usize, at: usize) -> Range<usize> {
    at.checked_sub(1).map_or(start, |before| ends[before] as usize)..ends[at] as usize
}

impl Classifier for SubtreeModel {
    fn n_classes(&self) -> usize {
        self.biases.len()
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let memory: &mut Memory = scratch.of();
        memory.forest.clear();
        memory.forest.push_row(&self.kinds, row);
        self.find(memory);
        out.copy_from_slice(&self.biases);
        for (subtree, ..) in &memory.found {
            for at in range(&self.weight_ends, 0, *subtree as usize) {
                out[usize::from(self.weight_classes[at])] += self.weights[at];
            }
        }
    }

    fn store(&self, sections: &mut Sections) {
        sections.put("subtrees.ups", self.ups.clone());
        sections.put("subtrees.labels", self.labels.clone());
        sections.put("subtrees.ends", self.ends.clone());
        sections.put("subtrees.weight-ends", self.weight_ends.clone());
        sections.put("subtrees.weight-classes", self.weight_classes.clone());
        sections.put("subtrees.weights", self.weights.clone());
        sections.put("subtrees.biases", self.biases.clone());
    }
}
