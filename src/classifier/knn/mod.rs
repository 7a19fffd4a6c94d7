//! Memory-based learning: IB1, the classes of the nearest training instances (Aha, Kibler and Albert
//! 1991), with the metrics, weights and votes of TiMBL (Daelemans and others 2004).
//!
//! The distance between two rows is the weighted sum of the distances between their values in each column.
//! All columns are nominal: numbers are symbols too, as in TiMBL by default.
//!
//! - **Overlap**: 0 for equal values, 1 for different ones.
//! - **MVDM**, the modified value difference metric (Cost and Salzberg 1993): ½ Σ |P(c|a) − P(c|b)| over
//!   all classes c. A value that occurs in fewer than `min_frequency` training instances, or in none, has
//!   no reliable distribution; overlap is used instead.
//! - **One-hot features**: each value of each column is a binary feature with a weight of its own, as in
//!   Wang, Sagae and Mitamura (2006, section 3.2). The distance between two different values is the sum of
//!   their weights. An unseen value, like a missing one, is not a feature and has no weight.
//!
//! A column is weighted by its information gain, by its gain ratio (Quinlan 1993), or not at all. `k`
//! counts **distances, not instances**, as in TiMBL: all instances at the k smallest distinct distances
//! vote. If several classes have the most votes, the instances at the next distance vote too. If the tie
//! remains, these votes do not count, and the class with more training instances wins, then the one seen
//! first.
//!
//! Distances are integers in units of 2⁻³¹ of the largest possible one, and probabilities integers in units
//! of 2⁻³⁰, so equality of distances does not depend on the order of summation. The search is exact: branch
//! and bound over a tree of rows with the heaviest columns first; for one-hot features, a scan of blocks of
//! rows.
//!
//! Scores are [margins](super::ScoreScale::Margin): the share of the votes, at most 1. Among classes with equally many
//! votes, the winner of the tie scores higher by the smallest possible difference. A class without votes
//! scores between −1 and 0, ordered by its number of training instances.

mod columns;
mod flat;
mod search;
mod tree;
mod values;
mod vote;

pub use search::Memory;

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::{Classifier, Evidence, Fit, Instances, Learner, LearnerParams, Parts, Scratch};
use crate::feature::RowRef;
use crate::memory::Sections;
use crate::{Error, Result};
use columns::Counts;
use flat::Flat;
use tree::{Sorted, Tree};
use values::Values;
use vote::Votes;

/// The distance between two values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// 0 for equal values, otherwise 1.
    Overlap,
    /// The difference of their class distributions.
    Mvdm,
}

/// The weight of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// Information gain divided by the entropy of the column's values.
    GainRatio,
    /// Information gain: the bits of information about the class that the column's value gives.
    InformationGain,
    /// All columns have weight 1.
    None,
}

/// The weight of a neighbour's vote as a function of its distance d; d₁ is the smallest distance, dₖ the
/// largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Voting {
    /// 1.
    Equal,
    /// 1 ÷ (d + 2⁻⁵²).
    InverseDistance,
    /// (dₖ − d) ÷ (dₖ − d₁), or 1 if these are equal (Dudani 1976).
    InverseLinear,
    /// exp(−`decay` · d^`decay_power`) (Shepard 1987).
    ExponentialDecay,
}

/// The settings of memory-based learning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KnnParams {
    /// The number of distinct distances whose instances vote.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub k: u32,
    /// The distance between two values of a column: 0 or 1 (overlap), or the difference of their class
    /// distributions (mvdm).
    pub metric: Metric,
    /// How columns are weighted.
    pub weighting: Weighting,
    /// How the vote of a neighbour is weighted by its distance.
    pub voting: Voting,
    /// The factor of the exponential decay.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub decay: f64,
    /// The exponent of the distance in the exponential decay.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1e6))]
    pub decay_power: f64,
    /// Under mvdm, values with fewer instances are compared by overlap; 0 and 1 exempt none.
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

