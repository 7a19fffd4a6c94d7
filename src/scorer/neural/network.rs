//! The networks to choose from, behind one type.

use serde::{Deserialize, Serialize};

use super::embeddings::{Embeddings, PretrainedTable};
use super::positions::{Positions, PositionsParams};
use super::stack_lstm::{StackLstm, StackLstmParams};
use super::{ForwardPass, Inventory, Network};
use crate::Result;
use crate::neural::{Params, Var};
use crate::scorer::{Configuration, Memory};
use crate::transition::TransitionSystem;

/// The network and its sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkParams {
    /// A bidirectional LSTM encodes the sentence once; each decision uses a few of its positions.
    Positions(PositionsParams),
    /// Stack LSTMs over the whole stack, buffer and history.
    StackLstm(StackLstmParams),
}

impl Default for NetworkParams {
    fn default() -> Self {
        Self::Positions(PositionsParams::default())
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
        params: NetworkParams,
        inventory: &Inventory,
        seed: Option<u64>,
    ) -> Result<(Self, Params)> {
        match params {
            NetworkParams::Positions(sizes) => {
                let (network, params) = Positions::new(sizes, inventory, seed)?;
                Ok((Self::Positions(Box::new(network)), params))
            }
            NetworkParams::StackLstm(sizes) => {
                let (network, params) = StackLstm::new(sizes, inventory, seed)?;
                Ok((Self::StackLstm(Box::new(network)), params))
            }
        }
    }

    /// The pretrained embeddings, if there are any.
    pub fn pretrained(&self) -> Option<&PretrainedTable> {
        match self {
            Self::Positions(network) => network.embeddings().pretrained(),
            Self::StackLstm(network) => network.embeddings().pretrained(),
        }
    }

    /// The word, tag and form embeddings.
    pub fn embeddings_mut(&mut self) -> &mut Embeddings {
        match self {
            Self::Positions(network) => network.embeddings_mut(),
            Self::StackLstm(network) => network.embeddings_mut(),
        }
    }
}

impl<S: TransitionSystem> Network<S> for AnyNetwork {
    type Memory = Memory;

    fn begin(&self, at: Configuration<'_, S>, pass: &mut ForwardPass<'_>) -> Memory {
        match self {
            Self::Positions(network) => Memory::Positions(network.begin(at, pass)),
            Self::StackLstm(network) => Memory::StackLstm(Box::new(network.begin(at, pass))),
        }
    }

    fn advance(
        &self,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut Memory,
        pass: &mut ForwardPass<'_>,
    ) {
        match (self, memory) {
            (Self::Positions(network), Memory::Positions(memory)) => {
                network.advance(after, action, memory, pass);
            }
            (Self::StackLstm(network), Memory::StackLstm(memory)) => {
                network.advance(after, action, memory, pass);
            }
            _ => unreachable!("a network receives the memory that it created"),
        }
    }

    fn scores(&self, at: Configuration<'_, S>, memory: &Memory, pass: &mut ForwardPass<'_>) -> Var {
        match (self, memory) {
            (Self::Positions(network), Memory::Positions(memory)) => {
                network.scores(at, memory, pass)
            }
            (Self::StackLstm(network), Memory::StackLstm(memory)) => {
                network.scores(at, memory, pass)
            }
            _ => unreachable!("a network receives the memory that it created"),
        }
    }
}
