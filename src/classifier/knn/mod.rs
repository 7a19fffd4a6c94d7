//! Memory-based learning: IB1, the classes of the nearest training instances (Aha, Kibler and Albert
//! 1991), with the metrics, weights and votes of TiMBL (Daelemans and others 2004).
//!
//! The distance of two rows is the sum over columns of the column's weight times the distance of the two
//! values. Every column is nominal: numbers too are names here, as in TiMBL by default.
//!
//! - **Overlap**: 0 for the same value, 1 for two different ones.
//! - **MVDM**, the modified value difference metric (Cost and Salzberg 1993): ½ Σ |P(c|a) − P(c|b)| over
//!   all classes c. A value never seen in training, or in fewer than `min_frequency` instances, has no
//!   distribution worth the name and falls back to overlap.
//! - **Predicates**: each value of each column is a binary feature of its own, as in Wang, Sagae and
//!   Mitamura (2006, section 3.2), with a weight of its own. So two different values are as far apart as
//!   the weights of both; a value never seen is no feature and weighs nothing, nor does "nothing there".
//!
//! A column weighs its information gain, its gain ratio (Quinlan 1993) or 1. `k` counts **distances, not
//! instances**, as in TiMBL: all instances at the k smallest different distances vote. If classes tie for
//! the most votes, those at the next distance vote too; if that does not give one winner, theirs do not
//! count, and the class with more training instances wins, then the one that was seen first.
//!
//! Distances are integers in units of 2⁻³¹ of the largest there can be, and probabilities in units of
//! 2⁻³⁰, so that what "the same distance" is depends on no order of adding. The search is exact: columns
//! are searched by branch and bound in a tree of rows, heavy columns first; one-hot features in blocks of rows.
//!
//! Scores are [`ScoreScale::Margin`]: the share of the votes, at most 1. Of classes with equal votes the
//! one that wins the tie scores higher by the smallest step there is. A class without votes scores
//! between −1 and 0, by how many training instances it has.

mod columns;
mod flat;
mod search;
mod store;
mod tree;
mod values;
mod vote;

pub use search::Memory;

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::{Classifier, Fit, Instances, Learner, ScoreScale, Scratch};
use crate::feature::RowRef;
use crate::memory::Sections;
use crate::{Error, Result};
use columns::Counts;
use flat::Flat;
use tree::{Sorted, Tree};
use values::Values;
use vote::Votes;

/// How far two values of a column are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// 0 if they are the same, else 1.
    Overlap,
    /// By the distributions of the classes they occur with.
    Mvdm,
}

/// What a column weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// Information gain divided by the entropy of the column's values.
    GainRatio,
    /// How many bits about the class the column's value gives.
    InformationGain,
    /// The same for all.
    None,
}

/// What the vote of a neighbour counts, by its distance d; d₁ is the smallest, dₖ the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Voting {
    /// One.
    Equal,
    /// 1 ÷ (d + 2⁻⁵²).
    InverseDistance,
    /// (dₖ − d) ÷ (dₖ − d₁), and 1 if they are equal (Dudani 1976).
    InverseLinear,
    /// exp(−`decay` · d^`decay_power`) (Shepard 1987).
    ExponentialDecay,
}

/// The settings of memory-based learning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KnnParams {
    /// Neighbours at this many different distances vote.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub k: u32,
    /// How far two values of a column are apart: 0 or 1 (overlap), or by the distributions of the classes
    /// they occur with (mvdm).
    pub metric: Metric,
    /// How columns are weighted.
    pub weighting: Weighting,
    /// How the vote of a neighbour is weighted by its distance.
    pub voting: Voting,
    /// The factor of exponential decay.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub decay: f64,
    /// The power of the distance in exponential decay.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e6))]
    pub decay_power: f64,
    /// Values of fewer instances are compared by overlap under mvdm; 0 and 1 exempt none.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub min_frequency: u32,
    /// Whether each value of each column is a binary feature of its own.
    pub one_hot: bool,
}

