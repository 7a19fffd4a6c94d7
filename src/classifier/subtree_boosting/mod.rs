//! Boosting of subtrees (BACT): Kudo and Matsumoto 2004, *A Boosting Algorithm for Classification of Semi-Structured
//! Text*, which Sagae and Lavie (2005) name as future work.
//!
//! A row becomes one tree. Below its root are a node for each column that has a value, and the children of the root of
//! each tree column ([`crate::feature::extract::tree`]), where a position and what is there are one node. A *subtree* is a
//! set of connected nodes: it keeps labels, parents and the order of siblings, and may leave out siblings, and nodes below
//! (section 2 of the paper). With one node it is a value of a column, or a label; with three nodes it can be a
//! pair of columns.
//!
//! A decision stump asks whether a row has a subtree. AdaBoost selects stumps for each class against all
//! others; the best one of a round is found by branch and bound (`search.rs`). The score of a class is
//! the sum of its stumps' votes, in the form of one weight for each subtree and a bias; all subtrees are found in one
//! walk over a trie ([`trie`]). Scores are margins.

mod search;
pub mod trie;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::forest::Forest;
use super::linear::check_classes;
use super::svm::rows::BinaryClassifiers;
use super::{Classifier, Fit, Instances, Learner, LearnerParams, Parts};
use crate::feature::{Column, ColumnKind};
use crate::memory::Sections;
use crate::parallel;
use crate::{Error, Result};
use search::{Key, Search, Stump};
use trie::SubtreeModel;

/// The settings of boosted subtrees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SubtreeBoostingParams {
    /// Maximum number of rounds for each class; each adds a subtree, or changes the weight of one.
    #[schemars(range(min = 1, max = 100_000))]
    pub rounds: u32,
    /// Maximum number of nodes of a subtree. Time and memory grow exponentially with it.
    #[schemars(range(min = 1, max = 5))]
    pub max_nodes: u32,
    /// Subtrees that occur in fewer instances are left out.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub min_rows: u32,
}

impl Default for SubtreeBoostingParams {
    fn default() -> Self {
        Self { rounds: 200, max_nodes: 3, min_rows: 5 }
    }
}

/// Learns boosted subtrees.
#[derive(Debug, Clone)]
pub struct SubtreeBoosting {
    /// The settings.
    pub params: SubtreeBoostingParams,
    /// The columns of every row; none is a set.
    pub columns: Vec<Column>,
}

/// The kinds of columns.
fn kinds(columns: &[Column]) -> Vec<ColumnKind> {
    columns.iter().map(|column| column.kind).collect()
}

impl LearnerParams for SubtreeBoostingParams {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        Ok(Box::new(SubtreeBoosting { params: self.clone(), columns: parts.columns.clone() }))
    }
}

impl Learner for SubtreeBoosting {
    fn takes_trees(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let kinds = kinds(&self.columns);
        if kinds.contains(&ColumnKind::Set) {
            let problem = "boosted subtrees cannot take set columns: drop `.kids`";
            return Err(Error::config("features", problem));
        }
        check_classes(instances.n_classes())?;
        fit.unless_stopped()?;
        let mut forest = Forest::default();
        (0..instances.len()).for_each(|at| forest.push_row(&kinds, instances.row(at)));
        fit.log(&format!("{} instances as trees with {} nodes", instances.len(), forest.len()));
        let classes = BinaryClassifiers::of(instances).classes;
        let votes = parallel::try_map_range(classes.len(), |at| {
            fit.unless_stopped()?;
            let share = at as f64 / classes.len() as f64;
            let votes = self.boost(instances, &forest, classes[at], fit);
            let n = votes.subtrees.len();
            fit.step(share, &format!("class {} of {}: {n} subtrees", at + 1, classes.len()));
            Ok(votes)
        })?;
        fit.unless_stopped()?;
        let voted: Vec<(u16, Votes)> = classes.into_iter().zip(votes).collect();
        Ok(Box::new(SubtreeModel::new(kinds, instances.n_classes(), &voted)))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        Ok(Box::new(SubtreeModel::load(kinds(&self.columns), sections)?))
    }
}

/// The stumps of a class: their votes for a row are the bias and the weights of the subtrees that it has.
#[derive(Debug, Clone, Default, PartialEq)]
struct Votes {
    bias: f64,
    subtrees: BTreeMap<Vec<Key>, f64>,
}

impl Votes {
    /// Adds a stump with a confidence: half of its vote without the subtree is that of the other side.
    fn add(&mut self, stump: &Stump, confidence: f64) {
        let vote = confidence * stump.sign;
        self.bias -= vote;
        *self.subtrees.entry(stump.subtree.clone()).or_default() += 2.0 * vote;
    }
}

/// A stump with a smaller gain is no better than chance.
const MIN_GAIN: f64 = 1e-6;

impl SubtreeBoosting {
    /// AdaBoost for one class (Freund and Schapire 1997), until no stump is better than chance, or one makes no error.
    fn boost(&self, instances: &Instances, forest: &Forest, class: u16, fit: &Fit<'_>) -> Votes {
        let n = instances.len();
        let mut search = Search::new(forest, &self.params);
        let mut votes = Votes::default();
        let sign = |at: usize| if instances.class(at) == class { 1.0 } else { -1.0 };
        let mut weights: Vec<f64> = (0..n).map(|at| sign(at) / n as f64).collect();
        for _ in 0..self.params.rounds {
            let Some(stump) = search.best(&weights).filter(|stump| stump.gain > MIN_GAIN) else {
                break;
            };
            let confidence = confidence(stump.gain, n);
            votes.add(&stump, confidence);
            if stump.gain > 1.0 - MIN_GAIN || fit.is_stopped() {
                break;
            }
            reweight(&mut weights, &stump, confidence);
        }
        votes
    }
}

/// The confidence of a stump, smoothed as if each side had half an instance more (Schapire and Singer 1999, section
/// 4.2).
fn confidence(gain: f64, n: usize) -> f64 {
    let smoothing = 1.0 / n as f64;
    0.5 * ((1.0 + gain + smoothing) / (1.0 - gain + smoothing)).ln()
}

/// Gives more weight to the rows on the wrong side; the weights without their signs add up to 1 again.
fn reweight(weights: &mut [f64], stump: &Stump, confidence: f64) {
    let mut factors = [confidence, -confidence];
    if stump.sign < 0.0 {
        factors.swap(0, 1);
    }
    // If having the subtree and being of the class differ, and if they agree.
    let factors = factors.map(f64::exp);
    let mut with = stump.rows.iter().copied().peekable();
    let mut sum = 0.0;
    for (weight, row) in weights.iter_mut().zip(0..) {
        let has = with.next_if_eq(&row).is_some();
        *weight *= factors[usize::from(has == (*weight > 0.0))];
        sum += weight.abs();
    }
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

#[cfg(test)]
mod tests;
