//! The networks to choose from, behind one type, and a network with its parameters.

use serde::{Deserialize, Serialize};

use super::Inventory;
use super::positions::compiled::CompiledPositions;
use super::positions::{Positions, PositionsParams};
use super::stack_lstm::compiled::CompiledStackLstm;
use super::stack_lstm::{StackLstm, StackLstmParams};
use crate::Result;
use crate::encoder::TransformerParams;
use crate::memory::Sections;
use crate::neural::inference::InstructionSet;
use crate::neural::{OptimizerState, Params, Quantized};
use crate::scorer::Scorer;
use crate::scorer::factored::Classes;

/// The network and its sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkParams {
    /// An encoder reads the sentence once; each decision uses a few of its positions.
    Positions(PositionsParams),
    /// Stack LSTMs over the whole stack, buffer and history.
    StackLstm(StackLstmParams),
}

impl Default for NetworkParams {
    fn default() -> Self {
        Self::Positions(PositionsParams::default())
    }
}

impl NetworkParams {
    /// The probability that training hides the tags of a sentence; 0 if the network does not predict tags.
    pub fn untagged(&self) -> f32 {
        match self {
            Self::Positions(params) => params.untagged,
            Self::StackLstm(_) => 0.0,
        }
    }

    /// The settings of a pretrained encoder, if the network has one.
    pub fn encoder(&self) -> Option<&TransformerParams> {
        match self {
            Self::Positions(params) => params.encoder.pretrained(),
            Self::StackLstm(_) => None,
        }
    }

    /// The same, to change them.
    pub fn encoder_mut(&mut self) -> Option<&mut TransformerParams> {
        match self {
            Self::Positions(params) => params.encoder.pretrained_mut(),
            Self::StackLstm(_) => None,
        }
    }

    /// The same layers, with the other settings of another network.
    #[must_use]
    pub fn trained_as(&self, other: &Self) -> Self {
        let mut changed = self.clone();
        if let (Self::Positions(own), Self::Positions(other)) = (&mut changed, other)
            && (own.untagged > 0.0) == (other.untagged > 0.0)
        {
            own.untagged = other.untagged;
        }
        if let Some((own, other)) = changed.encoder_mut().zip(other.encoder()) {
            let TransformerParams { layers, lstm, .. } = *own;
            *own = TransformerParams { layers, lstm, ..other.clone() };
        }
        changed
    }

    pub(super) fn has_ngrams(&self) -> bool {
        matches!(self, Self::Positions(params) if params.encoder.has_ngrams())
    }
}

/// Any of the networks.
#[derive(Debug, Clone)]
pub enum AnyNetwork {
    /// As in [`super::positions`].
    Positions(Box<Positions>),
    /// As in [`super::stack_lstm`].
    StackLstm(Box<StackLstm>),
}

impl AnyNetwork {
    /// Creates a network and initializes its parameters with the seed. Without a seed they remain zero, to
    /// be loaded.
    ///
    /// # Errors
    /// When the network is too large.
    pub fn new(
        params: &NetworkParams,
        inventory: &Inventory,
        seed: Option<u64>,
    ) -> Result<(Self, Params)> {
        match params {
            NetworkParams::Positions(sizes) => {
                let (network, params) = Positions::new(sizes, inventory, seed)?;
                Ok((Self::Positions(Box::new(network)), params))
            }
            NetworkParams::StackLstm(sizes) => {
                let (network, params) = StackLstm::new(*sizes, inventory, seed)?;
                Ok((Self::StackLstm(Box::new(network)), params))
            }
        }
    }

    /// Adds what a model must know of the input besides the parameters.
    fn store(&self, sections: &mut Sections) {
        match self {
            Self::Positions(network) => network.encoder().store(sections),
            Self::StackLstm(network) => {
                if let Some(pretrained) = network.embeddings().pretrained() {
                    pretrained.store(sections);
                }
            }
        }
    }

    /// Sets word dropout; see [`Embeddings::set_word_dropout`](crate::encoder::Embeddings::set_word_dropout).
    pub fn set_word_dropout(&mut self, counts: &[u32], strength: f32) {
        match self {
            Self::Positions(network) => network.encoder_mut().set_word_dropout(counts, strength),
            Self::StackLstm(network) => {
                network.embeddings_mut().set_word_dropout(counts, strength);
            }
        }
    }
}

/// A network with its parameters.
#[derive(Debug, Clone)]
pub struct Neural {
    /// The network.
    pub network: AnyNetwork,
    /// Its parameters.
    pub params: Params,
    /// The classes of actions.
    pub classes: Classes,
}

impl Neural {
    /// Creates a network, with parameters initialized by the seed or, without one, to be loaded.
    ///
    /// # Errors
    /// When it is too large.
    pub fn new(params: &NetworkParams, inventory: &Inventory, seed: Option<u64>) -> Result<Self> {
        let (network, params) = AnyNetwork::new(params, inventory, seed)?;
        Ok(Self { network, params, classes: inventory.classes.clone() })
    }

    /// Adds the parameters to the sections of a model, in 8 bits.
    pub fn store(&self, sections: &mut Sections) {
        Quantized::new(&self.params).store(sections);
        self.network.store(sections);
    }

    /// The sections of the network in a model that has it.
    ///
    /// # Errors
    /// When they are not those of this network.
    pub fn sections_of(self, model: &Sections) -> Result<Sections> {
        let mut sections = Sections::default();
        Quantized::load(&self.params, model)?.store(&mut sections);
        self.network.store(&mut sections);
        Ok(sections)
    }

    /// Returns the network with the moving average of its parameters, or a copy if there is no average.
    #[must_use]
    pub fn averaged(&self, state: &OptimizerState) -> Self {
        let params = match &state.average {
            Some(average) => average.of(&self.params),
            None => self.params.clone(),
        };
        Self { params, network: self.network.clone(), classes: self.classes.clone() }
    }

    /// The scorer for parsing, packed for an instruction set.
    pub fn compile(self, set: InstructionSet) -> Box<dyn Scorer> {
        let params = Quantized::new(&self.params);
        self.compile_with(params, set)
    }

    /// The same with the parameters that [`Neural::store`] wrote.
    ///
    /// # Errors
    /// When they are not those of this network.
    pub fn load(self, sections: &Sections, set: InstructionSet) -> Result<Box<dyn Scorer>> {
        let params = Quantized::load(&self.params, sections)?;
        Ok(self.compile_with(params, set))
    }

    fn compile_with(self, params: Quantized, set: InstructionSet) -> Box<dyn Scorer> {
        match self.network {
            AnyNetwork::Positions(network) => {
                Box::new(CompiledPositions::new(*network, params, self.classes, set))
            }
            AnyNetwork::StackLstm(network) => {
                Box::new(CompiledStackLstm::new(*network, params, self.classes, set))
            }
        }
    }
}
