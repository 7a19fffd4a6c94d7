//! The encoder in training: the sentences of a batch step together.

use super::{Encoder, padded};
use crate::neural::layers::{BiLstm, Layout};
use crate::neural::{Gradients, Param, Params};
use crate::scorer::neural::Dropout;
use crate::symbols::Sentence;

/// What an encoder computes for a batch.
#[derive(Debug)]
pub struct EncoderBatch {
    encoder: Encoder,
    layers: Vec<BiLstm>,
    layout: Layout,
    /// The inputs of each layer, and the outputs of the last one; after dropout.
    levels: Vec<Level>,
    /// The rows of embedding tables: where each is added to the inputs, and how many numbers it has.
    lookups: Vec<Lookup>,
    gradient: Vec<f32>,
}

#[derive(Debug, Default)]
struct Level {
    values: Vec<f32>,
    /// What dropout multiplied each value by; empty without dropout.
    factors: Vec<f32>,
}

#[derive(Debug, Clone, Copy)]
struct Lookup {
    at: usize,
    table: Param,
    row: u32,
    factor: f32,
}

impl EncoderBatch {
    /// An encoder in training.
    pub fn new(encoder: Encoder) -> Self {
        let layers: Vec<_> = encoder.layers.iter().map(|&pair| BiLstm::new(pair)).collect();
        let levels = (0..=layers.len()).map(|_| Level::default()).collect();
        let (layout, lookups, gradient) = (Layout::default(), Vec::new(), Vec::new());
        Self { encoder, layers, layout, levels, lookups, gradient }
    }

    /// The row of the padding before a sentence (0), of its words (from 1), and of the padding after it.
    pub fn row(&self, sentence: usize, position: usize) -> usize {
        self.layout.row(sentence, position)
    }

    /// The hidden states of all sentences.
    pub fn states(&self) -> &[f32] {
        self.levels.last().map_or(&[], |level| &level.values)
    }

    /// Encodes sentences; without dropout, there is none for any of them.
    pub fn encode(&mut self, params: &Params, sentences: &[&Sentence], dropouts: &mut [Dropout]) {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len() + 2).collect();
        self.layout = Layout::new(&lengths);
        self.embed(params, sentences, dropouts);
        self.drop_out(0, &lengths, dropouts);
        for level in 0..self.layers.len() {
            let [input, output] = &mut self.levels[level..level + 2] else { unreachable!() };
            self.layers[level].forward(params, &self.layout, &input.values, &mut output.values);
            self.drop_out(level + 1, &lengths, dropouts);
        }
    }

    /// Writes the embeddings of all words.
    fn embed(&mut self, params: &Params, sentences: &[&Sentence], dropouts: &mut [Dropout]) {
        let Self { encoder, layout, levels, lookups, .. } = self;
        let (width, values) = (encoder.embeddings.dim(), &mut levels[0].values);
        values.resize(layout.rows() * width, 0.0);
        lookups.clear();
        let mut dropouts = dropouts.iter_mut();
        for (number, sentence) in sentences.iter().enumerate() {
            let mut dropout = dropouts.next();
            for (position, token) in padded(sentence).enumerate() {
                let first = layout.row(number, position) * width;
                let out = &mut values[first..first + width];
                let dropout = dropout.as_deref_mut();
                encoder.embeddings.write(
                    sentence,
                    token,
                    params,
                    dropout,
                    out,
                    |column, table, row, factor| {
                        lookups.push(Lookup { at: first + column, table, row, factor });
                    },
                );
            }
        }
    }

    /// Applies dropout to a level.
    fn drop_out(&mut self, level: usize, lengths: &[usize], dropouts: &mut [Dropout]) {
        let Level { values, factors } = &mut self.levels[level];
        let width = values.len() / self.layout.rows().max(1);
        factors.clear();
        if !dropouts.iter().any(|dropout| dropout.scale() > 1.0) {
            return;
        }
        factors.resize(values.len(), 1.0);
        for (sentence, (dropout, &n)) in dropouts.iter_mut().zip(lengths).enumerate() {
            for position in 0..n {
                dropout.draw(&mut factors[self.layout.row(sentence, position) * width..][..width]);
            }
        }
        values.iter_mut().zip(factors).for_each(|(value, factor)| *value *= *factor);
    }

    /// Goes back from the gradient of the hidden states, which is used up.
    pub fn backward(
        &mut self,
        params: &Params,
        d_states: &mut Vec<f32>,
        gradients: &mut Gradients,
    ) {
        let Self { layers, layout, levels, lookups, gradient, .. } = self;
        for (level, layer) in layers.iter_mut().enumerate().rev() {
            levels[level + 1].mask(d_states);
            let x = &levels[level].values;
            layer.backward(params, layout, (x, d_states), gradient, gradients);
            std::mem::swap(gradient, d_states);
        }
        levels[0].mask(d_states);
        for &Lookup { at, table, row, factor } in &*lookups {
            gradients.add_to_row(table, row, factor, &d_states[at..at + table.columns as usize]);
        }
    }
}

impl Level {
    /// From the gradient after dropout to that before it.
    fn mask(&self, gradient: &mut [f32]) {
        gradient.iter_mut().zip(&self.factors).for_each(|(value, factor)| *value *= factor);
    }
}
