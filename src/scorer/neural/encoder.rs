//! Words in their sentence, read by LSTMs from both sides.

use serde::{Deserialize, Serialize};

use super::Pen;
use super::lstm::Lstm;
use super::words::{Widths, Words};
use crate::neural::Var;
use crate::neural::params::Builder;
use crate::symbols::{Sentence, VocabularySizes};

/// How large the parts of an encoder are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderParams {
    /// The numbers of a word's vector.
    pub word: u32,
    /// Those of a tag.
    pub tag: u32,
    /// Those of a word's form ([`Widths`]).
    pub form: u32,
    /// The cells of an LSTM.
    pub cells: u32,
    /// The layers, each reading from both sides what the one below says.
    pub layers: u32,
}

impl Default for EncoderParams {
    fn default() -> Self {
        Self { word: 100, tag: 32, form: 32, cells: 128, layers: 2 }
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
pub struct WithoutWords(Vec<[Lstm; 2]>, EncoderParams);

impl WithoutWords {
    /// Lays out the matrices.
    pub fn new(sizes: EncoderParams, builder: &mut Builder) -> Self {
        let EncoderParams { word, tag, form, cells, layers } = sizes;
        let cells = cells as usize;
        let inputs = |layer| if layer == 0 { (word + tag + form) as usize } else { 2 * cells };
        let layer = |layer| [(); 2].map(|()| Lstm::new(inputs(layer), cells, builder));
        Self((0..layers).map(layer).collect(), sizes)
    }

    /// The numbers of what will be said of a word.
    pub fn width(&self) -> usize {
        2 * self.1.cells as usize
    }

    /// Lays out the tables of words, tags and forms.
    pub fn with_words(self, vocabulary: VocabularySizes, builder: &mut Builder) -> Encoder {
        let Self(layers, EncoderParams { word, tag, form, cells, .. }) = self;
        let [word, tag, form] = [word, tag, form].map(|width| width as usize);
        let words = Words::new(Widths { word, tag, form }, vocabulary, builder);
        Encoder { layers, words, cells: cells as usize }
    }
}

impl Encoder {
    /// The vectors of words.
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
        let mut rows = pen.tape.join(&parts);
        for [forwards, backwards] in &self.layers {
            let input = pen.drop_out(rows);
            let forwards = forwards.read(input, false, pen);
            let backwards = backwards.read(input, true, pen);
            let both = forwards.iter().zip(&backwards).flat_map(|(a, b)| [a.output, b.output]);
            parts.clear();
            parts.extend(both);
            rows = pen.tape.join(&parts);
        }
        debug_assert_eq!(rows.len(), n * 2 * self.cells);
        pen.drop_out(rows)
    }
}
