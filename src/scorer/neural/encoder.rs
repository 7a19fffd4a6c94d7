//! Words in their sentence: a word, its tag and its form as one vector, read by LSTMs from both sides.

use serde::{Deserialize, Serialize};

use super::Pen;
use crate::neural::params::Builder;
use crate::neural::tape::Cell;
use crate::neural::{Param, Var};
use crate::symbols::{NOTHING, Sentence, UNKNOWN, VocabularySizes};

/// How large the parts of an encoder are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderParams {
    /// The numbers of a word's vector.
    pub word: u32,
    /// Those of a tag.
    pub tag: u32,
    /// Those of a word's form: the sum of the vectors of its last two and three characters and of its shape.
    pub form: u32,
    /// The cells of an LSTM.
    pub cells: u32,
    /// The layers of LSTMs, each reading from both sides what the one below says.
    pub layers: u32,
}

impl Default for EncoderParams {
    fn default() -> Self {
        Self { word: 100, tag: 32, form: 32, cells: 128, layers: 2 }
    }
}

/// An LSTM that reads in one direction.
#[derive(Debug, Clone, Copy)]
struct Lstm {
    input: Param,
    bias: Param,
    recurrent: Param,
}

/// The tables of the vectors of words.
#[derive(Debug, Clone, Copy)]
struct Tables {
    words: Param,
    tags: Param,
    forms: Param,
}

/// The encoder.
#[derive(Debug, Clone)]
pub struct Encoder {
    /// For each layer, from left to right and from right to left.
    layers: Vec<[Lstm; 2]>,
    tables: Option<Tables>,
    sizes: EncoderParams,
    /// For each word the chance that it is read as an unknown one while learning.
    forget: Vec<f32>,
}

impl Encoder {
    /// Lays out the matrices. [`Encoder::lay_out_tables`] is to follow, when all matrices are laid out.
    pub fn new(sizes: EncoderParams, builder: &mut Builder) -> Self {
        let EncoderParams { word, tag, form, cells, layers } = sizes;
        let cells = cells as usize;
        let mut inputs = (word + tag + form) as usize;
        let layers = (0..layers)
            .map(|_| {
                let layer = [(); 2].map(|()| Lstm {
                    input: builder.matrix(inputs, 4 * cells),
                    // Gates that forget begin open (Jozefowicz et al. 2015).
                    bias: builder
                        .vector_of(|at| if at / cells == 1 { 1.0 } else { 0.0 }, 4 * cells),
                    recurrent: builder.matrix(cells, 4 * cells),
                });
                inputs = 2 * cells;
                layer
            })
            .collect();
        Self { layers, tables: None, sizes, forget: Vec::new() }
    }

    /// Lays out the tables of words, tags and forms.
    pub fn lay_out_tables(&mut self, vocabulary: VocabularySizes, builder: &mut Builder) {
        let VocabularySizes { words, tags, parts } = vocabulary;
        let EncoderParams { word, tag, form, .. } = self.sizes;
        self.tables = Some(Tables {
            words: builder.table(words, word as usize),
            tags: builder.table(tags, tag as usize),
            forms: builder.table(parts, form as usize),
        });
    }

    /// The numbers of what is said of a word.
    pub fn width(&self) -> usize {
        2 * self.sizes.cells as usize
    }

    /// How often each word is to be read as an unknown one while learning, so that the network learns what to
    /// make of those: `rare / (rare + count)` for a word seen `count` times.
    pub fn forget_rare(&mut self, counts: &[u32], rare: f32) {
        self.forget = counts.iter().map(|&count| rare / (rare + count as f32)).collect();
    }

    /// What is said of every word of a sentence, and of what stands before and behind it: a row each.
    pub fn encode(&self, sentence: &Sentence, pen: &mut Pen<'_>) -> Var {
        let n = sentence.len() + 2;
        let mut parts = Vec::with_capacity(3 * n);
        for position in 0..n {
            let token = position.checked_sub(1).filter(|&token| token < sentence.len());
            self.word(sentence, token, pen, &mut parts);
        }
        let mut rows = pen.tape.join(&parts);
        for layer in &self.layers {
            let input = pen.drop_out(rows);
            let forwards = self.read(&layer[0], input, n, false, pen);
            let backwards = self.read(&layer[1], input, n, true, pen);
            parts.clear();
            parts.extend(forwards.iter().zip(&backwards).flat_map(|(&a, &b)| [a, b]));
            rows = pen.tape.join(&parts);
        }
        pen.drop_out(rows)
    }

    /// The vectors of a word, or of nothing.
    fn word(
        &self,
        sentence: &Sentence,
        token: Option<usize>,
        pen: &mut Pen<'_>,
        out: &mut Vec<Var>,
    ) {
        let Some(Tables { words, tags, forms }) = self.tables else { return };
        let (mut word, mut tag, mut parts) = (NOTHING, NOTHING, [NOTHING; 3]);
        if let Some(token) = token {
            let form = sentence.forms[token];
            (word, tag) = (sentence.words[token], sentence.tags[token]);
            parts = [form.suffix2, form.suffix3, form.shape];
        }
        let forget = self.forget.get(word as usize).copied().unwrap_or(0.0);
        if let Some(noise) = &mut pen.noise {
            if token.is_some() && noise.happens(forget) {
                word = UNKNOWN;
            }
        }
        out.push(pen.tape.lookup(pen.params, words, word));
        out.push(pen.tape.lookup(pen.params, tags, tag));
        let parts = parts.map(|part| pen.tape.lookup(pen.params, forms, part));
        out.push(pen.tape.sum(&parts));
    }

    /// What an LSTM says at each of `n` rows.
    fn read(
        &self,
        lstm: &Lstm,
        rows: Var,
        n: usize,
        backwards: bool,
        pen: &mut Pen<'_>,
    ) -> Vec<Var> {
        let cells = self.sizes.cells as usize;
        let inputs = pen.tape.affine(pen.params, lstm.input, Some(lstm.bias), rows);
        let mut outputs = vec![inputs; n];
        let mut before: Option<Cell> = None;
        for step in 0..n {
            let at = if backwards { n - 1 - step } else { step };
            let mut gates = inputs.part(at * 4 * cells, 4 * cells);
            if let Some(before) = before {
                let recurrent = pen.tape.affine(pen.params, lstm.recurrent, None, before.output);
                gates = pen.tape.sum(&[gates, recurrent]);
            }
            let cell = pen.tape.cell(gates, before);
            outputs[at] = cell.output;
            before = Some(cell);
        }
        outputs
    }
}
