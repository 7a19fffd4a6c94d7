//! Perceptrons that learn while parsing, epoch by epoch: on the way of a single path, or from whole
//! derivations; one model, or several whose weights are added.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::fit::{Run, Trained, dev_line, epoch_scores};
use super::learner::{OnlineParams, StructuredParams};
use crate::classifier::linear::Pruning;
use crate::error::{Error, Result};
use crate::observer::{EpochScores, Event};
use crate::oracle::Supervised;
use crate::oracle::replay::Replay;
use crate::parallel;
use crate::scorer::OnlinePerceptron;
use crate::scorer::factored::Classes;
use crate::train::Example;
use crate::train::online::{EpochReport, Online};
use crate::train::structured::Structured;

/// How much online training there is.
#[derive(Debug, Clone, Copy)]
struct Extent {
    epochs: u32,
    models: u32,
    sentences: usize,
}

impl Extent {
    fn progress(self, done: u64) -> Event<'static> {
        let total = u64::from(self.epochs) * u64::from(self.models) * self.sentences as u64;
        Event::Progress { done, total, unit: "sentences" }
    }
}

pub(super) fn no_dynamic_oracle() -> Error {
    let problem = "the system has no dynamic oracle: set learner.exploration.probability=0 and \
                   learner.exploration.margin=0";
    Error::config("learner.exploration.probability", problem)
}

/// Told how many sentences have been seen.
type Progress<'a> = &'a mut dyn FnMut(u64);
/// Called with what an epoch has learned.
type EachEpoch<'a> = &'a mut dyn FnMut(&OnlinePerceptron, EpochReport) -> Result<ControlFlow<()>>;
/// Trains a perceptron with a seed.
type Learn<'a> = &'a (dyn Fn(u64, Progress<'_>, EachEpoch<'_>) -> Result<OnlinePerceptron> + Sync);

impl Run<'_, '_> {
    pub(super) fn online<S: Supervised>(
        &mut self,
        system: &S,
        examples: &[Example],
        classes: &Classes,
        params: OnlineParams,
    ) -> Result<Trained> {
        let OnlineParams { epochs, models, coarse_to_fine, exploration, ref prune } = params;
        let templates = &self.plan.templates;
        let stop = || self.watch.observer.is_stopped();
        let learn = |seed, progress: Progress<'_>, each_epoch: EachEpoch<'_>| {
            let mut learner =
                OnlinePerceptron::untrained(templates, classes.clone(), coarse_to_fine);
            let mut online = Online { epochs, seed, progress, stop: &stop };
            match system.dynamic_oracle().filter(|_| exploration.explores()) {
                Some(oracle) => {
                    let learner = &mut learner;
                    online.exploring(
                        system,
                        &oracle,
                        learner,
                        examples,
                        exploration,
                        each_epoch,
                    )?;
                }
                None if exploration.explores() => {
                    return Err(no_dynamic_oracle());
                }
                None => {
                    online.on_gold_path(system, &Replay, &mut learner, examples, each_epoch)?;
                }
            }
            Ok(learner)
        };
        let extent = Extent { epochs, models, sentences: examples.len() };
        self.by_epochs(system, extent, prune, &learn)
    }

    pub(super) fn structured<S: Supervised>(
        &mut self,
        system: &S,
        examples: &[Example],
        classes: Classes,
        params: StructuredParams,
    ) -> Result<Trained> {
        let StructuredParams { epochs, models, beam, update, margin, batch, ref prune } = params;
        let classes = classes.with_idle();
        let templates = &self.plan.templates;
        let stop = || self.watch.observer.is_stopped();
        let (width, batch) = (beam as usize, batch as usize);
        let learn = |seed, progress: Progress<'_>, each_epoch: EachEpoch<'_>| {
            let mut learner = OnlinePerceptron::untrained(templates, classes.clone(), false);
            let stop = &stop;
            let mut structured =
                Structured { epochs, seed, width, update, margin, batch, progress, stop };
            structured.run(system, &mut learner, examples, each_epoch)?;
            Ok(learner)
        };
        let extent = Extent { epochs, models, sentences: examples.len() };
        self.by_epochs(system, extent, prune, &learn)
    }

