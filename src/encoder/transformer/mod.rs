//! A pretrained transformer over pieces of words, whose weights a [checkpoint](crate::checkpoint) has.
//!
//! A row of the transformer is a piece: the sum of the embeddings of the piece, of its position, and of the case and the
//! tag of its word. The hidden state of a word is the mean of its pieces. A sentence of more pieces than there are
//! positions is read in overlapping windows (`windows`).

pub mod compiled;
#[cfg(test)]
mod tests;
mod windows;

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::windows::{Layout as WindowLayout, Source};
use super::{BiLstmParams, Encoded, TAGS, WordInventory};
use crate::checkpoint::{Config, LayerWeights, Weights};
use crate::error::{Error, Result};
use crate::memory::{Array, Sections};
use crate::neural::params::{Bits, Builder};
use crate::neural::tape::{Layout, Lookup};
use crate::neural::transformer::{LayerNorm, Linear, Transformer, TransformerLayer};
use crate::neural::{Dropout, Param, Params, RowTables, Tape, Var};
use crate::parallel;
use crate::symbols::{CASES, Sentence};

/// The settings of a pretrained transformer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TransformerParams {
    /// The folder of the encoder, in the layout of Hugging Face: `config.json`, `model.safetensors`, and
    /// `tokenizer.json` or `vocab.txt`. Training reads it; models do not need it.
    pub path: String,
    /// The number of layers, from the lowest; 0 for all.
    #[schemars(range(min = 0, max = 128))]
    pub layers: u32,
    /// The factor on the encoder's learning rate; 0 freezes the encoder.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub rate: f32,
    /// The factor by which the learning rate falls from each layer to the one below, and from the lowest layer to the
    /// embeddings.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub layer_decay: f32,
    /// The dropout rate of the encoder.
    #[schemars(extend("exclusiveMaximum" = 1.0), range(min = 0.0))]
    pub dropout: f32,
    /// If not 0, only this many of the encoder's pieces, the first ones, and those of training words are kept; other
    /// words are spelled with smaller pieces.
    #[schemars(range(min = 0, max = 10_000_000))]
    pub pieces: u32,
    /// The bits of the embeddings of pieces in a model.
    #[schemars(extend("anyOf" = [{"const": 4}, {"const": 8}]))]
    pub piece_bits: u8,
    /// Bidirectional LSTM layers over the hidden states of words and embeddings of their own; without it, there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BiLstmParams")]
    pub lstm: Option<BiLstmParams>,
}

impl Default for TransformerParams {
    fn default() -> Self {
        Self {
            path: String::new(),
            layers: 0,
            rate: 0.2,
            layer_decay: 1.0,
            dropout: 0.1,
            pieces: 0,
            piece_bits: 8,
            lstm: None,
        }
    }
}

/// A pretrained transformer: its sizes and, in training, its weights.
#[derive(Debug, Clone)]
pub struct Pretrained {
    /// The sizes.
    pub config: Config,
    /// The weights; none when a model is loaded, which has its own.
    pub weights: Option<Weights>,
}

/// The section of a model that has the sizes.
const CONFIG: &str = "encoder.config";

impl Pretrained {
    /// Reads the sizes from a model that has them.
    ///
    /// # Errors
    /// When they are impossible.
    pub fn load(sections: &Sections) -> Result<Self> {
        let bytes: Array<u8> = sections.get(CONFIG)?;
        let config: Config = serde_json::from_slice(&bytes).map_err(|_| {
            Error::Corrupt("the sizes of the encoder are damaged: train the model again".into())
        })?;
        config.check()?;
        Ok(Self { config, weights: None })
    }

    /// Hashes the sizes and the weights.
    pub fn hash_into(&self, hasher: &mut impl Hasher) {
        serde_json::to_vec(&self.config).unwrap_or_default().hash(hasher);
        let Some(weights) = &self.weights else { return };
        for numbers in weights.arrays() {
            bytemuck::cast_slice::<f32, u8>(numbers).hash(hasher);
        }
    }

