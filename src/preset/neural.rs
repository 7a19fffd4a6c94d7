//! Networks that learn while parsing: what presets say of them, their training and their loading.

use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::path::Path;

use rustc_hash::FxHasher;

use serde::{Deserialize, Serialize};

use super::boosted::fingerprint;
use super::checkpoint::Folder;
use super::epochs::{no_dynamic_oracle, nothing_learned};
use super::fit::{EpochScores, Event, Run, Trained, dev_line};
use super::learner::at_least_one;
use crate::classifier::{Checkpoint, Setting};
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{DevScores, structured};
use crate::neural::{Course, Decay, OptimizerParams};
use crate::oracle::Supervised;
use crate::oracle::replay::Replay;
use crate::scorer::factored::Classes;
use crate::scorer::neural::{ActionRows, AnyNetwork, Fixed, Inventory, NetworkParams, Neural};
use crate::symbols::{Sentence, Vocabulary};
use crate::train::Example;
use crate::train::neural::{Progress, Training};
use crate::train::online::Exploration;
use crate::transition::TransitionSystem;
use crate::treebank::vectors::WordVectors;

/// The settings of networks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralParams {
    /// Passes over the training trees, at most; at least 1.
    pub epochs: u32,
    /// How many epochs without a better F1 on the development trees end the training; 0 for never.
    pub patience: u32,
    /// How many sentences are parsed with the same parameters; at least 1.
    pub batch: u32,
    /// How parameters follow their gradients.
    pub optimizer: OptimizerParams,
    /// How the rate falls.
    pub decay: Decay,
    /// Over how many batches the parameters that are kept are averaged; 0 for none.
    pub average: f32,
    /// Gradients of a batch longer than this are shortened to it; 0 for never.
    pub clip: f32,
    /// The share of the numbers of a layer that is left out at random while learning; from 0, below 1.
    pub dropout: f32,
    /// A word seen n times in training is read as an unknown one with probability rare / (rare + n).
    pub rare: f32,
    /// When wrong predictions are followed; probability 0 and margin 0 stay on the gold path.
    pub exploration: Exploration,
    /// A file with vectors of words that were learned elsewhere ([`WordVectors`]); empty for none. They stay as they
    /// are, and are stored in the model.
    pub vectors: String,
    /// How many words of that file are read, at most; at least 1.
    pub max_vectors: u32,
    /// How large the network is.
    pub network: NetworkParams,
}

impl Default for NeuralParams {
    fn default() -> Self {
        Self {
            epochs: 30,
            patience: 5,
            batch: 16,
            optimizer: OptimizerParams::Adam { rate: 0.001 },
            decay: Decay::Linear,
            average: 500.0,
            clip: 5.0,
            dropout: 0.3,
            rare: 0.5,
            exploration: Exploration { from_epoch: 2, probability: 0.5, margin: 0.0 },
            vectors: String::new(),
            max_vectors: 100_000,
            network: NetworkParams::default(),
        }
    }
}

/// No layer is larger.
const MOST: u32 = 4096;