/// How many rows [`Classifier::evidence`] gives.
const NEIGHBOURS: usize = 10;

impl LearnerParams for KnnParams {
    fn learner(&self, _parts: &Parts) -> Result<Box<dyn Learner>> {
        Ok(Box::new(self.clone()))
    }
}

impl Learner for KnnParams {
    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        instances.check_single_values("memory-based learning")?;
        if instances.n_classes() >= usize::from(u16::MAX) {
            return Err(Error::config("learner", format!("more than {} actions", u16::MAX - 1)));
        }
        let counts = Counts::of_columns(instances);
        fit.step(0.3, "counted the values of every column");
        let chosen = columns::choose(self, instances, &counts)?;
        drop(counts);
        fit.step(0.5, "weighted the columns");
        let values = Values::new(&chosen, self, instances.n_classes());
        fit.unless_stopped()?;
        let sorted = Sorted::of(&chosen, instances);
        fit.step(0.8, "sorted the rows");
        let index = if self.one_hot {
            Index::Flat(Flat::new(&sorted, &values))
        } else {
            Index::Tree(Tree::grow(&sorted)?)
        };
        let votes = Votes::new(&sorted.rows, instances);
        let numbers = match &index {
            Index::Tree(tree) => tree.n_numbers(),
            Index::Flat(flat) => flat.n_numbers(),
        };
        let report = format!("{} distinct rows, {} MB", sorted.n_rows(), numbers / 500_000);
        let model = KnnModel::new(self, values, index, votes);
        fit.step(1.0, &report);
        Ok(Box::new(model))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        Ok(Box::new(KnnModel::load(self, sections)?))
    }
}

/// The rows, in the index that suits the metric.
#[derive(Debug, Clone)]
enum Index {
    Tree(Tree),
    Flat(Flat),
}

/// The training instances in an index.
#[derive(Debug, Clone)]
pub struct KnnModel {
    params: KnnParams,
    values: Values,
    index: Index,
    votes: Votes,
    /// Identifies this model within the process, for scratch memory that is used with several models.
    number: u64,
}

impl KnnModel {
    fn new(params: &KnnParams, values: Values, index: Index, votes: Votes) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { params: params.clone(), values, index, votes, number }
    }

    fn load(params: &KnnParams, sections: &Sections) -> Result<Self> {
        let votes = Votes::load(sections)?;
        let values = Values::load(params, votes.n_classes(), sections)?;
        let index = if params.one_hot {
            Index::Flat(Flat::load(&values, votes.n_rows(), sections)?)
        } else {
            Index::Tree(Tree::load(&values, votes.n_rows(), sections)?)
        };
        Ok(Self::new(params, values, index, votes))
    }

    /// Finds the training rows at the `k` smallest distances from a row; the result is in `memory`.
    fn search(&self, row: RowRef<'_>, k: usize, memory: &mut Memory) {
        if memory.model != self.number {
            memory.model = self.number;
            memory.tables.reset(&self.values);
        }
        let least = memory.tables.set_query(&self.values, row.values);
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

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let (memory, k) = (scratch.of(), self.params.k as usize);
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

    fn evidence(&self, row: RowRef<'_>, _classes: [u16; 2], scratch: &mut Scratch) -> Evidence {
        let memory: &mut Memory = scratch.of();
        self.search(row, self.params.k as usize, memory);
        memory.found.sort_unstable();
        let unit = self.values.unit();
        let nearest = memory.found.iter().take(NEIGHBOURS);
        let of_row = |&(distance, row): &(u32, u32)| {
            (f64::from(distance) * unit, self.votes.of_row(row as usize).collect())
        };
        Evidence::Neighbours(nearest.map(of_row).collect())
    }

    fn store(&self, sections: &mut Sections) {
        self.values.put(sections);
        match &self.index {
            Index::Tree(tree) => tree.put(sections),
            Index::Flat(flat) => flat.put(sections),
        }
        self.votes.put(sections);
    }
}

#[cfg(test)]
mod tests;
