//! Confidence scores of the constituents of a parse.
//!
//! The derivation is replayed, and a constituent gets the lower score of the steps that opened and completed it.
//! The score of a step depends on the scale of the scorer:
//!
//! - [`ScoreScale::LogProb`]: the natural logarithm of the probability of the action, at most 0.
//! - [`ScoreScale::LogOdds`]: the confidence in the item, positive if the classifier accepts it.
//! - [`ScoreScale::Margin`]: the score of the action minus that of the best other legal one; it can be negative in
//!   a beam.

use super::{Cursor, Problem};
use crate::classifier::ScoreScale;
use crate::scorer::Scratch;
use crate::transition::built_tree::built_nodes;
use crate::transition::{Action, TransitionSystem};

/// The score of a step without a choice, and of a constituent that no step built.
const NO_CHOICE: f32 = f32::INFINITY;

/// A replay of a derivation.
#[derive(Debug)]
struct Replay<A> {
    actions: Vec<A>,
    scores: Vec<f32>,
    /// The lowest score so far of each node of the forest.
    by_node: Vec<f32>,
    /// The scores of the steps that opened the open constituents.
    open: Vec<f32>,
}

impl<A: Action> Replay<A> {
    /// The score of an action.
    fn step<S: TransitionSystem<Action = A>>(
        &mut self,
        problem: Problem<'_, S>,
        cursor: &Cursor<S>,
        taken: A,
        scratch: &mut Scratch,
    ) -> f32 {
        let Self { actions, scores, .. } = self;
        if problem.system.is_forced(&cursor.state) {
            return NO_CHOICE;
        }
        cursor.legal(problem, actions);
        cursor.scores(problem, actions, scratch, scores);
        let Some(position) = actions.iter().position(|&action| action == taken) else {
            return NO_CHOICE;
        };
        let own = scores[position];
        match problem.scorer.scale() {
            ScoreScale::LogProb | ScoreScale::LogOdds => own,
            ScoreScale::Margin => {
                let others = scores[..position].iter().chain(&scores[position + 1..]);
                own - others.copied().fold(f32::NEG_INFINITY, f32::max)
            }
        }
    }

    /// Records the score of a step for the constituents that it opened or completed.
    fn record<S: TransitionSystem>(&mut self, system: &S, state: &S::State, score: f32) {
        let view = system.view(state);
        let completed = view.open.len() < self.open.len();
        let opened = if completed { self.open.pop() } else { None };
        let lowest = opened.map_or(score, |opened| opened.min(score));
        self.open.resize(view.open.len(), score);
        self.by_node.resize(view.forest.len(), lowest);
    }
}

/// Returns a score for each constituent of the tree that the derivation builds, in the order of its nodes, without
/// the root; infinity where there was no choice.
pub fn constituent_scores<S: TransitionSystem>(
    problem: Problem<'_, S>,
    derivation: &[S::Action],
    scratch: &mut Scratch,
) -> Vec<f32> {
    let system = problem.system;
    let (actions, scores) = (Vec::new(), Vec::new());
    let mut replay = Replay { actions, scores, by_node: Vec::new(), open: Vec::new() };
    let mut cursor = Cursor::start(problem, scratch);
    replay.record(system, &cursor.state, NO_CHOICE);
    for &action in derivation {
        let score = replay.step(problem, &cursor, action, scratch);
        cursor.take(problem, action, scratch);
        replay.record(system, &cursor.state, score);
    }
    let view = system.view(&cursor.state);
    let nodes = built_nodes(view.forest, &view.complete.to_vec(), view.labels);
    nodes.into_iter().map(|node| replay.by_node[node as usize]).collect()
}
