//! Online training: an averaged perceptron learns from every decision while it parses the training sentences.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::epochs::{EpochReport, Progress};
use super::perceptrons::{self, Extent, LearningRule};
use super::session::check_explores;
use super::walk::Walk;
use super::{Session, Trained};
use crate::Result;
use crate::oracle::{OracleKind, oracle};
use crate::parallel;
use crate::scorer::perceptron::{Exploration, OnlineParams};
use crate::scorer::{FactoredReading, OnlinePerceptron};
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
    let mut untrained = OnlinePerceptron::untrained(components.templates, classes, coarse_to_fine);
    if let Some(initial) = initial {
        untrained = untrained.continuing(initial);
    }
    let exploration = explores.then_some(exploration);
    let rule = || FromDecisions::new(&oracles, exploration, &progress);
    perceptrons::train(session, Extent { epochs, models }, &prune, &untrained, rule, &progress)
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

/// Learning from every decision.
pub struct FromDecisions<'a> {
    oracles: &'a [Box<dyn Oracle + 'a>],
    exploration: Option<Exploration>,
    walk: Walk,
    progress: &'a Progress<'a>,
}

impl<'a> FromDecisions<'a> {
    /// Learning on the gold path, or with exploration, for which the oracles must be dynamic.
    pub fn new(
        oracles: &'a [Box<dyn Oracle + 'a>],
        exploration: Option<Exploration>,
        progress: &'a Progress<'a>,
    ) -> Self {
        Self { oracles, exploration, walk: Walk::default(), progress }
    }
}

impl LearningRule for FromDecisions<'_> {
    fn train_epoch(
        &mut self,
        session: &Session<'_>,
        perceptron: &mut OnlinePerceptron,
        epoch: u32,
        trees: &[usize],
        rng: &mut ChaCha8Rng,
    ) -> EpochReport {
        let Self { oracles, exploration, walk, progress } = self;
        let exploration = exploration.filter(|exploration| epoch >= exploration.from_epoch);
        let mut learner = FactoredReading::new(perceptron);
        let mut report = EpochReport::default();
        let mut done = 0;
        for &at in trees {
            if progress.is_stopped() {
                break;
            }
            let sentence = (session.components.system, &session.examples[at].sentence);
            let draw = &mut || rng.random();
            walk.sentence(sentence, &*oracles[at], &mut learner, exploration, draw, &mut report);
            done += 1;
            progress.add(1);
        }
        report.is_complete = done == trees.len();
        report
    }
}
