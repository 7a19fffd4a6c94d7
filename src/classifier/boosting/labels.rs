//! Training: the trees of one label, and of all labels side by side.

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

/// How many trees are grown between two times that they are kept.
const KEEP_EVERY: usize = 50;

/// What one label's training shares with that of the others.
struct Task<'a> {
    design: &'a Design,
    params: &'a BoostingParams,
    /// What it is called where its trees are kept.
    name: &'a str,
    fit: &'a Fit<'a>,
}

impl Task<'_> {
    fn load(&self, name: &str) -> Option<Ensemble> {
        Ensemble::load(&self.fit.checkpoint?.load(name)?).ok()
    }

    fn save(&self, name: &str, ensemble: &Ensemble) {
        let Some(checkpoint) = self.fit.checkpoint else { return };
        let mut sections = Sections::default();
        ensemble.store(&mut sections);
        checkpoint.save(name, &sections);
    }

    /// Grows all trees, or takes up what was kept of them; `tell` is told how far it is. None if it is
    /// stopped before the first tree.
    fn run(
        &self,
        examples: &[Example],
        mut tell: impl FnMut(f64, &Ensemble),
    ) -> Result<Option<Ensemble>> {
        if let Some(kept) = self.load(self.name) {
            return Ok(Some(kept));
        }
        let partial = format!("{}.partial", self.name);
        let mut grower = Grower::new(self.design, examples, self.params);
        let kept = self.load(&partial).filter(|kept| grower.take_up(kept));
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
            if growing.ensemble.n_trees().is_multiple_of(KEEP_EVERY) {
                self.save(&partial, &growing.ensemble);
            }
            tell(self.done(&growing.ensemble), &growing.ensemble);
        }
        self.save(self.name, &growing.ensemble);
        Ok(Some(growing.ensemble))
    }

    /// About how much of the work is done, 0 to 1: how far the threshold has fallen, by factors.
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

/// Trains the trees of one label. When stopped it gives those that there are. Trees are kept now and then,
/// and taken up again: the result is the same as without a break.
///
/// # Errors
/// When the settings make no sense, or trees cannot be kept.
pub fn fit_label(
    design: &Design,
    examples: &[Example],
    params: &BoostingParams,
    fit: &Fit<'_>,
) -> Result<Ensemble> {
    let task = Task { design, params, name: "trees", fit };
    let trees = task.run(examples, |done, ensemble| fit.step(done, &line(ensemble)))?;
    Ok(trees.unwrap_or_default())
}

/// Trains the trees of the labels that have a name, several at a time; none for the others, for those that
/// are never right, and for those that have no tree yet when training is stopped. The result of a label does
/// not depend on which others are trained.
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
    // Labels with more to learn take longer: they come first, so that none is left over at the end.
    sort_by_key(&mut order, |&(label, _)| (std::cmp::Reverse(labelled.n_gold(label)), label));
    let shares = Mutex::new(vec![0.0; order.len()]);
    let one = |at: usize| {
        let (label, name) = order[at];
        // Names of labels may differ in case only, or in what file names cannot hold.
        let kept_as = format!("label{label}");
        let task = Task { design, params, name: &kept_as, fit };
        let tell = |share: f64, ensemble: &Ensemble| {
            if let Ok(mut shares) = shares.lock() {
                shares[at] = share;
                let done = shares.iter().sum::<f64>() / shares.len() as f64;
                fit.step(done, &format!("{name}: {}", line(ensemble)));
            }
        };
        (label, task.run(&labelled.examples(label), tell))
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
