//! Training in epochs: which epoch is selected, when training ends, how it resumes.

use std::sync::atomic::{AtomicU64, Ordering};

use super::session::dev_line;
use super::{Session, Trained};
use crate::classifier::Checkpoint;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{DevScores, bincode_section};
use crate::observer::{EpochScores, Event, Observer};
use crate::scorer::Scorer;
use crate::train::checkpoint::Folder;

/// The events of an epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EpochReport {
    /// The number of decisions; for structured training, of sentences.
    pub decisions: u64,
    /// How many predictions were wrong.
    pub mistakes: u64,
    /// The sum of the losses of all decisions, for learners that have one.
    pub loss: f64,
    /// Whether all training trees were seen.
    pub is_complete: bool,
}

impl EpochReport {
    /// Adds the counts of a part of the epoch.
    pub fn add(&mut self, part: &Self) {
        self.decisions += part.decisions;
        self.mistakes += part.mistakes;
        self.loss += part.loss;
    }

    /// Training accuracy: the share of correct predictions, in percent; none without decisions.
    pub fn accuracy(&self) -> Option<f64> {
        let wrong = self.mistakes as f64 / self.decisions as f64;
        (self.decisions > 0).then_some(100.0 * (1.0 - wrong))
    }

    /// Training accuracy in the log.
    pub(super) fn accuracy_text(&self) -> String {
        let percent = self.accuracy().map_or("-".to_owned(), |percent| format!("{percent:.2} %"));
        format!("training accuracy {percent}")
    }

    /// Whether training was stopped before the first decision.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_complete && self.decisions == 0
    }
}

/// Counts the sentences of all epochs and models, and reports them.
pub struct Progress<'a> {
    observer: &'a dyn Observer,
    done: AtomicU64,
    total: u64,
}

impl<'a> Progress<'a> {
    /// Progress from 0 to `total` sentences, reported from the beginning.
    pub fn new(observer: &'a dyn Observer, total: u64) -> Self {
        let progress = Self { observer, done: AtomicU64::new(0), total };
        progress.add(0);
        progress
    }

    /// Reports `n` more sentences.
    pub fn add(&self, n: u64) {
        let done = self.done.fetch_add(n, Ordering::Relaxed) + n;
        self.observer.event(Event::Progress { done, total: self.total, unit: "sentences" });
    }

    /// Whether to stop soon.
    pub fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }
}

/// A learner that is trained epoch by epoch.
pub trait EpochLearner {
    /// Trains on all sentences once; when stopped, on some.
    fn train_epoch(&mut self, epoch: u32) -> EpochReport;
    /// The scorer as learned so far, and what a model stores of it.
    fn snapshot(&self) -> (Box<dyn Scorer>, Sections);
    /// The epoch in the log.
    fn describe(&self, epoch: u32, report: &EpochReport) -> String;
    /// The error to report if training has diverged.
    fn divergence(&self, _report: &EpochReport) -> Option<Error> {
        None
    }
    /// Whether training may diverge, so that the previous epoch may be needed.
    fn may_diverge(&self) -> bool {
        false
    }
    /// Stores the state that training needs to resume.
    fn store(&self, sections: &mut Sections);
    /// Resumes from a stored state; after an error the learner is unchanged.
    ///
    /// # Errors
    /// When the sections are not those of such a learner.
    fn resume(&mut self, sections: &Sections) -> Result<()>;
}

/// The selected epoch so far.
struct Best {
    sections: Sections,
    epoch: u32,
    dev: Option<DevScores>,
}

/// The name of a checkpoint.
const CHECKPOINT: &str = "epochs";
/// The part of a checkpoint that holds the selected scorer.
const BEST: &str = "best";

/// Runs the epochs of a learner, and selects the best on the dev set, or the last one without a dev set.
pub struct Epochs<'a> {
    /// The training run.
    pub session: &'a Session<'a>,
    /// The number of the model, from 1.
    pub model: u32,
    /// Whether it is a part of the result, which is neither scored nor stored alone: the last epoch is selected.
    pub is_part: bool,
    /// The number of epochs.
    pub epochs: u32,
    /// How many epochs without a better F1 on the dev set end training; 0 for any number.
    pub patience: u32,
    /// Where checkpoints are stored, if they are.
    pub checkpoint: Option<Folder<'a>>,
}