    /// Keeps the embeddings of some pieces, in this order.
    pub fn keep_pieces(&mut self, pieces: &[u32]) {
        self.config.vocabulary = pieces.len();
        let width = self.config.embedding_width;
        if let Some(weights) = &mut self.weights {
            let row = |&piece: &u32| &weights.pieces[piece as usize * width..][..width];
            weights.pieces = pieces.iter().flat_map(row).copied().collect();
        }
    }

    /// Without all but the lowest layers, if there are so many; 0 for all layers.
    #[must_use]
    pub fn cut(mut self, layers: u32) -> Self {
        if layers > 0 {
            self.config.layers = self.config.layers.min(layers as usize);
            if let Some(weights) = &mut self.weights {
                weights.layers.truncate(self.config.layers);
            }
        }
        self
    }
}

/// The tables of embeddings.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Embeddings {
    pieces: Param,
    positions: Param,
    cases: Param,
    tags: Param,
}

/// A transformer as an encoder.
#[derive(Debug, Clone)]
pub struct TransformerEncoder {
    transformer: Transformer,
    embeddings: Embeddings,
    pretrained: Arc<Pretrained>,
    dropout: f32,
}

/// The matrices of such an encoder. The embedding tables are allocated later, after all matrices of the network.
pub struct TransformerMatrices {
    transformer: Transformer,
    params: TransformerParams,
    pretrained: Arc<Pretrained>,
}

impl TransformerMatrices {
    /// Allocates the matrices.
    ///
    /// # Errors
    /// When the sizes of the transformer are unknown.
    pub fn new(
        params: &TransformerParams,
        words: &WordInventory,
        builder: &mut Builder,
    ) -> Result<Self> {
        let pretrained = words.encoder.clone().ok_or_else(|| {
            Error::Corrupt("the sizes of the encoder are missing: train the model again".into())
        })?;
        let config = &pretrained.config;
        let rate =
            |layer: usize| params.rate * params.layer_decay.powi((config.layers - layer) as i32);
        builder.set_rate(rate(0));
        let embedding_norm = norm(config.embedding_width, config.epsilon, builder);
        let projection = (config.embedding_width != config.width)
            .then(|| linear(config.embedding_width, config.width, builder));
        let layer = |number| {
            builder.set_rate(rate(number));
            layer(config, builder)
        };
        let layers = (1..=config.layers).map(layer).collect();
        builder.set_rate(1.0);
        let transformer = Transformer { embedding_norm, projection, layers };
        Ok(Self { transformer, params: params.clone(), pretrained })
    }

    /// The dimension of a hidden state.
    pub fn output_dim(&self) -> usize {
        self.pretrained.config.width
    }

    /// Allocates the embedding tables.
    pub fn with_tables(self, words: &WordInventory, builder: &mut Builder) -> TransformerEncoder {
        let Self { transformer, params, pretrained } = self;
        let Config { vocabulary, positions, embedding_width, layers, .. } = pretrained.config;
        let bits = if params.piece_bits == 4 { Bits::Four } else { Bits::Eight };
        builder.set_rate(params.rate * params.layer_decay.powi(layers as i32));
        let pieces = builder.table_of(bits, vocabulary, embedding_width);
        let positions = builder.table_of(Bits::Eight, positions, embedding_width);
        builder.set_rate(1.0);
        let cases = builder.table_of(Bits::Eight, CASES, embedding_width);
        let tags = builder.table_of(Bits::Eight, words.sizes.tags, embedding_width);
        builder.rows_are(TAGS);
        let embeddings = Embeddings { pieces, positions, cases, tags };
        TransformerEncoder { transformer, embeddings, pretrained, dropout: params.dropout }
    }
}

fn linear(inputs: usize, outputs: usize, builder: &mut Builder) -> Linear {
    Linear { weights: builder.matrix(inputs, outputs), bias: builder.vector(outputs, 0.0) }
}

fn norm(width: usize, epsilon: f32, builder: &mut Builder) -> LayerNorm {
    let (scale, shift) = (builder.vector(width, 1.0), builder.vector(width, 0.0));
    LayerNorm { scale, shift, epsilon }
}

