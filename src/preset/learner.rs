//! Learners as presets name them: the one place that knows which there are.

use serde::{Deserialize, Serialize};

use crate::classifier::decision_tree::{C45, C45Params, Cart, CartParams};
use crate::classifier::linear::Pruning;
use crate::classifier::maxent::{Maxent, MaxentParams};
use crate::classifier::perceptron::{Perceptron, PerceptronParams};
use crate::classifier::{Learner, Setting};
use crate::error::{Error, Result};
use crate::feature::{Column, ColumnKind, Indicators};
use crate::train::online::Exploration;

/// A learner and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LearnerChoice {
    /// Averaged perceptron over instances of gold derivations.
    Perceptron(PerceptronParams),
    /// Averaged perceptron that learns while parsing.
    OnlinePerceptron(OnlineParams),
    /// Maximum entropy over instances of gold derivations.
    Maxent(MaxentParams),
    /// Decision tree of C4.5 over instances of gold derivations.
    C45(C45Params),
    /// Decision tree of CART over instances of gold derivations.
    Cart(CartParams),
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
    /// When wrong predictions are followed; probability 0 stays on the gold path.
    pub exploration: Exploration,
    /// What is left out of the packed model.
    pub prune: Pruning,
}

impl Default for OnlineParams {
    fn default() -> Self {
        Self { epochs: 12, exploration: Exploration::default(), prune: Pruning::default() }
    }
}

impl OnlineParams {
    /// The settings, explained.
    pub const SETTINGS: &[Setting] = &[
        Setting { key: "epochs", range: "1 or more", help: "passes over the training trees" },
        Setting {
            key: "exploration",
            range: "from_epoch 1 or more, probability 0 to 1",
            help: "from which epoch, and how often, wrong predictions are followed",
        },
        Setting { key: "prune", range: Pruning::RANGE, help: Pruning::HELP },
    ];

    fn check(&self) -> Result<()> {
        at_least_one("learner.epochs", self.epochs)?;
        let probability = self.exploration.probability;
        if !(0.0..=1.0).contains(&probability) {
            let problem = format!("{probability} is no probability: give 0 (never) to 1 (always)");
            return Err(Error::config("learner.exploration.probability", problem));
        }
        self.prune.check()
    }
}

fn at_least_one(key: &str, value: u32) -> Result<()> {
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

impl LearnerChoice {
    /// Every kind of learner with its settings.
    pub const ALL: &[(&str, &[Setting])] = &[
        ("perceptron", PerceptronParams::SETTINGS),
        ("online-perceptron", OnlineParams::SETTINGS),
        ("maxent", MaxentParams::SETTINGS),
        ("c45", C45Params::SETTINGS),
        ("cart", CartParams::SETTINGS),
    ];

    /// Checks the settings, and that the learner can take the columns.
    ///
    /// # Errors
    /// Naming the key and the fix.
    pub fn check(&self, columns: &[Column]) -> Result<()> {
        let set = columns.iter().find(|column| column.kind == ColumnKind::Set);
        if let Some(Column { name, .. }) = set {
            let problem =
                format!("`{name}` is a set, and linear learners take none: drop that template");
            return Err(Error::config("features.templates", problem));
        }
        match self {
            Self::Perceptron(params) => params.check(),
            Self::OnlinePerceptron(params) => params.check(),
            Self::Maxent(params) => params.check(),
            Self::C45(params) => params.check(),
            Self::Cart(params) => params.check(),
        }
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
            Self::C45(params) => Box::new(C45 { params: params.clone() }),
            Self::Cart(params) => Box::new(Cart { params: params.clone() }),
            Self::OnlinePerceptron(_) => {
                let problem = "`online-perceptron` learns while parsing and cannot be a part of another learner: \
                               use `perceptron`";
                return Err(Error::config("learner.kind", problem));
            }
        })
    }
}
