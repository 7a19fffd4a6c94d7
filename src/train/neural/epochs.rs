//! One network, trained epoch by epoch.
//!
//! Sentences are parsed in batches: all of a batch with the same parameters, on any number of threads. What is added up
//! is added up in the same order for any number of threads, so the result does not depend on it.

use std::borrow::Cow;

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::neural::inference::InstructionSet;
use crate::neural::{Dropout, Gradients, MovingAverage, Optimizer, OptimizerState};
use crate::oracle::Example;
use crate::parallel;
use crate::scorer::neural::{
    Inventory, Neural, NeuralBatch, NeuralParams, TrainingMemory, TrainingSentence,
};
use crate::scorer::perceptron::Exploration;
use crate::scorer::{OnlineLearner, Scorer};
use crate::train::Session;
use crate::train::epochs::{EpochLearner, EpochReport, Progress};
use crate::train::teacher::{Student, Teacher, TeacherReading};
use crate::train::walk::Walk;
use crate::transition::Oracle;

/// A network with its initial parameters.
///
/// # Errors
/// When it is too large.
pub fn untrained(
    session: &Session<'_>,
    params: &NeuralParams,
    inventory: &Inventory,
) -> Result<Neural> {
    let mut network = Neural::new(&params.network, inventory, Some(session.seed))?;
    let counts = counts(session.examples, inventory.words.sizes.words);
    network.network.set_word_dropout(&counts, params.word_dropout);
    Ok(network)
}

/// The number of occurrences of each word.
fn counts(examples: &[Example], n_words: usize) -> Vec<u32> {
    let mut counts = vec![0; n_words];
    for &word in examples.iter().flat_map(|example| &example.sentence.words) {
        counts[word as usize] += 1;
    }
    counts
}

/// A batch is divided into this many groups, whatever the number of threads.
const GROUPS: usize = 8;

/// At most so many words are computed together: about 200 MB with the sizes of `accurate`.
const MOST_WORDS: usize = 4096;

/// The memory of a group of sentences.
struct Group<'a> {
    walk: Walk,
    memory: TrainingMemory,
    teacher: Option<TeacherReading<'a>>,
    report: EpochReport,
}

/// A network in training.
pub struct NeuralEpochs<'a> {
    session: &'a Session<'a>,
    oracles: &'a [Box<dyn Oracle + 'a>],
    network: Neural,
    state: OptimizerState,
    params: &'a NeuralParams,
    groups: Vec<Group<'a>>,
    work: NeuralBatch,
    gradients: Gradients,
    progress: &'a Progress<'a>,
}

impl<'a> NeuralEpochs<'a> {
    /// Training from the given parameters. With exploration the oracles must be dynamic.
    pub fn new(
        session: &'a Session<'a>,
        oracles: &'a [Box<dyn Oracle + 'a>],
        network: Neural,
        params: &'a NeuralParams,
        progress: &'a Progress<'a>,
    ) -> Self {
        let average = params.moving_average;
        let average = (average > 0.0).then(|| MovingAverage::new(average, &network.params));
        let optimizer = Optimizer::new(params.optimizer, params.clip, &network.params);
        let state = OptimizerState { optimizer, average };
        let group = || Group {
            walk: Walk::default(),
            memory: TrainingMemory::default(),
            teacher: session.teacher.map(Teacher::reading),
            report: EpochReport::default(),
        };
        let groups = std::iter::repeat_with(group).take(GROUPS).collect();
        let (work, gradients) = (NeuralBatch::new(&network.network), Gradients::default());
        Self { session, oracles, network, state, params, groups, work, gradients, progress }
    }

    /// The network as learned so far: with the moving average of its parameters, if there is one.
    pub fn averaged(&self) -> Neural {
        self.network.averaged(&self.state)
    }

    /// Parses the sentences of a batch and computes their gradients.
    fn batch(
        &mut self,
        batch: &[usize],
        seed: u64,
        exploration: Option<Exploration>,
        report: &mut EpochReport,
    ) {
        self.gradients.clear(&self.network.params);
        let examples = self.session.examples;
        let (mut words, mut done) = (0, 0);
        let fit = |&a: &usize, &b: &usize| {
            words += examples[a].sentence.len();
            let fit = words + examples[b].sentence.len() <= MOST_WORDS;
            words *= usize::from(fit);
            fit
        };
        for part in batch.chunk_by(fit) {
            self.part(part, seed.wrapping_add(done), exploration, report);
            done += part.len() as u64;
        }
    }

    /// Parses some sentences of a batch, each group on a thread, and adds their gradients.
    fn part(
        &mut self,
        batch: &[usize],
        seed: u64,
        exploration: Option<Exploration>,
        report: &mut EpochReport,
    ) {
        let Self { session, oracles, network, params, groups, work, gradients, .. } = self;
        let seeds = (0..batch.len() as u64).map(|place| seed.wrapping_add(place));
        let mut dropouts: Vec<Dropout> =
            seeds.clone().map(|seed| Dropout::new(seed, params.dropout)).collect();
        let untagged = params.network.untagged();
        let mut sentence = |(&at, dropout): (&usize, &mut Dropout)| {
            let gold = &session.examples[at].sentence;
            let is_hidden = untagged > 0.0 && dropout.happens(untagged);
            let seen = if is_hidden { Cow::Owned(gold.untagged()) } else { Cow::Borrowed(gold) };
            TrainingSentence { gold, seen }
        };
        let mut sentences: Vec<_> = batch.iter().zip(&mut dropouts).map(&mut sentence).collect();
        work.begin(network, &mut sentences, &mut dropouts);
        let groups = &mut groups[..batch.len().min(GROUPS)];
        let share = batch.len().div_ceil(groups.len());
        let mut lessons = (0..).zip(batch).zip(seeds.zip(dropouts));
        let shares = groups.iter_mut().map(|group| (group, lessons.by_ref().take(share).collect()));
        let shares: Vec<(_, Vec<_>)> = shares.collect();
        parallel::for_each(shares, |(group, lessons)| {
            let Group { walk, memory, teacher, report } = group;
            work.restart(network, memory);
            *report = EpochReport::default();
            for ((place, &at), (seed, dropout)) in lessons {
                let sentence = (session.components.system, &*sentences[place].seen);
                memory.dropout = Some(dropout);
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                // Dropout and exploration use independent random numbers.
                rng.set_stream(1);
                let (oracle, draw) = (&*oracles[at], &mut || rng.random());
                let mut own = work.learner(network, place, memory);
                let mut student;
                let learner: &mut dyn OnlineLearner = match teacher {
                    None => &mut *own,
                    Some(teacher) => {
                        student = Student::new(&mut *own, teacher, &session.examples[at].tree);
                        &mut student
                    }
                };
                walk.sentence(sentence, oracle, learner, exploration, draw, report);
                drop(own);
                work.end_sentence(network, memory);
            }
            report.loss = memory.loss;
        });
        let memories: Vec<&TrainingMemory> = groups.iter().map(|group| &group.memory).collect();
        report.loss += work.end(network, &memories, gradients);
        groups.iter().for_each(|group| report.add(&group.report));
    }
}

