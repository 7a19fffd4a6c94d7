//! A toy recurrent scorer: its memory is the whole history, which no state of a system holds.
//!
//! It knows nothing but the history, so it learns sentences by heart if, and only if, the history it is
//! handed is that of the hypothesis it scores. It also replays the history and compares.

use std::collections::HashMap;

use srparse::classifier::ScoreScale;
use srparse::scorer::{Configuration, Lesson, OnlineLearner, Scorer};
use srparse::transition::{Action, TransitionSystem};

/// The actions so far, and a hash of them and of the sentence.
#[derive(Debug, Clone)]
pub struct History<A> {
    actions: Vec<A>,
    hash: u64,
}

/// Weights by history and action. What was learned from a sentence counts from its end, as for a
/// network that is trained through time.
#[derive(Debug, Clone, Default)]
pub struct Recurrent {
    weights: HashMap<(u64, u32), f32>,
    pending: Vec<((u64, u32), f32)>,
    /// How many sentences have ended.
    pub sentences: u32,
    /// How many epochs have ended.
    pub epochs: u32,
}

fn mix(hash: u64, value: u32) -> u64 {
    (hash ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Whether a history leads to the very state it is handed with.
fn leads_here<S: TransitionSystem>(at: Configuration<'_, S>, actions: &[S::Action]) -> bool {
    let mut state = at.system.start(at.sentence);
    for &action in actions {
        at.system.apply(&mut state, action);
    }
    let items = |state: &S::State| -> Vec<(u32, u32, u32)> {
        let view = at.system.view(state, None);
        let nodes = view.stack.iter().map(|&id| view.forest.node(id));
        nodes.map(|node| (node.symbol(), node.start, node.end)).collect()
    };
    at.system.steps(&state) == at.system.steps(at.state) && items(&state) == items(at.state)
}

impl<S: TransitionSystem> Scorer<S> for Recurrent {
    type Memory = History<S::Action>;
    type Scratch = ();

    fn begin(&self, at: Configuration<'_, S>, _scratch: &mut ()) -> Self::Memory {
        let words = at.sentence.words.iter().chain(&at.sentence.tags);
        History { actions: Vec::new(), hash: words.fold(1, |hash, &word| mix(hash, word)) }
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        memory: &Self::Memory,
        actions: &[S::Action],
        _scratch: &mut (),
        out: &mut Vec<f32>,
    ) {
        assert!(leads_here(at, &memory.actions), "the memory of another hypothesis");
        out.clear();
        let weight = |action: &S::Action| self.weights.get(&(memory.hash, action.code()));
        out.extend(actions.iter().map(|action| weight(action).copied().unwrap_or(0.0)));
    }

    fn advance(
        &self,
        _after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut Self::Memory,
        _scratch: &mut (),
    ) {
        memory.actions.push(action);
        memory.hash = mix(memory.hash, action.code());
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
}

impl<S: TransitionSystem> OnlineLearner<S> for Recurrent {
    fn learn(&mut self, lesson: &Lesson<'_, S>, memory: &Self::Memory, _scratch: &mut ()) -> f32 {
        if lesson.target == lesson.predicted {
            return 0.0;
        }
        let key = |at: usize| (memory.hash, lesson.actions[at].code());
        self.pending.extend([(key(lesson.target), 1.0), (key(lesson.predicted), -1.0)]);
        1.0
    }

    fn end_sentence(&mut self) {
        self.sentences += 1;
        for (key, change) in self.pending.drain(..) {
            *self.weights.entry(key).or_default() += change;
        }
    }

    fn end_epoch(&mut self) {
        self.epochs += 1;
    }
}