impl NeuralParams {
    /// The settings, explained.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "epochs",
            range: "1 or more",
            help: "passes over the training trees, at most",
        },
        Setting {
            key: "patience",
            range: "0 or more",
            help: "how many epochs without a better F1 on development trees end the training; 0 for never",
        },
        Setting {
            key: "batch",
            range: "1 or more",
            help: "how many sentences are parsed with the same parameters",
        },
        Setting {
            key: "optimizer",
            range: "kind sgd or adam, rate above 0",
            help: "how parameters follow their gradients",
        },
        Setting {
            key: "decay",
            range: "kind linear, or kind inverse with by 0 or more",
            help: "how the rate falls: in a straight line to 0 at the end, or in epoch e, from 0, to rate / (1 + by e)",
        },
        Setting {
            key: "average",
            range: "0 or more",
            help: "over how many batches the parameters that are kept are averaged; 0 for none",
        },
        Setting {
            key: "clip",
            range: "0 or more",
            help: "gradients of a batch longer than this are shortened to it; 0 for never",
        },
        Setting {
            key: "dropout",
            range: "0 to below 1",
            help: "the share of the numbers of a layer that is left out at random while learning",
        },
        Setting {
            key: "rare",
            range: "0 or more",
            help: "a word seen n times is read as an unknown one with probability rare / (rare + n)",
        },
        Setting {
            key: "exploration",
            range: "from_epoch 1 or more, probability 0 to 1, margin 0 or more",
            help: "from which epoch, and how often, wrong predictions are followed; and by how much the best \
                   wrong action may trail a right prediction to be followed instead",
        },
        Setting {
            key: "vectors",
            range: "a file",
            help: "vectors of words that were learned elsewhere, as word2vec (text, binary) or GloVe write them; they \
                   are stored in the model",
        },
        Setting {
            key: "max_vectors",
            range: "1 or more",
            help: "how many words of that file are read, at most",
        },
        Setting {
            key: "network",
            range: "kind positions or stack-lstm, with sizes of its own",
            help: "positions (fast): encoder { word, tag, form, cells, layers }, hidden; stack-lstm (Dyer et al. \
                   2016): word, tag, form, action, input, cells, layers, children",
        },
    ];

    /// Checks the settings.
    ///
    /// # Errors
    /// Naming the key and its range.
    pub fn check(&self) -> Result<()> {
        at_least_one("learner.epochs", self.epochs)?;
        at_least_one("learner.batch", self.batch)?;
        at_least_one("learner.max_vectors", self.max_vectors)?;
        for (name, size) in self.network.sizes() {
            if !(1..=MOST).contains(&size) {
                let problem = format!("must be 1 to {MOST}");
                return Err(Error::config(format!("learner.network.{name}"), problem));
            }
        }
        for (name, size) in self.network.optional_sizes() {
            if size > MOST {
                let problem = format!("must be 0 to {MOST}");
                return Err(Error::config(format!("learner.network.{name}"), problem));
            }
        }
        self.exploration.check()?;
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(Error::config("learner.dropout", "must be 0 to below 1"));
        }
        let by = if let Decay::Inverse { by } = self.decay { by } else { 0.0 };
        for (key, value) in [
            ("learner.clip", self.clip),
            ("learner.rare", self.rare),
            ("learner.average", self.average),
            ("learner.decay.by", by),
        ] {
            if !(0.0..=1e6).contains(&value) {
                return Err(Error::config(key, "must be 0 to 1000000"));
            }
        }
        self.optimizer.check()
    }

    /// The vectors of words that were learned elsewhere.
    ///
    /// # Errors
    /// When the file does not read.
    pub(super) fn read_vectors(&self) -> Result<Option<WordVectors>> {
        let read = || WordVectors::read(Path::new(&self.vectors), self.max_vectors as usize);
        (!self.vectors.is_empty()).then(read).transpose()
    }

    /// Trains on the gold path, or off it where the settings say so.
    fn follow<S: Supervised>(
        &self,
        system: &S,
        training: &mut Training<'_>,
        so_far: (&mut Neural<AnyNetwork>, &mut Course, u32),
        examples: &[Example],
        each_epoch: impl FnMut(&Neural<AnyNetwork>, &Course, Progress) -> Result<ControlFlow<()>>,
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
            average: self.average,
            dropout: self.dropout,
            progress,
            stop,
        }
    }

    /// The network for a system and a vocabulary, its first parameters drawn, or, without a seed, left to be loaded.
    fn untrained<S: Supervised>(
        &self,
        system: &S,
        vocabulary: &Vocabulary,
        fixed: Option<Fixed>,
        seed: Option<u64>,
    ) -> Result<Neural<AnyNetwork>> {
        let mut actions = Vec::new();
        system.inventory(&system.start(&Sentence::default()), &mut actions);
        let inventory = Inventory {
            vocabulary: vocabulary.sizes(),
            labels: TransitionSystem::labels(system).count(),
            actions: ActionRows::of(&actions),
            fixed,
        };
        let (network, params) = AnyNetwork::new(self.network, &inventory, seed)?;
        Ok(Neural { network, params, classes: Classes::of(&actions) })
    }

    /// The network that was stored.
    ///
    /// # Errors
    /// When the sections are not those of this network.
    pub fn load<S: Supervised>(
        &self,
        system: &S,
        vocabulary: &Vocabulary,
        sections: &Sections,
    ) -> Result<Neural<AnyNetwork>> {
        let has_vectors = !self.vectors.is_empty();
        let fixed = has_vectors.then(|| Fixed::load(sections, vocabulary)).transpose()?;
        let mut neural = self.untrained(system, vocabulary, fixed, None)?;
        neural.params.load(sections)?;
        Ok(neural)
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
        structured::put(sections, "best", &(self.epoch, &self.dev))
    }

    fn load(sections: &Sections, learner: &Neural<AnyNetwork>) -> Result<Self> {
        let (epoch, dev) = structured::get(sections, "best")?;
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
    /// Takes up training where it was kept; gives the epochs that are done.
    fn resume(&mut self, learner: &mut Neural<AnyNetwork>, course: &mut Course) -> Result<u32> {
        let kept = self.folder.as_ref().and_then(|folder| folder.load(PART));
        let Some(sections) = kept else { return Ok(0) };
        self.best = Some(Best::load(&sections, learner)?);
        course.load(&sections)?;
        learner.params.load(&sections)?;
        self.scores = structured::get(&sections, "scores")?;
        Ok(self.scores.last().map_or(0, |last| last.epoch))
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

    fn keep(&self, learner: &Neural<AnyNetwork>, course: &Course) -> Result<()> {
        let Some((folder, best)) = self.folder.as_ref().zip(self.best.as_ref()) else {
            return Ok(());
        };
        let mut sections = Sections::default();
        learner.params.store(&mut sections);
        course.store(&mut sections);
        best.store(&mut sections)?;
        structured::put(&mut sections, "scores", &self.scores)?;
        folder.save(PART, &sections)
    }
}

impl Run<'_, '_> {
    /// A number that tells this training and its development trees from others.
    fn data(&self, examples: &[Example]) -> u64 {
        let mut hasher = FxHasher::default();
        fingerprint(examples).hash(&mut hasher);
        for tree in &self.dev.trees {
            for token in tree.tokens() {
                (&token.word, &token.tag).hash(&mut hasher);
            }
            for node in tree.nodes() {
                (node.start, node.end, &node.label).hash(&mut hasher);
            }
        }
        if let Some((vectors, _)) = &self.vectors {
            vectors.values.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        }
        hasher.finish()
    }

    /// Trains a network, and keeps the parameters that are best on the development trees, or the last ones if
    /// there are none.
    pub(super) fn neural<S: Supervised + 'static>(
        &mut self,
        system: &S,
        examples: &[Example],
        params: &NeuralParams,
    ) -> Result<Trained<Neural<AnyNetwork>>> {
        let fixed = self
            .vectors
            .as_ref()
            .map(|(vectors, trained)| Fixed::new(vectors, &self.vocabulary, *trained));
        let mut learner = params.untrained(system, &self.vocabulary, fixed, Some(self.seed))?;
        let counts = counts(examples, self.vocabulary.sizes().words);
        learner.network.words_mut().forget_rare(&counts, params.rare);
        self.tell(&format!("{} parameters", learner.params.values().len()));
        let folder = self.checkpoint(system, &self.plan.preset.learner, || self.data(examples))?;
        let mut keeper =
            Keeper { best: None, scores: Vec::new(), folder, patience: params.patience };
        let (seed, stop) = (self.seed, self.watch.stop);
        let total = u64::from(params.epochs) * examples.len() as u64;
        // Both the walk and what follows each epoch report to the caller.
        let run = std::cell::RefCell::new(self);
        let mut progress = |done| {
            (run.borrow_mut().watch.tell)(Event::Progress { done, total, unit: "sentences" });
        };
        let mut training = params.training(seed, &mut progress, stop);
        let mut course = training.course(&learner.params);
        let done = keeper.resume(&mut learner, &mut course)?;
        let goes_on = keeper.goes_on(done);
        if done > 0 {
            let run = &mut **run.borrow_mut();
            run.tell(&format!("epochs done, from the checkpoint: {done}"));
            keeper.scores.iter().for_each(|&scores| (run.watch.tell)(Event::Epoch(scores)));
        }
        let each_epoch = |learner: &Neural<AnyNetwork>, course: &Course, progress: Progress| {
            if learner.params.is_broken() {
                let problem = "the numbers of the network have become too large: set a smaller \
                               learner.optimizer.rate or learner.clip";
                return Err(Error::Unfit(problem.into()));
            }
            let mut run = run.borrow_mut();
            let epoch = progress.report.epoch;
            let (learned, dev) = run.score_dev(system, learner.averaged(course));
            let scores = EpochScores::new(progress.report, 1, dev.as_ref());
            run.tell(&epoch_line(progress, scores.right, dev.as_ref()));
            (run.watch.tell)(Event::Epoch(scores));
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
        let best = keeper.best.ok_or_else(nothing_learned)?;
        Ok(Trained { scorer: best.learner, epoch: best.epoch, dev: best.dev })
    }
}

fn epoch_line(progress: Progress, right: f64, dev: Option<&DevScores>) -> String {
    let Progress { report, loss, .. } = progress;
    let n = report.decisions.max(1) as f64;
    let dev = dev.map(|dev| format!(", {}", dev_line(dev))).unwrap_or_default();
    format!("epoch {}: loss {:.4}, {right:.2} % right while learning{dev}", report.epoch, loss / n)
}