impl EpochLearner for NeuralEpochs<'_> {
    /// An epoch depends only on the seed and the state after the previous epoch.
    fn train_epoch(&mut self, epoch: u32) -> EpochReport {
        let seed = self.session.seed.wrapping_add(u64::from(epoch) << 32);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..self.session.examples.len()).collect();
        order.shuffle(&mut rng);
        let trees = self.session.epoch(&order, &mut rng);
        let n = trees.len();
        let exploration = Some(self.params.exploration)
            .filter(|exploration| exploration.explores() && epoch >= exploration.from_epoch);
        let mut report = EpochReport::default();
        let mut done = 0;
        for batch in trees.chunks(self.params.batch.max(1) as usize) {
            if self.progress.is_stopped() {
                break;
            }
            self.batch(batch, rng.random(), exploration, &mut report);
            let NeuralParams { decay, epochs, .. } = self.params;
            let factor = decay.factor(epoch - 1, done as f32 / n as f32, *epochs);
            self.state.optimizer.step(&mut self.network.params, &self.gradients, factor);
            if let Some(average) = &mut self.state.average {
                average.note(&self.network.params);
            }
            done += batch.len();
            self.progress.add(batch.len() as u64);
        }
        report.is_complete = done == n;
        report
    }

    fn snapshot(&self) -> (Box<dyn Scorer>, Sections) {
        let network = self.averaged();
        let mut sections = Sections::default();
        network.store(&mut sections);
        (network.compile(InstructionSet::detect()), sections)
    }

    fn describe(&self, epoch: u32, report: &EpochReport) -> String {
        let loss = report.loss / report.decisions.max(1) as f64;
        format!("epoch {epoch}: loss {loss:.4}, {}", report.accuracy_text())
    }

    fn divergence(&self, report: &EpochReport) -> Option<Error> {
        let has_diverged = self.network.params.is_broken() || !report.loss.is_finite();
        has_diverged.then(|| {
            let clip = if self.params.clip > 0.0 { "" } else { "a " };
            let example = if self.params.clip > 0.0 { "" } else { ", such as 5" };
            let problem =
                format!("training has diverged: set a smaller rate or {clip}learner.clip{example}");
            Error::config("learner.optimizer.rate", problem)
        })
    }

    fn may_diverge(&self) -> bool {
        true
    }

    fn store(&self, sections: &mut Sections) {
        self.network.params.store(sections);
        self.state.store(sections);
    }

    fn resume(&mut self, sections: &Sections) -> Result<()> {
        let (mut params, mut state) = (self.network.params.clone(), self.state.clone());
        params.load(sections)?;
        state.load(sections)?;
        (self.network.params, self.state) = (params, state);
        Ok(())
    }
}
