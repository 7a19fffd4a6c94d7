//! Training of networks: parse each training sentence, sum up the losses of its decisions, backpropagate ([`epochs`]).
//!
//! Several networks with different seeds make an [ensemble](crate::scorer::neural::Ensemble). One that has been trained
//! alone can be taken over. Training can continue from the parameters of another model ([`initial`]).

pub mod epochs;
pub mod initial;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::epochs::NeuralEpochs;
use super::choice::Exploration;
use super::epochs::{Epochs, Progress};
use super::online::oracles;
use super::session::{check_explores, dev_line};
use super::{Components, Session, Trained, TrainingMethod};
use crate::encoder::{Pretrained, PretrainedTable};
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::neural::inference::InstructionSet;
use crate::neural::{Decay, OptimizerParams};
use crate::scorer::Scorer;
use crate::scorer::neural::{Ensemble, Inventory, NetworkParams, Neural};
use crate::symbols::Vocabulary;
use crate::transition::Oracle;
use crate::treebank::embeddings::PretrainedEmbeddings;

/// The settings of networks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralParams {
    /// The number of networks, trained one after the other with the seeds N, N + 1, …; their log-probabilities
    /// are averaged, and they vote on tags. `--merge` takes over networks that were trained alone.
    #[schemars(range(min = 1, max = 100))]
    pub models: u32,
    /// Maximum number of passes over the training trees; 0 for 12 (4 on a pretrained encoder), or with few trees as many
    /// as make 3,000 batches.
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
    /// Reads the pretrained embeddings, if there are any.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn read_pretrained(&self) -> Result<Option<PretrainedEmbeddings>> {
        let read = || {
            PretrainedEmbeddings::read(Path::new(&self.pretrained), self.max_pretrained as usize)
        };
        (!self.pretrained.is_empty()).then(read).transpose()
    }

    /// The number of epochs with so many trees in each.
    fn epochs_with(&self, trees: u64) -> u32 {
        /// Enough for networks to converge on few trees (docs/tuning.md).
        const BATCHES: u64 = 3000;
        if self.epochs > 0 {
            return self.epochs;
        }
        let batches = trees.div_ceil(u64::from(self.batch)).max(1);
        // A pretrained encoder knows much already.
        let fewest = if self.network.encoder().is_some() { 4 } else { 12 };
        BATCHES.div_ceil(batches).max(fewest) as u32
    }
}

/// Trains networks.
#[derive(Debug, Clone)]
pub struct NeuralTraining(pub NeuralParams);

impl TrainingMethod for NeuralTraining {
    fn train(&self, session: &Session<'_>) -> Result<Trained> {
        let epochs = self.0.epochs_with(session.trees_in(1));
        let params = NeuralParams { epochs, ..self.0.clone() };
        let NeuralParams { models, exploration, .. } = params;
        let explores = exploration.explores();
        if explores {
            check_explores(session.components.system)?;
        }
        let run = Run {
            session,
            params: &params,
            inventory: inventory(session, &self.0.network),
            oracles: oracles(session, explores)?,
        };
        let total = session.trees_in(u64::from(epochs) * u64::from(models));
        let progress = Progress::new(session.observer, total);
        if models == 1 { run.network(1, &progress) } else { self.ensemble(&run, &progress) }
    }

    fn load(&self, components: Components<'_>, sections: &Sections) -> Result<Box<dyn Scorer>> {
        let (network, parts) = self.networks(components, sections)?;
        let instructions = InstructionSet::wanted()?;
        let load = |part: &Sections| network.clone().load(part, instructions);
        let mut members = parts.iter().map(load).collect::<Result<Vec<_>>>()?;
        Ok(match members.len() {
            1 => members.remove(0),
            _ => Box::new(Ensemble::new(members)),
        })
    }
}

/// The component of a model that is a network of an ensemble, from 1.
fn part(number: u32) -> String {
    format!("network-{number}")
}

