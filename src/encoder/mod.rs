//! Encoders: from sentences to rows of hidden states.
//!
//! An encoder knows words, tags and pieces of words, and nothing of trees. It is trained on the tape, in batches
//! ([`Encoder::record`]), and compiled to 8 bits for parsing ([`CompiledEncoder`]). The hidden states of a sentence are
//! those of the padding before it, its words, and the padding after it.
//!
//! - [`bilstm`]: bidirectional LSTM layers over embeddings of words ([`embeddings`]), and the hidden states of a
//!   transformer if there is one below.
//! - [`transformer`]: a pretrained transformer over pieces of words.

pub mod bilstm;
pub mod embeddings;
pub mod transformer;

use std::sync::Arc;

use serde::Serialize;

pub use self::bilstm::BiLstmParams;
use self::bilstm::compiled::{BiLstmScratch, CompiledBiLstm};
use self::bilstm::{BiLstmEncoder, BiLstmMatrices};
pub use self::embeddings::{EmbeddingDims, Embeddings, PretrainedTable};
use self::transformer::compiled::{CompiledTransformer, PiecesScratch};
pub use self::transformer::{Pretrained, TransformerParams};
use self::transformer::{TransformerEncoder, TransformerMatrices};
use crate::Result;
use crate::by_kind::deserialize_by_kind;
use crate::memory::Sections;
use crate::neural::inference::{InstructionSet, PaddedLayout, Rows};
use crate::neural::params::Builder;
use crate::neural::tape::Layout;
use crate::neural::{Dropout, Params, Quantized, Tape, Var};
use crate::symbols::{Lists, Sentence, VocabularySizes};

/// The set of words, for which an encoder has parameters.
pub const WORDS: &str = "words";
/// The set of tags.
pub const TAGS: &str = "tags";
/// The set of parts of word forms.
pub const PARTS: &str = "parts";

/// The symbols of the input that a network has parameters for.
#[derive(Debug, Clone)]
pub struct WordInventory {
    /// The numbers of words, tags and parts of word forms.
    pub sizes: VocabularySizes,
    /// The n-grams of all words, if the network has parameters for them.
    pub ngrams: Arc<Lists>,
    /// Pretrained embeddings, if there are any.
    pub pretrained: Option<PretrainedTable>,
    /// The pretrained encoder, if the network has one.
    pub encoder: Option<Arc<Pretrained>>,
}

/// The encoder and its sizes.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(extend("default-kind" = "bi-lstm"))]
pub enum EncoderParams {
    /// Bidirectional LSTM layers over embeddings of words.
    BiLstm(BiLstmParams),
    /// A pretrained transformer over pieces of words.
    Transformer(TransformerParams),
}

impl Default for EncoderParams {
    fn default() -> Self {
        Self::BiLstm(BiLstmParams::default())
    }
}

deserialize_by_kind!(EncoderParams {
    None | Some("bi-lstm") => BiLstm,
    Some("transformer") => Transformer,
});

impl EncoderParams {
    /// The settings of a pretrained encoder, if it is one.
    pub fn pretrained(&self) -> Option<&TransformerParams> {
        match self {
            Self::BiLstm(_) => None,
            Self::Transformer(params) => Some(params),
        }
    }

    /// The same, to change them.
    pub fn pretrained_mut(&mut self) -> Option<&mut TransformerParams> {
        match self {
            Self::BiLstm(_) => None,
            Self::Transformer(params) => Some(params),
        }
    }

    /// Whether the encoder has embeddings of character n-grams.
    pub fn has_ngrams(&self) -> bool {
        let lstm = match self {
            Self::BiLstm(params) => Some(params),
            Self::Transformer(params) => params.lstm.as_ref(),
        };
        lstm.is_some_and(|params| params.ngram_dim > 0)
    }
}

/// The matrices of an encoder. Its tables are allocated later, after all matrices of the network.
pub enum EncoderMatrices {
    /// As in [`bilstm`].
    BiLstm(BiLstmMatrices),
    /// As in [`transformer`].
    Transformer(TransformerMatrices),
}

impl EncoderMatrices {
    /// Allocates the matrices.
    ///
    /// # Errors
    /// When the sizes of a pretrained encoder are unknown.
    pub fn new(
        params: &EncoderParams,
        words: &WordInventory,
        builder: &mut Builder,
    ) -> Result<Self> {
        Ok(match params {
            EncoderParams::BiLstm(params) => {
                Self::BiLstm(BiLstmMatrices::new(*params, None, words, builder))
            }
            EncoderParams::Transformer(params) => {
                let transformer = TransformerMatrices::new(params, words, builder)?;
                match params.lstm {
                    None => Self::Transformer(transformer),
                    Some(sizes) => {
                        Self::BiLstm(BiLstmMatrices::new(sizes, Some(transformer), words, builder))
                    }
                }
            }
        })
    }

