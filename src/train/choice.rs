//! A decision in training: the prediction, the target, and the action that training continues with.

use crate::classifier::first_best;
use crate::scorer::perceptron::Exploration;

/// The legal actions of a configuration, their scores, and the oracle's optimal actions.
#[derive(Debug)]
pub struct Choice<'a, A> {
    /// The legal actions.
    pub legal: &'a [A],
    /// The score of each.
    pub scores: &'a [f32],
    /// The optimal actions.
    pub optimal: &'a [A],
}

/// The prediction and the target, as positions among the legal actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// The best-scoring action.
    pub predicted: usize,
    /// The best-scoring optimal action.
    pub target: usize,
}

impl Judgement {
    /// Whether the prediction is optimal.
    pub fn is_correct(self) -> bool {
        self.predicted == self.target
    }
}

impl<A: Copy + PartialEq> Choice<'_, A> {
    /// Compares the prediction with the optimal actions; `None` if no legal action is optimal.
    pub fn judge(&self) -> Option<Judgement> {
        let predicted = first_best(self.scores);
        let target = if self.is_optimal(predicted) { predicted } else { self.best(true)? };
        Some(Judgement { predicted, target })
    }

    /// The position of the action that training continues with; `draw` returns a random number in [0, 1).
    pub fn next(
        &self,
        judgement: Judgement,
        exploration: Option<Exploration>,
        draw: impl FnOnce() -> f64,
    ) -> usize {
        let Judgement { predicted, target } = judgement;
        let next = match exploration {
            Some(Exploration { margin, .. }) if judgement.is_correct() => {
                self.near_miss(predicted, margin)
            }
            Some(Exploration { probability, .. }) if probability > 0.0 => {
                (draw() < probability).then_some(predicted)
            }
            _ => None,
        };
        next.unwrap_or(target)
    }

    /// The best-scoring wrong action, if it trails the correct prediction by less than the margin.
    fn near_miss(&self, predicted: usize, margin: f64) -> Option<usize> {
        if margin <= 0.0 {
            return None;
        }
        let lead = |at: usize| f64::from(self.scores[predicted]) - f64::from(self.scores[at]);
        self.best(false).filter(|&at| lead(at) < margin)
    }

    fn is_optimal(&self, at: usize) -> bool {
        self.optimal.contains(&self.legal[at])
    }

    /// The best-scoring action among the optimal ones, or among the others.
    fn best(&self, optimal: bool) -> Option<usize> {
        let among = (0..self.legal.len()).filter(|&at| self.is_optimal(at) == optimal);
        among.reduce(|best, at| if self.scores[at] > self.scores[best] { at } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEGAL: [char; 4] = ['a', 'b', 'c', 'd'];

    fn choice<'a>(scores: &'a [f32], optimal: &'a [char]) -> Choice<'a, char> {
        Choice { legal: &LEGAL, scores, optimal }
    }

    #[test]
    fn the_best_optimal_action_is_the_target() {
        let judge = |scores: &[f32], optimal: &[char]| choice(scores, optimal).judge();
        let scores = [1.0, 4.0, 2.0, 3.0];
        assert_eq!(judge(&scores, &['a', 'c']), Some(Judgement { predicted: 1, target: 2 }));
        assert_eq!(judge(&scores, &['a', 'b']), Some(Judgement { predicted: 1, target: 1 }));
        assert_eq!(judge(&scores, &['x']), None);
    }

    #[test]
    fn exploration_leaves_the_gold_path() {
        let next = |optimal: &[char], from: Option<(f64, f64)>, drawn: f64| {
            let choice = choice(&[1.0, 4.0, 2.0, 3.0], optimal);
            let exploration = from.map(|(probability, margin)| Exploration {
                from_epoch: 1,
                probability,
                margin,
            });
            choice.next(choice.judge().unwrap(), exploration, || drawn)
        };
        // A wrong prediction is followed with the given probability.
        assert_eq!(next(&['c'], None, 0.0), 2);
        assert_eq!(next(&['c'], Some((0.5, 0.0)), 0.4), 1);
        assert_eq!(next(&['c'], Some((0.5, 0.0)), 0.6), 2);
        // The best wrong action replaces a correct prediction that it trails by less than the margin.
        assert_eq!(next(&['b'], Some((0.5, 0.0)), 0.0), 1);
        assert_eq!(next(&['b'], Some((0.0, 1.0)), 0.0), 1);
        assert_eq!(next(&['b'], Some((0.0, 1.1)), 0.0), 3);
    }
}
