//! Online training: an averaged perceptron learns from every decision while it parses the training sentences.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::choice::Exploration;
use super::epochs::{EpochLearner, EpochReport, Progress};
use super::perceptrons::{self, Extent, PerceptronLearner};
use super::session::check_explores;
use super::walk::Walk;
use super::{Components, Session, Trained, TrainingMethod};
use crate::Result;
use crate::classifier::Classifier;
use crate::classifier::coarse_to_fine::{CoarseToFine, TwoStepIndicators};
use crate::classifier::linear::{LinearModel, Pruning};
use crate::feature::{Extractor, Indicators};
use crate::memory::Sections;
use crate::oracle::{OracleKind, oracle};
use crate::parallel;
use crate::scorer::factored::{Classes, Factored};
use crate::scorer::{OnlinePerceptron, Scorer};
use crate::transition::Oracle;

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

/// Trains perceptrons online.
#[derive(Debug, Clone, Copy)]
pub struct OnlineTraining(pub OnlineParams);

impl TrainingMethod for OnlineTraining {
    fn train(&self, session: &Session<'_>) -> Result<Trained> {
        let OnlineParams { epochs, models, exploration, prune, .. } = &self.0;
        let explores = exploration.explores();
        if explores {
            check_explores(session.components.system)?;
        }
        let oracles = oracles(session, explores)?;
        let total = session.trees_in(u64::from(*epochs) * u64::from(*models));
        let progress = Progress::new(session.observer, total);
        let make = |seed, progress| {
            OnlineEpochs::new(session, &oracles, self.untrained(session.components), seed, progress)
                .exploring(explores.then_some(*exploration))
                .pruned(*prune)
        };
        let extent = Extent { epochs: *epochs, models: *models };
        perceptrons::train(session, extent, prune, make, &progress)
    }

    fn load(&self, components: Components<'_>, sections: &Sections) -> Result<Box<dyn Scorer>> {
        let templates = components.templates;
        let classifier: Box<dyn Classifier> = if self.0.coarse_to_fine {
            Box::new(CoarseToFine::load(TwoStepIndicators::new(templates), sections)?)
        } else {
            Box::new(LinearModel::load(Indicators::new(templates), sections)?)
        };
        load_factored(components, components.classes(), classifier)
    }
}

impl OnlineTraining {
    fn untrained(&self, components: Components<'_>) -> OnlinePerceptron {
        let Components { templates, .. } = components;
        OnlinePerceptron::untrained(templates, components.classes(), self.0.coarse_to_fine)
    }
}

/// Combines a stored classifier with the features, after checking that it scores the system's actions.
///
/// # Errors
/// [`crate::Error::Corrupt`] when it does not.
pub(super) fn load_factored(
    components: Components<'_>,
    classes: Classes,
    classifier: Box<dyn Classifier>,
) -> Result<Box<dyn Scorer>> {
    if classifier.n_classes() != classes.len() {
        let (scored, listed) = (classifier.n_classes(), classes.len());
        let problem = format!("the weights score {scored} actions, the system has {listed}");
        return Err(crate::Error::Corrupt(problem));
    }
    let extractor = Extractor::new(components.templates);
    Ok(Box::new(Factored::new(extractor, classes, classifier)))
}

/// The oracles of all training trees.
///
/// # Errors
/// When the system cannot build a tree.
pub(super) fn oracles<'a>(
    session: &Session<'a>,
    dynamic: bool,
) -> Result<Vec<Box<dyn Oracle + 'a>>> {
    let kind = if dynamic { OracleKind::DynamicIfAny } else { OracleKind::Static };
    let system = session.components.system;
    let oracles = parallel::map(session.examples, |example| oracle(system, &example.tree, kind));
    oracles.into_iter().collect()
}

/// A perceptron that learns from single decisions.
pub struct OnlineEpochs<'a> {
    session: &'a Session<'a>,
    oracles: &'a [Box<dyn Oracle + 'a>],
    perceptron: OnlinePerceptron,
    exploration: Option<Exploration>,
    prune: Pruning,
    rng: ChaCha8Rng,
    order: Vec<usize>,
    walk: Walk,
    progress: &'a Progress<'a>,
}

impl<'a> OnlineEpochs<'a> {
    /// Training on the gold path. The seed decides the order of the sentences and the exploration.
    pub fn new(
        session: &'a Session<'a>,
        oracles: &'a [Box<dyn Oracle + 'a>],
        perceptron: OnlinePerceptron,
        seed: u64,
        progress: &'a Progress<'a>,
    ) -> Self {
        Self {
            session,
            oracles,
            perceptron,
            exploration: None,
            prune: Pruning::default(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            order: (0..session.examples.len()).collect(),
            walk: Walk::default(),
            progress,
        }
    }

    /// Enables exploration, for which the oracles must be dynamic.
    #[must_use]
    pub fn exploring(self, exploration: Option<Exploration>) -> Self {
        Self { exploration, ..self }
    }

    /// Prunes snapshots.
    #[must_use]
    pub fn pruned(self, prune: Pruning) -> Self {
        Self { prune, ..self }
    }
}

impl EpochLearner for OnlineEpochs<'_> {
    fn train_epoch(&mut self, epoch: u32) -> EpochReport {
        let Self { session, oracles, perceptron, exploration, rng, order, walk, progress, .. } =
            self;
        order.shuffle(rng);
        let exploration = exploration.filter(|exploration| epoch >= exploration.from_epoch);
        let trees = session.epoch(order, rng);
        let mut report = EpochReport::default();
        let mut done = 0;
        for &at in &trees {
            if progress.is_stopped() {
                break;
            }
            let sentence = (session.components.system, &session.examples[at].sentence);
            let draw = &mut || rng.random();
            walk.sentence(sentence, &*oracles[at], perceptron, exploration, draw, &mut report);
            done += 1;
            progress.add(1);
        }
        report.is_complete = done == trees.len();
        report
    }

    fn snapshot(&self) -> (Box<dyn Scorer>, Sections) {
        perceptrons::snapshot(&self.perceptron, &self.prune)
    }

    fn describe(&self, epoch: u32, report: &EpochReport) -> String {
        perceptrons::describe(epoch, report, &self.perceptron)
    }
}

impl PerceptronLearner for OnlineEpochs<'_> {
    fn into_perceptron(self) -> OnlinePerceptron {
        self.perceptron
    }
}
