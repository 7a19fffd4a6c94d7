//! Structured training: search each training sentence with a beam, learn from the whole derivation
//! (Collins and Roark 2004; Zhang and Clark 2009).
//!
//! The gold derivation and the best hypothesis are compared step by step. Where the gold path has fallen
//! out of the beam ([`Update::Early`]), or where it is furthest behind ([`Update::MaxViolation`], Huang,
//! Fayong and Guo 2012), the gold derivation is rewarded and the hypothesis penalized up to there, from the
//! first step at which they differ.
//!
//! Sentences are searched in batches: all sentences of a batch with the same weights, on any number of
//! threads, then all updates in order (Zhao and Huang 2013). So the result does not depend on the threads.

use rand::rngs::ChaCha8Rng;

use super::epochs::{EpochReport, Progress};
use super::perceptrons::{self, Extent, LearningRule};
use super::{Session, Trained};
use crate::Result;
use crate::decode::beam::{Agenda, Beam, Follow};
use crate::decode::{Cursor, PathScore, Problem};
use crate::parallel;
use crate::scorer::perceptron::{Changes, StructuredParams, Update};
use crate::scorer::{Components, Configuration, FactoredReading, OnlinePerceptron, Reading};
use crate::transition::{Action, Forest, State};

/// Trains perceptrons on whole derivations.
///
/// # Errors
/// When the data do not suit it, or training was stopped before anything was learned.
pub fn train(params: &StructuredParams, session: &Session<'_>) -> Result<Trained> {
    let StructuredParams { epochs, models, ref prune, .. } = *params;
    let gold = derivations(session)?;
    let total = session.trees_in(u64::from(epochs) * u64::from(models));
    let progress = Progress::new(session.observer, total);
    let mut perceptron = untrained(session, &gold);
    if let Some(initial) = session.initial_weights(perceptron.classes(), false)? {
        perceptron = perceptron.continuing(initial);
    }
    let rule = || FromDerivations::new(&gold, *params, &progress);
    perceptrons::train(session, Extent { epochs, models }, prune, &perceptron, rule, &progress)
}

/// A perceptron without weights, for the actions of gold derivations.
pub fn untrained(session: &Session<'_>, gold: &[Vec<Action>]) -> OnlinePerceptron {
    let Components { templates, .. } = session.components;
    let classes = session.components.classes().with_idle();
    let mut perceptron = OnlinePerceptron::untrained(templates, classes, false);
    gold.iter().for_each(|derivation| perceptron.mark_seen(derivation));
    perceptron
}

/// The gold derivations of all training trees.
///
/// # Errors
/// When the system cannot build a tree.
pub fn derivations(session: &Session<'_>) -> Result<Vec<Vec<Action>>> {
    let system = session.components.system;
    session.examples.iter().map(|example| system.derivation(&example.tree)).collect()
}

/// Learning from whole derivations.
pub struct FromDerivations<'a> {
    gold: &'a [Vec<Action>],
    params: StructuredParams,
    progress: &'a Progress<'a>,
}

impl<'a> FromDerivations<'a> {
    /// Learning from the gold derivations of all training trees.
    pub fn new(
        gold: &'a [Vec<Action>],
        params: StructuredParams,
        progress: &'a Progress<'a>,
    ) -> Self {
        Self { gold, params, progress }
    }
}

/// The updates from one sentence.
struct Lesson {
    changes: Changes,
    is_correct: bool,
}

impl LearningRule for FromDerivations<'_> {
    /// Decisions are sentences here.
    fn train_epoch(
        &mut self,
        session: &Session<'_>,
        perceptron: &mut OnlinePerceptron,
        _epoch: u32,
        trees: &[usize],
        _rng: &mut ChaCha8Rng,
    ) -> EpochReport {
        let Self { gold, params, progress } = self;
        let mut report = EpochReport::default();
        for batch in trees.chunks(params.batch as usize) {
            if progress.is_stopped() {
                break;
            }
            let run = Run { session, params };
            let search = || SentenceSearch::new(perceptron);
            let lessons = parallel::map_init(batch, search, |search, &at| {
                search.sentence(run, at, &gold[at])
            });
            for lesson in &lessons {
                perceptron.change(&lesson.changes);
                report.decisions += 1;
                report.mistakes += u64::from(!lesson.is_correct);
            }
            perceptron.tick();
            progress.add(batch.len() as u64);
        }
        report.is_complete = report.decisions == trees.len() as u64;
        report
    }
}

/// The inputs shared by the searches of a batch.
#[derive(Clone, Copy)]
struct Run<'a> {
    session: &'a Session<'a>,
    params: &'a StructuredParams,
}

/// The gold derivation alongside the beam.
struct GoldPath<'a> {
    problem: Problem<'a>,
    actions: &'a [Action],
    taken: usize,
    cursor: Cursor,
    forest: Forest,
    score: f64,
}

