//! Scorers of actions.
//!
//! A [`Reading`] of a sentence by a [`Scorer`] receives a configuration, the actions to score, and the memory of the
//! hypothesis. A scorer can be a classifier over configurations ([`factored`]) or over candidates ([`focused`]), a perceptron in training
//! ([`perceptron`]) or a neural network with a recurrent state ([`neural`]). Decoders take systems and scorers
//! as trait objects; the cost of the dynamic calls is not measurable.

pub mod factored;
pub mod focused;
pub mod neural;
pub mod perceptron;
mod score_cache;

pub use factored::{Factored, FactoredReading};
pub use focused::Focused;
pub use perceptron::OnlinePerceptron;

use self::factored::Classes;
use crate::classifier::{Evidence, ScoreScale, first_best};
use crate::feature::{Row, Templates};
use crate::symbols::{Sentence, Vocabulary};
use crate::transition::{Action, Forest, State, TransitionSystem, View};

/// The components that a scorer is built on.
#[derive(Clone, Copy)]
pub struct Components<'a> {
    /// The transition system.
    pub system: &'a dyn TransitionSystem,
    /// The feature templates.
    pub templates: &'a Templates,
    /// The vocabulary.
    pub vocabulary: &'a Vocabulary,
}

impl Components<'_> {
    /// The classes of the actions.
    pub fn classes(&self) -> Classes {
        Classes::of(self.system)
    }
}

/// A configuration: a state of the system over a sentence.
#[derive(Clone, Copy)]
pub struct Configuration<'a> {
    /// The transition system.
    pub system: &'a dyn TransitionSystem,
    /// The sentence.
    pub sentence: &'a Sentence,
    /// Stack and buffer.
    pub state: &'a State,
    /// The constituents built so far.
    pub forest: &'a Forest,
}

impl<'a> Configuration<'a> {
    /// The view that features have.
    pub fn view(self) -> View<'a> {
        self.system.view(self.state, self.forest)
    }

    /// The view that features have of a candidate.
    pub fn focused_view(self, action: Action) -> View<'a> {
        self.system.focused_view(self.state, self.forest, action)
    }
}

/// The memory of a scorer for the derivation of a hypothesis.
#[derive(Debug, Clone, Default)]
pub enum Memory {
    /// Nothing: scores depend on the configuration alone.
    #[default]
    None,
    /// The LSTM states, of a [`neural::stack_lstm`] network.
    StackLstm(Box<neural::stack_lstm::compiled::StackMemory>),
    /// Those on the tape, of such a network in training.
    Recorded(Box<neural::stack_lstm::training::RecordedMemory>),
    /// Those of the members, of an ensemble.
    Members(Vec<Self>),
}

/// Scores actions. It does not change, and all threads share it.
pub trait Scorer: Send + Sync {
    /// A reading, which one thread reuses for one sentence after the other.
    fn reading(&self) -> Box<dyn Reading + '_>;
}

/// A sentence as a scorer reads it: what it has computed for the sentence, and the memory for that. Scores the actions of
/// configurations; higher is better. Two readings share nothing that changes.
pub trait Reading: Send {
    /// Reads a sentence, once before its derivations. A scorer that predicts tags replaces unknown ones.
    fn read(&mut self, _sentence: &mut Sentence) {}
    /// Begins a derivation in the initial configuration; returns the memory before the first action.
    fn begin(&mut self, _at: Configuration<'_>) -> Memory {
        Memory::None
    }
    /// Allows the reading to cache scores until the next call. Called after [`Reading::begin`] by searches that may
    /// reach configurations with the same features.
    fn cache_scores(&mut self) {}
    /// Writes a score for each of `actions` into `out` (emptied first).
    fn score(
        &mut self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    );
    /// Returns the position of the highest-scoring action and its score; `None` without actions. `actions` must
    /// be sorted; ties go to the first. Scorers that need not score all actions override it; `scores` is
    /// scratch memory.
    fn best(
        &mut self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        scores: &mut Vec<f32>,
    ) -> Option<(usize, f32)> {
        self.score(at, memory, actions, scores);
        let best = first_best(scores);
        Some((best, *scores.get(best)?))
    }
    /// The score of an idle step, which a finished hypothesis takes until the others are finished; 0 unless the
    /// scorer has learned it.
    fn idle(&mut self, _at: Configuration<'_>, _memory: &Memory) -> f32 {
        0.0
    }
    /// Updates the memory after an action; `after` is the configuration that it led to.
    fn advance(&mut self, _after: Configuration<'_>, _action: Action, _memory: &mut Memory) {}
    /// What decided between an action and its rival, with the row of columns that it refers to; `None` if a scorer
    /// cannot tell.
    fn evidence(
        &mut self,
        _at: Configuration<'_>,
        _actions: [Action; 2],
    ) -> Option<(Evidence, Row)> {
        None
    }
    /// The scale of the scores.
    fn scale(&self) -> ScoreScale;
}

/// Scores every action 0, for known derivations.
pub struct Unscored;

impl Reading for Unscored {
    fn score(
        &mut self,
        _at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        out.clear();
        out.resize(actions.len(), 0.0);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

/// A scored decision with the predicted and the correct action.
pub struct Lesson<'a> {
    /// The configuration.
    pub at: Configuration<'a>,
    /// The memory of the derivation.
    pub memory: &'a Memory,
    /// The actions that were scored.
    pub actions: &'a [Action],
    /// Their scores.
    pub scores: &'a [f32],
    /// The position of the best-scoring action.
    pub predicted: usize,
    /// The position of the best-scoring action among the correct ones.
    pub target: usize,
    /// The probabilities that a teacher gives the actions, times its weight; empty without one.
    pub taught: &'a [f32],
}

impl Lesson<'_> {
    /// The probability of an action that is to be learned: the target has what the teacher leaves.
    pub fn probability(&self, at: usize) -> f32 {
        let own = self.taught.get(at).copied().unwrap_or(0.0);
        if at == self.target { own + 1.0 - self.taught.iter().sum::<f32>() } else { own }
    }
}

/// A reading whose scorer learns from single decisions while it parses.
pub trait OnlineLearner: Reading {
    /// Learns from the decision that was scored last.
    fn learn(&mut self, lesson: &Lesson<'_>);
}