    /// The dimension of a hidden state.
    pub fn output_dim(&self) -> usize {
        match self {
            Self::BiLstm(matrices) => matrices.output_dim(),
            Self::Transformer(matrices) => matrices.output_dim(),
        }
    }

    /// Allocates the tables.
    pub fn with_tables(self, words: &WordInventory, builder: &mut Builder) -> Encoder {
        match self {
            Self::BiLstm(matrices) => Encoder::BiLstm(matrices.with_embeddings(words, builder)),
            Self::Transformer(matrices) => {
                Encoder::Transformer(matrices.with_tables(words, builder))
            }
        }
    }
}

/// An encoder; its parameters are those of the network.
#[derive(Debug, Clone)]
pub enum Encoder {
    /// As in [`bilstm`].
    BiLstm(BiLstmEncoder),
    /// As in [`transformer`].
    Transformer(TransformerEncoder),
}

/// The hidden states of a batch of sentences, on the tape.
#[derive(Debug, Clone, Default)]
pub struct Encoded {
    /// A row for each position of each sentence.
    pub states: Var,
    layout: Arc<Layout>,
}

impl Encoded {
    /// The row of the padding before a sentence (position 0), of its words (from 1), and of the padding after it.
    pub fn row(&self, sentence: usize, position: usize) -> usize {
        self.layout.row(sentence, position)
    }
}

impl Encoder {
    /// Sets word dropout; see [`Embeddings::set_word_dropout`].
    pub fn set_word_dropout(&mut self, counts: &[u32], strength: f32) {
        match self {
            Self::BiLstm(encoder) => encoder.embeddings_mut().set_word_dropout(counts, strength),
            Self::Transformer(_) => {}
        }
    }

    /// Sets the parameters of a pretrained encoder to its weights.
    pub fn initialize(&self, params: &mut Params) {
        match self {
            Self::BiLstm(encoder) => {
                encoder.below().into_iter().for_each(|below| below.initialize(params));
            }
            Self::Transformer(encoder) => encoder.initialize(params),
        }
    }

    /// Adds what a model must know of the encoder besides its parameters.
    pub fn store(&self, sections: &mut Sections) {
        match self {
            Self::BiLstm(encoder) => {
                if let Some(pretrained) = encoder.embeddings().pretrained() {
                    pretrained.store(sections);
                }
                encoder.below().into_iter().for_each(|below| below.store(sections));
            }
            Self::Transformer(encoder) => encoder.store(sections),
        }
    }

    /// Records the encoding of a batch of sentences on the tape. `dropouts` has one for each sentence, or none.
    pub fn record(
        &self,
        tape: &mut Tape,
        params: &Params,
        sentences: &[&Sentence],
        dropouts: &mut [Dropout],
    ) -> Encoded {
        match self {
            Self::BiLstm(encoder) => encoder.record(tape, params, sentences, dropouts),
            Self::Transformer(encoder) => encoder.record(tape, params, sentences, dropouts),
        }
    }

    /// Packs the encoder for parsing.
    pub fn compile(&self, params: &Quantized) -> CompiledEncoder {
        match self {
            Self::BiLstm(encoder) => {
                CompiledEncoder::BiLstm(Box::new(CompiledBiLstm::new(encoder, params)))
            }
            Self::Transformer(encoder) => {
                CompiledEncoder::Transformer(Box::new(CompiledTransformer::new(encoder, params)))
            }
        }
    }
}

/// An encoder for parsing, in 8 bits.
#[derive(Debug)]
pub enum CompiledEncoder {
    /// As in [`bilstm`].
    BiLstm(Box<CompiledBiLstm>),
    /// As in [`transformer`].
    Transformer(Box<CompiledTransformer>),
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub struct EncoderScratch {
    /// The hidden states, as the inputs of further products.
    pub rows: Rows,
    bilstm: BiLstmScratch,
    pieces: PiecesScratch,
}

impl CompiledEncoder {
    /// How the numbers of a hidden state are laid out in a row.
    pub fn places(&self) -> PaddedLayout {
        match self {
            Self::BiLstm(encoder) => encoder.places(),
            Self::Transformer(encoder) => encoder.places(),
        }
    }

    /// Leaves the hidden states of a sentence in `scratch.rows`: of the padding before it, its words, and the padding
    /// after it. Returns their number.
    pub fn encode(
        &self,
        set: InstructionSet,
        sentence: &Sentence,
        params: &Quantized,
        scratch: &mut EncoderScratch,
    ) -> usize {
        match self {
            Self::BiLstm(encoder) => encoder.encode(set, sentence, params, scratch),
            Self::Transformer(encoder) => encoder.encode(set, sentence, params, scratch),
        }
    }
}
