//! Learners of instances in presets.

use serde::{Deserialize, Serialize};

use crate::by_kind::deserialize_by_kind;
use crate::classifier::boosting::BoostingParams;
use crate::classifier::combine::calibrate::{self, Calibrate};
use crate::classifier::combine::meta::{self, Meta};
use crate::classifier::combine::outcome_column;
use crate::classifier::combine::split::Split;
use crate::classifier::combine::stack::{Members, Stack};
use crate::classifier::combine::two_stage::TwoStage;
use crate::classifier::combine::vote::Vote;
use crate::classifier::decision_tree::{C45Params, CartParams};
use crate::classifier::knn::KnnParams;
use crate::classifier::maxent::MaxentParams;
use crate::classifier::perceptron::PerceptronParams;
use crate::classifier::subtree_boosting::SubtreeBoostingParams;
use crate::classifier::svm::SvmParams;
use crate::classifier::tree_kernel::TreeKernelParams;
use crate::classifier::{Learner, LearnerParams, Parts, ScoreScale};
use crate::error::{Error, Result, did_you_mean};
use crate::feature::{Column, Indicators, Templates};
use crate::transition::{Action, ActionKind, TransitionSystem};

/// Defines the learners: for each its description, its key in presets, and its settings.
macro_rules! learners {
    ($($(#[doc = $description:literal])+ $kind:literal => $variant:ident($params:ty),)+) => {
        /// A learner and its settings.
        #[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
        pub enum LearnerChoice {
            $($(#[doc = $description])+ $variant($params),)+
        }

        deserialize_by_kind!(LearnerChoice { $(Some($kind) => $variant),+ });

        impl LearnerParams for LearnerChoice {
            fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
                match self {
                    $(Self::$variant(params) => params.learner(parts),)+
                }
            }
        }
    };
}

learners! {
    /// Averaged perceptron over instances of gold derivations.
    "perceptron" => Perceptron(PerceptronParams),
    /// Maximum entropy over instances of gold derivations.
    "maxent" => Maxent(MaxentParams),
    /// Polynomial support vector machines, one-vs-rest.
    "svm" => Svm(SvmParams),
    /// One classifier for each value of a column.
    "split" => Split(SplitChoice),
    /// Two stages: whether to shift, then which of the other actions.
    "two-stage" => TwoStage(TwoStageChoice),
    /// Members that vote on each decision.
    "vote" => Vote(VoteChoice),
    /// Stacking: members, and a final learner that sees their choices.
    "stack" => Stack(StackChoice),
    /// A selector that follows one of the members at each decision.
    "meta" => Meta(MetaChoice),
    /// Calibration: the scores of a learner become probabilities.
    "calibrate" => Calibrate(CalibrateChoice),
    /// Memory-based learning over instances of gold derivations.
    "knn" => Knn(KnnParams),
    /// Decision tree of C4.5 over instances of gold derivations.
    "c45" => C45(C45Params),
    /// Decision tree of CART over instances of gold derivations.
    "cart" => Cart(CartParams),
    /// Boosted decision trees over candidates, an ensemble for each label.
    "boosting" => Boosting(BoostingParams),
    /// Boosted subtrees of the configuration, one-vs-rest, over instances of gold derivations.
    "subtree-boosting" => SubtreeBoosting(SubtreeBoostingParams),
    /// Support vector machines with a convolution kernel over trees, one-vs-rest.
    "tree-kernel" => TreeKernel(TreeKernelParams),
}

impl LearnerChoice {
    /// Builds the learner for the templates and the actions of a system.
    ///
    /// # Errors
    /// As [`LearnerParams::learner`].
    pub fn for_system(
        &self,
        templates: &Templates,
        system: &dyn TransitionSystem,
    ) -> Result<Box<dyn Learner>> {
        let is_shift = |code| system.kind(Action::new(code)) == ActionKind::Shift;
        let shifts = (0..system.n_actions() as u32).map(is_shift).collect();
        let (columns, indicators) = (templates.columns(), Indicators::new(templates));
        self.learner(&Parts { columns, indicators, shifts })
    }

    /// Builds a learner that is no more than asked: it does not know which classes are shifts.
    pub(super) fn asked(&self, columns: Vec<Column>) -> Result<Box<dyn Learner>> {
        let indicators = Indicators::of_columns(&columns);
        self.learner(&Parts { columns, indicators, shifts: Vec::new() })
    }

    /// Builds a learner inside another one, which has it under `key`.
    fn part(&self, key: &str, parts: &Parts) -> Result<Box<dyn Learner>> {
        self.learner(parts).map_err(|error| error.under(key))
    }
}

fn members(choices: &[LearnerChoice], parts: &Parts) -> Result<Vec<Box<dyn Learner>>> {
    let numbered = choices.iter().enumerate();
    numbered.map(|(at, choice)| choice.part(&format!("members.{at}"), parts)).collect()
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
}

impl LearnerParams for SplitChoice {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        let column = self.position(&parts.columns)?;
        let learner = self.learner.part("learner", parts)?;
        Ok(Box::new(Split { column, min_rows: self.min_rows, learner }))
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

impl LearnerParams for TwoStageChoice {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        let [first, second] = [("first", &self.first), ("second", &self.second)]
            .map(|(key, choice)| choice.part(key, parts));
        Ok(Box::new(TwoStage { first: first?, second: second?, shifts: parts.shifts.clone() }))
    }
}

/// Members that vote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoteChoice {
    /// The members; ties go to the earlier one.
    #[schemars(length(min = 1, max = 100))]
    pub members: Vec<LearnerChoice>,
}

impl LearnerParams for VoteChoice {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        Ok(Box::new(Vote { members: members(&self.members, parts)? }))
    }
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

impl LearnerParams for StackChoice {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        let members = members(&self.members, parts)?;
        let mut extended = parts.clone();
        for member in 0..members.len() {
            extended.indicators = extended.indicators.with_column(extended.columns.len() as u16);
            extended.columns.push(outcome_column(member));
        }
        let final_learner = self.final_learner.part("final_learner", &extended)?;
        Ok(Box::new(Stack { members, final_learner, from: self.from }))
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
    fn check_probabilities(&self, members: &[Box<dyn Learner>]) -> Result<()> {
        for (at, &member) in self.probabilities.iter().enumerate() {
            let problem = match members.get(member as usize) {
                Some(member) if member.scale() == ScoreScale::LogProb => continue,
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
}

impl LearnerParams for MetaChoice {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        let members = members(&self.members, parts)?;
        self.check_probabilities(&members)?;
        let columns = meta::columns(members.len(), &self.probabilities);
        let indicators = Indicators::of_columns(&columns);
        let of_outcomes = Parts { columns, indicators, shifts: vec![false; members.len()] };
        let selector = self.selector.part("selector", &of_outcomes)?;
        let (probabilities, share) = (self.probabilities.clone(), self.share);
        Ok(Box::new(Meta { members, selector, probabilities, share }))
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

impl LearnerParams for CalibrateChoice {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        let learner = self.learner.part("learner", parts)?;
        Ok(Box::new(Calibrate { learner, method: self.method, share: self.share }))
    }
}
