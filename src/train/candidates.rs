//! Training on candidates, for item systems: an ensemble of boosted decision trees for each label, truncated at a
//! common threshold (Turian and Melamed 2005, section 2).

use super::candidate_rows::{CandidateCounts, Sampling, collect};
use super::session::dev_line;
use super::{Session, Trained};
use crate::classifier::Classifier;
use crate::classifier::boosting::{BoostingParams, Ensemble, Ensembles, fit_labels};
use crate::error::{Error, Result, did_you_mean};
use crate::feature::Extractor;
use crate::memory::Sections;
use crate::model::DevScores;
use crate::observer::Event;
use crate::scorer::{Components, Focused};
use crate::transition::TransitionSystem;

/// The factor between consecutive thresholds.
const THRESHOLD_FACTOR: f64 = std::f64::consts::SQRT_2;
/// Calibration stops once F1 trails the best by more than this, in percentage points.
const MAX_LOSS: f64 = 10.0;
/// Longer sentences are noted; the system was published for sentences of up to 15 words.
const LONG_SENTENCE: usize = 100;

/// Trains boosted decision trees.
///
/// # Errors
/// When the data do not suit them, or training was stopped before anything was learned.
pub fn train(params: &BoostingParams, session: &Session<'_>) -> Result<Trained> {
    Run { session, params, names: names(session.components.system) }.train()
}

/// The names of the labels, by index.
fn names(system: &dyn TransitionSystem) -> Vec<String> {
    system.labels().names().map(str::to_owned).collect()
}

struct Run<'a> {
    session: &'a Session<'a>,
    params: &'a BoostingParams,
    names: Vec<String>,
}

