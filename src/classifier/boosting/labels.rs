//! Training of the ensembles, one for each label, in parallel.

use std::sync::Mutex;

use super::candidates::{Example, Labelled};
use super::design::Design;
use super::ensemble::{Ensemble, Growing};
use super::grow::Grower;
use super::{BoostingParams, Fit};
use crate::Result;
use crate::memory::Sections;
use crate::parallel;
use crate::sort::sort_by_key;

/// A partial ensemble is saved whenever this many trees have been added.
const SAVE_EVERY: usize = 50;

/// The training task of a label.
struct LabelTraining<'a> {
    design: &'a Design,
    params: &'a BoostingParams,
    /// The name of its checkpoint.
    name: &'a str,
    fit: &'a Fit<'a>,
}

impl LabelTraining<'_> {
    fn load(&self, name: &str) -> Option<Ensemble> {
        Ensemble::load(&self.fit.checkpoint?.load(name)?).ok()
    }

    fn save(&self, name: &str, ensemble: &Ensemble) {
        let Some(checkpoint) = self.fit.checkpoint else { return };
        let mut sections = Sections::default();
        ensemble.store(&mut sections);
        checkpoint.save(name, &sections);
    }

    /// Grows all trees, or resumes from a checkpoint; reports progress to `progress`. Returns `None` if
    /// training is stopped before the first tree.
    fn run(
        &self,
        examples: &[Example],
        mut progress: impl FnMut(f64, &Ensemble),
    ) -> Result<Option<Ensemble>> {
        if let Some(kept) = self.load(self.name) {
            return Ok(Some(kept));
        }
        let partial = format!("{}.partial", self.name);
        let mut grower = Grower::new(self.design, examples, self.params);
        let kept = self.load(&partial).filter(|kept| grower.resume(kept));
        let mut growing = Growing::from(kept.unwrap_or_default());
        let limit = match self.params.max_splits {
            0 => usize::MAX,
            limit => limit as usize,
        };
        while growing.ensemble.n_splits() < limit {
            if self.fit.is_stopped() {
                return Ok(Some(growing.ensemble).filter(|ensemble| ensemble.n_trees() > 0));
            }
            if !grower.add_tree(&mut growing) {
                growing.end(self.params.min_reduction);
                break;
            }
            if growing.ensemble.n_trees().is_multiple_of(SAVE_EVERY) {
                self.save(&partial, &growing.ensemble);
            }
            progress(self.done(&growing.ensemble), &growing.ensemble);
        }
        self.save(self.name, &growing.ensemble);
        Ok(Some(growing.ensemble))
    }

    /// The estimated share of the work that is done, from 0 to 1: by the logarithm of the threshold.
    fn done(&self, ensemble: &Ensemble) -> f64 {
        let first = ensemble.growth().next().map_or(1.0, |first| first.0);
        let (now, last) = (ensemble.reached(), self.params.min_reduction);
        if first > last { (first / now).ln() / (first / last).ln() } else { 1.0 }
    }
}

fn line(ensemble: &Ensemble) -> String {
    let (trees, splits) = (ensemble.n_trees(), ensemble.n_splits());
    format!("{trees} trees, {splits} splits, loss reduced by {:.3}", ensemble.reached())
}

/// Trains the ensemble of one label; if stopped, returns the trees grown so far. The ensemble is saved
/// regularly, and a resumed training gives the same result.
///
/// # Errors
/// When the settings are invalid, or a checkpoint cannot be written.
pub fn fit_label(
    design: &Design,
    examples: &[Example],
    params: &BoostingParams,
    fit: &Fit<'_>,
) -> Result<Ensemble> {
    let task = LabelTraining { design, params, name: "trees", fit };
    let trees = task.run(examples, |done, ensemble| fit.step(done, &line(ensemble)))?;
    Ok(trees.unwrap_or_default())
}

/// Trains the ensembles of the labels that have a name, several in parallel. The result is `None` for the
/// other labels, for labels that are never correct, and for those without a tree when training is stopped.
/// The result for a label does not depend on which others are trained.
///
/// # Errors
/// As [`fit_label`]; [`crate::Error::Stopped`] when training is stopped before the first tree of any label.
pub fn fit_labels(
    design: &Design,
    labelled: &Labelled,
    names: &[Option<&str>],
    params: &BoostingParams,
    fit: &Fit<'_>,
) -> Result<Vec<Option<Ensemble>>> {
    let mut order: Vec<(usize, &str)> = (0..labelled.n_labels())
        .filter_map(|label| Some((label, (*names.get(label)?)?)))
        .filter(|&(label, _)| labelled.n_gold(label) > 0)
        .collect();
    // Labels with more positive examples take longer. They are started first, to balance the load.
    sort_by_key(&mut order, |&(label, _)| (std::cmp::Reverse(labelled.n_gold(label)), label));
    let shares = Mutex::new(vec![0.0; order.len()]);
    let one = |at: usize| {
        let (label, name) = order[at];
        // Names of labels may differ in case only, or contain characters that file names cannot.
        let kept_as = format!("label{label}");
        let task = LabelTraining { design, params, name: &kept_as, fit };
        let progress = |share: f64, ensemble: &Ensemble| {
            if let Ok(mut shares) = shares.lock() {
                shares[at] = share;
                let done = shares.iter().sum::<f64>() / shares.len() as f64;
                fit.step(done, &format!("{name}: {}", line(ensemble)));
            }
        };
        (label, task.run(&labelled.examples(label), progress))
    };
    let mut ensembles = vec![None; labelled.n_labels()];
    for (label, result) in parallel::map_owned(0..order.len(), one) {
        ensembles[label] = result?;
    }
    if ensembles.iter().all(Option::is_none) {
        fit.unless_stopped()?;
    }
    Ok(ensembles)
}
