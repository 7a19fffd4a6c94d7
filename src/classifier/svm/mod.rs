//! Support vector machines with the polynomial kernel (1 + x·y)^d over indicators, one-vs-rest: the
//! learner of Sagae and Lavie (2005, section 3) and of Wang, Sagae and Mitamura (2006, section 3.2), who
//! used TinySVM with degree 2.
//!
//! Solvers:
//!
//! - [`Solver::Map`] computes the features of degree 1 or 2 explicitly (a constant, indicators, pairs) and
//!   runs dual coordinate descent on them ([`descent`]). It is exact: features with the same training rows
//!   share a weight, so all pairs of a treebank fit into memory ([`groups`]). The bias is the weight of the
//!   constant, and is regularized with the others. The weights that remain after pruning are packed into a
//!   table ([`table`]).
//! - [`Solver::Linfa`] is `linfa-svm`, a reference for small training sets ([`reference`](mod@reference)),
//!   in builds with the feature `linfa`. It stores support vectors (`vectors.rs`).
//! - Tests compare both with sequential minimal optimization on the kernel ([`smo`]) and with LIBSVM.
//!
//! There is one classifier for each class. Two classes share one classifier, with margin m for the first
//! class and −m for the second. A class that was never seen in training scores minus infinity. Scores are
//! margins.

pub mod descent;
pub mod groups;
#[cfg(test)]
mod kernel_rows;
pub mod reference;
pub mod rows;
pub mod smo;
pub mod table;
pub mod vectors;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::linear::{Pruning, check_classes};
use super::{Checkpoint, Classifier, Fit, Instances, Learner, LearnerParams, Parts};
use crate::feature::Indicators;
use crate::memory::{Array, Sections};
use crate::parallel;
use crate::{Error, Result};
use descent::{BinaryProblem, Epoch, MAX_BLOCK, Solution};
use groups::{Factors, Groups};
use rows::{BinaryClassifiers, Rows, Targets};
use table::{MapModel, Packing};
#[cfg(any(test, feature = "linfa"))]
use vectors::{Dual, VectorModel};

/// The solver of the optimization problem.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Dual coordinate descent on the explicit map.
    #[default]
    Map,
    /// `linfa-svm`, for small training sets.
    Linfa,
    /// Sequential minimal optimization on the kernel: the reference of the tests.
    #[cfg(test)]
    #[serde(skip)]
    Kernel,
}

/// The settings of polynomial SVMs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SvmParams {
    /// How the classifiers are trained: map (dual coordinate descent on the explicit feature map), or linfa
    /// (linfa-svm, a reference for small training sets, in builds with the feature `linfa`).
    pub solver: Solver,
    /// The degree d of the kernel (1 + x·y)^d; map takes 1 and 2.
    #[schemars(range(min = 1, max = 16))]
    pub degree: u32,
    /// The cost C of an instance on the wrong side, the upper bound of its dual variable; the kernel is not
    /// normalized.
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub c: f64,
    /// The tolerance of the convergence criterion: for map, the largest change of a margin in a pass; for
    /// linfa, the largest violation of optimality by two variables.
    #[schemars(range(min = 1e-9, max = 100.0))]
    pub tolerance: f64,
    /// Maximum number of passes of map over the training rows.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_epochs: u32,
    /// Pairs of features that occur in fewer distinct training rows are left out by map; 0 and 1 leave out
    /// none.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub min_pair_count: u32,
    /// How the tables of map are pruned.
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
            prune: Pruning::default(),
        }
    }
}

impl SvmParams {
    /// Checks combinations of settings.
    ///
    /// # Errors
    /// The key is relative to these settings.
    pub fn check(&self) -> Result<()> {
        if self.solver == Solver::Map && Factors::of(self.degree).is_none() {
            return Err(Error::config("degree", "must be 1 or 2 for the solver `map`"));
        }
        if self.prune.min_updates > 0 {
            let problem = "counts the updates of perceptrons: leave it out";
            return Err(Error::config("prune.min_updates", problem));
        }
        Ok(())
    }
}

/// Learns polynomial SVMs over indicators.
#[derive(Debug, Clone)]
pub struct Svm {
    /// The settings.
    pub params: SvmParams,
    /// The indicators that are the features x.
    pub indicators: Indicators,
}

