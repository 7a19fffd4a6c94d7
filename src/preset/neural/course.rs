//! Training of networks, epoch by epoch: the best one is kept, and so is what a later run needs to go on.

use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

use rustc_hash::FxHasher;

use super::NeuralParams;
use crate::classifier::Checkpoint;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{DevScores, bincode_section};
use crate::neural::OptimizerState;
use crate::observer::{EpochScores, Event};
use crate::oracle::Supervised;
use crate::oracle::replay::Replay;
use crate::preset::Preset;
use crate::preset::checkpoint::{Folder, fingerprint, hash_nodes};
use crate::preset::epochs::no_dynamic_oracle;
use crate::preset::fit::{Run, Trained, dev_line, epoch_scores};
use crate::scorer::neural::{AnyNetwork, Fixed, Neural};
use crate::train::Example;
use crate::train::neural::{Progress, Training};

impl NeuralParams {
    /// Trains on the gold path, or off it where the settings say so.
    fn follow<S: Supervised>(
        &self,
        system: &S,
        training: &mut Training<'_>,
        so_far: (&mut Neural<AnyNetwork>, &mut OptimizerState, u32),
        examples: &[Example],
        each_epoch: impl FnMut(
            &Neural<AnyNetwork>,
            &OptimizerState,
            Progress,
        ) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if !self.exploration.explores() {
            return training.on_gold_path((system, &Replay), so_far, examples, each_epoch);
        }
        let Some(oracle) = system.dynamic_oracle() else { return Err(no_dynamic_oracle()) };
        training.exploring((system, &oracle), so_far, examples, self.exploration, each_epoch)
    }

    /// How training runs with these settings.
    fn training<'a>(
        &self,
        seed: u64,
        progress: &'a mut dyn FnMut(u64),
        stop: &'a dyn Fn() -> bool,
    ) -> Training<'a> {
        Training {
            epochs: self.epochs,
            seed,
            batch: self.batch as usize,
            optimizer: self.optimizer,
            decay: self.decay,
            clip: self.clip,
            average: self.moving_average,
            dropout: self.dropout,
            progress,
            stop,
        }
    }
}

/// How often each word occurs.
fn counts(examples: &[Example], n_words: usize) -> Vec<u32> {
    let mut counts = vec![0; n_words];
    for &word in examples.iter().flat_map(|example| &example.sentence.words) {
        counts[word as usize] += 1;
    }
    counts
}

/// The best network so far.
struct Best {
    learner: Neural<AnyNetwork>,
    epoch: u32,
    dev: Option<DevScores>,
}

impl Best {
    fn store(&self, sections: &mut Sections) -> Result<()> {
        sections.put("best.values", self.learner.params.values().to_vec().into());
        bincode_section::put(sections, "best", &(self.epoch, &self.dev))
    }

    fn load(sections: &Sections, learner: &Neural<AnyNetwork>) -> Result<Self> {
        let (epoch, dev) = bincode_section::get(sections, "best")?;
        let mut learner = learner.clone();
        learner.params.set(&sections.get::<f32>("best.values")?)?;
        Ok(Self { learner, epoch, dev })
    }
}

/// The name of the checkpoint of a network in training.
const PART: &str = "neural";

/// Keeps the best network, and everything that training needs to be taken up after an epoch.
struct Keeper {
    best: Option<Best>,
    /// How the epochs went.
    scores: Vec<EpochScores>,
    folder: Option<Folder>,
    /// How many epochs may pass without a better network; 0 for any number.
    patience: u32,
}

impl Keeper {
    /// Takes up training where it was kept; gives the epochs that are done. What does not fit this network counts
    /// as not there.
    fn resume(&mut self, learner: &mut Neural<AnyNetwork>, course: &mut OptimizerState) -> u32 {
        let kept = self.folder.as_ref().and_then(|folder| folder.load(PART));
        let Some(sections) = kept else { return 0 };
        let (mut params, mut so_far) = (learner.params.clone(), course.clone());
        let mut read = || -> Result<(Best, Vec<EpochScores>)> {
            params.load(&sections)?;
            so_far.load(&sections)?;
            Ok((Best::load(&sections, learner)?, bincode_section::get(&sections, "scores")?))
        };
        let Ok((best, scores)) = read() else { return 0 };
        (self.best, self.scores) = (Some(best), scores);
        (learner.params, *course) = (params, so_far);
        self.scores.last().map_or(0, |last| last.epoch)
    }

    /// Compares what was learned with the best so far.
    fn note(&mut self, new: Best) {
        let f1 = |best: &Best| best.dev.as_ref().map_or(0.0, |dev| dev.f1);
        if self.best.as_ref().is_none_or(|best| new.dev.is_none() || f1(&new) > f1(best)) {
            self.best = Some(new);
        }
    }

    /// Whether to go on after an epoch.
    fn goes_on(&self, epoch: u32) -> bool {
        let since = epoch - self.best.as_ref().map_or(0, |best| best.epoch);
        self.patience == 0 || since < self.patience
    }

    fn keep(&self, learner: &Neural<AnyNetwork>, course: &OptimizerState) -> Result<()> {
        let Some((folder, best)) = self.folder.as_ref().zip(self.best.as_ref()) else {
            return Ok(());
        };
        let mut sections = Sections::default();
        learner.params.store(&mut sections);
        course.store(&mut sections);
        best.store(&mut sections)?;
        bincode_section::put(&mut sections, "scores", &self.scores)?;
        folder.save(PART, &sections)
    }
}

