//! The recurrent neural network grammar parser of Dyer et al. (2016, section 3) as used by Fernández-González and
//! Gómez-Rodríguez (2018, section 5.2): stack LSTMs over the stack, the buffer and the past actions, with
//! constituents composed from their label and children.
//!
//! The network sees of a system only its [view](crate::transition::View): after each action it pops what has left the
//! stack and pushes what is new, so it serves all systems with constituents on their stacks. A stack item is a word, the
//! embedding of an open nonterminal, or the composition of a constituent: a bidirectional LSTM over its label and its
//! children.
//!
//! - [`training`]: on the tape; [`compiled`]: for parsing, in 8-bit integers.

pub mod compiled;
mod stack;
pub mod training;

use serde::{Deserialize, Serialize};

use super::Inventory;
use super::lstm::LstmLayers;
use super::names::{ACTIONS, LABELS, RECENT};
use crate::Result;
use crate::encoder::{EmbeddingDims, Embeddings, PretrainedTable};
use crate::neural::params::Builder;
use crate::neural::{Lstm, Param, Params};
use crate::scorer::factored::Classes;
use crate::transition::Constituent;

/// The sizes of the network. The defaults are those of the published parser of Dyer et al. (2016).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StackLstmParams {
    /// The embedding dimension of words.
    #[schemars(range(min = 1, max = 4096))]
    pub word_dim: u32,
    /// The embedding dimension of tags.
    #[schemars(range(min = 1, max = 4096))]
    pub tag_dim: u32,
    /// The embedding dimension of word forms (affixes and shape); 0 for none, as published.
    #[schemars(range(min = 0, max = 4096))]
    pub form_dim: u32,
    /// The embedding dimension of actions.
    #[schemars(range(min = 1, max = 4096))]
    pub action_dim: u32,
    /// The input dimension of the LSTMs: words, labels, constituents.
    #[schemars(range(min = 1, max = 4096))]
    pub input_dim: u32,
    /// The dimension of an LSTM layer, and of the hidden layer of a decision.
    #[schemars(range(min = 1, max = 4096))]
    pub lstm_dim: u32,
    /// The number of LSTM layers.
    #[schemars(range(min = 1, max = 64))]
    pub layers: u32,
    /// If not 0, a label has an embedding for each number of children up to this one (Fernández-González and
    /// Gómez-Rodríguez 2018, section 3).
    #[schemars(range(min = 0, max = 4096))]
    pub max_arity: u32,
}

impl Default for StackLstmParams {
    fn default() -> Self {
        Self {
            word_dim: 32,
            tag_dim: 12,
            form_dim: 0,
            action_dim: 16,
            input_dim: 128,
            lstm_dim: 128,
            layers: 2,
            max_arity: 0,
        }
    }
}

/// The network: three stack LSTMs, a composition function, one hidden layer, and a score for each class.
#[derive(Debug, Clone)]
pub struct StackLstm {
    stack: LstmLayers,
    buffer: LstmLayers,
    history: LstmLayers,
    /// The composition LSTMs: label and children first to last, label and children last to first.
    composer: [Lstm; 2],
    composed: (Param, Param),
    word: (Param, Param),
    hidden: (Param, Param),
    out: (Param, Param),
    embeddings: Embeddings,
    /// Label embeddings: of open nonterminals, then of composed constituents for each number of children.
    labels: Param,
    n_labels: u32,
    max_arity: u32,
    lstm_dim: usize,
    actions: (Classes, Param),
    /// Learned inputs for the bottom of the stack, the end of the buffer, and the start of the history.
    padding: [Param; 3],
}

impl StackLstm {
    /// Creates the network and initializes its parameters; see [`super::AnyNetwork::new`].
    ///
    /// # Errors
    /// When it is too large.
    pub fn new(
        sizes: StackLstmParams,
        inventory: &Inventory,
        seed: Option<u64>,
    ) -> Result<(Self, Params)> {
        let StackLstmParams { word_dim, tag_dim, form_dim, action_dim, input_dim, .. } = sizes;
        let [word, tag, form, action] =
            [word_dim, tag_dim, form_dim, action_dim].map(|size| size as usize);
        let [input, lstm_dim, layers] =
            [input_dim, sizes.lstm_dim, sizes.layers].map(|size| size as usize);
        let pretrained = inventory.words.pretrained.as_ref().map_or(0, PretrainedTable::dim);
        let dims = EmbeddingDims { word, tag, form, ngram: 0, ngram_rows: 0, pretrained };
        let mut own = Builder::new(seed);
        let builder = &mut own;
        let affine = |inputs, outputs, builder: &mut Builder| {
            (builder.matrix(inputs, outputs), builder.vector(outputs, 0.0))
        };
        let stack = LstmLayers::new(input, lstm_dim, layers, builder);
        let buffer = LstmLayers::new(input, lstm_dim, layers, builder);
        let history = LstmLayers::new(action, lstm_dim, layers, builder);
        let composer = [(); 2].map(|()| Lstm::new(input, lstm_dim, builder));
        let composed = affine(2 * lstm_dim, input, builder);
        let word = affine(dims.total(), input, builder);
        let hidden = affine(3 * lstm_dim, lstm_dim, builder);
        let out = builder.scores(ACTIONS, lstm_dim, inventory.classes.len());
        let padding = [input, input, action].map(|dim| builder.vector(dim, 0.1));
        let embeddings = Embeddings::new(dims, &inventory.words, builder);
        let n_labels = 2 * inventory.labels as u32;
        let n_rows = (n_labels * (2 + sizes.max_arity)) as usize;
        let labels = builder.symbol_table(LABELS, n_rows, input);
        let n_actions = inventory.classes.len();
        let actions = builder.symbol_table(RECENT, n_actions + 1, action);
        let actions = (inventory.classes.clone(), actions);
        let network = Self {
            stack,
            buffer,
            history,
            composer,
            composed,
            word,
            hidden,
            out,
            embeddings,
            labels,
            n_labels,
            max_arity: sizes.max_arity,
            lstm_dim,
            actions,
            padding,
        };
        Ok((network, own.finish()?))
    }

    /// The embedding tables.
    pub fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    /// The embedding tables.
    pub fn embeddings_mut(&mut self) -> &mut Embeddings {
        &mut self.embeddings
    }

    /// The row of a label embedding: that of an open nonterminal, or of a constituent with `n_children` children.
    fn label(&self, node: &Constituent, n_children: usize) -> u32 {
        let label = node.label.map_or(0, |label| u32::from(label.0));
        let symbol = 2 * label + u32::from(node.temporary);
        let block = if node.open { 0 } else { 1 + (n_children as u32).min(self.max_arity) };
        block * self.n_labels + symbol
    }
}