impl<'a> GoldPath<'a> {
    fn new(problem: Problem<'a>, actions: &'a [Action], reading: &mut dyn Reading) -> Self {
        let (cursor, forest) = Cursor::start(problem, reading);
        Self { problem, actions, taken: 0, cursor, forest, score: 0.0 }
    }

    fn is_over(&self) -> bool {
        self.taken >= self.actions.len()
    }

    /// The next action; `None` for an idle step after the end.
    fn next(&self) -> Option<Action> {
        self.actions.get(self.taken).copied()
    }

    fn step(&mut self, reading: &mut dyn Reading, scores: &mut Vec<f32>) {
        let Self { problem, cursor, forest, .. } = self;
        let step = match self.actions.get(self.taken) {
            Some(&action) => {
                cursor.scores(*problem, forest, &[action], reading, scores);
                cursor.take(*problem, forest, action, reading);
                scores[0]
            }
            None => reading.idle(cursor.at(*problem, forest), &cursor.memory),
        };
        self.score = PathScore::Sum.extend(self.score, step);
        debug_assert!(self.score.is_finite(), "every action of the gold derivation has a score");
        self.taken += 1;
    }
}

/// Searches sentences; holds the memory of one thread.
struct SentenceSearch<'a> {
    agenda: Agenda,
    /// As the beam reads the sentence.
    beam: FactoredReading<&'a OnlinePerceptron>,
    /// As the gold path reads it.
    gold: FactoredReading<&'a OnlinePerceptron>,
    predicted: Vec<Option<Action>>,
    scores: Vec<f32>,
}

impl<'a> SentenceSearch<'a> {
    fn new(perceptron: &'a OnlinePerceptron) -> Self {
        Self {
            agenda: Agenda::default(),
            beam: FactoredReading::new(perceptron),
            gold: FactoredReading::new(perceptron),
            predicted: Vec::new(),
            scores: Vec::new(),
        }
    }

    /// Searches one sentence and collects its updates.
    fn sentence(&mut self, run: Run<'_>, at: usize, gold: &[Action]) -> Lesson {
        let Run { session, params } = run;
        let &StructuredParams { beam, update, margin, .. } = params;
        let (system, sentence) = (session.components.system, &session.examples[at].sentence);
        let problem = Problem { system, sentence };
        let beam = Beam { width: beam as usize, threshold: 0.0, path_score: PathScore::Sum };
        self.agenda.start(problem, beam.path_score, &mut self.beam);
        let mut path = GoldPath::new(problem, gold, &mut self.gold);
        let (mut worst, mut wrong) = (f64::NEG_INFINITY, None);
        let mut is_correct = true;
        while self.agenda.beam().iter().any(|hypothesis| !hypothesis.is_final) || !path.is_over() {
            let next = path.next();
            path.step(&mut self.gold, &mut self.scores);
            let follow = Follow { action: next, margin };
            self.agenda.advance(&beam, problem, Some(follow), &mut self.beam);
            let best = self.agenda.beam()[0];
            is_correct = best.followed;
            let violation = best.score - path.score;
            if !is_correct && (update == Update::Early || violation >= worst) {
                worst = violation;
                wrong = Some(best);
            }
            let lost = !self.agenda.beam().iter().any(|hypothesis| hypothesis.followed);
            if lost && update == Update::Early {
                break;
            }
        }
        let mut changes = Changes::default();
        if let (false, Some(wrong)) = (is_correct, wrong) {
            self.agenda.history(&wrong, &mut self.predicted);
            self.compare(problem, gold, &mut changes);
        }
        Lesson { changes, is_correct }
    }

    /// Collects the differences between the gold derivation and the predicted one, up to the length of the
    /// latter.
    fn compare(&mut self, problem: Problem<'_>, gold: &[Action], changes: &mut Changes) {
        let Problem { system, sentence } = problem;
        let predicted = &self.predicted;
        let right = |at: usize| gold.get(at).copied();
        let same = (0..predicted.len()).take_while(|&at| predicted[at] == right(at)).count();
        let (mut state, mut forest) = system.start(sentence);
        for &action in predicted[..same].iter().flatten() {
            system.apply(&mut state, &mut forest, action);
        }
        let mut note = |mut state: State, actions: &mut dyn Iterator<Item = _>, amount| {
            for action in actions {
                let at = Configuration { system, sentence, state: &state, forest: &forest };
                self.gold.note(at, action, amount, changes);
                if let Some(action) = action {
                    system.apply(&mut state, &mut forest, action);
                }
            }
        };
        note(state.clone(), &mut (same..predicted.len()).map(right), 1);
        note(state, &mut predicted[same..].iter().copied(), -1);
    }
}
