//! Learners of instances, as presets name them.

use serde::{Deserialize, Serialize};

use super::combination::check_members;
pub use super::combination::{
    CalibrateChoice, MetaChoice, OneVsRestChoice, SplitChoice, StackChoice, TwoStageChoice,
    VoteChoice,
};
use crate::classifier::Learner;
use crate::classifier::boosting::{Boosting, BoostingParams};
use crate::classifier::combine;
use crate::classifier::combine::calibrate::Calibrate;
use crate::classifier::combine::meta::{self, Meta};
use crate::classifier::combine::one_vs_rest::OneVsRest;
use crate::classifier::combine::split::Split;
use crate::classifier::combine::stack::Stack;
use crate::classifier::combine::two_stage::TwoStage;
use crate::classifier::combine::vote::Vote;
use crate::classifier::decision_tree::{C45, C45Params, Cart, CartParams};
use crate::classifier::knn::{Knn, KnnParams};
use crate::classifier::maxent::{Maxent, MaxentParams};
use crate::classifier::perceptron::{Perceptron, PerceptronParams};
use crate::classifier::svm::{Svm, SvmParams};
use crate::error::Result;
use crate::feature::{Column, Indicators};

/// A learner and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// One two-class problem for each action, from any learner.
    OneVsRest(OneVsRestChoice),
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
}

/// What a learner needs besides its settings.
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
    /// With a column for the choice of each member.
    fn with_outcomes(&self, n_members: usize) -> Self {
        let mut parts = self.clone();
        for member in 0..n_members {
            parts.indicators = parts.indicators.with_column(parts.columns.len() as u16);
            parts.columns.push(combine::outcome_column(member));
        }
        parts
    }

    /// The columns of the choices of the members alone.
    fn of_outcomes(n_members: usize) -> Self {
        let columns = meta::columns(n_members);
        let indicators = Indicators::of_columns(&columns);
        Self { columns, indicators, shifts: vec![false; n_members] }
    }
}

impl LearnerChoice {
    /// Checks what involves more than one setting, and that the learner can take the columns.
    ///
    /// # Errors
    /// With the key relative to the learner.
    pub(super) fn check(&self, columns: &[Column]) -> Result<()> {
        match self {
            Self::Svm(params) => params.check(),
            Self::Split(choice) => choice.check(columns),
            Self::TwoStage(choice) => {
                choice.first.check_as("first", columns)?;
                choice.second.check_as("second", columns)
            }
            Self::OneVsRest(choice) => choice.learner.check_as("learner", columns),
            Self::Vote(choice) => check_members(&choice.members, columns),
            Self::Stack(choice) => choice.check(columns),
            Self::Meta(choice) => choice.check(columns),
            Self::Calibrate(choice) => choice.learner.check_as("learner", columns),
            Self::Perceptron(_)
            | Self::Maxent(_)
            | Self::Knn(_)
            | Self::C45(_)
            | Self::Cart(_)
            | Self::Boosting(_) => Ok(()),
        }
    }

    /// As [`LearnerChoice::check`], for a learner inside another one, or inside a tagger, at `path`.
    pub(super) fn check_as(&self, path: &str, columns: &[Column]) -> Result<()> {
        self.check(columns).map_err(|error| error.under(path))
    }

    /// Whether scores may be added along a derivation, so that paths can be compared.
    pub fn compares_paths(&self) -> bool {
        match self {
            Self::Maxent(_)
            | Self::C45(_)
            | Self::Cart(_)
            | Self::Boosting(_)
            | Self::Calibrate(_) => true,
            Self::Split(choice) => choice.learner.compares_paths(),
            Self::Stack(choice) => choice.final_learner.compares_paths(),
            Self::Perceptron(_)
            | Self::Svm(_)
            | Self::TwoStage(_)
            | Self::OneVsRest(_)
            | Self::Vote(_)
            | Self::Meta(_)
            | Self::Knn(_) => false,
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
            Self::OneVsRest(choice) => {
                Box::new(OneVsRest { learner: choice.learner.learner(parts)? })
            }
            Self::C45(params) => Box::new(C45 { params: params.clone() }),
            Self::Cart(params) => Box::new(Cart { params: params.clone() }),
            Self::Boosting(params) => {
                Box::new(Boosting { params: params.clone(), columns: parts.columns.clone() })
            }
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
                selector: choice.selector.learner(&Parts::of_outcomes(choice.members.len()))?,
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