fn layer(config: &Config, builder: &mut Builder) -> TransformerLayer {
    let &Config { width, feed_forward, epsilon, .. } = config;
    TransformerLayer {
        input: linear(width, 3 * width, builder),
        output: linear(width, width, builder),
        attention_norm: norm(width, epsilon, builder),
        up: linear(width, feed_forward, builder),
        down: linear(feed_forward, width, builder),
        norm: norm(width, epsilon, builder),
        heads: config.heads as u32,
        activation: config.activation,
    }
}

impl TransformerEncoder {
    /// The sizes of the transformer.
    pub fn config(&self) -> &Config {
        &self.pretrained.config
    }

    /// Adds the sizes to the sections of a model.
    pub(super) fn store(&self, sections: &mut Sections) {
        let config = serde_json::to_vec(self.config()).unwrap_or_default();
        sections.put(CONFIG, config.into());
    }

    /// Sets the parameters to the pretrained weights, if they are known. The embeddings of cases and tags become 0, so
    /// that the first hidden states are those of the pretrained encoder.
    pub fn initialize(&self, params: &mut Params) {
        let Self { transformer, embeddings, .. } = self;
        for table in [embeddings.cases, embeddings.tags] {
            params.of_mut(table).fill(0.0);
        }
        let Some(weights) = &self.pretrained.weights else { return };
        let mut set = |param: Param, values: &[f32]| params.of_mut(param).copy_from_slice(values);
        set(embeddings.pieces, &weights.pieces);
        set(embeddings.positions, &weights.positions);
        let positions = params.of_mut(embeddings.positions);
        for row in positions.chunks_exact_mut(weights.kind.len()) {
            row.iter_mut().zip(&weights.kind).for_each(|(value, kind)| *value += kind);
        }
        let mut set = |param: Param, values: &[f32]| params.of_mut(param).copy_from_slice(values);
        set_norm(transformer.embedding_norm, &weights.embedding_norm, &mut set);
        if let Some((own, values)) = transformer.projection.zip(weights.projection.as_ref()) {
            set_linear(own, values, &mut set);
        }
        for (own, values) in transformer.layers.iter().zip(&weights.layers) {
            set_layer(own, values, &mut set);
        }
    }

    /// Records the encoding of sentences; without dropout, there is none for any of them.
    pub(super) fn record(
        &self,
        tape: &mut Tape,
        params: &Params,
        sentences: &[&Sentence],
        dropouts: &mut [Dropout],
    ) -> Encoded {
        let batch = Batch::new(sentences, self.pretrained.config.positions);
        let width = self.pretrained.config.width;
        let x = self.embed(tape, params, sentences, &batch);
        let x = tape.layer_norm(params, self.transformer.embedding_norm, x);
        let mut drop_out = |tape: &mut Tape, x: Var| self.drop_out(tape, x, &batch, dropouts);
        let mut x = drop_out(tape, x);
        if let Some(Linear { weights, bias }) = self.transformer.projection {
            x = tape.affine(params, weights, Some(bias), x);
        }
        for layer in &self.transformer.layers {
            let affine = |tape: &mut Tape, Linear { weights, bias }, x| {
                tape.affine(params, weights, Some(bias), x)
            };
            let all = affine(tape, layer.input, x);
            let all = tape.attention(all, layer.heads as usize, 3 * width, &batch.windows);
            let all = affine(tape, layer.output, all);
            let all = drop_out(tape, all);
            let sum = tape.sum(&[x, all]);
            x = tape.layer_norm(params, layer.attention_norm, sum);
            let up = affine(tape, layer.up, x);
            let up = tape.apply(layer.activation, up);
            let down = affine(tape, layer.down, up);
            let down = drop_out(tape, down);
            let sum = tape.sum(&[x, down]);
            x = tape.layer_norm(params, layer.norm, sum);
        }
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len() + 2).collect();
        let layout = Arc::new(Layout::new(&lengths));
        let mut lists = vec![0..0; layout.rows()];
        for (sentence, rows) in batch.states.iter().enumerate() {
            for (position, rows) in rows.iter().enumerate() {
                lists[layout.row(sentence, position)] = rows.clone();
            }
        }
        Encoded { states: tape.means(width, x, lists), layout }
    }

    /// Records the sums of embeddings.
    fn embed(
        &self,
        tape: &mut Tape,
        params: &Params,
        sentences: &[&Sentence],
        batch: &Batch,
    ) -> Var {
        let width = self.pretrained.config.embedding_width;
        let n: usize = batch.layouts.iter().map(|layout| layout.rows.len()).sum();
        tape.embed(n * width, |values, lookups| {
            let sources = sentences.iter().zip(&batch.layouts);
            let sources = sources.flat_map(|(sentence, layout)| {
                layout.rows.iter().map(move |source| (*sentence, source))
            });
            for (row, (sentence, source)) in sources.enumerate() {
                let out = &mut values[row * width..(row + 1) * width];
                self.embeddings.write(sentence, source, params, out, |table, number| {
                    let at = row * width;
                    lookups.push(Lookup { at, table, row: number, factor: 1.0 });
                });
            }
        })
    }

    /// Records dropout, if there is any.
    fn drop_out(&self, tape: &mut Tape, x: Var, batch: &Batch, dropouts: &mut [Dropout]) -> Var {
        if self.dropout == 0.0 || dropouts.is_empty() {
            return x;
        }
        let n: usize = batch.layouts.iter().map(|layout| layout.rows.len()).sum();
        let width = x.len() / n;
        tape.scale(x, |mut factors| {
            let parts = dropouts.iter_mut().zip(&batch.layouts).map(|(dropout, layout)| {
                let n = layout.rows.len() * width;
                (dropout, factors.split_off_mut(..n).unwrap_or_default())
            });
            parallel::for_each(parts, |(dropout, own)| dropout.draw_with(self.dropout, own));
        })
    }
}

