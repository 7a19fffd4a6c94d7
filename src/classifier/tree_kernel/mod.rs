//! Support vector machines with a convolution kernel over trees, one-vs-rest: Collins and Duffy (2001), *Convolution
//! Kernels for Natural Language*, which Sagae and Lavie (2005) name as future work.
//!
//! The tree kernel counts the common subtrees of two trees, where a subtree has all children of a node or none of
//! them. A subtree with *k* productions counts λᵏ. The tree of a row is its tree column
//! ([`crate::feature::extract::tree`]), whose root has the same production in all rows: the kernel multiplies over
//! positions, so it counts what several positions have in common at once.
//!
//! The kernel of two rows is s·T + (1 − s)·P: T is the tree kernel, P the polynomial kernel (1 + x·y)^d over the
//! indicators of the templates without the tree; both are normalized, K(x, y) / √(K(x, x)·K(y, y)).
//!
//! Training computes the whole kernel matrix, 4·n² bytes for n instances, and solves each classifier by sequential
//! minimal optimization ([`super::svm::smo`]). Scores are margins.

pub mod kernel;
pub mod model;

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::linear::check_classes;
use super::svm::rows::{BinaryClassifiers, Targets};
use super::svm::smo;
use super::svm::vectors::Dual;
use super::{Classifier, Fit, Instances, Learner, LearnerParams, Parts};
use crate::feature::{Column, ColumnKind, Indicators};
use crate::memory::Sections;
use crate::parallel;
use crate::{Error, Result};
use kernel::Examples;
use model::{KernelModel, Vectors};

/// The settings of SVMs with a tree kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TreeKernelParams {
    /// The decay λ: how much a common subtree counts, for each of its productions.
    #[schemars(range(min = 1e-6, max = 1.0))]
    pub decay: f64,
    /// The share s of the tree kernel; the rest is that of the polynomial kernel over all other templates. With 1 there
    /// are trees only, with 0 only the others.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub tree_share: f64,
    /// The degree d of the polynomial kernel (1 + x·y)^d.
    #[schemars(range(min = 1, max = 16))]
    pub degree: u32,
    /// The cost C of an instance on the wrong side, the upper bound of its dual variable; the kernel is normalized.
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub c: f64,
    /// The largest violation of optimality by two variables at which a classifier has converged.
    #[schemars(range(min = 1e-9, max = 100.0))]
    pub tolerance: f64,
    /// Maximum number of instances; the first ones are used. The kernel matrix of 20,000 takes 1.6 GB.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_instances: u32,
}

impl Default for TreeKernelParams {
    fn default() -> Self {
        Self {
            decay: 0.3,
            tree_share: 0.5,
            degree: 2,
            c: 10.0,
            tolerance: 0.01,
            max_instances: 20_000,
        }
    }
}

impl TreeKernelParams {
    /// Checks the settings for these columns.
    ///
    /// # Errors
    /// The key is relative to these settings.
    pub fn check(&self, columns: &[Column]) -> Result<()> {
        let n_trees = columns.iter().filter(|column| column.kind == ColumnKind::Tree).count();
        let problem = if n_trees > 1 {
            "the templates have several trees: keep one"
        } else if n_trees == 0 && self.tree_share > 0.0 {
            "the templates have no tree: add a line such as tree(3), or set it to 0"
        } else if n_trees == columns.len() && self.tree_share < 1.0 {
            "the templates have nothing besides a tree: set it to 1"
        } else {
            return Ok(());
        };
        Err(Error::config("tree_share", problem))
    }
}

/// Learns SVMs with a tree kernel.
#[derive(Debug, Clone)]
pub struct TreeKernel {
    /// The settings.
    pub params: TreeKernelParams,
    /// The columns of every row; none is a set, at most one is a tree.
    pub columns: Vec<Column>,
    /// The indicators of all other templates.
    pub indicators: Indicators,
}

impl LearnerParams for TreeKernelParams {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        self.check(&parts.columns)?;
        Ok(Box::new(TreeKernel {
            params: self.clone(),
            columns: parts.columns.clone(),
            indicators: parts.indicators.clone(),
        }))
    }
}

