//! Confidence scores of the constituents of a parse.
//!
//! The derivation is replayed, and a constituent gets the lower score of the steps that opened and completed it.
//! The score of a step depends on the scale of the scorer:
//!
//! - [`ScoreScale::LogProb`]: the natural logarithm of the probability of the action, at most 0. That of the constituent is
//!   calibrated by a temperature (Guo et al. 2017).
//! - [`ScoreScale::LogOdds`]: the confidence in the item, positive if the classifier accepts it.
//! - [`ScoreScale::Margin`]: the score of the action minus that of the best other legal one; it can be negative in
//!   a beam.

use super::{Cursor, Problem};
use crate::classifier::ScoreScale;
use crate::scorer::Reading;
use crate::transition::built_tree::built_nodes;
use crate::transition::{Action, Forest, State, TransitionSystem};

/// The score of a step without a choice, and of a constituent that no step built.
const NO_CHOICE: f32 = f32::INFINITY;

/// The logarithm of the probability that remains when the log odds of a probability are divided by a temperature.
fn calibrated(log_prob: f32, temperature: f32) -> f32 {
    // The resolution of scores: 1 of 10 million is not told from 0.
    let log_prob = f64::from(log_prob).min(-1e-7);
    let log_odds = log_prob - (-log_prob.exp_m1()).ln();
    let odds_against = -log_odds / f64::from(temperature);
    -(odds_against.max(0.0) + (-odds_against.abs()).exp().ln_1p()) as f32
}

/// A replay of a derivation.
#[derive(Debug, Default)]
struct Replay {
    actions: Vec<Action>,
    scores: Vec<f32>,
    /// The lowest score so far of each node of the forest.
    by_node: Vec<f32>,
    /// The scores of the steps that opened the open constituents.
    open: Vec<f32>,
}

impl Replay {
    /// The score of an action.
    fn step(
        &mut self,
        problem: Problem<'_>,
        (cursor, forest): (&Cursor, &Forest),
        taken: Action,
        reading: &mut dyn Reading,
    ) -> f32 {
        let Self { actions, scores, .. } = self;
        if problem.system.is_forced(&cursor.state, forest) {
            return NO_CHOICE;
        }
        cursor.legal(problem, forest, actions);
        cursor.scores(problem, forest, actions, reading, scores);
        let Some(position) = actions.iter().position(|&action| action == taken) else {
            return NO_CHOICE;
        };
        let own = scores[position];
        match reading.scale() {
            ScoreScale::LogProb | ScoreScale::LogOdds => own,
            ScoreScale::Margin => {
                let others = scores[..position].iter().chain(&scores[position + 1..]);
                own - others.copied().fold(f32::NEG_INFINITY, f32::max)
            }
        }
    }

    /// Records the score of a step for the constituents that it opened or completed.
    fn record(
        &mut self,
        system: &dyn TransitionSystem,
        (state, forest): (&State, &Forest),
        score: f32,
    ) {
        let view = system.view(state, forest);
        let completed = view.open.len() < self.open.len();
        let opened = if completed { self.open.pop() } else { None };
        let lowest = opened.map_or(score, |opened| opened.min(score));
        self.open.resize(view.open.len(), score);
        self.by_node.resize(view.forest.len(), lowest);
    }
}

/// Returns a score for each constituent of the tree that the derivation builds, in the order of its nodes, without
/// the root; infinity where there was no choice. `temperature` calibrates probabilities; 1 leaves them as they are.
pub fn constituent_scores(
    problem: Problem<'_>,
    derivation: &[Action],
    reading: &mut dyn Reading,
    temperature: f32,
) -> Vec<f32> {
    let system = problem.system;
    let mut replay = Replay::default();
    let (mut cursor, mut forest) = Cursor::start(problem, reading);
    replay.record(system, (&cursor.state, &forest), NO_CHOICE);
    for &action in derivation {
        let score = replay.step(problem, (&cursor, &forest), action, reading);
        cursor.take(problem, &mut forest, action, reading);
        replay.record(system, (&cursor.state, &forest), score);
    }
    let view = system.view(&cursor.state, &forest);
    let nodes = built_nodes(view.forest, &view.complete.to_vec(), view.labels);
    let is_calibrated = reading.scale() == ScoreScale::LogProb;
    let score = |node: u32| match replay.by_node[node as usize] {
        score if is_calibrated && score != NO_CHOICE => calibrated(score, temperature),
        score => score,
    };
    nodes.into_iter().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::calibrated;

    #[test]
    fn a_temperature_divides_the_log_odds() {
        for (probability, temperature, expected) in
            [(0.5, 2.5, 0.5), (0.9, 1.0, 0.9), (0.9, 2.0, 0.75), (0.1, 2.0, 0.25)]
        {
            let found = calibrated(f32::ln(probability), temperature).exp();
            assert!((found - expected).abs() < 1e-6, "{probability} {temperature}: {found}");
        }
        // The odds of certain and of impossible actions are finite.
        assert!((0.99..1.0).contains(&calibrated(0.0, 2.5).exp()));
        assert!(calibrated(-1e4, 2.5).is_finite());
    }
}
