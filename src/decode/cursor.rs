//! The loop along a derivation that everything that takes actions shares: decoders, replay of gold trees,
//! training, extraction of instances, decision counts.
//!
//! A [`Problem`] is what stays the same along a derivation; a [`Cursor`] is what changes with each action.

use crate::scorer::{Configuration, Memory, Reading};
use crate::symbols::Sentence;
use crate::transition::{Action, Forest, State, TransitionSystem};

/// A sentence to be parsed by a transition system.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// The transition system.
    pub system: &'a dyn TransitionSystem,
    /// The sentence.
    pub sentence: &'a Sentence,
}

/// A position in a derivation. The problem, the reading and the forest must be the same at every step; cursors over the
/// same sentence may share a forest.
#[derive(Debug, Clone)]
pub struct Cursor {
    /// Stack and buffer.
    pub state: State,
    /// The scorer's memory of the derivation so far.
    pub memory: Memory,
}

impl Cursor {
    /// Begins a derivation; returns the forest that it builds on too.
    pub fn start(problem: Problem<'_>, reading: &mut dyn Reading) -> (Self, Forest) {
        let Problem { system, sentence } = problem;
        let (state, forest) = system.start(sentence);
        let at = Configuration { system, sentence, state: &state, forest: &forest };
        let memory = reading.begin(at);
        (Self { state, memory }, forest)
    }

    /// Copies another cursor into this one, whose memory is reused: a beam copies cursors at every step.
    pub fn copy_from(&mut self, source: &Self) {
        self.state.copy_from(&source.state);
        self.memory.clone_from(&source.memory);
    }

    /// The configuration.
    pub fn at<'a>(&'a self, problem: Problem<'a>, forest: &'a Forest) -> Configuration<'a> {
        let Problem { system, sentence } = problem;
        Configuration { system, sentence, state: &self.state, forest }
    }

    /// Whether the derivation has ended.
    pub fn is_final(&self) -> bool {
        self.state.finished
    }

    /// Writes the legal actions into `out` (emptied first), in their order.
    pub fn legal(&self, problem: Problem<'_>, forest: &Forest, out: &mut Vec<Action>) {
        problem.system.legal(&self.state, forest, out);
    }

    /// Writes a score for each of `actions` into `out` (emptied first); 0 if the action is forced.
    pub fn scores(
        &self,
        problem: Problem<'_>,
        forest: &Forest,
        actions: &[Action],
        reading: &mut dyn Reading,
        out: &mut Vec<f32>,
    ) {
        if problem.system.is_forced(&self.state, forest) {
            out.clear();
            out.resize(actions.len(), 0.0);
        } else {
            reading.score(self.at(problem, forest), &self.memory, actions, out);
        }
    }

    /// Takes an action, which must be legal.
    pub fn take(
        &mut self,
        problem: Problem<'_>,
        forest: &mut Forest,
        action: Action,
        reading: &mut dyn Reading,
    ) {
        problem.system.apply(&mut self.state, forest, action);
        let Problem { system, sentence } = problem;
        let after = Configuration { system, sentence, state: &self.state, forest };
        reading.advance(after, action, &mut self.memory);
    }
}
