//! One type for all networks, so that what holds one need not know which.

use serde::{Deserialize, Serialize};

use super::positions::{Positions, PositionsParams, Read};
use super::stack_lstm::{StackLstm, StackLstmParams, StackMemory};
use super::words::{Fixed, Words};
use super::{Inventory, Network, Pen};
use crate::Result;
use crate::neural::{Params, Var};
use crate::scorer::Configuration;
use crate::transition::TransitionSystem;

/// Which network, and how large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkParams {
    /// A few positions of a sentence that is read once.
    Positions(PositionsParams),
    /// The whole stack, buffer and history.
    StackLstm(StackLstmParams),
}

impl Default for NetworkParams {
    fn default() -> Self {
        Self::Positions(PositionsParams::default())
    }
}

impl NetworkParams {
    /// All sizes that may be 0, by name.
    pub fn optional_sizes(&self) -> Vec<(&'static str, u32)> {
        match self {
            Self::Positions(PositionsParams { encoder, .. }) => {
                vec![("encoder.form_dim", encoder.form_dim)]
            }
            Self::StackLstm(sizes) => {
                vec![("form_dim", sizes.form_dim), ("max_arity", sizes.max_arity)]
            }
        }
    }

    /// All sizes that must be 1 at least, by name.
    pub fn sizes(&self) -> Vec<(&'static str, u32)> {
        match self {
            Self::Positions(PositionsParams { encoder, hidden_dim }) => vec![
                ("encoder.word_dim", encoder.word_dim),
                ("encoder.tag_dim", encoder.tag_dim),
                ("encoder.lstm_dim", encoder.lstm_dim),
                ("encoder.layers", encoder.layers),
                ("hidden_dim", *hidden_dim),
            ],
            Self::StackLstm(sizes) => vec![
                ("word_dim", sizes.word_dim),
                ("tag_dim", sizes.tag_dim),
                ("action_dim", sizes.action_dim),
                ("input_dim", sizes.input_dim),
                ("lstm_dim", sizes.lstm_dim),
                ("layers", sizes.layers),
            ],
        }
    }
}

/// A network.
#[derive(Debug, Clone)]
pub enum AnyNetwork {
    /// As in [`super::positions`].
    Positions(Box<Positions>),
    /// As in [`super::stack_lstm`].
    StackLstm(Box<StackLstm>),
}

impl AnyNetwork {
    /// Lays out a network and draws its parameters.
    /// Without a seed the parameters are left to be loaded.
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

    /// The vectors of words that were learned elsewhere, if there are any.
    pub fn fixed(&self) -> Option<&Fixed> {
        match self {
            Self::Positions(network) => network.words().fixed(),
            Self::StackLstm(network) => network.words().fixed(),
        }
    }

    /// The vectors of words.
    pub fn words_mut(&mut self) -> &mut Words {
        match self {
            Self::Positions(network) => network.words_mut(),
            Self::StackLstm(network) => network.words_mut(),
        }
    }
}

/// What travels with a hypothesis.
#[derive(Debug, Clone)]
pub enum AnyMemory {
    /// Of [`super::positions`].
    Positions(Read),
    /// Of [`super::stack_lstm`].
    StackLstm(Box<StackMemory>),
}

impl<S: TransitionSystem> Network<S> for AnyNetwork {
    type Memory = AnyMemory;

    fn begin(&self, at: Configuration<'_, S>, pen: &mut Pen<'_>) -> AnyMemory {
        match self {
            Self::Positions(network) => AnyMemory::Positions(network.begin(at, pen)),
            Self::StackLstm(network) => AnyMemory::StackLstm(Box::new(network.begin(at, pen))),
        }
    }

    fn advance(
        &self,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut AnyMemory,
        pen: &mut Pen<'_>,
    ) {
        match (self, memory) {
            (Self::Positions(network), AnyMemory::Positions(memory)) => {
                network.advance(after, action, memory, pen);
            }
            (Self::StackLstm(network), AnyMemory::StackLstm(memory)) => {
                network.advance(after, action, memory, pen);
            }
            _ => unreachable!("a network gets the memory that it made"),
        }
    }

    fn scores(&self, at: Configuration<'_, S>, memory: &AnyMemory, pen: &mut Pen<'_>) -> Var {
        match (self, memory) {
            (Self::Positions(network), AnyMemory::Positions(memory)) => {
                network.scores(at, memory, pen)
            }
            (Self::StackLstm(network), AnyMemory::StackLstm(memory)) => {
                network.scores(at, memory, pen)
            }
            _ => unreachable!("a network gets the memory that it made"),
        }
    }
}
