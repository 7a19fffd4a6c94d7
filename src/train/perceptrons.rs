//! Training of perceptrons in epochs, by a rule: one perceptron with its best epoch, or several whose weights are added.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::epochs::{EpochLearner, EpochReport, Epochs, Progress};
use super::{Session, Trained};
use crate::classifier::Classifier;
use crate::classifier::linear::{Pruning, check_classes};
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::parallel;
use crate::scorer::{OnlinePerceptron, Scorer};

/// How a perceptron learns from training trees.
pub trait LearningRule: Send {
    /// Trains on the trees, which are positions among the session's examples, in order; when stopped, on some.
    fn train_epoch(
        &mut self,
        session: &Session<'_>,
        perceptron: &mut OnlinePerceptron,
        epoch: u32,
        trees: &[usize],
        rng: &mut ChaCha8Rng,
    ) -> EpochReport;
}

/// A perceptron that learns by a rule.
pub struct PerceptronLearner<'a, R> {
    session: &'a Session<'a>,
    rule: R,
    perceptron: OnlinePerceptron,
    prune: Pruning,
    order: RandomOrder,
}

impl<'a, R> PerceptronLearner<'a, R> {
    /// Training of a perceptron. The seed decides the order of the sentences, and all that is random in the rule.
    pub fn new(session: &'a Session<'a>, rule: R, perceptron: OnlinePerceptron, seed: u64) -> Self {
        let order = RandomOrder::new(session, seed);
        Self { session, rule, perceptron, prune: Pruning::default(), order }
    }
}

impl<R: LearningRule> EpochLearner for PerceptronLearner<'_, R> {
    fn train_epoch(&mut self, epoch: u32) -> EpochReport {
        let trees = self.order.next_epoch(self.session);
        let Self { session, rule, perceptron, order, .. } = self;
        rule.train_epoch(session, perceptron, epoch, &trees, &mut order.rng)
    }

    fn snapshot(&self) -> (Box<dyn Scorer>, Sections) {
        let scorer = self.perceptron.finish(&self.prune);
        let mut sections = Sections::default();
        scorer.classifier().store(&mut sections);
        (Box::new(scorer), sections)
    }

    fn describe(&self, epoch: u32, report: &EpochReport) -> String {
        match self.perceptron.n_features() {
            0 => format!("epoch {epoch}: no mistakes to learn from"),
            n => format!("epoch {epoch}: {}, {n} features", report.accuracy_text()),
        }
    }

    fn store(&self, sections: &mut Sections) {
        self.perceptron.store(sections);
        self.order.store(sections);
    }

    fn resume(&mut self, sections: &Sections) -> Result<()> {
        let (position, order) = self.order.stored(sections)?;
        self.perceptron.resume(sections)?;
        self.order.rng.set_word_pos(position);
        self.order.order = order;
        Ok(())
    }
}

/// The number of epochs and models.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) epochs: u32,
    pub(super) models: u32,
}

/// Trains perceptrons, each with a seed of its own and a rule that `rule` makes.
pub(super) fn train<R: LearningRule>(
    session: &Session<'_>,
    Extent { epochs, models }: Extent,
    prune: &Pruning,
    untrained: &OnlinePerceptron,
    rule: impl Fn() -> R + Sync,
    progress: &Progress<'_>,
) -> Result<Trained> {
    check_classes(session.components.classes().len())?;
    let one = |number: usize| {
        let seed = session.seed.wrapping_add(number as u64);
        let learner = PerceptronLearner::new(session, rule(), untrained.clone(), seed);
        let mut learner = PerceptronLearner { prune: *prune, ..learner };
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
    let perceptrons: Vec<_> = learned.map(|(learner, _)| learner.perceptron).collect();
    let scorer = OnlinePerceptron::finish_all(&perceptrons, prune).ok_or(Error::Stopped)?;
    let dev = session.score_dev(&scorer);
    session.log_dev("", dev.as_ref());
    let mut sections = Sections::default();
    scorer.classifier().store(&mut sections);
    Ok(Trained { sections, epoch, dev, ..Trained::default() })
}

/// The order of the sentences, shuffled again for each epoch, and all that is random besides.
#[derive(Debug)]
struct RandomOrder {
    rng: ChaCha8Rng,
    order: Vec<usize>,
}

impl RandomOrder {
    fn new(session: &Session<'_>, seed: u64) -> Self {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Self { rng, order: (0..session.examples.len()).collect() }
    }

    /// The trees of the next epoch.
    fn next_epoch(&mut self, session: &Session<'_>) -> Vec<usize> {
        self.order.shuffle(&mut self.rng);
        session.epoch(&self.order, &mut self.rng)
    }

    fn store(&self, sections: &mut Sections) {
        let at = self.rng.get_word_pos();
        sections.put("random", vec![at as u64, (at >> 64) as u64].into());
        let order: Vec<u64> = self.order.iter().map(|&at| at as u64).collect();
        sections.put("order", order.into());
    }

    /// The stored position of the generator, and the stored order, if it is one of the same sentences.
    fn stored(&self, sections: &Sections) -> Result<(u128, Vec<usize>)> {
        let (position, stored) = (sections.get::<u64>("random")?, sections.get::<u64>("order")?);
        let order: Vec<usize> = stored.iter().map(|&at| at as usize).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let (true, &[low, high]) = (sorted.into_iter().eq(0..self.order.len()), &*position) else {
            return Err(Error::corrupt("the order of the sentences is that of others"));
        };
        Ok((u128::from(high) << 64 | u128::from(low), order))
    }
}
