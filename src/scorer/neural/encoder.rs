//! Words in their sentence, read by LSTMs from both sides.

use serde::{Deserialize, Serialize};

use super::lstm;
use super::words::{Fixed, Widths, Words};
use super::{Inventory, Pen};
use crate::neural::params::Builder;
use crate::neural::{Lstm, Var};
use crate::symbols::Sentence;

/// How large the parts of an encoder are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderParams {
    /// The numbers of a word's vector.
    #[serde(alias = "word")]
    pub word_dim: u32,
    /// Those of a tag.
    #[serde(alias = "tag")]
    pub tag_dim: u32,
    /// Those of a word's form ([`Widths`]).
    #[serde(alias = "form")]
    pub form_dim: u32,
    /// The cells of an LSTM.
    #[serde(alias = "cells")]
    pub lstm_dim: u32,
    /// The layers, each reading from both sides what the one below says.
    pub layers: u32,
}

impl Default for EncoderParams {
    fn default() -> Self {
        Self { word_dim: 100, tag_dim: 32, form_dim: 32, lstm_dim: 128, layers: 2 }
    }
}

/// The encoder.
#[derive(Debug, Clone)]
pub struct Encoder {
    /// For each layer, from left to right and from right to left.
    layers: Vec<[Lstm; 2]>,
    words: Words,
    cells: usize,
}

/// An encoder whose tables are to be laid out when all matrices are.
pub struct WithoutWords {
    layers: Vec<[Lstm; 2]>,
    widths: Widths,
    cells: usize,
}

impl WithoutWords {
    /// Lays out the matrices.
    pub fn new(sizes: EncoderParams, inventory: &Inventory, builder: &mut Builder) -> Self {
        let EncoderParams { word_dim, tag_dim, form_dim, lstm_dim, layers } = sizes;
        let [word, tag, form, cells] =
            [word_dim, tag_dim, form_dim, lstm_dim].map(|width| width as usize);
        let fixed = inventory.fixed.as_ref().map_or(0, Fixed::width);
        let widths = Widths { word, tag, form, fixed };
        let inputs = |layer| if layer == 0 { widths.all() } else { 2 * cells };
        let layer = |layer| [(); 2].map(|()| lstm::layer(inputs(layer), cells, builder));
        Self { layers: (0..layers).map(layer).collect(), widths, cells }
    }

    /// The numbers of what will be said of a word.
    pub fn width(&self) -> usize {
        2 * self.cells
    }

    /// Lays out the tables of words, tags and forms.
    pub fn with_words(self, inventory: &Inventory, builder: &mut Builder) -> Encoder {
        let Self { layers, widths, cells } = self;
        Encoder { layers, words: Words::new(widths, inventory, builder), cells }
    }
}

impl Encoder {
    /// The vectors of words.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The same, to be set.
    pub fn words_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    /// What is said of every word of a sentence, and of what stands before and behind it: a row each.
    pub fn encode(&self, sentence: &Sentence, pen: &mut Pen<'_>) -> Var {
        let n = sentence.len() + 2;
        let mut parts = Vec::with_capacity(3 * n);
        for position in 0..n {
            let token = position.checked_sub(1).filter(|&token| token < sentence.len());
            self.words.read(sentence, token, pen, &mut parts);
        }
        let mut rows = pen.tape.join(parts.iter().copied());
        for [forwards, backwards] in &self.layers {
            let input = pen.drop_out(rows);
            let forwards = pen.tape.sequence(pen.params, *forwards, input, false);
            let backwards = pen.tape.sequence(pen.params, *backwards, input, true);
            let row = |both: Var, row: usize| both.part(row * self.cells, self.cells);
            let both = (0..n).flat_map(|at| [row(forwards, at), row(backwards, at)]);
            rows = pen.tape.join(both);
        }
        debug_assert_eq!(rows.len(), n * 2 * self.cells);
        pen.drop_out(rows)
    }
}
