//! A sentence encoder: bidirectional LSTM layers over the embeddings of the words.

pub mod compiled;
pub mod training;

use serde::{Deserialize, Serialize};

use super::embeddings::{EmbeddingDims, Embeddings, PretrainedTable};
use super::{Inventory, lstm};
use crate::neural::Lstm;
use crate::neural::params::Builder;
use crate::symbols::Sentence;

/// The sizes of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderParams {
    /// The embedding dimension of words.
    #[schemars(range(min = 1, max = 4096))]
    pub word_dim: u32,
    /// The embedding dimension of tags.
    #[schemars(range(min = 1, max = 4096))]
    pub tag_dim: u32,
    /// The embedding dimension of word forms (affixes and shape); 0 for none.
    #[schemars(range(min = 0, max = 4096))]
    pub form_dim: u32,
    /// The embedding dimension of character n-grams (2 to 5 characters of the word with its boundaries, and the whole
    /// word); 0 for none.
    #[schemars(range(min = 0, max = 4096))]
    pub ngram_dim: u32,
    /// The number of embeddings of n-grams; n-grams with the same hash share one.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub ngram_rows: u32,
    /// The dimension of an LSTM, in each direction.
    #[schemars(range(min = 1, max = 4096))]
    pub lstm_dim: u32,
    /// The number of bidirectional LSTM layers.
    #[schemars(range(min = 1, max = 64))]
    pub layers: u32,
}

impl Default for EncoderParams {
    fn default() -> Self {
        Self {
            word_dim: 100,
            tag_dim: 32,
            form_dim: 32,
            ngram_dim: 0,
            ngram_rows: 1 << 15,
            lstm_dim: 128,
            layers: 2,
        }
    }
}

impl EncoderParams {
    /// The multiply-adds of the layers for a word, without a pretrained embedding.
    pub fn multiply_adds(&self) -> u64 {
        let (layers, units) = (u64::from(self.layers), u64::from(self.lstm_dim));
        let embedding = [self.word_dim, self.tag_dim, self.form_dim, self.ngram_dim];
        let embedding: u64 = embedding.into_iter().map(u64::from).sum();
        let inputs = embedding + (layers - 1) * 2 * units;
        // Four gates in each of two directions.
        2 * 4 * units * (inputs + layers * units)
    }
}

/// A sentence encoder.
#[derive(Debug, Clone)]
pub struct Encoder {
    /// For each layer, the forward and the backward LSTM.
    layers: Vec<[Lstm; 2]>,
    embeddings: Embeddings,
    lstm_dim: usize,
}

/// The LSTM layers of an encoder. The embedding tables are allocated later, after all matrices of the network.
pub struct EncoderLayers {
    layers: Vec<[Lstm; 2]>,
    dims: EmbeddingDims,
    lstm_dim: usize,
}

impl EncoderLayers {
    /// Allocates the matrices.
    pub fn new(sizes: EncoderParams, inventory: &Inventory, builder: &mut Builder) -> Self {
        let EncoderParams { word_dim, tag_dim, form_dim, ngram_dim, lstm_dim, .. } = sizes;
        let [word, tag, form, ngram, lstm_dim] =
            [word_dim, tag_dim, form_dim, ngram_dim, lstm_dim].map(|dim| dim as usize);
        let pretrained = inventory.pretrained.as_ref().map_or(0, PretrainedTable::dim);
        let ngram_rows = sizes.ngram_rows as usize;
        let dims = EmbeddingDims { word, tag, form, ngram, ngram_rows, pretrained };
        let inputs = |layer| if layer == 0 { dims.total() } else { 2 * lstm_dim };
        let layer = |layer| [(); 2].map(|()| lstm::layer(inputs(layer), lstm_dim, builder));
        Self { layers: (0..sizes.layers).map(layer).collect(), dims, lstm_dim }
    }

    /// The dimension of the hidden state of a word: both directions concatenated.
    pub fn output_dim(&self) -> usize {
        2 * self.lstm_dim
    }

    /// Allocates the embedding tables.
    pub fn with_embeddings(self, inventory: &Inventory, builder: &mut Builder) -> Encoder {
        let Self { layers, dims, lstm_dim } = self;
        Encoder { layers, embeddings: Embeddings::new(dims, inventory, builder), lstm_dim }
    }
}

impl Encoder {
    /// The embedding tables.
    pub fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    /// The embedding tables.
    pub fn embeddings_mut(&mut self) -> &mut Embeddings {
        &mut self.embeddings
    }
}

/// The tokens of a sentence, with padding before and after them.
fn padded(sentence: &Sentence) -> impl Iterator<Item = Option<usize>> {
    std::iter::once(None).chain((0..sentence.len()).map(Some)).chain([None])
}
