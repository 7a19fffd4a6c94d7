//! Shared by online and structured training: one perceptron with its best epoch, or several whose weights
//! are added.

use super::epochs::{EpochLearner, EpochReport, Epochs, Progress};
use super::session::dev_line;
use super::{Session, Trained};
use crate::classifier::Classifier;
use crate::classifier::linear::{Pruning, check_classes};
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::observer::{EpochScores, Event};
use crate::parallel;
use crate::scorer::{OnlinePerceptron, Scorer};

/// A perceptron that is trained epoch by epoch.
pub(super) trait PerceptronLearner: EpochLearner + Send {
    /// The perceptron.
    fn into_perceptron(self) -> OnlinePerceptron;
}

/// The number of epochs and models.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) epochs: u32,
    pub(super) models: u32,
}

/// Trains perceptrons, each with a seed of its own.
pub(super) fn train<'a, L: PerceptronLearner>(
    session: &'a Session<'a>,
    Extent { epochs, models }: Extent,
    prune: &Pruning,
    make: impl Fn(u64, &'a Progress<'a>) -> L + Sync,
    progress: &'a Progress<'a>,
) -> Result<Trained> {
    check_classes(session.components.classes().len())?;
    if models == 1 {
        let mut learner = make(session.seed, progress);
        let epochs = Epochs { session, model: 1, epochs, patience: 0, checkpoint: None };
        return epochs.run(&mut learner, progress);
    }
    let one = |number: usize| {
        let mut learner = make(session.seed.wrapping_add(number as u64), progress);
        let epoch = run_alone(session, &mut learner, epochs, number as u32 + 1, progress);
        Ok((learner.into_perceptron(), epoch))
    };
    let learned: Vec<_> = parallel::try_map_range(models as usize, one)?;
    let (learners, epochs): (Vec<_>, Vec<u32>) = learned.into_iter().unzip();
    let epoch = epochs.into_iter().max().unwrap_or(0);
    if epoch == 0 {
        return Err(Error::Stopped);
    }
    let scorer = OnlinePerceptron::finish_all(&learners, prune).ok_or(Error::Stopped)?;
    let dev = session.score_dev(&scorer);
    if let Some(dev) = &dev {
        session.log(&dev_line(dev));
    }
    let mut sections = Sections::default();
    scorer.classifier().store(&mut sections);
    Ok(Trained { sections, epoch, dev, ..Trained::default() })
}

/// Trains one of several models, which are not scored one by one; returns the last epoch.
fn run_alone(
    session: &Session<'_>,
    learner: &mut dyn EpochLearner,
    epochs: u32,
    model: u32,
    progress: &Progress<'_>,
) -> u32 {
    for epoch in 1..=epochs {
        let report = learner.train_epoch(epoch);
        if report.is_empty() {
            return epoch - 1;
        }
        session.log(&format!("model {model}, {}", learner.describe(epoch, &report)));
        let accuracy = report.accuracy();
        session.observer.event(Event::Epoch(EpochScores { model, epoch, accuracy, f1: None }));
        if progress.is_stopped() {
            return epoch;
        }
    }
    epochs
}

/// The scorer of a perceptron's averaged weights, and what a model stores of it.
pub(super) fn snapshot(
    perceptron: &OnlinePerceptron,
    prune: &Pruning,
) -> (Box<dyn Scorer>, Sections) {
    let scorer = perceptron.finish(prune);
    let mut sections = Sections::default();
    scorer.classifier().store(&mut sections);
    (Box::new(scorer), sections)
}

/// An epoch of a perceptron in the log.
pub(super) fn describe(epoch: u32, report: &EpochReport, perceptron: &OnlinePerceptron) -> String {
    match perceptron.n_features() {
        0 => format!("epoch {epoch}: no mistakes to learn from"),
        n => format!("epoch {epoch}: {}, {n} features", report.accuracy_text()),
    }
}
