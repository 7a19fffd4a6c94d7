//! Boosted trees for each label: from candidates to a model whose labels are calibrated to one threshold.

use std::ops::ControlFlow;

use super::checkpoint::fingerprint;
use super::fit::{Run, Trained, dev_line};
use super::registry::stored;
use crate::classifier::boosting::{BoostingParams, Ensemble, Ensembles, fit_labels};
use crate::classifier::{Checkpoint, Fit};
use crate::error::{Error, Result, did_you_mean};
use crate::feature::Extractor;
use crate::memory::Sections;
use crate::model::{DevScores, Model, TrainingSummary, bincode_section};
use crate::observer::Event;
use crate::oracle::Supervised;
use crate::oracle::replay::Replay;
use crate::scorer::Focused;
use crate::train::Example;
use crate::train::candidates::{Drawing, Drawn, draw};
use crate::transition::TransitionSystem;

/// Of two thresholds that are tried one after the other, the larger is so many times the smaller.
const BETWEEN_THRESHOLDS: f64 = std::f64::consts::SQRT_2;
/// By how much F1, in percent, trees get worse before no larger threshold is tried.
const MUCH_WORSE: f64 = 10.0;

impl Run<'_, '_> {
    /// Trains the trees of all labels, or of those that are asked for, and chooses how many of them are used;
    /// gives the threshold that does.
    pub(super) fn boosting<S: Supervised>(
        &mut self,
        system: &S,
        examples: &[Example],
        params: &BoostingParams,
        summary: &TrainingSummary,
    ) -> Result<(Trained<Focused<Ensembles>>, f64)> {
        let names: Vec<String> = TransitionSystem::labels(system).map(str::to_owned).collect();
        let mut ensembles = self.merged(system, &names, summary)?;
        let is_wanted = |name: &String| {
            let labels = self.watch.labels;
            (labels.is_empty() || labels.contains(name)) && !self.is_merged(name)
        };
        let wanted: Vec<Option<&str>> =
            names.iter().map(|name| is_wanted(name).then_some(name.as_str())).collect();
        self.check_labels(&names)?;
        if wanted.iter().any(Option::is_some) {
            let fitted = self.fit_labels(system, examples, params, &wanted)?;
            for (label, ensemble) in ensembles.iter_mut().zip(fitted) {
                *label = ensemble.or(label.take());
            }
        }
        let ensembles = Ensembles::new(&self.plan.templates.columns(), ensembles);
        let scorer = Focused::new(Extractor::new(&self.plan.templates), ensembles);
        let is_whole = self.labels_trained(system).is_empty();
        let (threshold, dev) = match params.threshold {
            0.0 if is_whole => self.calibrate(system, &scorer),
            threshold => (threshold, None),
        };
        if let Some(dev) = &dev {
            self.tell(&format!("threshold {threshold:.4}: {}", dev_line(dev)));
        }
        Ok((Trained { scorer, epoch: 0, dev }, threshold))
    }

    /// The labels that the model has trees of, if some are left to be trained.
    pub(super) fn labels_trained<S: Supervised>(&self, system: &S) -> Vec<String> {
        let names: Vec<String> = TransitionSystem::labels(system).map(str::to_owned).collect();
        let is_there = |name: &&String| self.watch.labels.contains(name) || self.is_merged(name);
        let there: Vec<String> = names.iter().filter(is_there).cloned().collect();
        if self.watch.labels.is_empty() || there.len() == names.len() { Vec::new() } else { there }
    }

    /// Whether the trees of a label are in a model that is merged; one of all labels names none.
    fn is_merged(&self, name: &str) -> bool {
        let mut labels = self.watch.merge.iter().map(|model| &model.header.training.labels);
        labels.any(|labels| labels.is_empty() || labels.iter().any(|label| label == name))
    }

    fn check_labels(&self, names: &[String]) -> Result<()> {
        let known = || names.iter().map(String::as_str);
        let Some(wrong) = self.watch.labels.iter().find(|label| !names.contains(label)) else {
            return Ok(());
        };
        let hint = did_you_mean(wrong, known());
        let known = known().collect::<Vec<_>>().join(", ");
        Err(Error::config(
            "labels",
            format!("unknown label `{wrong}`: {hint}the labels of the training trees are {known}"),
        ))
    }

    /// The trees of the labels that the models to be merged have.
    fn merged<S: Supervised>(
        &self,
        system: &S,
        names: &[String],
        summary: &TrainingSummary,
    ) -> Result<Vec<Option<Ensemble>>> {
        let mut all = vec![None; names.len()];
        for (model, number) in self.watch.merge.iter().zip(1..) {
            if let Some(difference) = self.difference(model, system, summary)? {
                let problem = format!(
                    "model {number} was trained with a different {difference}: train all models by the same command, \
                     except for the labels"
                );
                return Err(Error::config("merge", problem));
            }
            let ensembles = Ensembles::load(&self.plan.templates.columns(), &model.sections)?;
            for (label, ensemble) in all.iter_mut().zip(ensembles.labels()) {
                *label = label.take().or_else(|| ensemble.clone());
            }
        }
        Ok(all)
    }

