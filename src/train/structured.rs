//! Structured training: search each training sentence with a beam, learn from the whole derivation
//! (Collins and Roark 2004; Zhang and Clark 2009).
//!
//! The gold derivation and the best hypothesis are compared step by step. Where the gold path has fallen
//! out of the beam ([`Update::Early`]), or where it is furthest behind ([`Update::MaxViolation`], Huang,
//! Fayong and Guo 2012), both are rewarded and punished up to there, from the first step at which they
//! differ.
//!
//! Sentences are searched in batches: all sentences of a batch with the same weights, on any number of
//! threads, then all changes in order (Zhao and Huang 2013). So the number of threads changes nothing.

use std::ops::ControlFlow;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::Example;
use super::online::EpochReport;
use crate::Result;
use crate::decode::PathScore;
use crate::decode::beam::{Agenda, Beam, Follow};
use crate::parallel;
use crate::scorer::{Configuration, StructuredLearner};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// Up to which step of a wrong derivation weights are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// The step at which the gold path falls out of the beam, else the last.
    Early,
    /// The step at which the gold path is furthest behind the best.
    #[default]
    MaxViolation,
}

/// How structured training runs.
pub struct Structured<'a> {
    /// Passes over the training trees.
    pub epochs: u32,
    /// Seeds the order of the sentences.
    pub seed: u64,
    /// The width of the beam.
    pub width: usize,
    /// Up to where weights are changed.
    pub update: Update,
    /// By how much the gold derivation has to lead all others.
    pub margin: f32,
    /// How many sentences are searched with the same weights.
    pub batch: usize,
    /// Told how many of all sentences of all epochs are done.
    pub progress: &'a mut dyn FnMut(u64),
    /// Asked before every batch; when true the epoch ends at once.
    pub stop: &'a dyn Fn() -> bool,
}

/// What is learned from one sentence.
struct Lesson<C> {
    changes: C,
    right: bool,
}

impl Structured<'_> {
    /// Trains; after each epoch `each_epoch` may break off. The report counts sentences.
    ///
    /// # Errors
    /// When a tree does not fit the system, or `each_epoch` fails.
    pub fn run<S, L>(
        &mut self,
        system: &S,
        learner: &mut L,
        examples: &[Example],
        mut each_epoch: impl FnMut(&L, EpochReport) -> Result<ControlFlow<()>>,
    ) -> Result<()>
    where
        S: TransitionSystem,
        L: StructuredLearner<S>,
    {
        let beam = Beam { width: self.width, threshold: 0.0, path_score: PathScore::Sum };
        let (update, margin) = (self.update, self.margin);
        let gold: Vec<Vec<S::Action>> = examples
            .iter()
            .map(|example| system.derivation(&example.tree))
            .collect::<Result<_>>()?;
        gold.iter().for_each(|derivation| learner.see(derivation));
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut order: Vec<usize> = (0..examples.len()).collect();
        let mut done = 0;
        for epoch in 1..=self.epochs {
            order.shuffle(&mut rng);
            let mut report = EpochReport { epoch, ..EpochReport::default() };
            for batch in order.chunks(self.batch) {
                if (self.stop)() {
                    break;
                }
                let lessons: Vec<Lesson<L::Changes>> =
                    parallel::map_init(batch, Walk::<S, L>::default, |walk, &at| {
                        let sentence = &examples[at].sentence;
                        walk.sentence(system, learner, sentence, &gold[at], (beam, update, margin))
                    });
                for lesson in &lessons {
                    learner.change(&lesson.changes);
                    report.decisions += 1;
                    report.mistakes += u64::from(!lesson.right);
                }
                learner.tick();
                done += batch.len() as u64;
                (self.progress)(done);
            }
            report.last = epoch == self.epochs || (self.stop)();
            if each_epoch(learner, report)?.is_break() || report.last {
                break;
            }
        }
        Ok(())
    }
}

/// The gold derivation on its way beside the beam.
struct GoldPath<'a, S: TransitionSystem, L: StructuredLearner<S>> {
    system: &'a S,
    learner: &'a L,
    sentence: &'a Sentence,
    actions: &'a [S::Action],
    taken: usize,
    state: S::State,
    memory: L::Memory,
    score: f64,
}