impl Run<'_, '_> {
    /// A number that tells this training, its development trees and how these are parsed from others.
    fn data(&self, examples: &[Example]) -> u64 {
        let mut hasher = FxHasher::default();
        let Preset { clean, max_words, search, jackknife, tagger, .. } = &self.plan.preset;
        let parsing = serde_json::to_string(&(clean, max_words, search, jackknife, tagger));
        (parsing.unwrap_or_default(), fingerprint(examples)).hash(&mut hasher);
        for tree in &self.dev.trees {
            for token in tree.tokens() {
                (&token.word, &token.tag).hash(&mut hasher);
            }
            hash_nodes(tree, &mut hasher);
        }
        if let Some((vectors, _)) = &self.vectors {
            (&vectors.words, vectors.dim).hash(&mut hasher);
            vectors.values.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        }
        hasher.finish()
    }

    /// A network that has learned nothing yet.
    fn beginner<S: Supervised>(
        &mut self,
        system: &S,
        examples: &[Example],
        params: &NeuralParams,
    ) -> Result<Neural<AnyNetwork>> {
        let vectors = self.vectors.as_ref();
        let fixed =
            vectors.map(|(vectors, trained)| Fixed::new(vectors, &self.vocabulary, *trained));
        let (vocabulary, seed) = (&self.vocabulary, Some(self.seed));
        let mut learner = Neural::new(params.network, system, vocabulary, fixed, seed)?;
        let counts = counts(examples, vocabulary.sizes().words);
        learner.network.words_mut().forget_rare(&counts, params.word_dropout);
        self.tell(&format!("{} parameters", learner.params.values().len()));
        Ok(learner)
    }

    /// Trains a network, and keeps the parameters that are best on the development trees, or the last ones if
    /// there are none.
    pub(in crate::preset) fn neural<S: Supervised>(
        &mut self,
        system: &S,
        examples: &[Example],
        params: &NeuralParams,
    ) -> Result<Trained<Neural<AnyNetwork>>> {
        let mut learner = self.beginner(system, examples, params)?;
        let folder = self.checkpoint(system, &self.plan.preset.learner, || self.data(examples))?;
        let mut keeper =
            Keeper { best: None, scores: Vec::new(), folder, patience: params.patience };
        let seed = self.seed;
        let stop = || self.watch.observer.is_stopped();
        let total = u64::from(params.epochs) * examples.len() as u64;
        let run = &*self;
        let mut progress = |done| {
            run.watch.observer.event(Event::Progress { done, total, unit: "sentences" });
        };
        let mut training = params.training(seed, &mut progress, &stop);
        let mut course = training.course(&learner.params);
        let done = keeper.resume(&mut learner, &mut course);
        let goes_on = keeper.goes_on(done);
        if done > 0 {
            run.tell(&format!("epochs done, from the checkpoint: {done}"));
            keeper.scores.iter().for_each(|&scores| run.watch.observer.event(Event::Epoch(scores)));
        }
        let each_epoch = |learner: &Neural<AnyNetwork>,
                          course: &OptimizerState,
                          progress: Progress| {
            if learner.params.is_broken() || !progress.loss.is_finite() {
                let best = keeper.best.as_ref().ok_or_else(|| too_large(params.clip))?;
                let kept = format!("{TOO_LARGE}: what epoch {} has learned is kept", best.epoch);
                run.watch.observer.event(Event::Note(&kept));
                return Ok(ControlFlow::Break(()));
            }
            let epoch = progress.report.epoch;
            let (learned, dev) = run.score_dev(system, learner.averaged(course));
            let scores = epoch_scores(progress.report, 1, dev.as_ref());
            run.tell(&epoch_line(progress, scores.accuracy, dev.as_ref()));
            run.watch.observer.event(Event::Epoch(scores));
            keeper.scores.push(scores);
            keeper.note(Best { learner: learned, epoch, dev });
            if progress.whole {
                keeper.keep(learner, course)?;
            }
            let goes_on = keeper.goes_on(epoch);
            Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        };
        if goes_on {
            let so_far = (&mut learner, &mut course, done);
            params.follow(system, &mut training, so_far, examples, each_epoch)?;
        }
        let best = keeper.best.ok_or(Error::Stopped)?;
        Ok(Trained { scorer: best.learner, epoch: best.epoch, dev: best.dev })
    }
}

const TOO_LARGE: &str = "the numbers of the network have become too large";

fn too_large(clip: f32) -> Error {
    let advice = if clip > 0.0 { "or learner.clip" } else { "or a learner.clip, such as 5" };
    Error::Unfit(format!("{TOO_LARGE}: set a smaller learner.optimizer.rate {advice}"))
}

fn epoch_line(progress: Progress, accuracy: f64, dev: Option<&DevScores>) -> String {
    let Progress { report, loss, .. } = progress;
    let n = report.decisions.max(1) as f64;
    let dev = dev.map(|dev| format!(", {}", dev_line(dev))).unwrap_or_default();
    format!("epoch {}: loss {:.4}, training accuracy {accuracy:.2} %{dev}", report.epoch, loss / n)
}
