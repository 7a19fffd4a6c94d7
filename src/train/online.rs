//! Online training: an averaged perceptron learns from every decision while it parses the training sentences.

use rand::RngExt;

use super::epochs::{EpochLearner, EpochReport, Progress};
use super::perceptrons::{self, Extent, PerceptronLearner, RandomOrder};
use super::session::check_explores;
use super::walk::Walk;
use super::{Session, Trained};
use crate::Result;
use crate::classifier::linear::Pruning;
use crate::memory::Sections;
use crate::oracle::{OracleKind, oracle};
use crate::parallel;
use crate::scorer::perceptron::{Exploration, OnlineParams};
use crate::scorer::{FactoredReading, OnlinePerceptron, Scorer};
use crate::transition::Oracle;

/// Trains perceptrons online.
///
/// # Errors
/// When the data do not suit it, or training was stopped before anything was learned.
pub fn train(params: &OnlineParams, session: &Session<'_>) -> Result<Trained> {
    let OnlineParams { epochs, models, coarse_to_fine, exploration, prune } = *params;
    let components = session.components;
    let explores = exploration.explores();
    if explores {
        check_explores(components.system)?;
    }
    let oracles = oracles(session, explores)?;
    let total = session.trees_in(u64::from(epochs) * u64::from(models));
    let progress = Progress::new(session.observer, total);
    let classes = components.classes();
    let initial = session.initial_weights(&classes, coarse_to_fine)?;
    let make = |seed, progress| {
        let classes = classes.clone();
        let mut perceptron =
            OnlinePerceptron::untrained(components.templates, classes, coarse_to_fine);
        if let Some(initial) = &initial {
            perceptron = perceptron.continuing(initial.clone());
        }
        OnlineEpochs::new(session, &oracles, perceptron, seed, progress)
            .exploring(explores.then_some(exploration))
            .pruned(prune)
    };
    perceptrons::train(session, Extent { epochs, models }, &prune, make, &progress)
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
    order: RandomOrder,
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
            order: RandomOrder::new(session, seed),
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
        let Self { session, oracles, perceptron, exploration, order, walk, progress, .. } = self;
        let exploration = exploration.filter(|exploration| epoch >= exploration.from_epoch);
        let trees = order.next_epoch(session);
        let mut learner = FactoredReading::new(perceptron);
        let mut report = EpochReport::default();
        let mut done = 0;
        for &at in &trees {
            if progress.is_stopped() {
                break;
            }
            let sentence = (session.components.system, &session.examples[at].sentence);
            let draw = &mut || order.rng.random();
            walk.sentence(sentence, &*oracles[at], &mut learner, exploration, draw, &mut report);
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

    fn store(&self, sections: &mut Sections) {
        perceptrons::store(&self.perceptron, &self.order, sections);
    }

    fn resume(&mut self, sections: &Sections) -> Result<()> {
        perceptrons::resume(&mut self.perceptron, &mut self.order, sections)
    }
}

impl PerceptronLearner for OnlineEpochs<'_> {
    fn into_perceptron(self) -> OnlinePerceptron {
        self.perceptron
    }
}
