//! Shared by online and structured training: one perceptron with its best epoch, or several whose weights
//! are added.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::epochs::{EpochLearner, EpochReport, Epochs, Progress};
use super::session::dev_line;
use super::{Session, Trained};
use crate::classifier::Classifier;
use crate::classifier::linear::{Pruning, check_classes};
use crate::error::{Error, Result};
use crate::memory::Sections;
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
    let one = |number: usize| {
        let seed = session.seed.wrapping_add(number as u64);
        let mut learner = make(seed, progress);
        let session = &Session { seed, ..*session };
        let checkpoint = session.checkpoint(|| session.fingerprint())?;
        let (model, is_part) = (number as u32 + 1, models > 1);
        let trained = Epochs { session, model, is_part, epochs, patience: 0, checkpoint }
            .run(&mut learner, progress);
        match trained {
            // The others may have learned something.
            Err(Error::Stopped) if is_part => Ok((learner, Trained::default())),
            trained => Ok((learner, trained?)),
        }
    };
    if models == 1 {
        return one(0).map(|(_, trained)| trained);
    }
    let learned: Vec<_> = parallel::try_map_range(models as usize, one)?;
    let epoch = learned.iter().map(|(_, trained)| trained.epoch).max().unwrap_or(0);
    if epoch == 0 {
        return Err(Error::Stopped);
    }
    let learned = learned.into_iter().filter(|(_, trained)| trained.epoch > 0);
    let learners: Vec<_> = learned.map(|(learner, _)| learner.into_perceptron()).collect();
    let scorer = OnlinePerceptron::finish_all(&learners, prune).ok_or(Error::Stopped)?;
    let dev = session.score_dev(&scorer);
    if let Some(dev) = &dev {
        session.log(&dev_line(dev));
    }
    let mut sections = Sections::default();
    scorer.classifier().store(&mut sections);
    Ok(Trained { sections, epoch, dev, ..Trained::default() })
}

/// The order of the sentences, shuffled again for each epoch, and all that is random besides.
#[derive(Debug)]
pub(super) struct RandomOrder {
    pub(super) rng: ChaCha8Rng,
    order: Vec<usize>,
}

impl RandomOrder {
    pub(super) fn new(session: &Session<'_>, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Self { rng, order: (0..session.examples.len()).collect() }
    }

    /// The trees of the next epoch.
    pub(super) fn next_epoch(&mut self, session: &Session<'_>) -> Vec<usize> {
        self.order.shuffle(&mut self.rng);
        session.epoch(&self.order, &mut self.rng)
    }
}

/// Stores the state of training.
pub(super) fn store(perceptron: &OnlinePerceptron, order: &RandomOrder, sections: &mut Sections) {
    perceptron.store(sections);
    let RandomOrder { rng, order } = order;
    let at = rng.get_word_pos();
    sections.put("random", vec![at as u64, (at >> 64) as u64].into());
    sections.put("order", order.iter().map(|&at| at as u64).collect::<Vec<_>>().into());
}

/// Loads the state of training; after an error nothing has changed.
pub(super) fn resume(
    perceptron: &mut OnlinePerceptron,
    order: &mut RandomOrder,
    sections: &Sections,
) -> Result<()> {
    let (position, stored) = (sections.get::<u64>("random")?, sections.get::<u64>("order")?);
    let stored: Vec<usize> = stored.iter().map(|&at| at as usize).collect();
    let mut sorted = stored.clone();
    sorted.sort_unstable();
    let (true, &[low, high]) = (sorted.into_iter().eq(0..order.order.len()), &*position) else {
        return Err(Error::corrupt("the order of the sentences is that of others"));
    };
    perceptron.resume(sections)?;
    order.rng.set_word_pos(u128::from(high) << 64 | u128::from(low));
    order.order = stored;
    Ok(())
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
