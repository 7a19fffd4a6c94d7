//! Online training: parse each training sentence, learn from every decision.
//!
//! On the gold path the next state is always the right one. With exploration a wrong prediction is
//! sometimes followed, and the dynamic oracle says what is best from there; this shows the learner
//! the states its own mistakes lead to.

use std::ops::ControlFlow;

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use super::Example;
use super::choice::{Choice, Judgement};
use crate::classifier::first_best;
use crate::oracle::{DynamicOracle, Oracle};
use crate::scorer::{Configuration, Lesson, OnlineLearner};
use crate::transition::TransitionSystem;
use crate::{Error, Result};

/// When wrong predictions are followed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Exploration {
    /// The first epoch, from 1, that explores.
    pub from_epoch: u32,
    /// The chance that a wrong prediction is followed; from 0 to 1. ("Regular" in Fernández-González and
    /// Gómez-Rodríguez 2018, section 5.3.)
    pub probability: f64,
    /// A right prediction is left for the best wrong action if that trails by less than this margin, in units
    /// of the scores; 0 for never. ("Aggressive" there.)
    pub margin: f64,
}

impl Exploration {
    /// Checks the settings.
    ///
    /// # Errors
    /// Naming the key and its range.
    pub fn check(&self) -> Result<()> {
        let Self { from_epoch, probability, margin } = *self;
        let error = |key: &str, problem: String| {
            Err(Error::config(format!("learner.exploration.{key}"), problem))
        };
        if from_epoch == 0 {
            return error("from_epoch", "must be 1 or more".into());
        }
        if !(0.0..=1.0).contains(&probability) {
            let problem = format!("{probability} is no probability: give 0 (never) to 1 (always)");
            return error("probability", problem);
        }
        if !(margin >= 0.0 && margin.is_finite()) {
            return error("margin", "must be 0 or more".into());
        }
        Ok(())
    }

    /// Whether any state off the gold path may be reached.
    pub fn explores(&self) -> bool {
        self.probability > 0.0 || self.margin > 0.0
    }
}

impl Default for Exploration {
    fn default() -> Self {
        Self { from_epoch: 2, probability: 0.9, margin: 0.0 }
    }
}

/// What an epoch was like.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EpochReport {
    /// The epoch, from 1.
    pub epoch: u32,
    /// How many decisions there were.
    pub decisions: u64,
    /// How many predictions were wrong.
    pub mistakes: u64,
    /// Whether no other epoch follows: it was the last one, or training is being stopped.
    pub last: bool,
}

/// How online training runs.
pub struct Online<'a> {
    /// Passes over the training trees.
    pub epochs: u32,
    /// Seeds the order of the sentences and the exploration.
    pub seed: u64,
    /// Told how many of all sentences of all epochs are done.
    pub progress: &'a mut dyn FnMut(u64),
    /// Asked before every sentence; when true the epoch ends at once.
    pub stop: &'a dyn Fn() -> bool,
}