impl Default for KnnParams {
    fn default() -> Self {
        Self {
            k: 5,
            metric: Metric::Mvdm,
            weighting: Weighting::GainRatio,
            voting: Voting::Equal,
            decay: 1.0,
            decay_power: 1.0,
            min_frequency: 1,
            one_hot: false,
        }
    }
}

/// Keeps the training instances.
#[derive(Debug, Clone)]
pub struct Knn {
    /// The settings.
    pub params: KnnParams,
}

impl Learner for Knn {
    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        if instances.has_sets() {
            let problem = "memory-based learning cannot take set columns: drop `.kids`";
            return Err(Error::config("features", problem));
        }
        if instances.n_classes() >= usize::from(u16::MAX) {
            return Err(Error::config("learner", format!("more than {} actions", u16::MAX - 1)));
        }
        let counts = Counts::of_columns(instances);
        fit.step(0.3, "counted the values of every column");
        let chosen = columns::choose(&self.params, instances, &counts)?;
        drop(counts);
        fit.step(0.5, "weighed the columns");
        let values = Values::new(&chosen, &self.params, instances.n_classes());
        fit.unless_stopped()?;
        let sorted = Sorted::of(&chosen, instances);
        fit.step(0.8, "sorted the rows");
        let index = if self.params.one_hot {
            Index::Flat(Flat::new(&sorted, &values))
        } else {
            Index::Tree(Tree::grow(&sorted)?)
        };
        let votes = Votes::new(&sorted.rows, instances);
        let (rows, numbers) = index.size();
        let report = format!("{rows} different rows in {} MB", numbers / 500_000);
        let model = KnnModel::new(&self.params, values, index, votes);
        fit.step(1.0, &report);
        Ok(Box::new(model))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        Ok(Box::new(KnnModel::load(&self.params, sections)?))
    }
}

/// The rows, by the search that suits the metric.
#[derive(Debug, Clone)]
enum Index {
    Tree(Tree),
    Flat(Flat),
}

impl Index {
    /// The number of rows, and of numbers for all of them.
    fn size(&self) -> (usize, usize) {
        match self {
            Self::Tree(tree) => tree.size(),
            Self::Flat(flat) => flat.size(),
        }
    }
}

/// The training instances, ready to be searched.
#[derive(Debug, Clone)]
pub struct KnnModel {
    params: KnnParams,
    values: Values,
    index: Index,
    votes: Votes,
    /// Tells this model from all others of the process, for memory that serves several.
    number: u64,
}

impl KnnModel {
    fn new(params: &KnnParams, values: Values, index: Index, votes: Votes) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { params: params.clone(), values, index, votes, number }
    }

    /// Fills `memory` with the training rows at the `k` smallest distances of a row.
    fn search(&self, row: RowRef<'_>, k: usize, memory: &mut Memory) {
        if memory.model != self.number {
            memory.model = self.number;
            memory.tables.reset(&self.values);
        }
        let least = memory.tables.ask(&self.values, row.values);
        match &self.index {
            Index::Tree(tree) => tree.search(&self.values, k, least, memory),
            Index::Flat(flat) => flat.search(&self.values, k, memory),
        }
    }
}

impl Classifier for KnnModel {
    fn n_classes(&self) -> usize {
        self.votes.n_classes()
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let (memory, k) = (&mut scratch.knn, self.params.k as usize);
        self.search(row, k, memory);
        let unit = self.values.unit();
        let mut tied = self.votes.count(&self.params, unit, memory);
        if tied {
            std::mem::swap(&mut memory.votes, &mut memory.first_votes);
            self.search(row, k + 1, memory);
            tied = self.votes.count(&self.params, unit, memory);
            if tied {
                std::mem::swap(&mut memory.votes, &mut memory.first_votes);
            }
        }
        self.votes.scores(memory, out);
    }

    fn store(&self, sections: &mut Sections) {
        self.put(sections);
    }
}

#[cfg(test)]
mod tests;