impl LearnerParams for SvmParams {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        self.check()?;
        Ok(Box::new(Svm { params: self.clone(), indicators: parts.indicators.clone() }))
    }
}

impl Learner for Svm {
    fn has_parts(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        self.params.check()?;
        instances.check_single_values("a polynomial SVM")?;
        check_classes(instances.n_classes())?;
        fit.unless_stopped()?;
        let rows = Rows::new(instances, &self.indicators);
        if self.params.solver == Solver::Linfa {
            reference::check(instances.len(), &rows)?;
        }
        let classifiers = BinaryClassifiers::of(instances);
        let targets = Targets::new(&rows, &classifiers);
        let training =
            Training { svm: self, rows, classifiers, targets, n_classes: instances.n_classes() };
        match self.params.solver {
            Solver::Map => training.map(fit),
            #[cfg(any(test, feature = "linfa"))]
            _ => training.kernel(fit),
            #[cfg(not(any(test, feature = "linfa")))]
            Solver::Linfa => Err(reference::missing()),
        }
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let indicators = self.indicators.clone();
        Ok(match self.params.solver {
            Solver::Map => Box::new(MapModel::load(indicators, sections)?),
            #[cfg(any(test, feature = "linfa"))]
            _ => Box::new(VectorModel::load(indicators, sections)?),
            #[cfg(not(any(test, feature = "linfa")))]
            Solver::Linfa => return Err(reference::missing()),
        })
    }
}

/// A training set and its features.
struct Training<'a> {
    svm: &'a Svm,
    rows: Rows,
    classifiers: BinaryClassifiers,
    targets: Targets,
    n_classes: usize,
}

impl Training<'_> {
    fn map(&self, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let params = &self.svm.params;
        let factors = Factors::of(params.degree).ok_or_else(|| {
            Error::config("learner.degree", "the solver `map` needs degree 1 or 2")
        })?;
        let firsts: Vec<usize> = (0..self.classifiers.len()).step_by(MAX_BLOCK).collect();
        let groups = Groups::new(&self.rows, factors, params.min_pair_count, fit)?;
        let done = AtomicUsize::new(0);
        let share = |done: usize| done as f64 / firsts.len() as f64;
        let Fit { seed, checkpoint, .. } = *fit;
        let block = |&first: &usize| -> Result<Solution> {
            let name = block_name(first);
            let n_places = groups.len() + self.rows.len();
            if let Some(checkpoint) = checkpoint.and_then(|checkpoint| {
                load_solution(checkpoint, &name, n_places, self.classifiers.len())
            }) {
                return Ok(checkpoint);
            }
            let task = BinaryProblem {
                groups: &groups,
                targets: &self.targets,
                first,
                classifiers: MAX_BLOCK.min(self.classifiers.len() - first),
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
                keep.save(&name, &solution_sections(&solution));
            }
            Ok(solution)
        };
        let solutions = parallel::try_map_range(firsts.len(), |at| block(&firsts[at]))?;
        let packing = Packing {
            rows: &self.rows,
            groups: &groups,
            factors,
            classifiers: &self.classifiers,
            solutions: &solutions,
        };
        Ok(Box::new(packing.pack(&self.svm.indicators, self.n_classes, &params.prune)))
    }

    #[cfg(any(test, feature = "linfa"))]
    fn kernel(&self, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let params = &self.svm.params;
        #[cfg(test)]
        let mut kernel = kernel_rows::KernelRows::new(&self.rows, params.degree);
        let n = self.classifiers.len();
        let mut duals = Vec::with_capacity(n);
        for classifier in 0..n {
            let name = format!("classifier-{classifier}");
            let earlier =
                fit.checkpoint.and_then(|checkpoint| load_dual(checkpoint, &name, self.rows.len()));
            let mut stopped = false;
            let dual = match (earlier, params.solver) {
                (Some(earlier), _) => earlier,
                #[cfg(feature = "linfa")]
                (None, Solver::Linfa) => {
                    stopped = fit.is_stopped();
                    reference::solve(&self.rows, &self.targets, classifier, params)?
                }
                #[cfg(not(test))]
                (None, _) => return Err(reference::missing()),
                #[cfg(test)]
                (None, _) => smo::solve(
                    &mut kernel,
                    &self.targets,
                    classifier,
                    params.c,
                    params.tolerance,
                    |_| {
                        stopped = fit.is_stopped();
                        !stopped
                    },
                ),
            };
            if let Some(keep) = fit.checkpoint.filter(|_| !stopped) {
                keep.save(&name, &dual_sections(&dual));
            }
            let vectors = dual.weights.iter().filter(|&&weight| weight != 0.0).count();
            duals.push(dual);
            let text = format!("classifier {} of {n}: {vectors} support vectors", classifier + 1);
            fit.step((classifier + 1) as f64 / n as f64, &text);
        }
        let Self { rows, classifiers, n_classes, .. } = self;
        let indicators = &self.svm.indicators;
        Ok(Box::new(VectorModel::new(
            indicators,
            params.degree,
            rows,
            classifiers,
            &duals,
            *n_classes,
        )))
    }
}

