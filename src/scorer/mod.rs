//! Scorers: what a decoder asks about a state and its legal actions.
//!
//! A [`Scorer`] sees the state, the actions to be scored, and a memory that travels with each
//! hypothesis, so that scorers that look at one state ([`factored`]), or at each candidate of one
//! ([`focused`]), that learn while parsing ([`perceptron`]), that ask several models or that read the
//! derivation step by step all stand behind the same decoders.

pub mod factored;
pub mod focused;
pub mod neural;
pub mod perceptron;
mod score_cache;

pub use factored::Factored;
pub use focused::Focused;
pub use perceptron::OnlinePerceptron;

use crate::classifier::{ScoreScale, first_best};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// Where a parse stands.
pub struct Configuration<'a, S: TransitionSystem> {
    /// The rules.
    pub system: &'a S,
    /// The sentence.
    pub sentence: &'a Sentence,
    /// The configuration.
    pub state: &'a S::State,
}

impl<S: TransitionSystem> Clone for Configuration<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: TransitionSystem> Copy for Configuration<'_, S> {}

/// Scores the actions of a state; higher is better.
pub trait Scorer<S: TransitionSystem>: Send + Sync {
    /// What travels with a hypothesis.
    type Memory: Clone + Send;
    /// What one thread needs.
    type Scratch: Default + Send;

    /// The memory before the first action. Called when the search of a sentence begins, in its first state: what
    /// `scratch` keeps of another search is of no use any more.
    fn begin(&self, at: Configuration<'_, S>, scratch: &mut Self::Scratch) -> Self::Memory;
    /// Called after [`Scorer::begin`] when a search begins that may score states which look the same, with
    /// weights that stay the same: scores may be kept in `scratch` until it is called again.
    fn cache_scores(&self, _scratch: &mut Self::Scratch) {}
    /// Writes a score for each of `actions` into `out` (emptied first).
    fn score(
        &self,
        at: Configuration<'_, S>,
        memory: &Self::Memory,
        actions: &[S::Action],
        scratch: &mut Self::Scratch,
        out: &mut Vec<f32>,
    );
    /// The position of the highest score among `actions`, which stand in their order, the first among
    /// equals, and that score; `None` without actions. For scorers that need not score all to know;
    /// `scores` is scratch memory.
    fn best(
        &self,
        at: Configuration<'_, S>,
        memory: &Self::Memory,
        actions: &[S::Action],
        scratch: &mut Self::Scratch,
        scores: &mut Vec<f32>,
    ) -> Option<(usize, f32)> {
        self.score(at, memory, actions, scratch, scores);
        let best = first_best(scores);
        Some((best, *scores.get(best)?))
    }
    /// The score of waiting one step after the end of a derivation, until others end too; 0 unless the
    /// scorer has learned better.
    fn idle(
        &self,
        _at: Configuration<'_, S>,
        _memory: &Self::Memory,
        _scratch: &mut Self::Scratch,
    ) -> f32 {
        0.0
    }
    /// Takes note of an action that has just been applied: `after` has the state that it led to.
    fn advance(
        &self,
        _after: Configuration<'_, S>,
        _action: S::Action,
        _memory: &mut Self::Memory,
        _scratch: &mut Self::Scratch,
    ) {
    }
    /// What the scores mean.
    fn scale(&self) -> ScoreScale;
}

/// Scores the actions of a state as [`Scorer::score`]; 0 where the system leaves no choice.
pub fn score_choice<S: TransitionSystem, P: Scorer<S>>(
    at: Configuration<'_, S>,
    scorer: &P,
    memory: &P::Memory,
    actions: &[S::Action],
    scratch: &mut P::Scratch,
    out: &mut Vec<f32>,
) {
    if at.system.is_forced(at.state) {
        out.clear();
        out.resize(actions.len(), 0.0);
    } else {
        scorer.score(at, memory, actions, scratch, out);
    }
}

/// What an online learner is told about one decision.
pub struct Lesson<'a, S: TransitionSystem> {
    /// Where the parse stands.
    pub at: Configuration<'a, S>,
    /// The actions that were scored.
    pub actions: &'a [S::Action],
    /// Their scores.
    pub scores: &'a [f32],
    /// The position of the best-scoring action.
    pub predicted: usize,
    /// The position of the best-scoring action among the right ones.
    pub target: usize,
}

/// A scorer whose weights are changed by whole derivations.
pub trait StructuredLearner<S: TransitionSystem>: Scorer<S> {
    /// Changes, gathered before they are made; those of several sentences can be gathered at once.
    type Changes: Default + Send;

    /// Adds to `changes` that an action (none: waiting after the end) is to score higher here by
    /// `amount` times each of its features.
    fn note(
        &self,
        at: Configuration<'_, S>,
        action: Option<S::Action>,
        amount: i32,
        scratch: &mut Self::Scratch,
        changes: &mut Self::Changes,
    );
    /// Takes note of a gold derivation, before training: what no derivation needs may never be chosen.
    fn see(&mut self, derivation: &[S::Action]);
    /// Makes the changes.
    fn change(&mut self, changes: &Self::Changes);
    /// Counts one more step towards the average of the weights.
    fn tick(&mut self);
}

/// A scorer that learns while it is used.
pub trait OnlineLearner<S: TransitionSystem>: Scorer<S> {
    /// Learns from one decision, just scored with the same scratch; gives the loss.
    fn learn(
        &mut self,
        lesson: &Lesson<'_, S>,
        memory: &Self::Memory,
        scratch: &mut Self::Scratch,
    ) -> f32;
    /// Called after the last decision of every training sentence: learners that look back over a whole
    /// derivation change their weights here.
    fn end_sentence(&mut self) {}
    /// Called after every pass over the training trees.
    fn end_epoch(&mut self) {}
}
