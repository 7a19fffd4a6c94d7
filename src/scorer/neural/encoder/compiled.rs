//! The encoder for parsing: packed weights, no tape.

use super::{Embeddings, Encoder, padded};
use crate::neural::Params;
use crate::neural::inference::{InstructionSet, PackedLstm, Steps, Tiles};
use crate::symbols::Sentence;

/// A packed encoder.
#[derive(Debug)]
pub struct CompiledEncoder {
    layers: Vec<[PackedLstm; 2]>,
    embeddings: Embeddings,
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub struct EncoderScratch {
    embedding: Vec<f32>,
    steps: [Steps; 2],
    /// The inputs of a layer; at last the hidden states.
    pub rows: Tiles,
}

impl CompiledEncoder {
    /// Packs an encoder.
    pub fn new(encoder: &Encoder, params: &Params) -> Self {
        let pack = |pair: &[_; 2]| pair.map(|lstm| PackedLstm::pack(params, lstm));
        let layers = encoder.layers.iter().map(pack).collect();
        Self { layers, embeddings: encoder.embeddings.clone() }
    }

    /// Leaves the hidden states that [`Encoder::encode`] returns in `scratch.rows`, and returns their number.
    pub fn encode(
        &self,
        set: InstructionSet,
        sentence: &Sentence,
        params: &Params,
        scratch: &mut EncoderScratch,
    ) -> usize {
        let EncoderScratch { embedding, steps, rows } = scratch;
        let n = sentence.len() + 2;
        for (row, token) in padded(sentence).enumerate() {
            embedding.clear();
            self.embeddings.append(sentence, token, params, embedding);
            if row == 0 {
                rows.reset(n, embedding.len());
            }
            rows.set(row, 0, embedding);
        }
        for [forwards, backwards] in &self.layers {
            forwards.run(set, (rows, n), false, &mut steps[0]);
            backwards.run(set, (rows, n), true, &mut steps[1]);
            rows.reset(n, forwards.dim() + backwards.dim());
            for row in 0..n {
                rows.set(row, 0, steps[0].output(row));
                rows.set(row, forwards.dim(), steps[1].output(row));
            }
        }
        n
    }
}