impl<'a, S: TransitionSystem, L: StructuredLearner<S>> GoldPath<'a, S, L> {
    fn new(
        system: &'a S,
        learner: &'a L,
        sentence: &'a Sentence,
        actions: &'a [S::Action],
        scratch: &mut L::Scratch,
    ) -> Self {
        let state = system.start(sentence);
        let memory = learner.begin(Configuration { system, sentence, state: &state }, scratch);
        Self { system, learner, sentence, actions, taken: 0, state, memory, score: 0.0 }
    }

    fn is_over(&self) -> bool {
        self.taken >= self.actions.len()
    }

    /// The next action; none for waiting after the end.
    fn next(&self) -> Option<S::Action> {
        self.actions.get(self.taken).copied()
    }

    fn step(&mut self, scratch: &mut L::Scratch, scores: &mut Vec<f32>) {
        let at = Configuration { system: self.system, sentence: self.sentence, state: &self.state };
        let step = match self.next() {
            Some(action) => {
                self.learner.score(at, &self.memory, &[action], scratch, scores);
                self.system.apply(&mut self.state, action);
                let (system, sentence) = (self.system, self.sentence);
                let after = Configuration { system, sentence, state: &self.state };
                self.learner.advance(after, action, &mut self.memory, scratch);
                scores[0]
            }
            None => self.learner.idle(at, &self.memory, scratch),
        };
        self.score = PathScore::Sum.extend(self.score, step);
        self.taken += 1;
    }
}

/// The memory of one thread.
struct Walk<S: TransitionSystem, L: StructuredLearner<S>> {
    agenda: Agenda<S, L>,
    predicted: Vec<Option<S::Action>>,
    scratch: L::Scratch,
    scores: Vec<f32>,
}

impl<S: TransitionSystem, L: StructuredLearner<S>> Default for Walk<S, L> {
    fn default() -> Self {
        Self {
            agenda: Agenda::default(),
            predicted: Vec::new(),
            scratch: L::Scratch::default(),
            scores: Vec::new(),
        }
    }
}

impl<S: TransitionSystem, L: StructuredLearner<S>> Walk<S, L> {
    /// Searches one sentence and notes what is to be learned from it.
    fn sentence(
        &mut self,
        system: &S,
        learner: &L,
        sentence: &Sentence,
        gold: &[S::Action],
        (beam, update, margin): (Beam, Update, f32),
    ) -> Lesson<L::Changes> {
        let Self { agenda, predicted, scratch, scores } = self;
        agenda.start(system, learner, sentence, beam.path_score);
        let mut path = GoldPath::new(system, learner, sentence, gold, scratch);
        let (mut worst, mut wrong) = (f64::NEG_INFINITY, None);
        let mut right = true;
        while agenda.beam().iter().any(|hypothesis| !hypothesis.is_final) || !path.is_over() {
            let next = path.next();
            path.step(scratch, scores);
            let follow = Follow { action: next, margin };
            agenda.advance(&beam, system, learner, sentence, Some(follow));
            let best = agenda.beam()[0];
            right = best.followed;
            let violation = best.score - path.score;
            if !right && (update == Update::Early || violation >= worst) {
                worst = violation;
                wrong = Some(best);
            }
            let lost = !agenda.beam().iter().any(|hypothesis| hypothesis.followed);
            if lost && update == Update::Early {
                break;
            }
        }
        let mut changes = L::Changes::default();
        if let (false, Some(wrong)) = (right, wrong) {
            agenda.history(&wrong, predicted);
            self.compare(system, learner, sentence, gold, &mut changes);
        }
        Lesson { changes, right }
    }

    /// Notes what tells the gold derivation from the predicted one, up to the length of the latter.
    fn compare(
        &mut self,
        system: &S,
        learner: &L,
        sentence: &Sentence,
        gold: &[S::Action],
        changes: &mut L::Changes,
    ) {
        let predicted = &self.predicted;
        let right = |at: usize| gold.get(at).copied();
        let same = (0..predicted.len()).take_while(|&at| predicted[at] == right(at)).count();
        let mut state = system.start(sentence);
        for &action in predicted[..same].iter().flatten() {
            system.apply(&mut state, action);
        }
        let mut note = |mut state: S::State, actions: &mut dyn Iterator<Item = _>, amount| {
            for action in actions {
                let at = Configuration { system, sentence, state: &state };
                learner.note(at, action, amount, &mut self.scratch, changes);
                if let Some(action) = action {
                    system.apply(&mut state, action);
                }
            }
        };
        note(state.clone(), &mut (same..predicted.len()).map(right), 1);
        note(state, &mut predicted[same..].iter().copied(), -1);
    }
}
