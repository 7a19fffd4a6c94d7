//! Learners as presets name them: the one place that knows which there are.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::combination::check_members;
pub use super::combination::{
    CalibrateChoice, MetaChoice, OneVsRestChoice, SplitChoice, StackChoice, TwoStageChoice,
    VoteChoice,
};
use super::neural::NeuralParams;
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
use crate::classifier::linear::Pruning;
use crate::classifier::maxent::{Maxent, MaxentParams};
use crate::classifier::perceptron::{Perceptron, PerceptronParams};
use crate::classifier::svm::{Svm, SvmParams};
use crate::classifier::{Learner, Setting};
use crate::error::{Error, Result};
use crate::feature::{Column, ColumnKind, Indicators};
use crate::train::online::Exploration;
use crate::train::structured::Update;

/// A learner and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LearnerChoice {
    /// Averaged perceptron over instances of gold derivations.
    Perceptron(PerceptronParams),
    /// Averaged perceptron that learns while parsing.
    OnlinePerceptron(OnlineParams),
    /// Averaged perceptron that learns from whole derivations, found with a beam.
    StructuredPerceptron(StructuredParams),
    /// Maximum entropy over instances of gold derivations.
    Maxent(MaxentParams),
    /// Polynomial support vector machines, one against all.
    Svm(SvmParams),
    /// One classifier for each value of a column.
    Split(SplitChoice),
    /// Shift or not first, then which of the other actions.
    TwoStage(TwoStageChoice),
    /// A two-class problem for each action.
    #[serde(alias = "one-vs-all")]
    OneVsRest(OneVsRestChoice),
    /// Members that vote.
    Vote(VoteChoice),
    /// Members whose choices the last learner sees.
    Stack(StackChoice),
    /// Members of which one is picked for each decision.
    Meta(MetaChoice),
    /// Scores made probabilities.
    Calibrate(CalibrateChoice),
    /// Memory-based learning over instances of gold derivations.
    Knn(KnnParams),
    /// Decision tree of C4.5 over instances of gold derivations.
    C45(C45Params),
    /// Decision tree of CART over instances of gold derivations.
    Cart(CartParams),
    /// Boosted decision trees over candidates, an ensemble for each label.
    Boosting(BoostingParams),
    /// A neural network that learns while parsing.
    Neural(NeuralParams),
}

impl Default for LearnerChoice {
    fn default() -> Self {
        Self::OnlinePerceptron(OnlineParams::default())
    }
}

/// The settings of online training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OnlineParams {
    /// Passes over the training trees; at least 1.
    pub epochs: u32,
    /// How many models with seeds of their own are trained, whose weights are added in the end; at least 1.
    pub models: u32,
    /// Whether the kind of action is decided on first, then which of that kind.
    #[serde(alias = "kind_first")]
    pub coarse_to_fine: bool,
    /// When wrong predictions are followed; probability 0 stays on the gold path.
    pub exploration: Exploration,
    /// What is left out of the packed model.
    pub prune: Pruning,
}

impl Default for OnlineParams {
    fn default() -> Self {
        let (exploration, prune) = (Exploration::default(), Pruning::default());
        Self { epochs: 12, models: 1, coarse_to_fine: false, exploration, prune }
    }
}

impl OnlineParams {
    /// The settings, explained.
    pub const SETTINGS: &[Setting] = &[
        Setting { key: "epochs", range: "1 or more", help: "passes over the training trees" },
        Setting { key: "models", range: "1 or more", help: MODELS },
        Setting { key: "coarse_to_fine", range: "true, false", help: COARSE_TO_FINE },
        Setting {
            key: "exploration",
            range: "from_epoch 1 or more, probability 0 to 1, margin 0 or more",
            help: "from which epoch, and how often, wrong predictions are followed; and by how much the best \
                   wrong action may trail a right prediction to be followed instead",
        },
        Setting { key: "prune", range: Pruning::RANGE, help: Pruning::HELP },
    ];

    fn check(&self) -> Result<()> {
        at_least_one("learner.epochs", self.epochs)?;
        at_least_one("learner.models", self.models)?;
        self.exploration.check()?;
        self.prune.check()
    }
}

/// The settings of structured training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StructuredParams {
    /// Passes over the training trees; at least 1.
    pub epochs: u32,
    /// How many models with seeds of their own are trained, whose weights are added in the end; at least 1.
    pub models: u32,
    /// The width of the beam in training; at least 1.
    pub beam: u32,
    /// Up to which step of a wrong derivation weights are changed.
    pub update: Update,
    /// By how much the gold derivation has to lead all others, in units of the weights; 0 or more.
    pub margin: f32,
    /// How many sentences are searched with the same weights; at least 1.
    pub batch: u32,
    /// What is left out of the packed model.
    pub prune: Pruning,
}

impl Default for StructuredParams {
    fn default() -> Self {
        let (update, prune) = (Update::default(), Pruning::default());
        Self { epochs: 15, models: 1, beam: 16, update, margin: 0.0, batch: 16, prune }
    }
}

