//! The vectors of words, tags and word forms.

use super::Pen;
use crate::neural::params::Builder;
use crate::neural::{Param, Var};
use crate::symbols::{NOTHING, Sentence, UNKNOWN, VocabularySizes};

/// How many numbers stand for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// For a word.
    pub word: usize,
    /// For a tag.
    pub tag: usize,
    /// For a word's form: the sum of the vectors of its last two and three characters and of its shape; 0 for
    /// nothing.
    pub form: usize,
}

/// The tables.
#[derive(Debug, Clone)]
pub struct Words {
    words: Param,
    tags: Param,
    forms: Option<Param>,
    /// For each word the chance that it is read as an unknown one while learning.
    forget: Vec<f32>,
}

impl Words {
    /// Lays out the tables; all matrices come before them.
    pub fn new(widths: Widths, vocabulary: VocabularySizes, builder: &mut Builder) -> Self {
        Self {
            words: builder.table(vocabulary.words, widths.word),
            tags: builder.table(vocabulary.tags, widths.tag),
            forms: (widths.form > 0).then(|| builder.table(vocabulary.parts, widths.form)),
            forget: Vec::new(),
        }
    }

    /// Lets each word be read as an unknown one now and then while learning, so that the network learns what to
    /// make of those: with probability `rare / (rare + count)` if it is seen `count` times.
    pub fn forget_rare(&mut self, counts: &[u32], rare: f32) {
        let chance = |&count: &u32| if rare > 0.0 { rare / (rare + count as f32) } else { 0.0 };
        self.forget = counts.iter().map(chance).collect();
    }

    /// Adds the vectors of a word of a sentence, or of nothing, to `out`.
    pub fn read(
        &self,
        sentence: &Sentence,
        token: Option<usize>,
        pen: &mut Pen<'_>,
        out: &mut Vec<Var>,
    ) {
        let (mut word, mut tag, mut parts) = (NOTHING, NOTHING, [NOTHING; 3]);
        if let Some(token) = token {
            let form = sentence.forms[token];
            (word, tag) = (sentence.words[token], sentence.tags[token]);
            parts = [form.suffix2, form.suffix3, form.shape];
            let forget = self.forget.get(word as usize).copied().unwrap_or(0.0);
            if pen.noise.as_mut().is_some_and(|noise| noise.happens(forget)) {
                word = UNKNOWN;
            }
        }
        out.push(pen.tape.lookup(pen.params, self.words, word));
        out.push(pen.tape.lookup(pen.params, self.tags, tag));
        if let Some(forms) = self.forms {
            let parts = parts.map(|part| pen.tape.lookup(pen.params, forms, part));
            out.push(pen.tape.sum(&parts));
        }
    }
}
