//! Scores of paths, and which of two paths with the same score is better.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// How the scores of a path's steps make the score of the path. A greedy search does not ask about steps
/// that leave no choice, and they count nothing; the others ask, because paths differ in them. So scores
/// compare between parses of one method only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathScore {
    /// Their sum.
    #[default]
    Sum,
    /// Their mean, which does not favour short derivations or long ones.
    Mean,
    /// The least of them; of paths with the same, by the second least, and so on (Turian and Melamed 2005,
    /// section 2.2).
    Min,
    /// The sum of their logistic losses, −ln(1 + e⁻ˢ) for a score s (equation 15 there).
    Loss,
}

impl PathScore {
    /// The score of a path without steps.
    pub fn empty(self) -> f64 {
        match self {
            Self::Sum | Self::Mean | Self::Loss => 0.0,
            Self::Min => f64::INFINITY,
        }
    }

    /// What is kept of a path made one step longer: a sum, or the least.
    pub fn extend(self, path: f64, step: f32) -> f64 {
        match self {
            Self::Sum | Self::Mean => path + f64::from(step),
            Self::Min => path.min(f64::from(step)),
            Self::Loss => path - softplus(-f64::from(step)),
        }
    }

    /// The score of a path of so many steps, from what was kept of it.
    pub fn score(self, path: f64, steps: usize) -> f64 {
        match self {
            Self::Mean => path / steps.max(1) as f64,
            Self::Sum | Self::Min | Self::Loss => path,
        }
    }

    /// Whether waiting after the end of a derivation counts as a step.
    pub(super) fn counts_waiting(self) -> bool {
        self == Self::Sum
    }

    /// Whether a path never scores more than its beginning.
    pub(super) fn never_rises(self) -> bool {
        matches!(self, Self::Min | Self::Loss)
    }
}

/// ln(1 + eˣ), without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

impl PathScore {
    /// Whether the scores of all steps decide between paths of the same score.
    pub(super) fn breaks_ties(self) -> bool {
        self == Self::Min
    }

    /// What is kept of a path besides, where that decides between paths of the same score: the scores of all
    /// steps, from the least. Makes it one step longer.
    pub(super) fn extend_steps(self, steps: &[f32], step: f32, out: &mut Vec<f32>) {
        out.clear();
        if self.breaks_ties() {
            out.extend(longer(steps, step));
        }
    }
}

/// The scores of some steps and of one more, from the least.
fn longer(steps: &[f32], step: f32) -> impl Iterator<Item = f32> {
    let (before, behind) = steps.split_at(steps.partition_point(|&other| other <= step));
    before.iter().copied().chain([step]).chain(behind.iter().copied())
}

/// Compares two paths of the same score, each by what [`PathScore::extend_steps`] kept and one step more: the
/// one whose least steps are higher is greater; if one ends first they are equal.
pub(super) fn compare_steps((a, last_a): (&[f32], f32), (b, last_b): (&[f32], f32)) -> Ordering {
    let pairs = longer(a, last_a).zip(longer(b, last_b));
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
