//! The settings of the two ways to train perceptrons, and loading what they have stored.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::classifier::Classifier;
use crate::classifier::coarse_to_fine::{CoarseToFine, TwoStepIndicators};
use crate::classifier::linear::{LinearModel, Pruning};
use crate::feature::Indicators;
use crate::memory::Sections;
use crate::scorer::{Components, Factored, Scorer};

/// When training leaves the gold path (Fernández-González and Gómez-Rodríguez 2018, section 5.3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Exploration {
    /// The first epoch, from 1, that explores.
    #[schemars(range(min = 1, max = 100_000))]
    pub from_epoch: u32,
    /// The probability that a wrong prediction is followed (regular exploration).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// If the best wrong action trails a correct prediction by less than this margin, in units of the scores,
    /// it is followed instead; 0 for never (aggressive exploration).
    #[schemars(range(min = 0.0, max = 1e6))]
    pub margin: f64,
}

impl Exploration {
    /// Whether configurations off the gold path may be reached.
    pub fn explores(&self) -> bool {
        self.probability > 0.0 || self.margin > 0.0
    }
}

impl Default for Exploration {
    fn default() -> Self {
        Self { from_epoch: 2, probability: 0.9, margin: 0.0 }
    }
}

/// The settings of online training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OnlineParams {
    /// Passes over the training trees.
    #[schemars(range(min = 1, max = 100_000))]
    pub epochs: u32,
    /// The number of models, each with a seed of its own; their weights are added.
    #[schemars(range(min = 1, max = 100))]
    pub models: u32,
    /// Whether the kind of action (shift, reduce, open) is decided first, then the action of that kind;
    /// parses faster.
    pub coarse_to_fine: bool,
    /// When wrong predictions are followed in training.
    pub exploration: Exploration,
    /// How the packed model is pruned.
    pub prune: Pruning,
}

impl Default for OnlineParams {
    fn default() -> Self {
        let (exploration, prune) = (Exploration::default(), Pruning::default());
        Self { epochs: 12, models: 1, coarse_to_fine: false, exploration, prune }
    }
}

impl OnlineParams {
    /// Loads the scorer that training has stored.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] when the sections are not those of such a scorer.
    pub fn load(&self, components: Components<'_>, sections: &Sections) -> Result<Box<dyn Scorer>> {
        let templates = components.templates;
        let classifier: Box<dyn Classifier> = if self.coarse_to_fine {
            Box::new(CoarseToFine::load(TwoStepIndicators::new(templates), sections)?)
        } else {
            Box::new(LinearModel::load(Indicators::new(templates), sections)?)
        };
        Factored::load(components, components.classes(), classifier)
    }
}

/// Up to which step of a wrong derivation weights are updated.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// The step at which the gold path falls out of the beam, else the last.
    Early,
    /// The step at which the gold path is furthest behind the best.
    #[default]
    MaxViolation,
}

/// The settings of structured training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StructuredParams {
    /// Passes over the training trees.
    #[schemars(range(min = 1, max = 100_000))]
    pub epochs: u32,
    /// The number of models, each with a seed of its own; their weights are added.
    #[schemars(range(min = 1, max = 100))]
    pub models: u32,
    /// The beam size in training.
    #[schemars(range(min = 1, max = 4096))]
    pub beam: u32,
    /// Up to which step of a wrong derivation weights are updated.
    pub update: Update,
    /// The lead that the gold derivation must have over all others, in units of the weights: an update
    /// changes the weight of every feature by 1.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub margin: f32,
    /// The number of sentences in a batch, which are searched with the same weights.
    #[schemars(range(min = 1, max = 4096))]
    pub batch: u32,
    /// How the packed model is pruned.
    pub prune: Pruning,
}

impl Default for StructuredParams {
    fn default() -> Self {
        let (update, prune) = (Update::default(), Pruning::default());
        Self { epochs: 15, models: 1, beam: 16, update, margin: 0.0, batch: 16, prune }
    }
}

impl StructuredParams {
    /// Loads the scorer that training has stored.
    ///
    /// # Errors
    /// As [`OnlineParams::load`].
    pub fn load(&self, components: Components<'_>, sections: &Sections) -> Result<Box<dyn Scorer>> {
        let classifier = LinearModel::load(Indicators::new(components.templates), sections)?;
        Factored::load(components, components.classes().with_idle(), Box::new(classifier))
    }
}
