//! The boosted trees of one label, in the order they were grown.

use rustc_hash::FxHashMap;

use super::design::Test;
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// The test number that marks a leaf.
pub(super) const LEAF: u32 = u32::MAX;
/// Confidences are multiples of 1/65,536, so that their sums, up to 256, are exact in any order.
pub(super) const STEPS: f64 = 65_536.0;

/// The trees of one label.
///
/// A node is a test and the index of the "yes" child; the "no" child is the next node. A leaf is `LEAF`
/// and the bits of its confidence. The nodes on the path on which no test holds are therefore contiguous.
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    pub(super) tests: Vec<Test>,
    pub(super) nodes: Vec<[u32; 2]>,
    pub(super) trees: Vec<Tree>,
    /// The threshold that training has reached; infinity before the first tree.
    reached: f64,
}

impl Default for Ensemble {
    fn default() -> Self {
        let (tests, nodes, trees) = (Vec::new(), Vec::new(), Vec::new());
        Self { tests, nodes, trees, reached: f64::INFINITY }
    }
}

/// One tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tree {
    /// The end of its nodes.
    pub(super) end: u32,
    /// The least loss reduction of its splits.
    pub(super) reduction: f64,
}

/// An ensemble in training.
#[derive(Debug, Clone, Default)]
pub(super) struct Growing {
    pub(super) ensemble: Ensemble,
    number_of: FxHashMap<Test, u32>,
}

impl From<Ensemble> for Growing {
    fn from(ensemble: Ensemble) -> Self {
        let number_of = ensemble.tests.iter().copied().zip(0..).collect();
        Self { ensemble, number_of }
    }
}

impl Growing {
    /// The number of a test within the ensemble, which is added if new.
    pub(super) fn number(&mut self, test: Test) -> u32 {
        let tests = &mut self.ensemble.tests;
        *self.number_of.entry(test).or_insert_with(|| {
            tests.push(test);
            tests.len() as u32 - 1
        })
    }

    /// Ends a tree.
    pub(super) fn end_tree(&mut self, reduction: f64) {
        let end = self.ensemble.nodes.len() as u32;
        self.ensemble.trees.push(Tree { end, reduction });
        self.ensemble.reached = reduction;
    }

    /// Records that no split of a root reduces the loss by `threshold`.
    pub(super) fn end(&mut self, threshold: f64) {
        self.ensemble.reached = threshold;
    }
}

impl Ensemble {
    /// The number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// The number of splits in all trees.
    pub fn n_splits(&self) -> usize {
        (self.nodes.len() - self.trees.len()) / 2
    }

    /// The threshold Θ that training has reached: it has all trees of this and larger thresholds.
    pub fn reached(&self) -> f64 {
        self.reached
    }

    /// For each tree its threshold Θ and the number of splits up to and including it; Θ never increases.
    pub fn growth(&self) -> impl Iterator<Item = (f64, usize)> {
        self.trees.iter().zip(1..).map(|(tree, n)| (tree.reduction, (tree.end as usize - n) / 2))
    }

    /// The trees whose splits had to reduce the loss by at least `threshold`.
    #[must_use]
    pub fn truncated(&self, threshold: f64) -> Self {
        let n = self.trees.partition_point(|tree| tree.reduction >= threshold);
        let end = n.checked_sub(1).map_or(0, |last| self.trees[last].end as usize);
        Self {
            tests: self.tests.clone(),
            nodes: self.nodes[..end].to_vec(),
            trees: self.trees[..n].to_vec(),
            reached: self.reached.max(threshold),
        }
    }

    /// The nodes of each tree.
    pub(super) fn all_nodes(&self) -> impl Iterator<Item = &[[u32; 2]]> {
        let starts = std::iter::once(0).chain(self.trees.iter().map(|tree| tree.end as usize));
        starts.zip(&self.trees).map(|(start, tree)| &self.nodes[start..tree.end as usize])
    }

    /// The leaf that each tree comes to, given the tests that hold: its confidence, and those on the path to it.
    pub(super) fn leaves(
        &self,
        holds: impl Fn(Test) -> bool,
    ) -> impl Iterator<Item = (f32, Vec<Test>)> {
        self.all_nodes().map(move |nodes| {
            let (mut at, mut held) = (0, Vec::new());
            loop {
                let [test, next] = nodes[at];
                if test == LEAF {
                    return (f32::from_bits(next), held);
                }
                let test = self.tests[test as usize];
                at = if holds(test) {
                    held.push(test);
                    next as usize
                } else {
                    at + 1
                };
            }
        })
    }

    /// Adds the ensemble to the sections of a model.
    pub fn store(&self, sections: &mut Sections) {
        let pairs = |pairs: &mut dyn Iterator<Item = [u32; 2]>| pairs.flatten().collect::<Vec<_>>();
        let tests = pairs(&mut self.tests.iter().map(|test| [test.column, test.value]));
        sections.put("boost.tests", tests.into());
        sections.put("boost.nodes", pairs(&mut self.nodes.iter().copied()).into());
        let ends: Vec<u32> = self.trees.iter().map(|tree| tree.end).collect();
        sections.put("boost.ends", ends.into());
        let reductions = self.trees.iter().map(|tree| tree.reduction).chain([self.reached]);
        sections.put("boost.reductions", reductions.map(f64::to_bits).collect::<Vec<_>>().into());
    }

    /// Reads what [`Ensemble::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or is not of boosted trees.
    pub fn load(sections: &Sections) -> Result<Self> {
        let tests: Array<u32> = sections.get("boost.tests")?;
        let nodes: Array<u32> = sections.get("boost.nodes")?;
        let ends: Array<u32> = sections.get("boost.ends")?;
        let reductions: Array<u64> = sections.get("boost.reductions")?;
        let tests = tests.as_chunks::<2>().0.iter();
        let reduction = |at: usize| f64::from_bits(reductions.get(at).copied().unwrap_or(0));
        let trees = ends.iter().enumerate();
        let ensemble = Self {
            tests: tests.map(|&[column, value]| Test { column, value }).collect(),
            nodes: nodes.as_chunks::<2>().0.to_vec(),
            trees: trees.map(|(at, &end)| Tree { end, reduction: reduction(at) }).collect(),
            reached: reduction(ends.len()),
        };
        if reductions.len() == ends.len() + 1 && ensemble.is_valid() {
            return Ok(ensemble);
        }
        Err(Error::Corrupt("the nodes are not those of boosted trees".into()))
    }

    /// Whether every path ends at a leaf of the same tree.
    fn is_valid(&self) -> bool {
        let falls =
            |pair: &[Tree]| pair[0].end < pair[1].end && pair[0].reduction >= pair[1].reduction;
        let last = self.trees.last().copied().unwrap_or(Tree { end: 0, reduction: f64::MAX });
        if !self.trees.windows(2).all(falls)
            || last.end as usize != self.nodes.len()
            || last.reduction.is_nan()
            || self.reached.is_nan()
        {
            return false;
        }
        let is_sound = |at: usize, n: usize, [test, next]: [u32; 2]| {
            if test == LEAF {
                return f32::from_bits(next).is_finite();
            }
            (test as usize) < self.tests.len()
                && at + 1 < n
                && (at + 1..n).contains(&(next as usize))
        };
        let tree_is_sound = |nodes: &[[u32; 2]]| {
            let all = nodes.iter().enumerate();
            let n = nodes.len();
            { all }.all(|(at, &node)| is_sound(at, n, node))
                && nodes.last().is_some_and(|last| last[0] == LEAF)
        };
        self.all_nodes().all(tree_is_sound)
    }
}
