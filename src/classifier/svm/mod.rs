//! Support vector machines with the polynomial kernel (1 + x·y)^d over indicators, one against all: the
//! learner of Sagae and Lavie (2005, section 3) and of Wang, Sagae and Mitamura (2006, section 3.2), who
//! used TinySVM with degree 2.
//!
//! Three solvers, for the same machines:
//!
//! - [`Solver::Map`] writes the features of degree 1 or 2 out (a constant, indicators, pairs) and runs
//!   dual coordinate descent on them ([`descent`]). It is exact: features with the same training rows
//!   share a weight, which makes all pairs of a treebank fit ([`groups`]). The bias is the constant's
//!   weight, and regularised with the others. What pruning leaves becomes a table ([`table`]).
//! - [`Solver::Kernel`] runs sequential minimal optimisation on the kernel ([`smo`]), for any degree. The
//!   bias is free, as in LIBSVM. It keeps support vectors ([`vectors`]), so its time grows with their
//!   number, in parsing too.
//! - [`Solver::Linfa`] is `linfa-svm`, a second opinion on small sets ([`reference`](mod@reference)), in
//!   builds with the feature `linfa`.
//!
//! A class is told from all others by a machine; two classes need one machine together, which scores the
//! first +m and the second −m; a class never seen scores minus infinity. Scores are margins.

pub mod descent;
pub mod groups;
pub mod reference;
pub mod rows;
pub mod smo;
pub mod table;
pub mod vectors;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::linear::{MAX_CLASSES, Pruning};
use super::{Checkpoint, Classifier, Fit, Instances, Learner, Setting};
use crate::feature::Indicators;
use crate::memory::{Array, Sections};
use crate::parallel;
use crate::{Error, Result};
use descent::{Epoch, MAX_BLOCK, Solution, Task};
use groups::{Factors, Groups};
use rows::{Machines, Rows, Targets};
use smo::KernelRows;
use table::{MapModel, Packing};
use vectors::{Dual, VectorModel};

/// How machines are trained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Dual coordinate descent on the explicit map.
    #[default]
    Map,
    /// Sequential minimal optimisation on the kernel.
    Kernel,
    /// `linfa-svm`, for small sets.
    Linfa,
}

/// The settings of polynomial machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SvmParams {
    /// How machines are trained.
    pub solver: Solver,
    /// The degree d of the kernel (1 + x·y)^d; `map` takes 1 and 2, the others 1 to 16.
    pub degree: u32,
    /// What an instance on the wrong side costs, above 0. It is the most its dual variable may be. The
    /// kernel is not normalised.
    pub c: f64,
    /// When a machine counts as solved, in units of the margin, above 0: for `map` when a pass changes no
    /// row's own margin by more; for the others when no two variables violate optimality by more.
    pub tolerance: f64,
    /// The most passes of `map` over all rows; at least 1.
    pub max_epochs: u32,
    /// Pairs that fewer distinct training rows have are left out of `map`; 0 and 1 leave out none.
    pub min_pair_count: u32,
    /// The most megabytes of kernel rows that `kernel` keeps.
    pub cache_mb: u32,
    /// What is left out of the tables of `map`.
    pub prune: Pruning,
}

impl Default for SvmParams {
    fn default() -> Self {
        Self {
            solver: Solver::Map,
            degree: 2,
            c: 0.01,
            tolerance: 0.1,
            max_epochs: 100,
            min_pair_count: 1,
            cache_mb: 512,
            prune: Pruning::default(),
        }
    }
}

/// The largest degree: more overflows single precision.
const MAX_DEGREE: u32 = 16;

impl SvmParams {
    /// The settings, explained.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "solver",
            range: "map, kernel or linfa",
            help: "coordinate descent on written-out features, SMO on the kernel, or linfa-svm for small sets",
        },
        Setting {
            key: "degree",
            range: "1 or 2 for map, 1 to 16 for kernel and linfa",
            help: "the degree of the kernel (1 + x·y)^degree",
        },
        Setting {
            key: "c",
            range: "1e-30 to 1e30",
            help: "what an instance on the wrong side costs; the kernel is not normalised",
        },
        Setting {
            key: "tolerance",
            range: "above 0",
            help: "a machine is solved when margins are this close to optimal",
        },
        Setting {
            key: "max_epochs",
            range: "1 or more",
            help: "the most passes of map over the rows",
        },
        Setting {
            key: "min_pair_count",
            range: "0 or more",
            help: "map leaves out pairs of fewer distinct rows",
        },
        Setting {
            key: "cache_mb",
            range: "0 or more",
            help: "megabytes of kernel rows that kernel keeps",
        },
        Setting { key: "prune", range: Pruning::RANGE, help: Pruning::HELP },
    ];

    /// Checks the settings.
    ///
    /// # Errors
    /// Naming the key and its range.
    pub fn check(&self) -> Result<()> {
        if !(1..=MAX_DEGREE).contains(&self.degree) {
            return Err(Error::config("learner.degree", format!("must be 1 to {MAX_DEGREE}")));
        }
        if self.solver == Solver::Map && Factors::of(self.degree).is_none() {
            let problem =
                "the solver `map` writes out degree 1 or 2: set learner.solver=kernel for more";
            return Err(Error::config("learner.degree", problem));
        }
        // Sums of many times C must stay below the largest single-precision number.
        if !(1e-30..=1e30).contains(&self.c) {
            return Err(Error::config("learner.c", "must be 1e-30 to 1e30"));
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Error::config("learner.tolerance", "must be a number above 0"));
        }
        if self.max_epochs == 0 {
            return Err(Error::config("learner.max_epochs", "must be at least 1"));
        }
        self.prune.check()?;
        if self.prune.min_updates > 0 {
            let problem = "counts what perceptrons change: leave it out";
            return Err(Error::config("learner.prune.min_updates", problem));
        }
        Ok(())
    }
}