    /// Lets perceptrons learn. A single one tells after every epoch how it went, and the weights are kept
    /// that are best on the development trees, or the last ones if there are none.
    fn by_epochs<S: Supervised>(
        &mut self,
        system: &S,
        extent: Extent,
        prune: &Pruning,
        learn: Learn<'_>,
    ) -> Result<Trained> {
        if extent.models > 1 {
            return self.several(system, extent, prune, learn);
        }
        let mut best: Option<Trained> = None;
        let seed = self.seed;
        let run = &*self;
        let mut progress = |done: u64| run.watch.observer.event(extent.progress(done));
        let mut each_epoch = |learner: &OnlinePerceptron, report: EpochReport| {
            let mut scores = epoch_scores(report, 1, None);
            let mut line = epoch_line(scores, learner.n_features());
            if report.last || !run.dev.trees.is_empty() {
                let (scorer, dev) = run.score_dev(system, learner.finish(prune));
                if let Some(dev) = &dev {
                    line = format!("{line}, {}", dev_line(dev));
                    scores.f1 = Some(dev.f1);
                }
                let better = match (&best, &dev) {
                    (Some(Trained { dev: Some(best), .. }), Some(dev)) => dev.f1 > best.f1,
                    _ => true,
                };
                if better {
                    best = Some(Trained { scorer, epoch: report.epoch, dev });
                }
            }
            run.tell(&line);
            run.watch.observer.event(Event::Epoch(scores));
            Ok(ControlFlow::Continue(()))
        };
        learn(seed, &mut progress, &mut each_epoch)?;
        best.ok_or(Error::Stopped)
    }

    /// Lets several perceptrons learn, each with a seed of its own, and adds their weights.
    fn several<S: Supervised>(
        &mut self,
        system: &S,
        extent: Extent,
        prune: &Pruning,
        learn: Learn<'_>,
    ) -> Result<Trained> {
        let (seed, done) = (self.seed, AtomicU64::new(0));
        let observer = self.watch.observer;
        let one = |number: u32| {
            let mut before = 0;
            let mut progress = |own: u64| {
                let done = done.fetch_add(own - before, Ordering::Relaxed) + own - before;
                before = own;
                observer.event(extent.progress(done));
            };
            let mut epoch = 0;
            let mut each_epoch = |learner: &OnlinePerceptron, report: EpochReport| {
                epoch = report.epoch;
                let scores = epoch_scores(report, number + 1, None);
                let line = epoch_line(scores, learner.n_features());
                observer.event(Event::Milestone(&format!("model {}, {line}", number + 1)));
                observer.event(Event::Epoch(scores));
                Ok(ControlFlow::Continue(()))
            };
            let seed = seed.wrapping_add(number.into());
            Ok((learn(seed, &mut progress, &mut each_epoch)?, epoch))
        };
        let learned: Vec<_> = parallel::try_map_range(extent.models as usize, |at| one(at as u32))?;
        let (learners, epochs): (Vec<_>, Vec<u32>) = learned.into_iter().unzip();
        let scorer = OnlinePerceptron::finish_all(&learners, prune).ok_or(Error::Stopped)?;
        let epoch = epochs.into_iter().max().unwrap_or(0);
        let (scorer, dev) = self.score_dev(system, scorer);
        if let Some(dev) = &dev {
            self.tell(&dev_line(dev));
        }
        Ok(Trained { scorer, epoch, dev })
    }
}

fn epoch_line(EpochScores { epoch, accuracy, .. }: EpochScores, n_features: usize) -> String {
    format!("epoch {epoch}: training accuracy {accuracy:.2} %, {n_features} features")
}
