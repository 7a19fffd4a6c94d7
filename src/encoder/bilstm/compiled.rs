//! The encoder for parsing: packed weights, no tape.

use super::{BiLstmEncoder, Embeddings, padded};
use crate::encoder::EncoderScratch;
use crate::encoder::transformer::compiled::CompiledTransformer;
use crate::neural::inference::{InstructionSet, PackedLstm, PaddedLayout, Steps};
use crate::neural::lanes::LANES;
use crate::neural::{Lstm, Quantized};
use crate::symbols::Sentence;

/// A packed encoder.
#[derive(Debug)]
pub struct CompiledBiLstm {
    layers: Vec<[PackedLstm; 2]>,
    embeddings: Embeddings,
    below: Option<CompiledTransformer>,
    lstm_dim: usize,
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub struct BiLstmScratch {
    embedding: Vec<f32>,
    steps: [Steps; 2],
}

impl CompiledBiLstm {
    /// Packs an encoder.
    pub fn new(encoder: &BiLstmEncoder, params: &Quantized) -> Self {
        let pack = |(layer, pair): (usize, &[Lstm; 2])| {
            let embedding = || PaddedLayout::blocks(1, pair[0].input.rows as usize, 4);
            let inputs = if layer == 0 { embedding() } else { outputs(encoder.lstm_dim) };
            pair.map(|lstm| PackedLstm::pack(params, lstm, &inputs))
        };
        let layers = encoder.layers.iter().enumerate().map(pack).collect();
        let below = encoder.below().map(|below| CompiledTransformer::new(below, params));
        Self { layers, embeddings: encoder.embeddings.clone(), below, lstm_dim: encoder.lstm_dim }
    }

    /// How the numbers of a hidden state are laid out in a row.
    pub(in crate::encoder) fn places(&self) -> PaddedLayout {
        outputs(self.lstm_dim)
    }

    /// As [`CompiledEncoder::encode`](crate::encoder::CompiledEncoder::encode).
    pub(in crate::encoder) fn encode(
        &self,
        set: InstructionSet,
        sentence: &Sentence,
        params: &Quantized,
        scratch: &mut EncoderScratch,
    ) -> usize {
        let EncoderScratch { rows, bilstm: BiLstmScratch { embedding, steps }, pieces } = scratch;
        let n = sentence.len() + 2;
        let dim = self.embeddings.dim();
        let mut tokens = padded(sentence);
        let mut read = |row: usize, below: &[f32]| {
            embedding.resize(dim, 0.0);
            let token = tokens.next().flatten();
            self.embeddings.write(sentence, token, params, None, embedding, |_, _, _, _| ());
            embedding.extend_from_slice(below);
            if row == 0 {
                rows.reset(n, embedding.len());
            }
            rows.set_numbers(set, row, embedding);
        };
        match &self.below {
            None => (0..n).for_each(|row| read(row, &[])),
            Some(below) => below.states(set, sentence, params, pieces, read),
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

/// The layout of the outputs of a layer: both directions.
fn outputs(lstm_dim: usize) -> PaddedLayout {
    PaddedLayout::blocks(2, lstm_dim, LANES)
}
