//! Training of networks: parse each training sentence, sum up the loss of every decision, go back.
//!
//! On the gold path the next state is always a right one. With exploration a wrong prediction is sometimes
//! followed, as in [`super::online`].
//!
//! Sentences are parsed in batches: all of a batch with the same parameters, on any number of threads, each group
//! of sentences with gradients of its own, which are added up in order. So the number of threads changes nothing.

use std::ops::ControlFlow;

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use super::Example;
use super::choice::Choice;
use super::online::{EpochReport, Exploration};
use crate::Result;
use crate::classifier::first_best;
use crate::neural::{
    Decay, Gradients, MovingAverage, Optimizer, OptimizerParams, OptimizerState, Params, Tape,
};
use crate::oracle::{DynamicOracle, Oracle};
use crate::parallel;
use crate::scorer::Configuration;
use crate::scorer::neural::{Network, Neural, Noise, Pen};
use crate::transition::TransitionSystem;

/// How training runs.
pub struct Training<'a> {
    /// Passes over the training trees; from 1.
    pub epochs: u32,
    /// Seeds the order of the sentences, the exploration and what is left out.
    pub seed: u64,
    /// How many sentences are parsed with the same parameters; from 1. Their gradients are added up.
    pub batch: usize,
    /// How parameters follow their gradients.
    pub optimizer: OptimizerParams,
    /// How its rate falls.
    pub decay: Decay,
    /// Gradients of a batch longer than this are shortened to it; 0 for never.
    pub clip: f32,
    /// Over how many batches the parameters are averaged; 0 for none, or twice [`MovingAverage::EVERY`] at least.
    pub average: f32,
    /// The share of the numbers of a layer that is left out at random; from 0, below 1.
    pub dropout: f32,
    /// Told how many of all sentences of all epochs are done.
    pub progress: &'a mut dyn FnMut(u64),
    /// Asked before every batch; when true the epoch ends at once.
    pub stop: &'a dyn Fn() -> bool,
}

/// What an epoch was like.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// The epoch, decisions and mistakes.
    pub report: EpochReport,
    /// The sum of the losses of all decisions.
    pub loss: f64,
    /// Whether all training trees were seen.
    pub whole: bool,
}

/// Sentences of a batch are parsed in so many groups.
const GROUPS: usize = 8;

/// The memory of a group of sentences.
struct Group<S: TransitionSystem> {
    tape: Tape,
    gradients: Gradients,
    legal: Vec<S::Action>,
    optimal: Vec<S::Action>,
    scores: Vec<f32>,
    among: Vec<u32>,
    progress: Progress,
}

impl<S: TransitionSystem> Group<S> {
    fn new() -> Self {
        Self {
            tape: Tape::default(),
            gradients: Gradients::default(),
            legal: Vec::new(),
            optimal: Vec::new(),
            scores: Vec::new(),
            among: Vec::new(),
            progress: Progress::default(),
        }
    }
}

/// What is learned from.
struct Lessons<'a, S: TransitionSystem, O: Oracle<S>> {
    system: &'a S,
    oracle: &'a O,
    examples: &'a [Example],
    gold: Vec<O::Gold>,
}

/// Everything that a batch of sentences is learned from with.
struct Round<'a, S: TransitionSystem, O: Oracle<S>, N> {
    lessons: &'a Lessons<'a, S, O>,
    learner: &'a Neural<N>,
    exploration: Option<Exploration>,
    dropout: f32,
}