impl NeuralTraining {
    /// The arrays of each network of a model, at least one.
    fn parts(&self, sections: &Sections) -> Result<Vec<Sections>> {
        let parts: Vec<Sections> = match self.0.models {
            1 => vec![sections.clone()],
            models => (1..=models)
                .map(|number| sections.part(&part(number)))
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
        let has_embeddings = !self.0.pretrained.is_empty();
        let embeddings =
            has_embeddings.then(|| PretrainedTable::load(first, vocabulary)).transpose()?;
        let has_encoder = self.0.network.encoder().is_some();
        let encoder = has_encoder.then(|| Pretrained::load(first).map(Arc::new)).transpose()?;
        Ok((embeddings, encoder))
    }

    /// The networks of a model: one without the values of its parameters, and the arrays of each, at least one.
    fn networks(
        &self,
        components: Components<'_>,
        sections: &Sections,
    ) -> Result<(Neural, Vec<Sections>)> {
        let Components { system, vocabulary, .. } = components;
        let (embeddings, encoder) = self.pretrained(sections, vocabulary)?;
        let inventory = Inventory::new(&self.0.network, system, vocabulary, embeddings, encoder);
        Ok((Neural::new(&self.0.network, &inventory, None)?, self.parts(sections)?))
    }

    /// Trains all networks; when stopped, some.
    fn ensemble(&self, run: &Run<'_>, progress: &Progress<'_>) -> Result<Trained> {
        let session = run.session;
        let mut all = Trained::default();
        for number in 1..=self.0.models {
            session.log(&format!("network {number} of {}", self.0.models));
            match run.network(number, progress) {
                Ok(one) => {
                    all.epoch = all.epoch.max(one.epoch);
                    all.sections.put_part(&part(number), one.sections);
                }
                Err(Error::Stopped) if number > 1 => {}
                Err(error) => return Err(error),
            }
            if session.observer.is_stopped() {
                break;
            }
        }
        if !session.dev.is_empty() {
            let scorer = self.load(session.components, &all.sections)?;
            all.dev = session.score_dev(&*scorer);
        }
        if let Some(dev) = &all.dev {
            session.log(&format!("all networks: {}", dev_line(dev)));
        }
        Ok(all)
    }
}

/// The symbols of a training run.
fn inventory(session: &Session<'_>, network: &NetworkParams) -> Inventory {
    let Components { system, vocabulary, .. } = session.components;
    let pretrained = session
        .embeddings
        .map(|(vectors, trained)| PretrainedTable::new(vectors, vocabulary, *trained));
    Inventory::new(network, system, vocabulary, pretrained, session.encoder.cloned())
}

/// What all networks of a training run share.
struct Run<'a> {
    session: &'a Session<'a>,
    params: &'a NeuralParams,
    inventory: Inventory,
    oracles: Vec<Box<dyn Oracle + 'a>>,
}

impl Run<'_> {
    /// Trains a network with a seed of its own, or takes it over from a model that has it.
    fn network(&self, number: u32, progress: &Progress<'_>) -> Result<Trained> {
        let Self { session, params, inventory, oracles } = self;
        let seed = session.seed.wrapping_add(u64::from(number - 1));
        if let Some(model) = session.merge.iter().find(|model| model.header.seed == seed) {
            session.log(&format!("taken over from the model with seed {seed}"));
            progress.add(session.trees_in(u64::from(params.epochs)));
            let network = Neural::new(&params.network, inventory, None)?;
            let sections = network.sections_of(&model.sections)?;
            let epoch = model.header.training.epoch;
            return Ok(Trained { sections, epoch, ..Trained::default() });
        }
        let session = &Session { seed, ..**session };
        let mut network = epochs::untrained(session, params, inventory)?;
        if let Some(initial) = session.initial {
            initial.initialize(number, session.components, &mut network)?;
        }
        session.log(&format!("{} parameters", network.params.values().len()));
        let mut learner = NeuralEpochs::new(session, oracles, network, params, progress);
        let checkpoint = session.checkpoint(|| epochs::data_fingerprint(session))?;
        let NeuralParams { epochs, patience, .. } = *self.params;
        Epochs { session, model: number, epochs, patience, checkpoint }.run(&mut learner, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::NeuralParams;

    #[test]
    fn few_trees_get_more_epochs() {
        let automatic = NeuralParams { epochs: 0, batch: 16, ..NeuralParams::default() };
        let epochs = [1, 379, 4000, 18_951].map(|trees| automatic.epochs_with(trees));
        assert_eq!(epochs, [3000, 125, 12, 12]);
        let given = NeuralParams { epochs: 2, ..automatic };
        assert_eq!(given.epochs_with(379), 2);
    }
}
