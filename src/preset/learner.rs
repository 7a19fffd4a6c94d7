//! Learners of instances in presets.

use serde::{Deserialize, Serialize};

use super::by_kind::deserialize_by_kind;
use crate::classifier::Learner;
use crate::classifier::boosting::{Boosting, BoostingParams};
use crate::classifier::combine;
use crate::classifier::combine::calibrate::{self, Calibrate};
use crate::classifier::combine::meta::{self, Meta};
use crate::classifier::combine::split::Split;
use crate::classifier::combine::stack::{Members, Stack};
use crate::classifier::combine::two_stage::TwoStage;
use crate::classifier::combine::vote::Vote;
use crate::classifier::decision_tree::{C45, C45Params, Cart, CartParams};
use crate::classifier::knn::{Knn, KnnParams};
use crate::classifier::maxent::{Maxent, MaxentParams};
use crate::classifier::perceptron::{Perceptron, PerceptronParams};
use crate::classifier::subtree_boosting::{SubtreeBoosting, SubtreeBoostingParams};
use crate::classifier::svm::{Svm, SvmParams};
use crate::classifier::tree_kernel::{TreeKernel, TreeKernelParams};
use crate::error::{Error, Result, did_you_mean};
use crate::feature::{Column, Indicators, Templates};
use crate::transition::{Action, ActionKind, TransitionSystem};

/// A learner and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LearnerChoice {
    /// Averaged perceptron over instances of gold derivations.
    Perceptron(PerceptronParams),
    /// Maximum entropy over instances of gold derivations.
    Maxent(MaxentParams),
    /// Polynomial support vector machines, one-vs-rest.
    Svm(SvmParams),
    /// One classifier for each value of a column.
    Split(SplitChoice),
    /// Two stages: whether to shift, then which of the other actions.
    TwoStage(TwoStageChoice),
    /// Members that vote on each decision.
    Vote(VoteChoice),
    /// Stacking: members, and a final learner that sees their choices.
    Stack(StackChoice),
    /// A selector that follows one of the members at each decision.
    Meta(MetaChoice),
    /// Calibration: the scores of a learner become probabilities.
    Calibrate(CalibrateChoice),
    /// Memory-based learning over instances of gold derivations.
    Knn(KnnParams),
    /// Decision tree of C4.5 over instances of gold derivations.
    C45(C45Params),
    /// Decision tree of CART over instances of gold derivations.
    Cart(CartParams),
    /// Boosted decision trees over candidates, an ensemble for each label.
    Boosting(BoostingParams),
    /// Boosted subtrees of the configuration, one-vs-rest, over instances of gold derivations.
    SubtreeBoosting(SubtreeBoostingParams),
    /// Support vector machines with a convolution kernel over trees, one-vs-rest.
    TreeKernel(TreeKernelParams),
}

deserialize_by_kind!(LearnerChoice {
    "perceptron" => Perceptron,
    "maxent" => Maxent,
    "svm" => Svm,
    "split" => Split,
    "two-stage" => TwoStage,
    "vote" => Vote,
    "stack" => Stack,
    "meta" => Meta,
    "calibrate" => Calibrate,
    "knn" => Knn,
    "c45" => C45,
    "cart" => Cart,
    "boosting" => Boosting,
    "subtree-boosting" => SubtreeBoosting,
    "tree-kernel" => TreeKernel,
});

/// The inputs of a learner besides its settings.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The columns of every row.
    pub columns: Vec<Column>,
    /// Their one-hot view.
    pub indicators: Indicators,
    /// For each class, whether it is a shift.
    pub shifts: Vec<bool>,
}

impl Parts {
    /// The parts for the columns of templates and the actions of a system.
    pub fn new(templates: &Templates, system: &dyn TransitionSystem) -> Self {
        let is_shift = |code| system.kind(Action::new(code)) == ActionKind::Shift;
        let shifts = (0..system.n_actions() as u32).map(is_shift).collect();
        Self { columns: templates.columns(), indicators: Indicators::new(templates), shifts }
    }

    /// The same with a column for the prediction of each member.
    fn with_outcomes(&self, n_members: usize) -> Self {
        let mut parts = self.clone();
        for member in 0..n_members {
            parts.indicators = parts.indicators.with_column(parts.columns.len() as u16);
            parts.columns.push(combine::outcome_column(member));
        }
        parts
    }

    /// Only the columns of the selector of a meta-classifier.
    fn of_outcomes(choice: &MetaChoice) -> Self {
        let columns = choice.columns();
        let indicators = Indicators::of_columns(&columns);
        Self { columns, indicators, shifts: vec![false; choice.members.len()] }
    }
}