impl Online<'_> {
    /// Trains on the gold path; after each epoch `each_epoch` may break off.
    ///
    /// # Errors
    /// When a tree does not fit the system, or `each_epoch` fails.
    pub fn on_gold_path<S, O, L>(
        &mut self,
        system: &S,
        oracle: &O,
        learner: &mut L,
        examples: &[Example],
        each_epoch: impl FnMut(&L, EpochReport) -> Result<ControlFlow<()>>,
    ) -> Result<()>
    where
        S: TransitionSystem,
        O: Oracle<S>,
        L: OnlineLearner<S>,
    {
        self.run(system, oracle, learner, examples, None, each_epoch)
    }

    /// Trains with exploration, which takes an oracle that answers everywhere.
    ///
    /// # Errors
    /// As [`Online::on_gold_path`].
    pub fn exploring<S, O, L>(
        &mut self,
        system: &S,
        oracle: &O,
        learner: &mut L,
        examples: &[Example],
        exploration: Exploration,
        each_epoch: impl FnMut(&L, EpochReport) -> Result<ControlFlow<()>>,
    ) -> Result<()>
    where
        S: TransitionSystem,
        O: DynamicOracle<S>,
        L: OnlineLearner<S>,
    {
        self.run(system, oracle, learner, examples, Some(exploration), each_epoch)
    }

    fn run<S, O, L>(
        &mut self,
        system: &S,
        oracle: &O,
        learner: &mut L,
        examples: &[Example],
        exploration: Option<Exploration>,
        mut each_epoch: impl FnMut(&L, EpochReport) -> Result<ControlFlow<()>>,
    ) -> Result<()>
    where
        S: TransitionSystem,
        O: Oracle<S>,
        L: OnlineLearner<S>,
    {
        let gold: Vec<O::Gold> = examples
            .iter()
            .map(|example| oracle.prepare(system, &example.tree))
            .collect::<Result<_>>()?;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut order: Vec<usize> = (0..examples.len()).collect();
        let mut walk = Walk::new();
        let mut done = 0;
        for epoch in 1..=self.epochs {
            order.shuffle(&mut rng);
            let follow = exploration.filter(|e| epoch >= e.from_epoch);
            let mut report = EpochReport { epoch, ..EpochReport::default() };
            for &at in &order {
                if (self.stop)() {
                    break;
                }
                walk.sentence(
                    system,
                    oracle,
                    learner,
                    &examples[at].sentence,
                    &gold[at],
                    follow,
                    &mut rng,
                    &mut report,
                );
                done += 1;
                (self.progress)(done);
            }
            learner.end_epoch();
            report.last = epoch == self.epochs || (self.stop)();
            if each_epoch(learner, report)?.is_break() || report.last {
                break;
            }
        }
        Ok(())
    }
}

/// The memory of the walk.
struct Walk<S: TransitionSystem, L: OnlineLearner<S>> {
    legal: Vec<S::Action>,
    optimal: Vec<S::Action>,
    scores: Vec<f32>,
    scratch: L::Scratch,
}

impl<S: TransitionSystem, L: OnlineLearner<S>> Walk<S, L> {
    fn new() -> Self {
        Self {
            legal: Vec::new(),
            optimal: Vec::new(),
            scores: Vec::new(),
            scratch: L::Scratch::default(),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call; a struct for it would only rename the arguments"
    )]
    fn sentence<O: Oracle<S>>(
        &mut self,
        system: &S,
        oracle: &O,
        learner: &mut L,
        sentence: &crate::symbols::Sentence,
        gold: &O::Gold,
        follow: Option<Exploration>,
        rng: &mut ChaCha8Rng,
        report: &mut EpochReport,
    ) {
        let mut state = system.start(sentence);
        let at = Configuration { system, sentence, state: &state };
        let mut memory = learner.begin(at, &mut self.scratch);
        while !system.is_final(&state) {
            system.legal(&state, &mut self.legal);
            let at = Configuration { system, sentence, state: &state };
            let action = if let [only] = self.legal[..] {
                only
            } else {
                oracle.optimal(system, gold, &state, &mut self.optimal);
                learner.score(at, &memory, &self.legal, &mut self.scratch, &mut self.scores);
                let (legal, scores) = (&self.legal[..], &self.scores[..]);
                let choice = Choice { legal, scores, optimal: &self.optimal };
                match choice.judge() {
                    // The oracle has nothing to say: go on without a lesson.
                    None => legal[first_best(scores)],
                    Some(judgement) => {
                        let Judgement { predicted, target } = judgement;
                        let lesson = Lesson { at, actions: legal, scores, predicted, target };
                        learner.learn(&lesson, &memory, &mut self.scratch);
                        report.decisions += 1;
                        report.mistakes += u64::from(!judgement.is_right());
                        legal[choice.next(judgement, follow, || rng.random())]
                    }
                }
            };
            system.apply(&mut state, action);
            let after = Configuration { system, sentence, state: &state };
            learner.advance(after, action, &mut memory, &mut self.scratch);
        }
        learner.end_sentence();
    }
}
