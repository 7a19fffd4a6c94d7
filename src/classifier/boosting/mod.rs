//! Boosted decision trees, one ensemble for each label: the learner of Turian and Melamed (2005,
//! section 2.1).
//!
//! An example is a row of columns for which the label is correct or wrong. Its confidence is the sum over
//! the trees of an ensemble; a positive confidence predicts that the label is correct. Trees are grown one
//! after the other (`grow.rs`). The weight of an example decreases with its margin ([`Loss`]). Splits are
//! binary tests, chosen to reduce Z = 2√(W₊W₋); the confidence of a leaf is ½ ln((W₊ + ε) ÷ (W₋ + ε))
//! (equations 8 to 14).
//!
//! The loss reduction Θ that a split needs starts at infinity and decreases to what the root of the next
//! tree achieves (section 2.1.3). The ensembles of different labels are therefore comparable by Θ, not by
//! their number of trees: [`Ensembles::truncated`] truncates all of them at the same Θ, which is chosen on
//! development trees.
//!
//! All sums are exact: equal rows are merged into one with a weight ([`design`]), and weights are integers
//! (`sample.rs`). So no result depends on the order of summation, or on which labels are trained together.

mod builder;
pub mod candidates;
pub mod design;
pub mod ensemble;
mod grow;
mod labels;
mod lists;
mod packed;
mod sample;
mod slots;

pub use builder::Builder;
pub use candidates::{Candidates, Example, Labelled};
pub use design::{Design, Test};
pub use ensemble::Ensemble;
pub use labels::{fit_label, fit_labels};
pub use packed::{ActiveTests, Ensembles};

use serde::{Deserialize, Serialize};

use super::{Classifier, Fit, Instances, Learner, LearnerParams, Parts, ScoreScale};
use crate::Result;
use crate::feature::Column;
use crate::memory::Sections;

/// The loss that the trees minimize, as a function of the margin z: the confidence if the label is correct,
/// the negated confidence if it is wrong.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// ln(1 + e⁻ᶻ).
    #[default]
    Logistic,
    /// e⁻ᶻ: confidence-rated AdaBoost (Schapire and Singer 1999).
    Exponential,
}

impl Loss {
    /// The weight of an example (equation 8 and its footnote).
    fn weight(self, margin: f64) -> f64 {
        match self {
            Self::Logistic => 1.0 / (1.0 + margin.exp()),
            Self::Exponential => (-margin).exp(),
        }
    }
}

/// The settings of boosting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoostingParams {
    /// The loss that the trees minimize, a function of the margin z: ln(1 + e^-z) (logistic) or e^-z
    /// (exponential).
    pub loss: Loss,
    /// Trees are grown until no split of a root reduces the loss, a sum over examples, by this much: the
    /// final Θ. Two examples of weight 1 reduce it by at most 1 in the first tree. A label also ends when 200 trees in a row
    /// do not bring the weights of its examples below their least sum so far.
    #[schemars(range(min = 1e-6, max = 1e9))]
    pub min_reduction: f64,
    /// Maximum number of splits on the path to a leaf: 1 for decision stumps, 0 for no limit.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub max_depth: u32,
    /// Maximum number of splits in all trees of a label; 0 for no limit.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub max_splits: u32,
    /// ε, added to both weights of a leaf.
    #[schemars(range(min = 1e-12, max = 1.0))]
    pub smoothing: f64,
    /// Tests that hold in fewer distinct rows are left out; 0 and 1 leave out none.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub min_count: u32,
    /// Negative sampling: of N candidates that are wrong for every label, one is sampled and gets the
    /// weight of all N; 1 samples all.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub negative_sampling: u32,
    /// Only trees whose splits reduce the loss by at least this much are used; 0 chooses the threshold on
    /// development trees, or uses all trees if there are none.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub threshold: f64,
}

impl Default for BoostingParams {
    fn default() -> Self {
        Self {
            loss: Loss::Logistic,
            min_reduction: 1.0,
            max_depth: 0,
            max_splits: 0,
            smoothing: 1e-8,
            min_count: 2,
            negative_sampling: 1,
            threshold: 0.0,
        }
    }
}

/// Learns a one-vs-rest ensemble for each class of instances.
#[derive(Debug, Clone)]
pub struct Boosting {
    /// The settings.
    pub params: BoostingParams,
    /// The columns of every row.
    pub columns: Vec<Column>,
}

impl LearnerParams for BoostingParams {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        Ok(Box::new(Boosting { params: self.clone(), columns: parts.columns.clone() }))
    }
}

impl Learner for Boosting {
    fn scale(&self) -> ScoreScale {
        ScoreScale::LogOdds
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let n = instances.n_classes();
        let mut candidates = Candidates::new(instances.columns(), n);
        let classes: Vec<u16> = (0..n as u16).collect();
        for at in 0..instances.len() {
            candidates.push(instances.row(at), 1, &classes, &[instances.class(at)]);
        }
        let (design, labelled) = candidates.finish(self.params.min_count);
        let names: Vec<String> = (0..n).map(|class| format!("class{class}")).collect();
        let names: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
        let ensembles = fit_labels(&design, &labelled, &names, &self.params, fit)?;
        Ok(Box::new(Ensembles::new(&self.columns, ensembles)))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let all = Ensembles::load(&self.columns, sections)?;
        let threshold = self.params.threshold;
        Ok(Box::new(if threshold > 0.0 { all.truncated(threshold) } else { all }))
    }
}

#[cfg(test)]
mod tests;