impl LearnerChoice {
    /// Checks combinations of settings, and that the learner supports the columns.
    ///
    /// # Errors
    /// With the key relative to the learner.
    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        match self {
            Self::Svm(params) => params.check(),
            Self::TreeKernel(params) => params.check(columns),
            Self::Split(choice) => choice.check(columns),
            Self::TwoStage(choice) => {
                choice.first.check_as("first", columns)?;
                choice.second.check_as("second", columns)
            }
            Self::Vote(choice) => check_members(&choice.members, columns),
            Self::Stack(choice) => choice.check(columns),
            Self::Meta(choice) => choice.check(columns),
            Self::Calibrate(choice) => choice.learner.check_as("learner", columns),
            Self::Perceptron(_)
            | Self::Maxent(_)
            | Self::Knn(_)
            | Self::C45(_)
            | Self::Cart(_)
            | Self::Boosting(_)
            | Self::SubtreeBoosting(_) => Ok(()),
        }
    }

    /// Like [`LearnerChoice::check`], for a learner inside another one, or inside a tagger, at `path`.
    pub(super) fn check_as(&self, path: &str, columns: &[Column]) -> Result<()> {
        self.check(columns).map_err(|error| error.under(path))
    }

    /// Whether the learner, and those inside it, support columns that are trees.
    pub(super) fn takes_trees(&self) -> bool {
        match self {
            Self::SubtreeBoosting(_) | Self::TreeKernel(_) => true,
            Self::Split(choice) => choice.learner.takes_trees(),
            Self::Calibrate(choice) => choice.learner.takes_trees(),
            Self::TwoStage(choice) => choice.first.takes_trees() && choice.second.takes_trees(),
            _ => false,
        }
    }

    /// Whether scores can be added along a derivation, so that paths can be compared.
    pub fn compares_paths(&self) -> bool {
        match self {
            Self::Boosting(_) => true,
            Self::Split(choice) => choice.learner.compares_paths(),
            Self::Stack(choice) => choice.final_learner.compares_paths(),
            _ => self.gives_probabilities(),
        }
    }

    /// Whether scores are logarithms of probabilities.
    fn gives_probabilities(&self) -> bool {
        match self {
            Self::Maxent(_) | Self::C45(_) | Self::Cart(_) | Self::Calibrate(_) => true,
            Self::Split(choice) => choice.learner.gives_probabilities(),
            Self::Stack(choice) => choice.final_learner.gives_probabilities(),
            Self::Boosting(_)
            | Self::Perceptron(_)
            | Self::Svm(_)
            | Self::TwoStage(_)
            | Self::Vote(_)
            | Self::Meta(_)
            | Self::Knn(_)
            | Self::SubtreeBoosting(_)
            | Self::TreeKernel(_) => false,
        }
    }

    /// Whether a fit has parts that are finished one by one, so that it can be resumed.
    pub fn has_parts(&self) -> bool {
        match self {
            Self::Svm(_)
            | Self::Split(_)
            | Self::TwoStage(_)
            | Self::Vote(_)
            | Self::Stack(_)
            | Self::Meta(_)
            | Self::Calibrate(_)
            | Self::Boosting(_) => true,
            Self::Perceptron(_)
            | Self::Maxent(_)
            | Self::Knn(_)
            | Self::C45(_)
            | Self::Cart(_)
            | Self::SubtreeBoosting(_)
            | Self::TreeKernel(_) => false,
        }
    }

    /// The learner.
    ///
    /// # Errors
    /// When a column that it names is missing.
    pub fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        let indicators = parts.indicators.clone();
        Ok(match self {
            Self::Perceptron(params) => Box::new(Perceptron { params: params.clone(), indicators }),
            Self::Maxent(params) => Box::new(Maxent { params: params.clone(), indicators }),
            Self::Svm(params) => Box::new(Svm { params: params.clone(), indicators }),
            Self::Split(choice) => Box::new(Split {
                column: choice.position(&parts.columns)?,
                min_rows: choice.min_rows,
                learner: choice.learner.learner(parts)?,
            }),
            Self::TwoStage(choice) => Box::new(TwoStage {
                first: choice.first.learner(parts)?,
                second: choice.second.learner(parts)?,
                shifts: parts.shifts.clone(),
            }),
            Self::C45(params) => Box::new(C45 { params: params.clone() }),
            Self::Cart(params) => Box::new(Cart { params: params.clone() }),
            Self::Boosting(params) => {
                Box::new(Boosting { params: params.clone(), columns: parts.columns.clone() })
            }
            Self::SubtreeBoosting(params) => {
                Box::new(SubtreeBoosting { params: params.clone(), columns: parts.columns.clone() })
            }
            Self::TreeKernel(params) => Box::new(TreeKernel {
                params: params.clone(),
                columns: parts.columns.clone(),
                indicators,
            }),
            Self::Knn(params) => Box::new(Knn { params: params.clone() }),
            Self::Vote(choice) => Box::new(Vote { members: learners(&choice.members, parts)? }),
            Self::Stack(choice) => Box::new(Stack {
                members: learners(&choice.members, parts)?,
                final_learner: choice
                    .final_learner
                    .learner(&parts.with_outcomes(choice.members.len()))?,
                from: choice.from,
            }),
            Self::Meta(choice) => Box::new(Meta {
                members: learners(&choice.members, parts)?,
                selector: choice.selector.learner(&Parts::of_outcomes(choice))?,
                probabilities: choice.probabilities.clone(),
                share: choice.share,
            }),
            Self::Calibrate(choice) => Box::new(Calibrate {
                learner: choice.learner.learner(parts)?,
                method: choice.method,
                share: choice.share,
            }),
        })
    }
}