impl Run<'_> {
    /// Trains the ensembles of all labels, or of the requested ones, and selects the threshold at which they are
    /// truncated.
    fn train(&self) -> Result<Trained> {
        let session = self.session;
        self.check_labels()?;
        let mut ensembles = self.merged()?;
        let is_wanted = |name: &str| {
            let labels = self.session.labels;
            (labels.is_empty() || labels.iter().any(|label| label == name)) && !self.is_merged(name)
        };
        let names = self.names.iter().map(String::as_str);
        let wanted: Vec<Option<&str>> = names.map(|name| is_wanted(name).then_some(name)).collect();
        if wanted.iter().any(Option::is_some) {
            let fitted = self.fit_labels(&wanted)?;
            for (label, ensemble) in ensembles.iter_mut().zip(fitted) {
                *label = ensemble.or(label.take());
            }
        }
        let templates = session.components.templates;
        let all = Ensembles::new(&templates.columns(), ensembles);
        let labels = self.labels_trained();
        let (threshold, dev) = match self.params.threshold {
            0.0 if labels.is_empty() => self.calibrate(&all),
            threshold => (threshold, None),
        };
        session.log_dev(&format!("threshold {threshold:.4}: "), dev.as_ref());
        let mut sections = Sections::default();
        all.store(&mut sections);
        Ok(Trained { sections, epoch: 0, dev, threshold: Some(threshold), labels })
    }

    /// The labels that the model has ensembles of; empty if it has all.
    fn labels_trained(&self) -> Vec<String> {
        let labels = self.session.labels;
        let is_there = |name: &&String| labels.contains(name) || self.is_merged(name);
        let there: Vec<String> = self.names.iter().filter(is_there).cloned().collect();
        if labels.is_empty() || there.len() == self.names.len() { Vec::new() } else { there }
    }

    /// Whether a merged model has the ensemble of a label. Models with all labels list none.
    fn is_merged(&self, name: &str) -> bool {
        let mut labels = self.session.merge.iter().map(|model| &model.header.training.labels);
        labels.any(|labels| labels.is_empty() || labels.iter().any(|label| label == name))
    }

    fn check_labels(&self) -> Result<()> {
        let Some(wrong) = self.session.labels.iter().find(|label| !self.names.contains(label))
        else {
            return Ok(());
        };
        let hint = did_you_mean(wrong, self.names.iter().map(String::as_str));
        let known = self.names.join(", ");
        let problem =
            format!("unknown label `{wrong}`: {hint}the labels of the training trees are {known}");
        Err(Error::config("labels", problem))
    }

    /// The ensembles of the merged models, by label.
    fn merged(&self) -> Result<Vec<Option<Ensemble>>> {
        let columns = self.session.components.templates.columns();
        let mut all = vec![None; self.names.len()];
        for model in self.session.merge {
            let ensembles = Ensembles::load(&columns, &model.sections)?;
            for (label, ensemble) in all.iter_mut().zip(ensembles.labels()) {
                *label = label.take().or_else(|| ensemble.clone());
            }
        }
        Ok(all)
    }

    fn fit_labels(&self, wanted: &[Option<&str>]) -> Result<Vec<Option<Ensemble>>> {
        let Self { session, params, .. } = self;
        let Components { system, templates, .. } = session.components;
        let observer = session.observer;
        let longest = session.examples.iter().map(|example| example.sentence.len()).max();
        if let Some(n) = longest.filter(|&n| n > LONG_SENTENCE) {
            observer.event(Event::Note(&format!(
                "a training sentence has {n} words; time and memory grow with the square of its length: \
                 max_words={LONG_SENTENCE} leaves longer ones out"
            )));
        }
        let sampling = Sampling { seed: session.seed, negative_sampling: params.negative_sampling };
        let n_classes = wanted.len();
        let (candidates, counts) =
            collect(system, session.examples, templates, n_classes, sampling, observer)?;
        session.log(&candidates_line(&counts, params.negative_sampling, candidates.n_rows()));
        let (design, labelled) = candidates.finish(params.min_count);
        session.log(&design.summary());
        let checkpoint = session.checkpoint(|| session.examples_fingerprint())?;
        let fit = session.fit(checkpoint.as_ref());
        let fitted = fit_labels(&design, &labelled, wanted, params, &fit)?;
        for (name, ensemble) in wanted.iter().zip(&fitted) {
            let Some(name) = name else { continue };
            session.log(&match ensemble {
                Some(all) => format!("{name}: {} trees, {} splits", all.n_trees(), all.n_splits()),
                None => format!("{name}: no trees, so it is never chosen"),
            });
        }
        Ok(fitted)
    }

    /// Selects the threshold with the best F1 on the dev set; ties go to the larger threshold. Thresholds are tried
    /// until F1 falls far behind. Without a dev set, returns the lowest threshold that all labels have reached if
    /// they differ, else 0.
    fn calibrate(&self, all: &Ensembles) -> (f64, Option<DevScores>) {
        let session = self.session;
        let templates = session.components.templates;
        let mut best: (f64, Option<DevScores>) = (0.0, None);
        let thresholds =
            if session.dev.is_empty() { Vec::new() } else { all.thresholds(THRESHOLD_FACTOR) };
        for &threshold in thresholds.iter().rev() {
            if session.observer.is_stopped() {
                break;
            }
            let part = all.truncated(threshold);
            let splits = part.n_splits();
            let part: Box<dyn Classifier> = Box::new(part);
            let scorer = Focused::new(Extractor::new(templates), part);
            let Some(dev) = session.score_dev(&scorer) else { break };
            session.log(&format!("threshold {threshold:.4}, {splits} splits: {}", dev_line(&dev)));
            let lead = best.1.as_ref().map_or(0.0, |best| best.f1 - dev.f1);
            if lead > MAX_LOSS {
                break;
            }
            if lead <= 0.0 {
                best = (threshold, Some(dev));
            }
        }
        if best.1.is_none() && all.is_uneven() {
            best.0 = all.reached();
            session.log(&format!(
                "the labels are trained to different thresholds; all are truncated at {:.4}",
                best.0
            ));
        }
        best
    }
}

fn candidates_line(counts: &CandidateCounts, negative_sampling: u32, n_distinct: usize) -> String {
    let CandidateCounts { states, candidates, right, rows, kept } = counts;
    let sampled = match negative_sampling {
        1 => String::new(),
        _ => format!(
            ", {kept} of them sampled: one in {negative_sampling} of those that are wrong for every label, with a \
             weight of {negative_sampling}"
        ),
    };
    format!(
        "{candidates} candidates in {states} configurations, {right} correct; {rows} rows{sampled}, {n_distinct} \
         distinct"
    )
}