    /// In what a model's training differs from this one.
    fn difference<S: Supervised>(
        &self,
        model: &Model,
        system: &S,
        summary: &TrainingSummary,
    ) -> Result<Option<&'static str>> {
        let (plan, other) = (self.plan, &model.header);
        let counts = |of: &TrainingSummary| (of.trees, of.words, of.decisions);
        let mut vocabulary = Sections::default();
        bincode_section::put(&mut vocabulary, "vocabulary", &self.vocabulary)?;
        let preset = serde_json::from_value(other.preset.clone());
        let same = preset.is_ok_and(|other: super::Preset| {
            (&other.learner.uncalibrated(), &other.clean, other.max_words)
                == (&plan.preset.learner.uncalibrated(), &plan.preset.clean, plan.preset.max_words)
        });
        let checks = [
            ("version of the program", other.tool_version == env!("CARGO_PKG_VERSION")),
            ("seed", other.seed == self.seed),
            ("treebank or system", other.system == stored(system)),
            ("template file", other.templates == plan.templates.text()),
            ("head table", other.heads == plan.heads_text()),
            ("preset", same),
            ("treebank", counts(&other.training) == counts(summary)),
            (
                "vocabulary",
                *vocabulary.get::<u8>("vocabulary")? == *model.sections.get::<u8>("vocabulary")?,
            ),
        ];
        Ok(checks.into_iter().find(|(_, same)| !same).map(|(what, _)| what))
    }

    fn fit_labels<S: Supervised>(
        &mut self,
        system: &S,
        examples: &[Example],
        params: &BoostingParams,
        wanted: &[Option<&str>],
    ) -> Result<Vec<Option<Ensemble>>> {
        let drawing = Drawing { seed: self.seed, negative_sampling: params.negative_sampling };
        let observer = self.watch.observer;
        let total = examples.len() as u64;
        let progress = |done: usize| {
            observer.event(Event::Progress { done: done as u64, total, unit: "sentences" });
            if observer.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let templates = &self.plan.templates;
        let (candidates, drawn) = match system.dynamic_oracle() {
            Some(oracle) => {
                draw(system, &oracle, examples, templates, wanted.len(), drawing, progress)?
            }
            None => draw(system, &Replay, examples, templates, wanted.len(), drawing, progress)?,
        };
        let n_distinct = candidates.n_rows();
        self.tell(&candidates_line(&drawn, params.negative_sampling, n_distinct));
        let (design, labelled) = candidates.finish(params.min_count);
        self.tell(&design.summary());
        let choice = self.plan.preset.learner.uncalibrated();
        let checkpoint = self.checkpoint(system, &choice, || fingerprint(examples))?;
        let fit = Fit {
            seed: self.seed,
            observer: self.watch.observer,
            checkpoint: checkpoint.as_ref().map(|folder| folder as &dyn Checkpoint),
        };
        let fitted = fit_labels(&design, &labelled, wanted, params, &fit)?;
        for (name, ensemble) in wanted.iter().zip(&fitted) {
            let Some(name) = name else { continue };
            self.tell(&match ensemble {
                Some(all) => format!("{name}: {} trees, {} splits", all.n_trees(), all.n_splits()),
                None => format!("{name}: no trees, so it is never chosen"),
            });
        }
        Ok(fitted)
    }

    /// Tries thresholds on the development trees, from the least on, until trees get much worse: with a few
    /// splits everything looks right, and parsing takes long. Gives the best, the larger of equals. Without
    /// development trees it is the least at which all labels compare, where they differ.
    fn calibrate<S: Supervised>(
        &mut self,
        system: &S,
        scorer: &Focused<Ensembles>,
    ) -> (f64, Option<DevScores>) {
        let all = scorer.classifier();
        let mut best: (f64, Option<DevScores>) = (0.0, None);
        let thresholds =
            if self.dev.trees.is_empty() { Vec::new() } else { all.thresholds(BETWEEN_THRESHOLDS) };
        for &threshold in thresholds.iter().rev() {
            if self.watch.observer.is_stopped() {
                break;
            }
            let part = scorer.with_classifier(all.truncated(threshold));
            let splits = part.classifier().n_splits();
            let (_, Some(dev)) = self.score_dev(system, part) else { break };
            self.tell(&format!("threshold {threshold:.4}, {splits} splits: {}", dev_line(&dev)));
            let lead = best.1.as_ref().map_or(0.0, |best| best.f1 - dev.f1);
            if lead > MUCH_WORSE {
                break;
            }
            if lead <= 0.0 {
                best = (threshold, Some(dev));
            }
        }
        if best.1.is_none() && all.is_uneven() {
            best.0 = all.reached();
            self.tell(&format!(
                "not all labels are trained to the same threshold: those trees are used that all have, from \
                 {:.4} on",
                best.0
            ));
        }
        best
    }
}

fn candidates_line(drawn: &Drawn, negative_sampling: u32, n_distinct: usize) -> String {
    let Drawn { states, candidates, right, rows, kept } = drawn;
    let sampled = match negative_sampling {
        1 => String::new(),
        _ => format!(
            ", {kept} of them kept: of {negative_sampling} wrong for every label one, which counts {negative_sampling} times"
        ),
    };
    format!(
        "{candidates} candidates in {states} states, {right} right; {rows} rows{sampled}, {n_distinct} distinct"
    )
}