impl Learner for TreeKernel {
    fn takes_trees(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        self.params.check(&self.columns)?;
        if self.columns.iter().any(|column| column.kind == ColumnKind::Set) {
            let problem = "a tree kernel cannot take set columns: drop `.kids`";
            return Err(Error::config("features", problem));
        }
        check_classes(instances.n_classes())?;
        fit.unless_stopped()?;
        let n = instances.len().min(self.params.max_instances as usize);
        if n < instances.len() {
            fit.log(&format!("the first {n} of {} instances (max_instances)", instances.len()));
        }
        let class = |at: usize| (at < n).then(|| instances.class(at));
        let instances = instances.select(class, instances.n_classes());
        let rows = self.rows(&instances);
        let matrix = self.matrix(&rows.examples, fit)?;
        let classifiers = BinaryClassifiers::of(&instances);
        let duals = self.solve(&instances, &classifiers, &matrix, fit)?;
        let vectors = rows.with_weights(&duals, &self.params);
        Ok(Box::new(KernelModel::new(self, vectors, &classifiers, &duals, instances.n_classes())))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        self.params.check(&self.columns)?;
        Ok(Box::new(KernelModel::load(self, sections)?))
    }
}

impl TreeKernel {
    /// The position of the tree, if the kernel uses it.
    fn tree_column(&self) -> Option<usize> {
        let at = self.columns.iter().position(|column| column.kind == ColumnKind::Tree);
        at.filter(|_| self.params.tree_share > 0.0)
    }

    fn rows(&self, instances: &Instances) -> Vectors {
        let mut rows = Vectors::default();
        let mut ids = Vec::new();
        for at in 0..instances.len() {
            let row = instances.row(at);
            self.indicators.ids(row, &mut ids);
            ids.sort_unstable();
            ids.dedup();
            let tree = self.tree_column().map_or(&[][..], |column| row.set(column));
            rows.push(tree, &ids, &self.params);
        }
        rows
    }

    /// The kernel matrix.
    fn matrix(&self, rows: &Examples, fit: &Fit<'_>) -> Result<Matrix> {
        let n = rows.len();
        let mut values = vec![0.0f32; n * n];
        let done = AtomicUsize::new(0);
        parallel::for_each(values.chunks_mut(n.max(1)).enumerate().rev(), |(at, row)| {
            if fit.is_stopped() {
                return;
            }
            for (other, value) in row[..=at].iter_mut().enumerate() {
                *value = rows.kernel(at, (rows, other), &self.params) as f32;
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(1_000) {
                fit.step(
                    0.5 * done as f64 / n as f64,
                    &format!("kernel matrix: {done} of {n} rows"),
                );
            }
        });
        fit.unless_stopped()?;
        for at in 0..n {
            for other in at + 1..n {
                values[at * n + other] = values[other * n + at];
            }
        }
        Ok(Matrix { n, values })
    }

    fn solve(
        &self,
        instances: &Instances,
        classifiers: &BinaryClassifiers,
        matrix: &Matrix,
        fit: &Fit<'_>,
    ) -> Result<Vec<Dual>> {
        let targets = Targets::of_instances(instances, classifiers);
        let (n, done) = (classifiers.len(), AtomicUsize::new(0));
        let TreeKernelParams { c, tolerance, .. } = self.params;
        let duals = parallel::try_map_range(n, |classifier| {
            fit.unless_stopped()?;
            let go_on = |_| !fit.is_stopped();
            let dual = smo::solve(&mut &*matrix, &targets, classifier, c, tolerance, go_on);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            let vectors = dual.weights.iter().filter(|&&weight| weight != 0.0).count();
            let text = format!("classifier {} of {n}: {vectors} support vectors", classifier + 1);
            fit.step(0.5 + 0.5 * done as f64 / n as f64, &text);
            Ok(dual)
        })?;
        fit.unless_stopped()?;
        Ok(duals)
    }
}

/// A kernel matrix in memory.
struct Matrix {
    n: usize,
    values: Vec<f32>,
}

impl smo::Kernel for &Matrix {
    fn value(&self, row: usize, other: usize) -> f64 {
        self.values[row * self.n + other].into()
    }

    fn norm(&self, row: usize) -> f64 {
        self.value(row, row)
    }
}

#[cfg(test)]
mod tests;
