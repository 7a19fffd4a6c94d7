//! Networks that learn while parsing: what presets say of them, and their loading.
//!
//! - [`course`]: their training, epoch by epoch.

pub mod course;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::learner::at_least_one;
use crate::classifier::Setting;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::neural::{Decay, MovingAverage, OptimizerParams};
use crate::oracle::Supervised;
use crate::scorer::neural::{AnyNetwork, Fixed, NetworkParams, Neural};
use crate::symbols::Vocabulary;
use crate::train::online::Exploration;
use crate::treebank::embeddings::PretrainedEmbeddings;

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
    /// Over how many batches the parameters that are kept are averaged, every eighth of them; 0 for none, or 16 or
    /// more.
    #[serde(alias = "average")]
    pub moving_average: f32,
    /// Gradients of a batch longer than this are shortened to it; 0 for never.
    pub clip: f32,
    /// The share of the numbers of a layer that is left out at random while learning; from 0, below 1.
    pub dropout: f32,
    /// A word seen n times in training is read as an unknown one with probability rare / (rare + n).
    #[serde(alias = "rare")]
    pub word_dropout: f32,
    /// When wrong predictions are followed; probability 0 and margin 0 stay on the gold path.
    pub exploration: Exploration,
    /// A file with vectors of words that were learned elsewhere ([`PretrainedEmbeddings`]); empty for none. They stay as they
    /// are, and are stored in the model.
    #[serde(alias = "vectors")]
    pub pretrained: String,
    /// How many words of that file are read, at most; at least 1.
    #[serde(alias = "max_vectors")]
    pub max_pretrained: u32,
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
            moving_average: 500.0,
            clip: 5.0,
            dropout: 0.3,
            word_dropout: 0.5,
            exploration: Exploration { from_epoch: 2, probability: 0.5, margin: 0.0 },
            pretrained: String::new(),
            max_pretrained: 100_000,
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
            help: "how many sentences are parsed with the same parameters, on as many threads, at most 8; their \
                   gradients are added up",
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
            key: "moving_average",
            range: "0, or 16 or more",
            help: "over how many batches the parameters that are kept are averaged, every eighth of them; 0 for none",
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
            key: "word_dropout",
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
            key: "pretrained",
            range: "a file",
            help: "vectors of words that were learned elsewhere, as word2vec (text, binary) or GloVe write them; they \
                   are stored in the model",
        },
        Setting {
            key: "max_pretrained",
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
        at_least_one("learner.max_pretrained", self.max_pretrained)?;
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
        if self.moving_average > 0.0 && self.moving_average < 2.0 * MovingAverage::EVERY as f32 {
            return Err(Error::config("learner.moving_average", "must be 0, or 16 or more"));
        }
        let by = if let Decay::Inverse { by } = self.decay { by } else { 0.0 };
        for (key, value) in [
            ("learner.clip", self.clip),
            ("learner.word_dropout", self.word_dropout),
            ("learner.moving_average", self.moving_average),
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
    pub(in crate::preset) fn read_vectors(&self) -> Result<Option<PretrainedEmbeddings>> {
        let read = || {
            PretrainedEmbeddings::read(Path::new(&self.pretrained), self.max_pretrained as usize)
        };
        (!self.pretrained.is_empty()).then(read).transpose()
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
        let has_vectors = !self.pretrained.is_empty();
        let fixed = has_vectors.then(|| Fixed::load(sections, vocabulary)).transpose()?;
        let mut neural = Neural::new(self.network, system, vocabulary, fixed, None)?;
        neural.params.load(sections)?;
        Ok(neural)
    }
}