impl Epochs<'_> {
    /// Trains.
    ///
    /// # Errors
    /// [`Error::Stopped`] when nothing was learned; when training diverges in the first epoch, or a
    /// checkpoint cannot be written.
    pub fn run(&self, learner: &mut dyn EpochLearner, progress: &Progress<'_>) -> Result<Trained> {
        let (mut best, mut scores) = self.resume(learner, progress);
        let done = scores.last().map_or(0, |last: &EpochScores| last.epoch);
        for epoch in done + 1..=self.epochs {
            if !self.continues(best.as_ref(), epoch - 1) {
                break;
            }
            let report = learner.train_epoch(epoch);
            if report.is_empty() {
                // Stopped between two epochs: the last epoch is the result, unless a better one is known.
                if best.is_none() && epoch > 1 {
                    let (_, sections) = learner.snapshot();
                    best = Some(Best { sections, epoch: epoch - 1, dev: None });
                }
                break;
            }
            if let Some(error) = learner.divergence(&report) {
                let Some(best) = &best else { return Err(error) };
                let note =
                    format!("training has diverged; the result is that of epoch {}", best.epoch);
                self.session.observer.event(Event::Note(&note));
                break;
            }
            let is_last = epoch == self.epochs || self.session.observer.is_stopped();
            scores.push(self.end_epoch(learner, epoch, &report, is_last, &mut best));
            if report.is_complete {
                self.store(learner, best.as_ref(), &scores)?;
            }
            if is_last {
                break;
            }
        }
        let Best { sections, epoch, dev } = best.ok_or(Error::Stopped)?;
        Ok(Trained { sections, epoch, dev, ..Trained::default() })
    }

    /// Scores an epoch, keeps it if it is the best, and logs it.
    fn end_epoch(
        &self,
        learner: &dyn EpochLearner,
        epoch: u32,
        report: &EpochReport,
        is_last: bool,
        best: &mut Option<Best>,
    ) -> EpochScores {
        let mut line = learner.describe(epoch, report);
        let mut f1 = None;
        if self.is_part {
            line = format!("model {}, {line}", self.model);
            *best = Some(Best { sections: Sections::default(), epoch, dev: None });
        } else if is_last || learner.may_diverge() || !self.session.dev.is_empty() {
            let (scorer, sections) = learner.snapshot();
            let dev = self.session.score_dev(&*scorer);
            if let Some(dev) = &dev {
                line = format!("{line}, {}", dev_line(dev));
                f1 = Some(dev.f1);
            }
            let best_f1 = best.as_ref().and_then(|best| best.dev.as_ref()).map(|dev| dev.f1);
            if f1.zip(best_f1).is_none_or(|(f1, best)| f1 > best) {
                *best = Some(Best { sections, epoch, dev });
            }
        }
        self.session.log(&line);
        let scores = EpochScores { model: self.model, epoch, accuracy: report.accuracy(), f1 };
        self.session.observer.event(Event::Epoch(scores));
        scores
    }

    /// Whether another epoch follows.
    fn continues(&self, best: Option<&Best>, done: u32) -> bool {
        let since = done - best.map_or(0, |best| best.epoch).min(done);
        self.patience == 0 || since < self.patience
    }

    /// Resumes from a checkpoint, if there is one. One that does not fit the learner counts as missing.
    fn resume(
        &self,
        learner: &mut dyn EpochLearner,
        progress: &Progress<'_>,
    ) -> (Option<Best>, Vec<EpochScores>) {
        let stored = self.checkpoint.as_ref().and_then(|folder| folder.load(CHECKPOINT));
        let Some(sections) = stored else { return (None, Vec::new()) };
        let read = || -> Result<_> {
            let best: Option<_> = bincode_section::get(&sections, "best.scores")?;
            let scores: Vec<EpochScores> = bincode_section::get(&sections, "scores")?;
            let best = best.map(|(epoch, dev)| Best { sections: sections.part(BEST), epoch, dev });
            Ok((best, scores))
        };
        let Ok((best, scores)) = read() else { return (None, Vec::new()) };
        if learner.resume(&sections).is_err() {
            return (None, Vec::new());
        }
        let done = scores.last().map_or(0, |last| last.epoch);
        self.session.log(&format!("epochs done, from the checkpoint: {done}"));
        scores.iter().for_each(|&scores| self.session.observer.event(Event::Epoch(scores)));
        progress.add(self.session.trees_in(u64::from(done)));
        (best, scores)
    }

    fn store(
        &self,
        learner: &dyn EpochLearner,
        best: Option<&Best>,
        scores: &Vec<EpochScores>,
    ) -> Result<()> {
        let Some(folder) = &self.checkpoint else { return Ok(()) };
        let mut sections = Sections::default();
        learner.store(&mut sections);
        let scored = best.map(|best| (best.epoch, &best.dev));
        bincode_section::put(&mut sections, "best.scores", &scored)?;
        bincode_section::put(&mut sections, "scores", scores)?;
        if let Some(best) = best {
            sections.put_part(BEST, best.sections.clone());
        }
        folder.save(CHECKPOINT, &sections);
        Ok(())
    }
}
