//! The settings of networks, and loading what training has stored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Ensemble, Inventory, NetworkParams, Neural};
use crate::encoder::{Pretrained, PretrainedTable};
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::neural::inference::InstructionSet;
use crate::neural::{Decay, OptimizerParams};
use crate::scorer::perceptron::Exploration;
use crate::scorer::{Components, Scorer};
use crate::symbols::Vocabulary;

/// The settings of networks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralParams {
    /// The number of networks, trained one after the other with the seeds N, N + 1, …; their log-probabilities
    /// are averaged, and they vote on tags. `--merge` takes over networks that were trained alone.
    #[schemars(range(min = 1, max = 100))]
    pub models: u32,
    /// Maximum number of passes over the training trees; 0 for 12 (4 on a pretrained encoder), or with few trees as many
    /// as make 3,000 batches (300 from an initial model).
    #[schemars(range(min = 0, max = 100_000))]
    pub epochs: u32,
    /// Training ends after this many epochs without a better F1 on the development trees; 0 for never.
    #[schemars(range(min = 0, max = 100_000))]
    pub patience: u32,
    /// The number of sentences in a batch, which are parsed with the same parameters, on at most 8 threads;
    /// their gradients are added up.
    #[schemars(range(min = 1, max = 4096))]
    pub batch: u32,
    /// The optimizer.
    pub optimizer: OptimizerParams,
    /// How the learning rate decays.
    pub decay: Decay,
    /// The number of batches over which the exponential moving average of the parameters decays, updated
    /// every 8 batches; 0 for no averaging.
    #[schemars(extend("anyOf" = [{"const": 0.0}, {"minimum": 16.0, "maximum": 1e6}]))]
    pub moving_average: f32,
    /// The maximum norm of the gradient of a batch, to which larger gradients are clipped; 0 for no
    /// clipping.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub clip: f32,
    /// The dropout rate of the layers.
    #[schemars(extend("exclusiveMaximum" = 1.0), range(min = 0.0))]
    pub dropout: f32,
    /// Word dropout: a word seen n times in training is replaced by UNK with probability z / (z + n), where z
    /// is this number.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub word_dropout: f32,
    /// When wrong predictions are followed in training; probability 0 and margin 0 stay on the gold
    /// derivation.
    pub exploration: Exploration,
    /// The weight of the teacher's probabilities in the loss, if there is a teacher (`--teacher`); the rest is the
    /// weight of the correct action.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub teacher_weight: f32,
    /// A file with pretrained word embeddings in the format of word2vec (text or binary) or GloVe; empty for
    /// none. They are not trained, and are stored in the model.
    pub pretrained: String,
    /// Maximum number of words that are read from that file.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_pretrained: u32,
    /// The network and its dimensions.
    pub network: NetworkParams,
}

impl Default for NeuralParams {
    fn default() -> Self {
        Self {
            models: 1,
            epochs: 30,
            patience: 5,
            batch: 16,
            optimizer: OptimizerParams::adam(0.001),
            decay: Decay::Linear,
            moving_average: 500.0,
            clip: 5.0,
            dropout: 0.3,
            word_dropout: 0.5,
            exploration: Exploration { from_epoch: 2, probability: 0.5, margin: 0.0 },
            teacher_weight: 0.5,
            pretrained: String::new(),
            max_pretrained: 100_000,
            network: NetworkParams::default(),
        }
    }
}

impl NeuralParams {
    /// The component of a model that is a network of an ensemble, from 1.
    pub fn part(number: u32) -> String {
        format!("network-{number}")
    }

    /// Loads the scorer that training has stored.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the sections are not those of such networks.
    pub fn load(&self, components: Components<'_>, sections: &Sections) -> Result<Box<dyn Scorer>> {
        let (network, parts) = self.networks(components, sections)?;
        let instructions = InstructionSet::wanted()?;
        let load = |part: &Sections| network.clone().load(part, instructions);
        let mut members = parts.iter().map(load).collect::<Result<Vec<_>>>()?;
        Ok(match members.len() {
            1 => members.remove(0),
            _ => Box::new(Ensemble::new(members)),
        })
    }

    /// The arrays of each network of a model, at least one.
    fn parts(&self, sections: &Sections) -> Result<Vec<Sections>> {
        let parts: Vec<Sections> = match self.models {
            1 => vec![sections.clone()],
            models => (1..=models)
                .map(|number| sections.part(&Self::part(number)))
                .filter(|part| !part.0.is_empty())
                .collect(),
        };
        if parts.is_empty() { Err(Error::corrupt("it has no network")) } else { Ok(parts) }
    }

    /// The pretrained embeddings and the sizes of the pretrained encoder of a model, if it has any.
    ///
    /// # Errors
    /// When they are damaged.
    pub fn pretrained(
        &self,
        sections: &Sections,
        vocabulary: &Vocabulary,
    ) -> Result<(Option<PretrainedTable>, Option<Arc<Pretrained>>)> {
        let first = &self.parts(sections)?[0];
        let has_embeddings = !self.pretrained.is_empty();
        let embeddings =
            has_embeddings.then(|| PretrainedTable::load(first, vocabulary)).transpose()?;
        let has_encoder = self.network.encoder().is_some();
        let encoder = has_encoder.then(|| Pretrained::load(first).map(Arc::new)).transpose()?;
        Ok((embeddings, encoder))
    }

    /// The networks of a model: one without the values of its parameters, and the arrays of each, at least one.
    pub(crate) fn networks(
        &self,
        components: Components<'_>,
        sections: &Sections,
    ) -> Result<(Neural, Vec<Sections>)> {
        let Components { system, vocabulary, .. } = components;
        let (embeddings, encoder) = self.pretrained(sections, vocabulary)?;
        let inventory = Inventory::new(&self.network, system, vocabulary, embeddings, encoder);
        Ok((Neural::new(&self.network, &inventory, None)?, self.parts(sections)?))
    }
}
