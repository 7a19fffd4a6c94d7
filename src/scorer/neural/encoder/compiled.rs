//! The encoder for parsing: packed weights, no tape.

use super::{Embeddings, Encoder, padded};
use crate::neural::inference::{InstructionSet, PackedLstm, Places, Rows, Steps};
use crate::neural::lanes::LANES;
use crate::neural::{Lstm, Quantized};
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
    pub rows: Rows,
}

impl CompiledEncoder {
    /// Packs an encoder.
    pub fn new(encoder: &Encoder, params: &Quantized) -> Self {
        let pack = |(layer, pair): (usize, &[Lstm; 2])| {
            let embedding = || Places::blocks(1, pair[0].input.rows as usize, 4);
            let inputs = if layer == 0 { embedding() } else { Self::outputs(encoder) };
            pair.map(|lstm| PackedLstm::pack(params, lstm, &inputs))
        };
        let layers = encoder.layers.iter().enumerate().map(pack).collect();
        Self { layers, embeddings: encoder.embeddings.clone() }
    }

    /// The places of the hidden states of a layer: both directions.
    pub fn outputs(encoder: &Encoder) -> Places {
        Places::blocks(2, encoder.lstm_dim, LANES)
    }

    /// Leaves the hidden states of the padding before the sentence, its words, and the padding after it in `scratch.rows`, and returns their number.
    pub fn encode(
        &self,
        set: InstructionSet,
        sentence: &Sentence,
        params: &Quantized,
        scratch: &mut EncoderScratch,
    ) -> usize {
        let EncoderScratch { embedding, steps, rows } = scratch;
        let n = sentence.len() + 2;
        for (row, token) in padded(sentence).enumerate() {
            embedding.resize(self.embeddings.dim(), 0.0);
            self.embeddings.write(sentence, token, params, None, embedding, |_, _, _, _| ());
            if row == 0 {
                rows.reset(n, embedding.len());
            }
            rows.set_numbers(set, row, embedding);
        }
        for [forwards, backwards] in &self.layers {
            forwards.run(set, rows, n, false, &mut steps[0]);
            backwards.run(set, rows, n, true, &mut steps[1]);
            rows.reset(n, forwards.outputs() + backwards.outputs());
            for row in 0..n {
                steps[0].copy(row, rows, 0);
                steps[1].copy(row, rows, forwards.outputs());
            }
        }
        n
    }
}
