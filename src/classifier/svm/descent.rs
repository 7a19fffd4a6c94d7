//! Dual coordinate descent on the grouped map (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, with
//! their shrinking), for a block of one-against-all machines at once.
//!
//! Each machine minimises ½‖w‖² + C Σ max(0, 1 − y·w·φ(x)). The constant of the map is the bias, and is
//! regularised with the rest. Machines of a block share the walk over a row's groups, which is what takes
//! time; they share nothing else, so blocks change no result.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::groups::Groups;

/// Rows that are next to each other in the order of an epoch: they have much in common.
const CHUNK: usize = 16;

/// What a block is to solve.
pub struct Task<'a> {
    /// The features.
    pub groups: &'a Groups,
    /// For each row the machine of the block, from 0, whose class it has; any other number for none.
    pub targets: &'a [u16],
    /// The most any row may weigh.
    pub c: f32,
    /// Solved is when projected gradients differ by at most this.
    pub tolerance: f32,
    /// The most passes.
    pub max_epochs: u32,
    /// Seeds the order.
    pub seed: u64,
}

/// What an epoch did.
#[derive(Debug, Clone, Copy)]
pub struct Epoch {
    /// Passes so far.
    pub epoch: u32,
    /// Rows it looked at.
    pub active: usize,
    /// The largest difference between projected gradients.
    pub violation: f32,
}

/// Weights and dual variables of a block of `L` machines.
#[derive(Debug, Clone, Default)]
pub struct Solution<const L: usize> {
    /// For each group the sum of the signed dual variables of its rows.
    pub weights: Vec<[f32; L]>,
    /// For each row its dual variable times +1 or −1.
    pub duals: Vec<[f32; L]>,
    /// Whether the tolerance was reached.
    pub solved: bool,
}

/// The largest and smallest projected gradient of an epoch.
#[derive(Debug, Clone, Copy)]
struct Extent {
    max: f32,
    min: f32,
}

const NONE: Extent = Extent { max: f32::NEG_INFINITY, min: f32::INFINITY };
const ALL: Extent = Extent { max: f32::INFINITY, min: f32::NEG_INFINITY };

impl<const L: usize> Solution<L> {
    fn margins(&self, task: &Task<'_>, row: usize) -> [f32; L] {
        let mut sums = [0.0; L];
        for &group in task.groups.row(row) {
            let factor = task.groups.factors[group as usize];
            for (sum, weight) in sums.iter_mut().zip(&self.weights[group as usize]) {
                *sum += factor * weight;
            }
        }
        for (sum, dual) in sums.iter_mut().zip(&self.duals[row]) {
            *sum += task.groups.own[row] * dual;
        }
        sums
    }

    /// One step for every machine; whether the row may be left alone for now.
    fn step(&mut self, task: &Task<'_>, row: usize, bounds: Extent, extent: &mut Extent) -> bool {
        let margins = self.margins(task, row);
        let norm = task.groups.norms[row];
        let (mut changed, mut rests) = (false, true);
        let mut deltas = [0.0; L];
        for lane in 0..L {
            let sign = if usize::from(task.targets[row]) == lane { 1.0 } else { -1.0 };
            let gradient = sign * margins[lane] - 1.0;
            let alpha = sign * self.duals[row][lane];
            let at_zero = alpha <= 0.0;
            let at_c = alpha >= task.c;
            rests &= (at_zero && gradient > bounds.max) || (at_c && gradient < bounds.min);
            if (at_zero && gradient > 0.0) || (at_c && gradient < 0.0) {
                continue;
            }
            extent.max = extent.max.max(gradient);
            extent.min = extent.min.min(gradient);
            if gradient.abs() > 1e-7 {
                let new = (alpha - gradient / norm).clamp(0.0, task.c);
                deltas[lane] = sign * (new - alpha);
                self.duals[row][lane] = sign * new;
                changed |= deltas[lane] != 0.0;
            }
        }
        if changed {
            for &group in task.groups.row(row) {
                for (weight, delta) in self.weights[group as usize].iter_mut().zip(&deltas) {
                    *weight += delta;
                }
            }
        }
        rests
    }

    /// Adds up the weights from the dual variables, which rounds less than all the steps did.
    fn add_up(&mut self, groups: &Groups) {
        let mut sums = vec![[0.0f64; L]; groups.len()];
        for (row, duals) in self.duals.iter().enumerate() {
            if duals.iter().all(|&dual| dual == 0.0) {
                continue;
            }
            for &group in groups.row(row) {
                for (sum, &dual) in sums[group as usize].iter_mut().zip(duals) {
                    *sum += f64::from(dual);
                }
            }
        }
        self.weights = sums.iter().map(|sums| sums.map(|sum| sum as f32)).collect();
    }
}

/// Solves a block; `each_epoch` returns false to end early.
pub fn solve<const L: usize>(task: &Task<'_>, mut each_epoch: impl FnMut(Epoch) -> bool) -> Solution<L> {
    let n_rows = task.targets.len();
    let mut solution = Solution {
        weights: vec![[0.0; L]; task.groups.len()],
        duals: vec![[0.0; L]; n_rows],
        solved: false,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(task.seed);
    let all: Vec<u32> = (0..n_rows as u32).collect();
    let mut active = all.clone();
    let mut bounds = ALL;
    for epoch in 1..=task.max_epochs {
        let mut chunks: Vec<&[u32]> = active.chunks(CHUNK).collect();
        chunks.shuffle(&mut rng);
        let mut extent = NONE;
        let mut rests = vec![false; n_rows];
        for &row in chunks.into_iter().flatten() {
            rests[row as usize] = solution.step(task, row as usize, bounds, &mut extent);
        }
        let violation = (extent.max - extent.min).max(0.0);
        let whole = active.len() == n_rows;
        if !each_epoch(Epoch { epoch, active: active.len(), violation }) {
            break;
        }
        active.retain(|&row| !rests[row as usize]);
        bounds = Extent {
            max: if extent.max > 0.0 { extent.max } else { f32::INFINITY },
            min: if extent.min < 0.0 { extent.min } else { f32::NEG_INFINITY },
        };
        if violation <= task.tolerance {
            if whole {
                solution.solved = true;
                break;
            }
            active.clone_from(&all);
            bounds = ALL;
        }
    }
    solution.add_up(task.groups);
    solution
}