/// Learns polynomial machines over indicators.
#[derive(Debug, Clone)]
pub struct Svm {
    /// The settings.
    pub params: SvmParams,
    /// The indicators that make up x.
    pub indicators: Indicators,
}

impl Learner for Svm {
    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        self.params.check()?;
        if instances.has_sets() {
            let problem = "a polynomial SVM cannot take set columns: drop `.kids`";
            return Err(Error::config("features", problem));
        }
        if instances.n_classes() > MAX_CLASSES {
            return Err(Error::config("learner", format!("more than {MAX_CLASSES} actions")));
        }
        let rows = Rows::new(instances, &self.indicators);
        if self.params.solver == Solver::Linfa {
            reference::check(instances.len(), &rows)?;
        }
        let machines = Machines::of(instances);
        let targets = Targets::new(&rows, &machines);
        let training =
            Training { svm: self, rows, machines, targets, n_classes: instances.n_classes() };
        match self.params.solver {
            Solver::Map => training.map(fit),
            Solver::Kernel | Solver::Linfa => training.kernel(fit),
        }
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let indicators = self.indicators.clone();
        Ok(match self.params.solver {
            Solver::Map => Box::new(MapModel::load(indicators, sections)?),
            Solver::Kernel | Solver::Linfa => Box::new(VectorModel::load(indicators, sections)?),
        })
    }
}

/// A training set on the way to a model.
struct Training<'a> {
    svm: &'a Svm,
    rows: Rows,
    machines: Machines,
    targets: Targets,
    n_classes: usize,
}

impl Training<'_> {
    fn map(&self, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let params = &self.svm.params;
        let factors = Factors::of(params.degree).ok_or_else(|| {
            Error::config("learner.degree", "the solver `map` writes out degree 1 or 2")
        })?;
        let firsts: Vec<usize> = (0..self.machines.len()).step_by(MAX_BLOCK).collect();
        // What was kept fits all groups only.
        let is_kept = |first: &usize| {
            fit.checkpoint.is_some_and(|kept| kept.load(&block_name(*first)).is_some())
        };
        let stop: &dyn Fn() -> bool =
            if firsts.iter().any(is_kept) { &|| false } else { &|| fit.is_stopped() };
        let groups = Groups::new(&self.rows, factors, params.min_pair_count, stop);
        let done = AtomicUsize::new(0);
        let share = |done: usize| done as f64 / firsts.len() as f64;
        let Fit { seed, checkpoint, .. } = *fit;
        let block = |&first: &usize| -> Result<Solution> {
            let name = block_name(first);
            let n_places = groups.len() + self.rows.len();
            if let Some(kept) = checkpoint
                .and_then(|kept| load_solution(kept, &name, n_places, self.machines.len()))
            {
                return Ok(kept);
            }
            let task = Task {
                groups: &groups,
                targets: &self.targets,
                first,
                machines: MAX_BLOCK.min(self.machines.len() - first),
                c: params.c as f32,
                tolerance: params.tolerance as f32,
                max_epochs: params.max_epochs,
                seed: seed.wrapping_add(first as u64),
            };
            let mut stopped = false;
            let solution = descent::solve(&task, |epoch| {
                fit.step(share(done.load(Ordering::Relaxed)), &epoch_line(&task, epoch));
                stopped = fit.is_stopped();
                !stopped
            });
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            fit.step(share(done), &end_line(&task, &solution));
            if let Some(keep) = checkpoint.filter(|_| !stopped) {
                keep.save(&name, &solution_sections(&solution))?;
            }
            Ok(solution)
        };
        let solutions = parallel::try_map_range(firsts.len(), |at| block(&firsts[at]))?;
        let packing = Packing {
            rows: &self.rows,
            groups: &groups,
            factors,
            machines: &self.machines,
            solutions: &solutions,
        };
        Ok(Box::new(packing.pack(&self.svm.indicators, self.n_classes, &params.prune)))
    }

    fn kernel(&self, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let params = &self.svm.params;
        let mut kernel = KernelRows::new(&self.rows, params.degree, params.cache_mb);
        let n = self.machines.len();
        let mut duals = Vec::with_capacity(n);
        for machine in 0..n {
            let name = format!("machine-{machine}");
            let kept = fit.checkpoint.and_then(|kept| load_dual(kept, &name, self.rows.len()));
            let mut stopped = false;
            let dual = match (kept, params.solver) {
                (Some(kept), _) => kept,
                #[cfg(feature = "linfa")]
                (None, Solver::Linfa) => {
                    stopped = fit.is_stopped();
                    reference::solve(&self.rows, &self.targets, machine, params)?
                }
                (None, _) => smo::solve(
                    &mut kernel,
                    &self.targets,
                    machine,
                    params.c,
                    params.tolerance,
                    |_| {
                        stopped = fit.is_stopped();
                        !stopped
                    },
                ),
            };
            if let Some(keep) = fit.checkpoint.filter(|_| !stopped) {
                keep.save(&name, &dual_sections(&dual))?;
            }
            let vectors = dual.weights.iter().filter(|&&weight| weight != 0.0).count();
            duals.push(dual);
            let text = format!("machine {} of {n}: {vectors} support vectors", machine + 1);
            fit.step((machine + 1) as f64 / n as f64, &text);
        }
        let Self { rows, machines, n_classes, .. } = self;
        let indicators = &self.svm.indicators;
        Ok(Box::new(VectorModel::new(
            indicators,
            params.degree,
            rows,
            machines,
            &duals,
            *n_classes,
        )))
    }
}

