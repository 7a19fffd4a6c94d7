//! Scores of paths, and ties between them.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// The score of a path as a function of the scores of its steps. Greedy search does not score steps with a single
/// legal action; the other decoders do, because they compare paths. So scores are comparable only between parses
/// of the same decoder.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PathScore {
    /// The sum.
    #[default]
    Sum,
    /// The mean, which favours neither short nor long derivations.
    Mean,
    /// The minimum; ties are broken by the second lowest score, and so on (Turian and Melamed 2005, section
    /// 2.2).
    Min,
    /// The sum of −ln(1 + e⁻ˢ) over the scores s: the negative logistic loss (Turian and Melamed 2005, equation
    /// 15).
    Loss,
}

impl PathScore {
    /// The accumulated score of a path without steps.
    pub fn empty(self) -> f64 {
        match self {
            Self::Sum | Self::Mean | Self::Loss => 0.0,
            Self::Min => f64::INFINITY,
        }
    }

    /// Adds a step to an accumulated score, which is a sum or a minimum.
    pub fn extend(self, path: f64, step: f32) -> f64 {
        match self {
            Self::Sum | Self::Mean => path + f64::from(step),
            Self::Min => path.min(f64::from(step)),
            Self::Loss => path - softplus(-f64::from(step)),
        }
    }

    /// The score of a path of `steps` steps, given its accumulated score.
    pub fn score(self, path: f64, steps: usize) -> f64 {
        match self {
            Self::Mean => path / steps.max(1) as f64,
            Self::Sum | Self::Min | Self::Loss => path,
        }
    }

    /// Whether the scores of idle steps count.
    pub(super) fn counts_idle(self) -> bool {
        self == Self::Sum
    }

    /// Whether a step never increases the score of a path, whatever its own score.
    pub(super) fn never_increases(self) -> bool {
        matches!(self, Self::Min | Self::Loss)
    }
}

/// ln(1 + eˣ), without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

impl PathScore {
    /// Whether the scores of all steps break ties between paths.
    pub(super) fn breaks_ties(self) -> bool {
        self == Self::Min
    }

    /// Writes the sorted scores of a path and one more step into `out` (emptied first); nothing if they do not
    /// break ties.
    pub(super) fn extend_steps(self, steps: &[f32], step: f32, out: &mut Vec<f32>) {
        out.clear();
        if self.breaks_ties() {
            out.extend(with_step(steps, step));
        }
    }
}

/// Inserts a score into sorted ones.
fn with_step(steps: &[f32], step: f32) -> impl Iterator<Item = f32> {
    let (before, behind) = steps.split_at(steps.partition_point(|&other| other <= step));
    before.iter().copied().chain([step]).chain(behind.iter().copied())
}

/// Compares two paths of the same score, each given by its sorted step scores ([`PathScore::extend_steps`]) and
/// the score of one more step: lexicographically, lowest score first. A prefix is equal.
pub(super) fn compare_steps((a, last_a): (&[f32], f32), (b, last_b): (&[f32], f32)) -> Ordering {
    let pairs = with_step(a, last_a).zip(with_step(b, last_b));
    let orders = { pairs }.map(|(a, b)| a.total_cmp(&b));
    { orders }.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_path_whose_next_step_is_higher() {
        assert_eq!(compare_steps((&[1.0, 5.0], 3.0), (&[1.0, 2.0], 9.0)), Ordering::Greater);
        assert_eq!(compare_steps((&[1.0, 5.0], 3.0), (&[1.0, 3.0], 5.0)), Ordering::Equal);
        assert_eq!(compare_steps((&[], 3.0), (&[3.0], 5.0)), Ordering::Equal);
        let mut steps = Vec::new();
        PathScore::Min.extend_steps(&[1.0, 5.0], 3.0, &mut steps);
        assert_eq!(steps, [1.0, 3.0, 5.0]);
    }

    #[test]
    fn a_loss_is_small_for_high_scores_and_never_overflows() {
        let loss = |step| PathScore::Loss.extend(0.0, step);
        assert!((loss(0.0) + 2f64.ln()).abs() < 1e-12 && loss(-1e4) == -1e4 && loss(1e4) == 0.0);
        assert!(loss(1.0) > loss(0.5));
    }
}