impl StructuredParams {
    /// The settings, explained.
    pub const SETTINGS: &[Setting] = &[
        Setting { key: "epochs", range: "1 or more", help: "passes over the training trees" },
        Setting { key: "models", range: "1 or more", help: MODELS },
        Setting { key: "beam", range: "1 or more", help: "the width of the beam in training" },
        Setting {
            key: "update",
            range: "early, max-violation",
            help: "weights change up to where the gold path is lost, or where it is furthest behind",
        },
        Setting { key: "margin", range: "0 or more", help: MARGIN },
        Setting {
            key: "batch",
            range: "1 or more",
            help: "how many sentences are searched with the same weights",
        },
        Setting { key: "prune", range: Pruning::RANGE, help: Pruning::HELP },
    ];

    fn check(&self) -> Result<()> {
        at_least_one("learner.epochs", self.epochs)?;
        at_least_one("learner.models", self.models)?;
        check_margin(self.margin)?;
        at_least_one("learner.beam", self.beam)?;
        at_least_one("learner.batch", self.batch)?;
        self.prune.check()
    }
}

const COARSE_TO_FINE: &str = "decides first what kind of action (shift, reduce, open), then which of that kind: parses faster";
const MODELS: &str =
    "how many models with seeds of their own are trained; their weights are added in the end";
const MARGIN: &str = "by how much what is right has to lead what is wrong, in units of the weights: an update changes the \
     weight of every feature by 1";

fn check_margin(margin: f32) -> Result<()> {
    if (0.0..=1e6).contains(&margin) {
        return Ok(());
    }
    Err(Error::config("learner.margin", format!("{margin} is no margin: give 0 to 1000000")))
}

pub(super) fn at_least_one(key: &str, value: u32) -> Result<()> {
    if value == 0 { Err(Error::config(key, "must be at least 1")) } else { Ok(()) }
}

/// What a learner is made of besides its settings.
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

    /// The columns that tell what members choose, and nothing else.
    fn of_outcomes(n_members: usize) -> Self {
        let columns = meta::columns(n_members);
        let indicators = Indicators::of_columns(&columns);
        Self { columns, indicators, shifts: vec![false; n_members] }
    }
}

impl LearnerChoice {
    /// Every kind of learner with its settings.
    pub const ALL: &[(&str, &[Setting])] = &[
        ("perceptron", PerceptronParams::SETTINGS),
        ("online-perceptron", OnlineParams::SETTINGS),
        ("structured-perceptron", StructuredParams::SETTINGS),
        ("maxent", MaxentParams::SETTINGS),
        ("svm", SvmParams::SETTINGS),
        ("split", SplitChoice::SETTINGS),
        ("two-stage", TwoStageChoice::SETTINGS),
        ("one-vs-rest", OneVsRestChoice::SETTINGS),
        ("vote", VoteChoice::SETTINGS),
        ("stack", StackChoice::SETTINGS),
        ("meta", MetaChoice::SETTINGS),
        ("calibrate", CalibrateChoice::SETTINGS),
        ("knn", KnnParams::SETTINGS),
        ("c45", C45Params::SETTINGS),
        ("cart", CartParams::SETTINGS),
        ("boosting", BoostingParams::SETTINGS),
        ("neural", NeuralParams::SETTINGS),
    ];

    /// The default of a setting, as written in a preset; none if it must be given.
    pub fn default_of(kind: &str, key: &str) -> Option<String> {
        default_of::<Self>(kind, key)
    }

    /// Checks the settings, and that the learner can take the columns.
    ///
    /// # Errors
    /// Naming the key and the fix.
    pub fn check(&self, columns: &[Column]) -> Result<()> {
        let set = columns.iter().find(|column| column.kind == ColumnKind::Set);
        if let (Some(Column { name, .. }), false) = (set, self.takes_candidates()) {
            let problem =
                format!("`{name}` is a set, which boosted trees take only: drop that template");
            return Err(Error::config("features.templates", problem));
        }
        match self {
            Self::Perceptron(params) => params.check(),
            Self::OnlinePerceptron(params) => params.check(),
            Self::StructuredPerceptron(params) => params.check(),
            Self::Maxent(params) => params.check(),
            Self::Svm(params) => params.check(),
            Self::Split(choice) => choice.check(columns),
            Self::TwoStage(choice) => {
                choice.first.check_inner(columns)?;
                choice.second.check_inner(columns)
            }
            Self::OneVsRest(choice) => choice.learner.check_inner(columns),
            Self::Vote(choice) => check_members(&choice.members, columns),
            Self::Stack(choice) => choice.check(columns),
            Self::Meta(choice) => choice.check(columns),
            Self::Calibrate(choice) => choice.check(columns),
            Self::Knn(params) => params.check(),
            Self::C45(params) => params.check(),
            Self::Cart(params) => params.check(),
            Self::Boosting(params) => params.check(),
            Self::Neural(params) => params.check(),
        }
    }