fn learners(choices: &[LearnerChoice], parts: &Parts) -> Result<Vec<Box<dyn Learner>>> {
    choices.iter().map(|choice| choice.learner(parts)).collect()
}

/// One classifier for each value of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitChoice {
    /// Instances are split by the value of this column, which must be an address that occurs alone in the
    /// template file, such as s0.t.
    pub column: String,
    /// Values with fewer instances share one classifier, which also decides for unseen values.
    #[serde(default = "default_min_rows")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub min_rows: u32,
    /// Learns each classifier.
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
    fn position(&self, columns: &[Column]) -> Result<usize> {
        columns.iter().position(|column| column.name == self.column).ok_or_else(|| {
            let names = columns.iter().map(|column| column.name.as_str());
            let hint = did_you_mean(&self.column, names);
            let problem = format!(
                "no template consists of `{}`: {hint}take an address of the template file",
                self.column
            );
            Error::config("column", problem)
        })
    }

    fn check(&self, columns: &[Column]) -> Result<()> {
        self.position(columns)?;
        self.learner.check_as("learner", columns)
    }
}

/// First whether to shift, then which of the other actions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoStageChoice {
    /// Decides whether to shift.
    pub first: Box<LearnerChoice>,
    /// Decides between the other actions.
    pub second: Box<LearnerChoice>,
}

/// Members that vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoteChoice {
    /// The members; ties go to the earlier one.
    #[schemars(length(min = 1, max = 100))]
    pub members: Vec<LearnerChoice>,
}

/// Members whose predictions the final learner sees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackChoice {
    /// What the members are trained on.
    pub from: Members,
    /// The members; ties go to the earlier one.
    #[schemars(length(min = 1, max = 100))]
    pub members: Vec<LearnerChoice>,
    /// Decides, given all columns and the predictions of the members.
    pub final_learner: Box<LearnerChoice>,
}

impl StackChoice {
    fn check(&self, columns: &[Column]) -> Result<()> {
        check_members(&self.members, columns)?;
        let outcomes = (0..self.members.len()).map(combine::outcome_column);
        self.final_learner
            .check_as("final_learner", &columns.iter().cloned().chain(outcomes).collect::<Vec<_>>())
    }
}

/// Members of which one is selected for each decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetaChoice {
    /// The fraction of the training instances that the selector is trained on.
    #[serde(default = "default_meta_share")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub share: f64,
    /// The members; ties go to the earlier one.
    #[schemars(length(min = 1, max = 100))]
    pub members: Vec<LearnerChoice>,
    /// The members, counted from 0, whose probabilities the selector sees, in tenths; an empty list stands for all
    /// that give probabilities.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub probabilities: Vec<u32>,
    /// Selects the member to follow, given the predictions of the members and their probabilities.
    pub selector: Box<LearnerChoice>,
}

fn default_meta_share() -> f64 {
    0.25
}

impl MetaChoice {
    fn check(&self, columns: &[Column]) -> Result<()> {
        check_members(&self.members, columns)?;
        self.check_probabilities()?;
        self.selector.check_as("selector", &self.columns())
    }

    fn check_probabilities(&self) -> Result<()> {
        for (at, &member) in self.probabilities.iter().enumerate() {
            let problem = match self.members.get(member as usize) {
                Some(member) if member.gives_probabilities() => continue,
                Some(_) => {
                    "gives no probabilities: leave it out, or wrap it in a learner of kind calibrate"
                }
                None => "is not there: members are counted from 0",
            };
            let key = format!("probabilities.{at}");
            return Err(Error::config(key, format!("member {member} {problem}")));
        }
        Ok(())
    }

    /// The columns of the selector.
    fn columns(&self) -> Vec<Column> {
        meta::columns(self.members.len(), &self.probabilities)
    }
}

/// Calibration of scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrateChoice {
    /// How scores become probabilities: a sigmoid (platt) or a step function (isotonic).
    #[serde(default)]
    pub method: calibrate::Method,
    /// The fraction of the training instances that calibrate; the learner is not trained on them.
    #[serde(default = "default_calibration_share")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub share: f64,
    /// The learner whose scores are calibrated.
    pub learner: Box<LearnerChoice>,
}

fn default_calibration_share() -> f64 {
    0.1
}

fn check_members(members: &[LearnerChoice], columns: &[Column]) -> Result<()> {
    let mut numbered = members.iter().enumerate();
    numbered.try_for_each(|(at, member)| member.check_as(&format!("members.{at}"), columns))
}
