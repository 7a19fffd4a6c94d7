//! The loop along a derivation that everything that takes actions shares: decoders, replay of gold trees,
//! training, extraction of instances, decision counts.
//!
//! A [`Problem`] is what stays the same along a derivation; a [`Cursor`] is what changes with each action.

use crate::classifier::ScoreScale;
use crate::scorer::{Configuration, Memory, Scorer, Scratch};
use crate::symbols::Sentence;
use crate::transition::{Forest, TransitionSystem};

/// A sentence to be parsed, by a transition system and a scorer.
pub struct Problem<'a, S: TransitionSystem> {
    /// The transition system.
    pub system: &'a S,
    /// The sentence.
    pub sentence: &'a Sentence,
    /// The scorer.
    pub scorer: &'a dyn Scorer<S>,
}

impl<S: TransitionSystem> Clone for Problem<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: TransitionSystem> Copy for Problem<'_, S> {}

impl<'a, S: TransitionSystem> Problem<'a, S> {
    /// A problem without a scorer, for known derivations.
    pub fn unscored(system: &'a S, sentence: &'a Sentence) -> Self {
        Self { system, sentence, scorer: &Unscored }
    }
}

/// Scores every action 0.
struct Unscored;

impl<S: TransitionSystem> Scorer<S> for Unscored {
    fn begin(&self, _at: Configuration<'_, S>, _scratch: &mut Scratch) -> Memory {
        Memory::None
    }

    fn score(
        &self,
        _at: Configuration<'_, S>,
        _memory: &Memory,
        actions: &[S::Action],
        _scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        out.clear();
        out.resize(actions.len(), 0.0);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

/// A position in a derivation. The problem and the scratch memory must be the same at every step.
#[derive(Debug)]
pub struct Cursor<S: TransitionSystem> {
    /// The configuration: stack, buffer and partial trees.
    pub state: S::State,
    /// The scorer's memory of the derivation so far.
    pub memory: Memory,
}

impl<S: TransitionSystem> Clone for Cursor<S> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone(), memory: self.memory.clone() }
    }

    /// Reuses the memory of `self`: a beam copies cursors at every step.
    fn clone_from(&mut self, source: &Self) {
        self.state.clone_from(&source.state);
        self.memory.clone_from(&source.memory);
    }
}

impl<S: TransitionSystem> Cursor<S> {
    /// Begins a derivation.
    pub fn start(problem: Problem<'_, S>, scratch: &mut Scratch) -> Self {
        let Problem { system, sentence, scorer } = problem;
        let state = system.start(sentence);
        let memory = scorer.begin(Configuration { system, sentence, state: &state }, scratch);
        Self { state, memory }
    }

    /// Exchanges what has been built with what another cursor has built: the cursors of a search share one forest, and
    /// only the one at work has it.
    pub(super) fn swap_forest(&mut self, forest: &mut Forest) {
        std::mem::swap(S::forest_mut(&mut self.state), forest);
    }

    /// The configuration.
    pub fn at<'a>(&'a self, problem: Problem<'a, S>) -> Configuration<'a, S> {
        let Problem { system, sentence, .. } = problem;
        Configuration { system, sentence, state: &self.state }
    }

    /// Whether the derivation has ended.
    pub fn is_final(&self, problem: Problem<'_, S>) -> bool {
        problem.system.is_final(&self.state)
    }

    /// Writes the legal actions into `out` (emptied first), in their order.
    pub fn legal(&self, problem: Problem<'_, S>, out: &mut Vec<S::Action>) {
        problem.system.legal(&self.state, out);
    }

    /// Writes a score for each of `actions` into `out` (emptied first); 0 if the action is forced.
    pub fn scores(
        &self,
        problem: Problem<'_, S>,
        actions: &[S::Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        if problem.system.is_forced(&self.state) {
            out.clear();
            out.resize(actions.len(), 0.0);
        } else {
            problem.scorer.score(self.at(problem), &self.memory, actions, scratch, out);
        }
    }

    /// Takes an action, which must be legal.
    pub fn take(&mut self, problem: Problem<'_, S>, action: S::Action, scratch: &mut Scratch) {
        let Problem { system, sentence, scorer } = problem;
        system.apply(&mut self.state, action);
        let after = Configuration { system, sentence, state: &self.state };
        scorer.advance(after, action, &mut self.memory, scratch);
    }
}