/// What a checkpoint calls the machines from `first` on.
fn block_name(first: usize) -> String {
    format!("machines-{first}")
}

fn epoch_line(task: &Task<'_>, Epoch { epoch, active, change }: Epoch) -> String {
    let (first, last) = (task.first + 1, task.first + task.machines);
    format!(
        "machines {first} to {last}, pass {epoch}: {active} rows, margins changed by up to {change:.3}"
    )
}

/// Whether a block is solved: what ends at `max_epochs` or is stopped says so.
fn end_line(task: &Task<'_>, solution: &Solution) -> String {
    let (first, last) = (task.first + 1, task.first + task.machines);
    let outcome = if solution.solved { "solved" } else { "ended before the tolerance was reached" };
    format!("machines {first} to {last}: {outcome}")
}

fn solution_sections(solution: &Solution) -> Sections {
    let mut sections = Sections::default();
    sections.put("ends", solution.ends.clone().into());
    sections
        .put("machines", solution.entries.iter().map(|entry| entry.0).collect::<Vec<_>>().into());
    sections
        .put("weights", solution.entries.iter().map(|entry| entry.1).collect::<Vec<_>>().into());
    sections
}

/// A block that was kept, if it is whole.
fn load_solution(
    kept: &dyn Checkpoint,
    name: &str,
    n_places: usize,
    n_machines: usize,
) -> Option<Solution> {
    let sections = kept.load(name)?;
    let ends: Array<u32> = sections.get("ends").ok()?;
    let machines: Array<u16> = sections.get("machines").ok()?;
    let weights: Array<f32> = sections.get("weights").ok()?;
    let whole = ends.len() == n_places
        && ends.is_sorted()
        && ends.last().copied().unwrap_or(0) as usize == machines.len()
        && machines.len() == weights.len()
        && machines.iter().all(|&machine| usize::from(machine) < n_machines);
    let entries = machines.iter().copied().zip(weights.iter().copied()).collect();
    whole.then(|| Solution { ends: ends.to_vec(), entries, solved: true })
}

fn dual_sections(dual: &Dual) -> Sections {
    let bits = |value: f64| value.to_bits();
    let mut sections = Sections::default();
    sections
        .put("weights", dual.weights.iter().map(|&weight| bits(weight)).collect::<Vec<_>>().into());
    sections.put("bias", vec![bits(dual.bias)].into());
    sections
}

/// A machine that was kept, if it is whole.
fn load_dual(kept: &dyn Checkpoint, name: &str, n_rows: usize) -> Option<Dual> {
    let sections = kept.load(name)?;
    let weights: Array<u64> = sections.get("weights").ok()?;
    let bias: Array<u64> = sections.get("bias").ok()?;
    let &[bias] = &*bias else { return None };
    let weights: Vec<f64> = weights.iter().map(|&bits| f64::from_bits(bits)).collect();
    (weights.len() == n_rows).then(|| Dual { weights, bias: f64::from_bits(bias) })
}

#[cfg(test)]
mod tests;