impl Embeddings {
    /// Adds the embeddings of a row to `out`; `used` gets the rows of tables that it is made of.
    fn write(
        &self,
        sentence: &Sentence,
        source: &Source,
        tables: &impl RowTables,
        out: &mut [f32],
        mut used: impl FnMut(Param, u32),
    ) {
        let mut add = |table: Param, row: u32| {
            let row = row.min(table.rows.saturating_sub(1));
            tables.add_row(table, row, 1.0, out);
            used(table, row);
        };
        add(self.pieces, source.piece);
        add(self.positions, source.position);
        if let Some(token) = source.token {
            add(self.cases, sentence.forms[token].case as u32);
            add(self.tags, sentence.tags[token]);
        }
    }
}

fn set_linear(own: Linear, [weights, bias]: &[Vec<f32>; 2], set: &mut impl FnMut(Param, &[f32])) {
    set(own.weights, weights);
    set(own.bias, bias);
}

fn set_norm(own: LayerNorm, [scale, shift]: &[Vec<f32>; 2], set: &mut impl FnMut(Param, &[f32])) {
    set(own.scale, scale);
    set(own.shift, shift);
}

fn set_layer(own: &TransformerLayer, values: &LayerWeights, set: &mut impl FnMut(Param, &[f32])) {
    let linears = [
        (own.input, &values.input),
        (own.output, &values.output),
        (own.up, &values.up),
        (own.down, &values.down),
    ];
    linears.into_iter().for_each(|(own, values)| set_linear(own, values, set));
    set_norm(own.attention_norm, &values.attention_norm, set);
    set_norm(own.norm, &values.norm, set);
}

/// The rows of a batch of sentences.
struct Batch {
    layouts: Vec<WindowLayout>,
    /// The rows of each window.
    windows: Vec<Range<usize>>,
    /// For each sentence the rows of each hidden state.
    states: Vec<Vec<Range<usize>>>,
}

impl Batch {
    fn new(sentences: &[&Sentence], positions: usize) -> Self {
        let layouts: Vec<_> =
            sentences.iter().map(|sentence| WindowLayout::new(sentence, positions)).collect();
        let (mut windows, mut states, mut first) = (Vec::new(), Vec::new(), 0);
        for layout in &layouts {
            let moved = |rows: &Range<usize>| rows.start + first..rows.end + first;
            windows.extend(layout.windows.iter().map(moved));
            states.push(layout.states.iter().map(moved).collect());
            first += layout.rows.len();
        }
        Self { layouts, windows, states }
    }
}
