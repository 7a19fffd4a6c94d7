//! Bidirectional LSTM layers over the embeddings of the words, and the hidden states of a transformer if there is one
//! below.

pub mod compiled;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::embeddings::{EmbeddingDims, Embeddings, PretrainedTable};
use super::transformer::{TransformerEncoder, TransformerMatrices};
use super::{Encoded, WordInventory};
use crate::neural::params::Builder;
use crate::neural::tape::Layout;
use crate::neural::tape::Lookup;
use crate::neural::{Dropout, Lstm, Params, Tape, Var};
use crate::symbols::Sentence;

/// The sizes of bidirectional LSTM layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BiLstmParams {
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

impl Default for BiLstmParams {
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

impl BiLstmParams {
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

/// An encoder of bidirectional LSTM layers.
#[derive(Debug, Clone)]
pub struct BiLstmEncoder {
    /// For each layer, the forward and the backward LSTM.
    layers: Vec<[Lstm; 2]>,
    embeddings: Embeddings,
    below: Option<Box<TransformerEncoder>>,
    lstm_dim: usize,
}

/// The matrices of such an encoder. The embedding tables are allocated later, after all matrices of the network.
pub struct BiLstmMatrices {
    layers: Vec<[Lstm; 2]>,
    dims: EmbeddingDims,
    below: Option<TransformerMatrices>,
    lstm_dim: usize,
}

impl BiLstmMatrices {
    /// Allocates the matrices.
    pub fn new(
        sizes: BiLstmParams,
        below: Option<TransformerMatrices>,
        inventory: &WordInventory,
        builder: &mut Builder,
    ) -> Self {
        let BiLstmParams { word_dim, tag_dim, form_dim, ngram_dim, lstm_dim, .. } = sizes;
        let [word, tag, form, ngram, lstm_dim] =
            [word_dim, tag_dim, form_dim, ngram_dim, lstm_dim].map(|dim| dim as usize);
        let pretrained = inventory.pretrained.as_ref().map_or(0, PretrainedTable::dim);
        let ngram_rows = sizes.ngram_rows as usize;
        let dims = EmbeddingDims { word, tag, form, ngram, ngram_rows, pretrained };
        let first = dims.total() + below.as_ref().map_or(0, TransformerMatrices::output_dim);
        let inputs = |layer| if layer == 0 { first } else { 2 * lstm_dim };
        let layer = |layer| [(); 2].map(|()| Lstm::new(inputs(layer), lstm_dim, builder));
        Self { layers: (0..sizes.layers).map(layer).collect(), dims, below, lstm_dim }
    }

    /// The dimension of the hidden state of a word: both directions concatenated.
    pub fn output_dim(&self) -> usize {
        2 * self.lstm_dim
    }

    /// Allocates the embedding tables.
    pub fn with_embeddings(
        self,
        inventory: &WordInventory,
        builder: &mut Builder,
    ) -> BiLstmEncoder {
        let Self { layers, dims, below, lstm_dim } = self;
        let below = below.map(|matrices| Box::new(matrices.with_tables(inventory, builder)));
        let embeddings = Embeddings::new(dims, inventory, builder);
        BiLstmEncoder { layers, embeddings, below, lstm_dim }
    }
}

impl BiLstmEncoder {
    /// The embedding tables.
    pub fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    /// The embedding tables.
    pub fn embeddings_mut(&mut self) -> &mut Embeddings {
        &mut self.embeddings
    }

    /// The transformer whose hidden states the layers read, if there is one.
    pub(super) fn below(&self) -> Option<&TransformerEncoder> {
        self.below.as_deref()
    }

    /// Records the encoding of sentences; without dropout, there is none for any of them.
    pub(super) fn record(
        &self,
        tape: &mut Tape,
        params: &Params,
        sentences: &[&Sentence],
        dropouts: &mut [Dropout],
    ) -> Encoded {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len() + 2).collect();
        let layout = Arc::new(Layout::new(&lengths));
        let below =
            self.below.as_ref().map(|below| below.record(tape, params, sentences, dropouts));
        let mut embedded = self.embed(tape, params, &layout, sentences, dropouts);
        if let Some(below) = below {
            embedded = tape.beside(layout.rows(), &[embedded, below.states]);
        }
        let mut states = drop_out(tape, &layout, embedded, &lengths, dropouts);
        for &pair in &self.layers {
            let read = tape.bilstm(params, pair, &layout, states);
            states = drop_out(tape, &layout, read, &lengths, dropouts);
        }
        Encoded { states, layout }
    }

    /// Records the embeddings of all words.
    fn embed(
        &self,
        tape: &mut Tape,
        params: &Params,
        layout: &Layout,
        sentences: &[&Sentence],
        dropouts: &mut [Dropout],
    ) -> Var {
        let width = self.embeddings.dim();
        tape.embed(layout.rows() * width, |values, lookups| {
            let mut dropouts = dropouts.iter_mut();
            for (number, sentence) in sentences.iter().enumerate() {
                let mut dropout = dropouts.next();
                for (position, token) in padded(sentence).enumerate() {
                    let first = layout.row(number, position) * width;
                    let (out, dropout) =
                        (&mut values[first..first + width], dropout.as_deref_mut());
                    let used = |column, table, row, factor| {
                        lookups.push(Lookup { at: first + column, table, row, factor });
                    };
                    self.embeddings.write(sentence, token, params, dropout, out, used);
                }
            }
        })
    }
}

/// Records dropout of rows in a layout, if there is any.
fn drop_out(
    tape: &mut Tape,
    layout: &Layout,
    x: Var,
    lengths: &[usize],
    dropouts: &mut [Dropout],
) -> Var {
    if !dropouts.iter().any(|dropout| dropout.scale() > 1.0) {
        return x;
    }
    let width = x.len() / layout.rows().max(1);
    tape.scale(x, |factors| {
        for (sentence, (dropout, &n)) in dropouts.iter_mut().zip(lengths).enumerate() {
            for position in 0..n {
                dropout.draw(&mut factors[layout.row(sentence, position) * width..][..width]);
            }
        }
    })
}

/// The tokens of a sentence, with padding before and after them.
fn padded(sentence: &Sentence) -> impl Iterator<Item = Option<usize>> {
    std::iter::once(None).chain((0..sentence.len()).map(Some)).chain([None])
}