/// The name of the checkpoint of the classifiers from `first` on.
fn block_name(first: usize) -> String {
    format!("classifiers-{first}")
}

fn epoch_line(task: &BinaryProblem<'_>, Epoch { epoch, active, change }: Epoch) -> String {
    let (first, last) = (task.first + 1, task.first + task.classifiers);
    format!(
        "classifiers {first} to {last}, pass {epoch}: {active} rows, margins changed by up to {change:.3}"
    )
}

/// The log line at the end of a block, which reports whether it converged.
fn end_line(task: &BinaryProblem<'_>, solution: &Solution) -> String {
    let (first, last) = (task.first + 1, task.first + task.classifiers);
    let outcome = if solution.solved { "converged" } else { "stopped before it converged" };
    format!("classifiers {first} to {last}: {outcome}")
}

fn solution_sections(solution: &Solution) -> Sections {
    let mut sections = Sections::default();
    sections.put("ends", solution.ends.clone().into());
    sections.put(
        "classifiers",
        solution.entries.iter().map(|entry| entry.0).collect::<Vec<_>>().into(),
    );
    sections
        .put("weights", solution.entries.iter().map(|entry| entry.1).collect::<Vec<_>>().into());
    sections
}

/// A block from the checkpoint, if it is valid.
fn load_solution(
    checkpoint: &dyn Checkpoint,
    name: &str,
    n_places: usize,
    n_classifiers: usize,
) -> Option<Solution> {
    let sections = checkpoint.load(name)?;
    let ends: Array<u32> = sections.get("ends").ok()?;
    let classifiers: Array<u16> = sections.get("classifiers").ok()?;
    let weights: Array<f32> = sections.get("weights").ok()?;
    let whole = ends.len() == n_places
        && ends.is_sorted()
        && ends.last().copied().unwrap_or(0) as usize == classifiers.len()
        && classifiers.len() == weights.len()
        && classifiers.iter().all(|&classifier| usize::from(classifier) < n_classifiers);
    let entries = classifiers.iter().copied().zip(weights.iter().copied()).collect();
    whole.then(|| Solution { ends: ends.to_vec(), entries, solved: true })
}

#[cfg(any(test, feature = "linfa"))]
fn dual_sections(dual: &Dual) -> Sections {
    let bits = |value: f64| value.to_bits();
    let mut sections = Sections::default();
    sections
        .put("weights", dual.weights.iter().map(|&weight| bits(weight)).collect::<Vec<_>>().into());
    sections.put("bias", vec![bits(dual.bias)].into());
    sections
}

#[cfg(any(test, feature = "linfa"))]
/// A classifier from the checkpoint, if it is valid.
fn load_dual(checkpoint: &dyn Checkpoint, name: &str, n_rows: usize) -> Option<Dual> {
    let sections = checkpoint.load(name)?;
    let weights: Array<u64> = sections.get("weights").ok()?;
    let bias: Array<u64> = sections.get("bias").ok()?;
    let &[bias] = &*bias else { return None };
    let weights: Vec<f64> = weights.iter().map(|&bits| f64::from_bits(bits)).collect();
    (weights.len() == n_rows).then(|| Dual { weights, bias: f64::from_bits(bias) })
}

#[cfg(test)]
mod tests;
