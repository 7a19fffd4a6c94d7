//! One-vs-rest classifiers by `linfa-svm`, with which the other solvers are compared on small training
//! sets.
//!
//! It takes dense rows and computes the whole kernel matrix again for every classifier. Its shrinking is
//! never used: with it the models are wrong.

#[cfg(feature = "linfa")]
use {
    super::SvmParams,
    super::rows::Targets,
    super::vectors::Dual,
    linfa::traits::Fit as _,
    linfa::{DatasetBase, ParamGuard as _},
    linfa_svm::Svm,
    ndarray::{Array1, Array2},
};

use super::rows::Rows;
use crate::{Error, Result};

/// Maximum number of training instances: time and memory are quadratic in it.
pub const MAX_INSTANCES: usize = 4_000;
/// Maximum size of the dense rows.
pub const MAX_CELLS: usize = 100_000_000;

/// Rejects training sets that are too large, and all of them in a build without `linfa-svm`.
///
/// # Errors
/// The message has the size, and what to do.
pub fn check(instances: usize, rows: &Rows) -> Result<()> {
    if !cfg!(feature = "linfa") {
        return Err(missing());
    }
    let cells = instances * rows.ids.len();
    if instances <= MAX_INSTANCES && cells <= MAX_CELLS {
        return Ok(());
    }
    let problem = format!(
        "`linfa` is a reference for at most {MAX_INSTANCES} instances and {MAX_CELLS} instances × indicators; \
         here are {instances} and {cells}: use `map`"
    );
    Err(Error::config("learner.solver", problem))
}

/// The error of a build without `linfa-svm`.
pub(super) fn missing() -> Error {
    let problem = "`linfa` is not part of this build: use `map`, or install the program with \
                   `cargo install --features linfa`";
    Error::config("learner.solver", problem)
}

/// Solves a classifier.
///
/// # Errors
/// When linfa-svm fails.
#[cfg(feature = "linfa")]
pub fn solve(
    rows: &Rows,
    targets: &Targets,
    classifier: usize,
    params: &SvmParams,
) -> Result<Dual> {
    let (mut owners, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows.len() {
        let positive =
            targets.positive(row).iter().find(|(other, _)| usize::from(*other) == classifier);
        let (positive, total) =
            (positive.map_or(0, |&(_, count)| count as usize), targets.total(row) as usize);
        owners.extend(std::iter::repeat_n(row, total));
        labels.extend((0..total).map(|copy| copy < positive));
    }
    let mut records = Array2::<f64>::zeros((owners.len(), rows.ids.len()));
    for (mut record, &row) in records.rows_mut().into_iter().zip(&owners) {
        for &item in rows.row(row) {
            record[item as usize] = 1.0;
        }
    }
    let failed = |error: linfa_svm::SvmError| Error::Unfit(format!("linfa-svm: {error}"));
    let solver = Svm::<f64, bool>::params()
        .pos_neg_weights(params.c, params.c)
        .eps(params.tolerance)
        .shrinking(false)
        .polynomial_kernel(1.0, f64::from(params.degree))
        .check()
        .map_err(failed)?;
    let fitted = solver.fit(&DatasetBase::new(records, Array1::from(labels))).map_err(failed)?;
    let mut weights = vec![0.0; rows.len()];
    for (&row, &alpha) in owners.iter().zip(&fitted.alpha) {
        weights[row] += alpha;
    }
    Ok(Dual { weights, bias: -fitted.rho })
}
