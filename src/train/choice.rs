//! What a learner makes of a state: what it would do, what would be right, and where it goes on.

use super::online::Exploration;
use crate::classifier::first_best;

/// The legal actions of a state, their scores, and those that the oracle calls right.
#[derive(Debug)]
pub struct Choice<'a, A> {
    /// The legal actions.
    pub legal: &'a [A],
    /// The score of each.
    pub scores: &'a [f32],
    /// The right ones.
    pub optimal: &'a [A],
}

/// What was predicted, and what should have been; positions among the legal actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// The best-scoring action.
    pub predicted: usize,
    /// The best-scoring right action.
    pub target: usize,
}

impl Judgement {
    /// Whether a right action was predicted.
    pub fn is_right(self) -> bool {
        self.predicted == self.target
    }
}

impl<A: Copy + PartialEq> Choice<'_, A> {
    /// Compares what scores best with what is right; nothing where the oracle has nothing to say.
    pub fn judge(&self) -> Option<Judgement> {
        let predicted = first_best(self.scores);
        let target = if self.is_optimal(predicted) { predicted } else { self.best(true)? };
        Some(Judgement { predicted, target })
    }

    /// The position of the action that training goes on with; `draw` gives a number from 0 to 1.
    pub fn next(
        &self,
        judgement: Judgement,
        exploration: Option<Exploration>,
        draw: impl FnOnce() -> f64,
    ) -> usize {
        let Judgement { predicted, target } = judgement;
        let next = match exploration {
            Some(Exploration { margin, .. }) if judgement.is_right() => {
                self.tempting(predicted, margin)
            }
            Some(Exploration { probability, .. }) if probability > 0.0 => {
                (draw() < probability).then_some(predicted)
            }
            _ => None,
        };
        next.unwrap_or(target)
    }

    /// The best-scoring wrong action, if it trails the right one that was predicted by less than the margin.
    fn tempting(&self, predicted: usize, margin: f64) -> Option<usize> {
        if margin <= 0.0 {
            return None;
        }
        let lead = |at: usize| f64::from(self.scores[predicted]) - f64::from(self.scores[at]);
        self.best(false).filter(|&at| lead(at) < margin)
    }

    fn is_optimal(&self, at: usize) -> bool {
        self.optimal.contains(&self.legal[at])
    }

    /// The best-scoring action among the right ones, or among the wrong ones.
    fn best(&self, right: bool) -> Option<usize> {
        let among = (0..self.legal.len()).filter(|&at| self.is_optimal(at) == right);
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
    fn the_best_right_action_is_the_target() {
        let judge = |scores: &[f32], optimal: &[char]| choice(scores, optimal).judge();
        let scores = [1.0, 4.0, 2.0, 3.0];
        assert_eq!(judge(&scores, &['a', 'c']), Some(Judgement { predicted: 1, target: 2 }));
        assert_eq!(judge(&scores, &['a', 'b']), Some(Judgement { predicted: 1, target: 1 }));
        assert_eq!(judge(&scores, &['x']), None);
    }

    #[test]
    fn training_leaves_the_gold_path_as_it_is_told_to() {
        let next = |optimal: &[char], from: Option<(f64, f64)>, drawn: f64| {
            let choice = choice(&[1.0, 4.0, 2.0, 3.0], optimal);
            let exploration = from.map(|(probability, margin)| Exploration {
                from_epoch: 1,
                probability,
                margin,
            });
            choice.next(choice.judge().unwrap(), exploration, || drawn)
        };
        // A wrong prediction is followed as often as wanted.
        assert_eq!(next(&['c'], None, 0.0), 2);
        assert_eq!(next(&['c'], Some((0.5, 0.0)), 0.4), 1);
        assert_eq!(next(&['c'], Some((0.5, 0.0)), 0.6), 2);
        // A right one is left for the best wrong action if that trails it by less than the margin.
        assert_eq!(next(&['b'], Some((0.5, 0.0)), 0.0), 1);
        assert_eq!(next(&['b'], Some((0.0, 1.0)), 0.0), 1);
        assert_eq!(next(&['b'], Some((0.0, 1.1)), 0.0), 3);
    }
}
