//! The encoder for parsing: packed weights, no tape.

use std::ops::Range;

use super::windows::{Layout, Source};
use super::{Embeddings, TransformerEncoder};
use crate::encoder::EncoderScratch;
use crate::neural::Quantized;
use crate::neural::inference::{
    InstructionSet, PackedTransformer, PaddedLayout, TransformerScratch,
};
use crate::neural::lanes::LANES;
use crate::symbols::Sentence;

/// A packed encoder.
#[derive(Debug)]
pub struct CompiledTransformer {
    packed: PackedTransformer,
    embeddings: Embeddings,
    embedding_width: usize,
    width: usize,
    positions: usize,
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub struct PiecesScratch {
    layout: Layout,
    /// The rows of a window.
    x: Vec<f32>,
    state: Vec<f32>,
    transformer: TransformerScratch,
}

impl CompiledTransformer {
    /// Packs an encoder.
    pub fn new(encoder: &TransformerEncoder, params: &Quantized) -> Self {
        let config = encoder.config();
        Self {
            packed: PackedTransformer::pack(params, &encoder.transformer),
            embeddings: encoder.embeddings,
            embedding_width: config.embedding_width,
            width: config.width,
            positions: config.positions,
        }
    }

    /// How the numbers of a hidden state are laid out in a row.
    pub(in crate::encoder) fn places(&self) -> PaddedLayout {
        PaddedLayout::blocks(1, self.width, LANES)
    }

    /// As [`CompiledEncoder::encode`](crate::encoder::CompiledEncoder::encode).
    pub(in crate::encoder) fn encode(
        &self,
        set: InstructionSet,
        sentence: &Sentence,
        params: &Quantized,
        scratch: &mut EncoderScratch,
    ) -> usize {
        let EncoderScratch { rows, pieces, .. } = scratch;
        let n = sentence.len() + 2;
        rows.reset(n, self.width.next_multiple_of(LANES));
        self.states(set, sentence, params, pieces, |row, state| rows.set_numbers(set, row, state));
        n
    }

    /// Gives the hidden states of a sentence to `each`, with their numbers, in order.
    pub(in crate::encoder) fn states(
        &self,
        set: InstructionSet,
        sentence: &Sentence,
        params: &Quantized,
        scratch: &mut PiecesScratch,
        mut each: impl FnMut(usize, &[f32]),
    ) {
        let PiecesScratch { layout, x, state, transformer } = scratch;
        layout.read(sentence, self.positions);
        let mut states = layout.states.iter().enumerate().peekable();
        for window in &layout.windows {
            self.embed(sentence, &layout.rows[window.clone()], params, x);
            self.packed.run(set, x, transformer);
            while let Some((row, of_state)) = states.next_if(|(_, rows)| rows.end <= window.end) {
                let own = of_state.start - window.start..of_state.end - window.start;
                self.mean(x, own, state);
                each(row, state);
            }
        }
    }

    /// Writes the sums of embeddings of some rows.
    fn embed(&self, sentence: &Sentence, rows: &[Source], params: &Quantized, x: &mut Vec<f32>) {
        x.clear();
        x.resize(rows.len() * self.embedding_width, 0.0);
        for (source, out) in rows.iter().zip(x.chunks_exact_mut(self.embedding_width)) {
            self.embeddings.write(sentence, source, params, out, |_, _| ());
        }
    }

    /// Writes the mean of some rows.
    fn mean(&self, x: &[f32], rows: Range<usize>, mean: &mut Vec<f32>) {
        let share = 1.0 / rows.len().max(1) as f32;
        mean.clear();
        mean.resize(self.width, 0.0);
        for row in x[rows.start * self.width..rows.end * self.width].chunks_exact(self.width) {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += share * value);
        }
    }
}