    /// Whether it learns from candidates, each seen in focus.
    pub fn takes_candidates(&self) -> bool {
        matches!(self, Self::Boosting(_))
    }

    /// Whether it learns from the parser's own derivations, and not from instances.
    pub fn learns_while_parsing(&self) -> bool {
        matches!(self, Self::OnlinePerceptron(_) | Self::StructuredPerceptron(_) | Self::Neural(_))
    }

    /// Whether its models decide on the kind of action first.
    pub fn decides_kind_first(&self) -> bool {
        matches!(self, Self::OnlinePerceptron(OnlineParams { coarse_to_fine: true, .. }))
    }

    /// Whether scores may be added along a derivation, so that paths can be compared.
    pub fn scores_add_up(&self) -> bool {
        match self {
            Self::StructuredPerceptron(_)
            | Self::Maxent(_)
            | Self::C45(_)
            | Self::Cart(_)
            | Self::Boosting(_)
            | Self::Neural(_)
            | Self::Calibrate(_) => true,
            Self::Split(choice) => choice.learner.scores_add_up(),
            Self::Stack(choice) => choice.final_learner.scores_add_up(),
            Self::Perceptron(_)
            | Self::OnlinePerceptron(_)
            | Self::Svm(_)
            | Self::TwoStage(_)
            | Self::OneVsRest(_)
            | Self::Vote(_)
            | Self::Meta(_)
            | Self::Knn(_) => false,
        }
    }

    /// The same without what may be changed after training: which of the boosted trees are used.
    #[must_use]
    pub fn uncalibrated(&self) -> Self {
        match self {
            Self::Boosting(params) => {
                Self::Boosting(BoostingParams { threshold: 0.0, ..params.clone() })
            }
            other => other.clone(),
        }
    }

    fn no_part(&self) -> Error {
        let name = match self {
            Self::StructuredPerceptron(_) => "structured-perceptron",
            Self::Neural(_) => "neural",
            _ => "online-perceptron",
        };
        let problem = format!(
            "`{name}` learns while it parses and cannot be a part of another learner, or of a tagger: use \
             `perceptron`"
        );
        Error::config("learner.kind", problem)
    }

    pub(super) fn check_inner(&self, columns: &[Column]) -> Result<()> {
        if self.learns_while_parsing() {
            return Err(self.no_part());
        }
        self.check(columns)
    }

    /// The learner.
    ///
    /// # Errors
    /// When the choice learns while parsing, and so is no learner of instances.
    pub fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        let indicators = parts.indicators.clone();
        Ok(match self {
            Self::Perceptron(params) => Box::new(Perceptron { params: params.clone(), indicators }),
            Self::Maxent(params) => Box::new(Maxent { params: params.clone(), indicators }),
            Self::Svm(params) => Box::new(Svm { params: params.clone(), indicators }),
            Self::OnlinePerceptron(_) | Self::StructuredPerceptron(_) | Self::Neural(_) => {
                return Err(self.no_part());
            }
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

/// The default of a setting of one kind of `T`, as written in a preset; none if it must be given.
pub(super) fn default_of<T: Serialize + DeserializeOwned>(kind: &str, key: &str) -> Option<String> {
    let choice: T = toml::from_str(&format!("kind = \"{kind}\"")).ok()?;
    toml::Table::try_from(choice).ok()?.get(key).map(ToString::to_string)
}

fn learners(choices: &[LearnerChoice], parts: &Parts) -> Result<Vec<Box<dyn Learner>>> {
    choices.iter().map(|choice| choice.learner(parts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_every_learner_is_explained() {
        for (kind, settings) in LearnerChoice::ALL {
            let inner = "{ kind = 'maxent' }";
            let text = format!("kind = '{kind}'");
            let with_parts = format!(
                "{text}\ncolumn = 's0.t'\nfrom = {{ kind = 'held-out', share = 0.5 }}\n\
                 members = [{inner}]\nlearner = {inner}\nfirst = {inner}\nsecond = {inner}\n\
                 final_learner = {inner}\npicker = {inner}\n"
            );
            let keep = |line: &&str| {
                let key = line.split(' ').next().unwrap_or_default();
                key == "kind" || settings.iter().any(|setting| setting.key == key)
            };
            let text = with_parts.lines().filter(keep).collect::<Vec<_>>().join("\n");
            let choice: LearnerChoice =
                toml::from_str(&text).unwrap_or_else(|error| panic!("{kind}: {error}"));
            let written = serde_json::to_value(&choice).unwrap();
            let mut keys: Vec<&str> =
                written.as_object().unwrap().keys().map(String::as_str).collect();
            keys.retain(|key| *key != "kind");
            let mut explained: Vec<&str> = settings.iter().map(|setting| setting.key).collect();
            keys.sort_unstable();
            explained.sort_unstable();
            assert_eq!(keys, explained, "{kind}");
        }
    }
}