impl Training<'_> {
    /// What training begins with.
    pub fn course(&self, params: &Params) -> OptimizerState {
        let average = (self.average > 0.0).then(|| MovingAverage::new(self.average, params));
        OptimizerState { optimizer: Optimizer::new(self.optimizer, self.clip, params), average }
    }

    /// Trains on the gold path, from the epoch after `done` on; after each epoch `each_epoch` may break off. What
    /// an epoch does depends on nothing but the seed and what the last one left behind.
    ///
    /// # Errors
    /// When a tree does not fit the system, or `each_epoch` fails.
    pub fn on_gold_path<S: TransitionSystem, O: Oracle<S>, N: Network<S>>(
        &mut self,
        with: (&S, &O),
        so_far: (&mut Neural<N>, &mut OptimizerState, u32),
        examples: &[Example],
        each_epoch: impl FnMut(&Neural<N>, &OptimizerState, Progress) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.run(with, so_far, examples, None, each_epoch)
    }

    /// Trains with exploration, which takes an oracle that answers everywhere.
    ///
    /// # Errors
    /// As [`Training::on_gold_path`].
    pub fn exploring<S: TransitionSystem, O: DynamicOracle<S>, N: Network<S>>(
        &mut self,
        with: (&S, &O),
        so_far: (&mut Neural<N>, &mut OptimizerState, u32),
        examples: &[Example],
        exploration: Exploration,
        each_epoch: impl FnMut(&Neural<N>, &OptimizerState, Progress) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.run(with, so_far, examples, Some(exploration), each_epoch)
    }

    fn run<S, O, N>(
        &mut self,
        (system, oracle): (&S, &O),
        (learner, course, done): (&mut Neural<N>, &mut OptimizerState, u32),
        examples: &[Example],
        exploration: Option<Exploration>,
        mut each_epoch: impl FnMut(&Neural<N>, &OptimizerState, Progress) -> Result<ControlFlow<()>>,
    ) -> Result<()>
    where
        S: TransitionSystem,
        O: Oracle<S>,
        N: Network<S>,
    {
        let prepare = |example: &Example| oracle.prepare(system, &example.tree);
        let gold: Vec<O::Gold> = examples.iter().map(prepare).collect::<Result<_>>()?;
        let lessons = Lessons { system, oracle, examples, gold };
        let mut groups: Vec<Group<S>> = (0..GROUPS).map(|_| Group::new()).collect();
        for epoch in done + 1..=self.epochs {
            let follow = exploration.filter(|e| epoch >= e.from_epoch);
            let mut progress = self.epoch(epoch, &lessons, follow, (learner, course), &mut groups);
            if !progress.whole && progress.report.decisions == 0 {
                break;
            }
            progress.report.last = epoch == self.epochs || (self.stop)();
            if each_epoch(learner, course, progress)?.is_break() || progress.report.last {
                break;
            }
        }
        Ok(())
    }

    fn epoch<S: TransitionSystem, O: Oracle<S>, N: Network<S>>(
        &mut self,
        epoch: u32,
        lessons: &Lessons<'_, S, O>,
        exploration: Option<Exploration>,
        (learner, course): (&mut Neural<N>, &mut OptimizerState),
        groups: &mut [Group<S>],
    ) -> Progress {
        let n = lessons.examples.len();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed.wrapping_add(u64::from(epoch) << 32));
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut rng);
        let mut progress = Progress::default();
        progress.report.epoch = epoch;
        let mut done = 0;
        for batch in order.chunks(self.batch.max(1)) {
            if (self.stop)() {
                break;
            }
            let seed = rng.random::<u64>();
            let round = Round { lessons, learner: &*learner, exploration, dropout: self.dropout };
            let groups = &mut groups[..batch.len().min(GROUPS)];
            round.batch(batch, seed, groups);
            for group in &*groups {
                progress.loss += group.progress.loss;
                progress.report.decisions += group.progress.report.decisions;
                progress.report.mistakes += group.progress.report.mistakes;
            }
            let factor = self.decay.factor(epoch - 1, done as f32 / n as f32, self.epochs);
            course.optimizer.step(&mut learner.params, &groups[0].gradients, factor);
            if let Some(average) = &mut course.average {
                average.note(&learner.params);
            }
            done += batch.len();
            (self.progress)(u64::from(epoch - 1) * n as u64 + done as u64);
        }
        progress.whole = done == n;
        progress
    }
}

impl<S: TransitionSystem, O: Oracle<S>, N: Network<S>> Round<'_, S, O, N> {
    /// Parses the sentences of a batch, each group on a thread; the first group then has all gradients.
    fn batch(&self, batch: &[usize], seed: u64, groups: &mut [Group<S>]) {
        let share = batch.len().div_ceil(groups.len());
        parallel::for_each(groups.iter_mut().enumerate(), |(number, group)| {
            group.gradients.clear(&self.learner.params);
            group.progress = Progress::default();
            for (place, &at) in batch.iter().enumerate().skip(number * share).take(share) {
                self.learn(at, seed.wrapping_add(place as u64), group);
            }
        });
        let (first, others) = groups.split_at_mut(1);
        let others: Vec<&Gradients> = others.iter().map(|other| &other.gradients).collect();
        first[0].gradients.add(&others);
    }

    /// Parses a sentence and adds the gradients of its loss.
    fn learn(&self, at: usize, seed: u64, group: &mut Group<S>) {
        let &Self { lessons, learner, exploration, dropout } = self;
        let &Lessons { system, oracle, examples, ref gold } = lessons;
        let (sentence, gold) = (&examples[at].sentence, &gold[at]);
        let Group { tape, gradients, legal, optimal, scores, among, progress } = group;
        let mut noise = Noise::new(seed, dropout);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // What is left out and what is followed have nothing to do with each other.
        rng.set_stream(1);
        tape.clear();
        let params = &learner.params;
        let mut pen = Pen { tape, params, noise: Some(&mut noise) };
        let mut state = system.start(sentence);
        let start = Configuration { system, sentence, state: &state };
        let mut memory = learner.network.begin(start, &mut pen);
        while !system.is_final(&state) {
            system.legal(&state, legal);
            let at = Configuration { system, sentence, state: &state };
            let next = if let [only] = legal[..] {
                only
            } else {
                oracle.optimal(system, gold, &state, optimal);
                let all = learner.network.scores(at, &memory, &mut pen);
                learner.classes.pick(legal, pen.tape.of(all), scores);
                let choice = Choice { legal, scores, optimal };
                let next = match choice.judge() {
                    // The oracle has nothing to say: go on without a lesson.
                    None => first_best(scores),
                    Some(judgement) => {
                        let class = |action| learner.classes.class(action).map(u32::from);
                        among.clear();
                        among.extend(legal.iter().filter_map(|&action| class(action)));
                        if let Some(target) = class(legal[judgement.target]) {
                            progress.loss += f64::from(pen.tape.cross_entropy(all, among, target));
                        }
                        progress.report.decisions += 1;
                        progress.report.mistakes += u64::from(!judgement.is_right());
                        choice.next(judgement, exploration, || rng.random())
                    }
                };
                legal[next]
            };
            system.apply(&mut state, next);
            let after = Configuration { system, sentence, state: &state };
            learner.network.advance(after, next, &mut memory, &mut pen);
        }
        tape.backward(params, gradients);
    }
}
