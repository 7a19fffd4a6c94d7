//! Learners made of learners, as presets write them.

use serde::{Deserialize, Serialize};

use super::learner::LearnerChoice;
use crate::classifier::Setting;
use crate::classifier::combine::calibrate::Method;
use crate::classifier::combine::stack::Members;
use crate::classifier::combine::{check_share, meta, outcome_column};
use crate::error::{Error, Result, did_you_mean};
use crate::feature::Column;

const INNER: &str = "a learner with its settings";
const MEMBERS: Setting = Setting {
    key: "members",
    range: "a list of learners with their settings, at least one",
    help: "the members; the earlier one wins a tie",
};

/// One classifier for each value of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitChoice {
    /// The column, an address of the template file.
    pub column: String,
    /// Values with fewer instances share a classifier.
    #[serde(default = "default_min_rows")]
    pub min_rows: u32,
    /// Learns each part.
    pub learner: Box<LearnerChoice>,
}

fn default_min_rows() -> u32 {
    1_000
}

impl SplitChoice {
    pub(super) const SETTINGS: &[Setting] = &[
        Setting {
            key: "column",
            range: "an address that stands alone in the template file, such as s0.t",
            help: "instances are divided by its value",
        },
        Setting {
            key: "min_rows",
            range: "0 or more (default 1000)",
            help: "values with fewer instances share one part, which also answers for unseen values",
        },
        Setting { key: "learner", range: INNER, help: "learns each part" },
    ];

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
            Error::config("learner.column", problem)
        })
    }

    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        self.position(columns)?;
        self.learner.check_inner(columns)
    }
}

/// Shift or not first, then which of the other actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoStageChoice {
    /// Decides whether to shift.
    pub first: Box<LearnerChoice>,
    /// Decides between the other actions.
    pub second: Box<LearnerChoice>,
}

impl TwoStageChoice {
    pub(super) const SETTINGS: &[Setting] = &[
        Setting { key: "first", range: INNER, help: "decides whether to shift" },
        Setting { key: "second", range: INNER, help: "decides between the other actions" },
    ];
}

/// A two-class problem for each action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneVsRestChoice {
    /// Learns each problem.
    pub learner: Box<LearnerChoice>,
}

impl OneVsRestChoice {
    pub(super) const SETTINGS: &[Setting] =
        &[Setting { key: "learner", range: INNER, help: "tells one action from all others" }];
}

/// Members that vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VoteChoice {
    /// The members.
    pub members: Vec<LearnerChoice>,
}

impl VoteChoice {
    pub(super) const SETTINGS: &[Setting] = &[MEMBERS];
}

/// Members whose choices the last learner sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackChoice {
    /// What the members learn from.
    pub from: Members,
    /// The members.
    pub members: Vec<LearnerChoice>,
    /// Decides, seeing all columns and what the members choose.
    #[serde(alias = "last")]
    pub final_learner: Box<LearnerChoice>,
}

impl StackChoice {
    pub(super) const SETTINGS: &[Setting] = &[
        Setting {
            key: "from",
            range: "{ kind = \"held-out\", share = 0 to 1 } or { kind = \"out-of-fold\", folds = 2 or more }",
            help: "what the members learn from: the last sentences, set aside for them, or all \
                   sentences, where the last learner sees choices of members that did not see them",
        },
        MEMBERS,
        Setting {
            key: "final_learner",
            range: INNER,
            help: "decides, seeing all columns and what the members choose",
        },
    ];

    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        check_members(&self.members, columns)?;
        match self.from {
            Members::HeldOut { share } => check_share("learner.from.share", share)?,
            Members::OutOfFold { folds } if folds < 2 => {
                return Err(Error::config("learner.from.folds", "must be at least 2"));
            }
            Members::OutOfFold { .. } => {}
        }
        let outcomes = (0..self.members.len()).map(outcome_column);
        self.final_learner.check_inner(&columns.iter().cloned().chain(outcomes).collect::<Vec<_>>())
    }
}

/// Members of which one is picked for each decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetaChoice {
    /// The share of the training instances that the selector learns from.
    #[serde(default = "default_meta_share")]
    pub share: f64,
    /// The members.
    pub members: Vec<LearnerChoice>,
    /// Picks a member, seeing what the members choose and how sure they are.
    #[serde(alias = "picker")]
    pub selector: Box<LearnerChoice>,
}

fn default_meta_share() -> f64 {
    0.25
}

impl MetaChoice {
    pub(super) const SETTINGS: &[Setting] = &[
        Setting {
            key: "share",
            range: "between 0 and 1 (default 0.25)",
            help: "the share of the training instances that the selector learns from",
        },
        MEMBERS,
        Setting { key: "selector", range: INNER, help: "picks the member to follow" },
    ];

    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        check_share("learner.share", self.share)?;
        check_members(&self.members, columns)?;
        self.selector.check_inner(&meta::columns(self.members.len()))
    }
}

/// Scores made probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrateChoice {
    /// How scores become probabilities.
    #[serde(default)]
    pub method: Method,
    /// The share of the training instances that calibrate.
    #[serde(default = "default_calibration_share")]
    pub share: f64,
    /// Gives the scores.
    pub learner: Box<LearnerChoice>,
}

fn default_calibration_share() -> f64 {
    0.1
}

impl CalibrateChoice {
    pub(super) const SETTINGS: &[Setting] = &[
        Setting {
            key: "method",
            range: "platt (a sigmoid) or isotonic (steps) (default platt)",
            help: "how scores become probabilities",
        },
        Setting {
            key: "share",
            range: "between 0 and 1 (default 0.1)",
            help: "the share of the training instances that calibrate, and that the learner does not see",
        },
        Setting { key: "learner", range: INNER, help: "gives the scores" },
    ];

    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        check_share("learner.share", self.share)?;
        self.learner.check_inner(columns)
    }
}

pub(super) fn check_members(members: &[LearnerChoice], columns: &[Column]) -> Result<()> {
    if members.is_empty() {
        return Err(Error::config("learner.members", "no members: list at least one learner"));
    }
    members.iter().try_for_each(|member| member.check_inner(columns))
}
