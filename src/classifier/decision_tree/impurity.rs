//! Impurity, and the division of a column's values into two sides.

use serde::{Deserialize, Serialize};

use super::tally::{Tally, ValueCount, n_log_n};
use crate::sort::sort_by;

/// A measure of how mixed the classes of some instances are.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Impurity {
    /// The probability that two instances differ in class: 1 − Σ p².
    #[default]
    Gini,
    /// −Σ p log2 p.
    Entropy,
}

impl Impurity {
    /// The contribution of a class to the sum from which purity is computed.
    fn term(self, count: u32) -> f64 {
        match self {
            Self::Gini => f64::from(count) * f64::from(count),
            Self::Entropy => n_log_n(count),
        }
    }

    /// The number of instances times 1 − impurity (Gini) or times −impurity (entropy).
    fn purity(self, sum: f64, n: u32) -> f64 {
        match self {
            Self::Gini => sum / f64::from(n.max(1)),
            Self::Entropy => sum - n_log_n(n),
        }
    }

    /// The purity of instances with these class counts.
    pub(super) fn purity_of(self, counts: &[u32]) -> f64 {
        let sum = counts.iter().map(|&count| self.term(count)).sum();
        self.purity(sum, counts.iter().sum())
    }
}

/// The class counts of two sides; all instances start on the left.
#[derive(Debug, Clone, Default)]
pub(super) struct Sides {
    impurity: Impurity,
    left: Vec<u32>,
    right: Vec<u32>,
    n_left: u32,
    n_right: u32,
    sum_left: f64,
    sum_right: f64,
}

/// Maximum number of rounds in which values move to the nearer side.
const ROUNDS: usize = 8;

impl Sides {
    /// Puts all instances on the left, given their class counts.
    pub(super) fn reset(&mut self, impurity: Impurity, counts: &[u32]) {
        self.impurity = impurity;
        self.left.clear();
        self.left.extend_from_slice(counts);
        self.right.clear();
        self.right.resize(counts.len(), 0);
        self.n_left = counts.iter().sum();
        self.n_right = 0;
        self.sum_left = counts.iter().map(|&count| impurity.term(count)).sum();
        self.sum_right = 0.0;
    }

    /// Moves the instances of a value to the right, or back to the left.
    pub(super) fn move_run(&mut self, tally: &Tally, run: &ValueCount, to_right: bool) {
        let impurity = self.impurity;
        for &(class, count) in tally.cells(run) {
            let (left, right) =
                (&mut self.left[usize::from(class)], &mut self.right[usize::from(class)]);
            self.sum_left -= impurity.term(*left);
            self.sum_right -= impurity.term(*right);
            if to_right {
                (*left, *right) = (*left - count, *right + count);
            } else {
                (*left, *right) = (*left + count, *right - count);
            }
            self.sum_left += impurity.term(*left);
            self.sum_right += impurity.term(*right);
        }
        if to_right {
            (self.n_left, self.n_right) = (self.n_left - run.n, self.n_right + run.n);
        } else {
            (self.n_left, self.n_right) = (self.n_left + run.n, self.n_right - run.n);
        }
    }

    /// The purity of both sides; `None` if one has fewer than `min` instances.
    pub(super) fn purity(&self, min: u32) -> Option<f64> {
        let sum = |sum, n| self.impurity.purity(sum, n);
        (self.n_left >= min && self.n_right >= min)
            .then(|| sum(self.sum_left, self.n_left) + sum(self.sum_right, self.n_right))
    }

    /// The purest cut through the runs in the given order: the position of the last run on the right. All
    /// runs must be on the left; afterwards they are on the right.
    pub(super) fn best_cut(
        &mut self,
        tally: &Tally,
        order: &[usize],
        min: u32,
    ) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for (at, &run) in order.iter().enumerate() {
            self.move_run(tally, &tally.runs[run], true);
            if let Some(purity) = self.purity(min).filter(|&p| best.is_none_or(|best| p > best.0)) {
                best = Some((purity, at));
            }
        }
        best
    }

    /// A pure division of the runs: which of them are on the right. All runs must be on the left.
    pub(super) fn best_subset(
        &mut self,
        tally: &Tally,
        counts: &[u32],
        min: u32,
    ) -> Option<(f64, Vec<bool>)> {
        let mut common = 0;
        for (class, &count) in counts.iter().enumerate() {
            if count > counts[common] {
                common = class;
            }
        }
        let share = |run: &ValueCount| {
            let count = tally.cells(run).iter().find(|cell| usize::from(cell.0) == common);
            count.map_or(0.0, |cell| f64::from(cell.1) / f64::from(run.n))
        };
        let mut order: Vec<(f64, usize)> = tally.runs.iter().map(share).zip(0..).collect();
        sort_by(&mut order, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let order: Vec<usize> = order.into_iter().map(|(_, run)| run).collect();
        let (mut purity, cut) = self.best_cut(tally, &order, min)?;
        let mut right = vec![true; order.len()];
        for &run in &order[cut + 1..] {
            self.move_run(tally, &tally.runs[run], false);
            right[run] = false;
        }
        for _ in 0..ROUNDS {
            let nearer = self.nearer(tally);
            if nearer == right {
                break;
            }
            for (at, run) in tally.runs.iter().enumerate() {
                if nearer[at] != right[at] {
                    self.move_run(tally, run, nearer[at]);
                }
            }
            match self.purity(min) {
                Some(better) if better > purity => (purity, right) = (better, nearer),
                _ => break,
            }
        }
        Some((purity, right))
    }

    /// For each run, whether the right side is nearer.
    fn nearer(&self, tally: &Tally) -> Vec<bool> {
        let (n_left, n_right) = (f64::from(self.n_left), f64::from(self.n_right));
        let (left, right): (Vec<f64>, Vec<f64>) = match self.impurity {
            // |p − q|² without |p|²: |q|² − 2 p q.
            Impurity::Gini => {
                let of_side = |side: &[u32], n: f64| {
                    let norm: f64 = side.iter().map(|&c| (f64::from(c) / n).powi(2)).sum();
                    side.iter().map(|&c| norm - 2.0 * f64::from(c) / n).collect()
                };
                (of_side(&self.left, n_left), of_side(&self.right, n_right))
            }
            // The divergence of p from q without the entropy of p: −Σ p log q.
            Impurity::Entropy => {
                let of_side = |side: &[u32], n: f64| {
                    side.iter().map(|&c| -(f64::from(c).max(1e-6) / n).log2()).collect()
                };
                (of_side(&self.left, n_left), of_side(&self.right, n_right))
            }
        };
        let is_nearer = |run: &ValueCount| {
            let cells = tally.cells(run).iter();
            let differences = cells.map(|&(class, count)| {
                f64::from(count) * (right[usize::from(class)] - left[usize::from(class)])
            });
            differences.sum::<f64>() < 0.0
        };
        tally.runs.iter().map(is_nearer).collect()
    }
}
