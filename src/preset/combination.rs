//! Learners made of learners, as presets write them.

use serde::{Deserialize, Serialize};

use super::learner::LearnerChoice;
use crate::classifier::combine::calibrate::Method;
use crate::classifier::combine::stack::Members;
use crate::classifier::combine::{meta, outcome_column};
use crate::error::{Error, Result, did_you_mean};
use crate::feature::Column;

/// One classifier for each value of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitChoice {
    /// Instances are divided by the value of this column, an address that stands alone in the template file,
    /// such as s0.t.
    pub column: String,
    /// Values with fewer instances share one classifier, which also decides for unseen values.
    #[serde(default = "default_min_rows")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub min_rows: u32,
    /// Learns each part.
    pub learner: Box<LearnerChoice>,
}

fn default_min_rows() -> u32 {
    1_000
}

impl SplitChoice {
    /// The position of the column.
    ///
    /// # Errors
    /// When there is no such column.
    pub(super) fn position(&self, columns: &[Column]) -> Result<usize> {
        columns.iter().position(|column| column.name == self.column).ok_or_else(|| {
            let names = columns.iter().map(|column| column.name.as_str());
            let hint = did_you_mean(&self.column, names);
            let problem = format!(
                "the templates ask no `{}`: {hint}take an address of the template file",
                self.column
            );
            Error::config("column", problem)
        })
    }

    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        self.position(columns)?;
        self.learner.check_as("learner", columns)
    }
}

/// Shift or not first, then which of the other actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoStageChoice {
    /// Decides whether to shift.
    pub first: Box<LearnerChoice>,
    /// Decides between the other actions.
    pub second: Box<LearnerChoice>,
}

/// A two-class problem for each action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OneVsRestChoice {
    /// Learns each two-class problem: one action against all others.
    pub learner: Box<LearnerChoice>,
}

/// Members that vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoteChoice {
    /// The members; the earlier one wins a tie.
    #[schemars(length(min = 1, max = 100))]
    pub members: Vec<LearnerChoice>,
}

/// Members whose choices the last learner sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackChoice {
    /// What the members learn from.
    pub from: Members,
    /// The members; the earlier one wins a tie.
    #[schemars(length(min = 1, max = 100))]
    pub members: Vec<LearnerChoice>,
    /// Decides, given all columns and the choices of the members.
    pub final_learner: Box<LearnerChoice>,
}

impl StackChoice {
    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        check_members(&self.members, columns)?;
        let outcomes = (0..self.members.len()).map(outcome_column);
        self.final_learner
            .check_as("final_learner", &columns.iter().cloned().chain(outcomes).collect::<Vec<_>>())
    }
}

/// Members of which one is picked for each decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetaChoice {
    /// The fraction of the training instances that the selector learns from.
    #[serde(default = "default_meta_share")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub share: f64,
    /// The members; the earlier one wins a tie.
    #[schemars(length(min = 1, max = 100))]
    pub members: Vec<LearnerChoice>,
    /// Selects the member to follow, given the choices of the members and their probabilities.
    pub selector: Box<LearnerChoice>,
}

fn default_meta_share() -> f64 {
    0.25
}

impl MetaChoice {
    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        check_members(&self.members, columns)?;
        self.selector.check_as("selector", &meta::columns(self.members.len()))
    }
}

/// Scores made probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrateChoice {
    /// How scores become probabilities: a sigmoid (platt) or a step function (isotonic).
    #[serde(default)]
    pub method: Method,
    /// The fraction of the training instances that calibrate; the learner is not trained on them.
    #[serde(default = "default_calibration_share")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub share: f64,
    /// Gives the scores.
    pub learner: Box<LearnerChoice>,
}

fn default_calibration_share() -> f64 {
    0.1
}

pub(super) fn check_members(members: &[LearnerChoice], columns: &[Column]) -> Result<()> {
    let mut numbered = members.iter().enumerate();
    numbered.try_for_each(|(at, member)| member.check_as(&format!("members.{at}"), columns))
}
