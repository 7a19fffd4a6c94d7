//! How sure the scorer was of each constituent of a parse.
//!
//! The derivation is taken once more, and a constituent gets the least score of the steps that announced and
//! completed it. What the score of a step is follows from what the scorer's scores mean:
//!
//! - [`ScoreScale::LogProb`]: the natural logarithm of the probability of the action, 0 or less.
//! - [`ScoreScale::LogOdds`]: the confidence in the item, positive if it was thought right.
//! - [`ScoreScale::Margin`]: by how much the action led the best other legal one; negative if it trailed,
//!   which the step of a beam may.

use crate::classifier::ScoreScale;
use crate::scorer::{Configuration, Scorer, score_choice};
use crate::symbols::Sentence;
use crate::transition::built_tree::built_nodes;
use crate::transition::{Action, TransitionSystem};

/// Stands for the score of a step that left no choice, and of what no step built.
const NO_CHOICE: f32 = f32::INFINITY;

/// The memory of one thread.
#[derive(Debug)]
struct Replay<A> {
    actions: Vec<A>,
    scores: Vec<f32>,
    /// The least score so far of each constituent of the forest.
    by_node: Vec<f32>,
    /// The scores of the steps that announced what is open.
    open: Vec<f32>,
}

impl<A: Action> Replay<A> {
    /// The score of a step.
    fn step<S, P>(
        &mut self,
        at: Configuration<'_, S>,
        (scorer, memory): (&P, &P::Memory),
        taken: A,
        scratch: &mut P::Scratch,
    ) -> f32
    where
        S: TransitionSystem<Action = A>,
        P: Scorer<S>,
    {
        let Self { actions, scores, .. } = self;
        at.system.legal(at.state, actions);
        if at.system.is_forced(at.state) {
            return NO_CHOICE;
        }
        score_choice(at, scorer, memory, actions, scratch, scores);
        let Some(place) = actions.iter().position(|&action| action == taken) else {
            return NO_CHOICE;
        };
        let own = scores[place];
        match scorer.scale() {
            ScoreScale::LogProb | ScoreScale::LogOdds => own,
            ScoreScale::Margin => {
                let others = scores[..place].iter().chain(&scores[place + 1..]);
                own - others.copied().fold(f32::NEG_INFINITY, f32::max)
            }
        }
    }

    /// Takes note of what a step has announced or completed.
    fn note<S: TransitionSystem>(&mut self, system: &S, state: &S::State, score: f32) {
        let view = system.view(state, None);
        let completed = view.open.len() < self.open.len();
        let announced = if completed { self.open.pop() } else { None };
        let least = announced.map_or(score, |announced| announced.min(score));
        self.open.resize(view.open.len(), score);
        self.by_node.resize(view.forest.len(), least);
    }
}

/// The scores of the constituents of the tree that the actions build over the sentence, in the order of its
/// nodes, without the root; infinity where there was no choice.
pub fn constituent_scores<S: TransitionSystem, P: Scorer<S>>(
    system: &S,
    scorer: &P,
    sentence: &Sentence,
    derivation: &[S::Action],
    scratch: &mut P::Scratch,
) -> Vec<f32> {
    let (actions, scores) = (Vec::new(), Vec::new());
    let mut replay = Replay { actions, scores, by_node: Vec::new(), open: Vec::new() };
    let mut state = system.start(sentence);
    let mut memory = scorer.begin(Configuration { system, sentence, state: &state }, scratch);
    replay.note(system, &state, NO_CHOICE);
    for &action in derivation {
        let at = Configuration { system, sentence, state: &state };
        let score = replay.step(at, (scorer, &memory), action, scratch);
        system.apply(&mut state, action);
        let after = Configuration { system, sentence, state: &state };
        scorer.advance(after, action, &mut memory, scratch);
        replay.note(system, &state, score);
    }
    let view = system.view(&state, None);
    let nodes = built_nodes(view.forest, view.complete, view.labels);
    nodes.into_iter().map(|node| replay.by_node[node as usize]).collect()
}
