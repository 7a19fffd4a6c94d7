//! Scorers of actions.
//!
//! A [`Scorer`] receives a configuration, the actions to score, and the memory of the hypothesis. It can be a
//! classifier over configurations ([`factored`]) or over candidates ([`focused`]), a perceptron in training
//! ([`perceptron`]) or a neural network with a recurrent state ([`neural`]). Decoders take systems and scorers
//! as trait objects; the cost of the dynamic calls is not measurable.

pub mod factored;
pub mod focused;
pub mod neural;
pub mod perceptron;
mod score_cache;

pub use factored::Factored;
pub use focused::Focused;
pub use perceptron::OnlinePerceptron;

use crate::classifier::{Evidence, ScoreScale, first_best};
use crate::feature::Row;
use crate::symbols::Sentence;
use crate::transition::{Action, Forest, State, TransitionSystem, View};

/// A configuration: a state of the system over a sentence.
#[derive(Clone, Copy)]
pub struct Configuration<'a> {
    /// The transition system.
    pub system: &'a dyn TransitionSystem,
    /// The sentence.
    pub sentence: &'a Sentence,
    /// Stack and buffer.
    pub state: &'a State,
    /// What has been built.
    pub forest: &'a Forest,
}

impl<'a> Configuration<'a> {
    /// What features see.
    pub fn view(self) -> View<'a> {
        self.system.view(self.state, self.forest)
    }

    /// What features see of a candidate.
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

/// Scratch memory of one thread; each scorer uses its own field.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) factored: factored::FactoredScratch,
    pub(crate) focused: focused::FocusedScratch,
    pub(crate) neural: neural::NeuralScratch,
    pub(crate) ensemble: neural::ensemble::EnsembleScratch,
}

/// Scores the actions of a configuration; higher is better.
pub trait Scorer: Send + Sync {
    /// Prepares `scratch` for a sentence, once before its derivations. A scorer that predicts tags replaces unknown
    /// ones.
    fn prepare(&self, _sentence: &mut Sentence, _scratch: &mut Scratch) {}
    /// Begins a derivation in the initial configuration: resets `scratch` and returns the memory before the first
    /// action.
    fn begin(&self, at: Configuration<'_>, scratch: &mut Scratch) -> Memory;
    /// Allows the scorer to cache scores in `scratch` until the next call. Called after [`Scorer::begin`] by
    /// searches that may reach configurations with the same features. The weights must not change meanwhile.
    fn cache_scores(&self, _scratch: &mut Scratch) {}
    /// Writes a score for each of `actions` into `out` (emptied first).
    fn score(
        &self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    );
    /// Returns the position of the highest-scoring action and its score; `None` without actions. `actions` must
    /// be sorted; ties go to the first. Scorers that need not score all actions override it; `scores` is
    /// scratch memory.
    fn best(
        &self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        scratch: &mut Scratch,
        scores: &mut Vec<f32>,
    ) -> Option<(usize, f32)> {
        self.score(at, memory, actions, scratch, scores);
        let best = first_best(scores);
        Some((best, *scores.get(best)?))
    }
    /// The score of an idle step, which a finished hypothesis takes until the others are finished; 0 unless the
    /// scorer has learned it.
    fn idle(&self, _at: Configuration<'_>, _memory: &Memory, _scratch: &mut Scratch) -> f32 {
        0.0
    }
    /// Updates the memory after an action; `after` is the configuration that it led to.
    fn advance(
        &self,
        _after: Configuration<'_>,
        _action: Action,
        _memory: &mut Memory,
        _scratch: &mut Scratch,
    ) {
    }
    /// What decided between an action and its rival, with the row of columns that it refers to; `None` if a scorer
    /// cannot tell.
    fn evidence(
        &self,
        _at: Configuration<'_>,
        _actions: [Action; 2],
        _scratch: &mut Scratch,
    ) -> Option<(Evidence, Row)> {
        None
    }
    /// The scale of the scores.
    fn scale(&self) -> ScoreScale;
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

/// A scorer that learns from single decisions while it parses.
pub trait OnlineLearner: Scorer {
    /// Learns from the decision that was scored last with the same scratch memory.
    fn learn(&mut self, lesson: &Lesson<'_>, scratch: &mut Scratch);
}
