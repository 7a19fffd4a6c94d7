//! The vectors of words, tags and word forms.

use std::sync::Arc;

use super::{Inventory, Pen};
use crate::memory::{Array, Sections};
use crate::neural::params::Builder;
use crate::neural::{Param, Var};
use crate::symbols::{NOTHING, Sentence, UNKNOWN, Vocabulary, VocabularySizes};
use crate::treebank::embeddings::PretrainedEmbeddings;
use crate::{Error, Result};

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
    /// For a word's vector that was learned elsewhere; 0 for none.
    pub fixed: usize,
}

impl Widths {
    /// For everything that is known of a word.
    pub fn all(self) -> usize {
        let Self { word, tag, form, fixed } = self;
        word + tag + form + fixed
    }
}

/// Vectors of words that were learned elsewhere and stay as they are: a row for every word of the vocabulary, zeros
/// for those that have none.
#[derive(Debug, Clone)]
pub struct Fixed {
    values: Arc<Array<f32>>,
    width: usize,
    /// The values of words that the training sentences have; those above are known from their vectors only.
    pub trained: usize,
}

impl Fixed {
    /// The vectors of the words of a vocabulary, of which those below `trained` were there before they were added.
    pub fn new(vectors: &PretrainedEmbeddings, vocabulary: &Vocabulary, trained: usize) -> Self {
        let width = vectors.dim;
        let mut values = vec![0.0; vocabulary.sizes().words * width];
        for (word, vector) in vectors.words.iter().zip(vectors.values.chunks_exact(width)) {
            let row = vocabulary.words().value(word) as usize;
            values[row * width..(row + 1) * width].copy_from_slice(vector);
        }
        Self { values: Arc::new(values.into()), width, trained }
    }

    /// How many numbers stand for a word.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Adds the vectors to the sections of a model.
    pub fn store(&self, sections: &mut Sections) {
        sections.put("neural.vectors", Array::clone(&self.values));
        sections.put("neural.vectors.sizes", vec![self.width as u64, self.trained as u64].into());
    }

    /// Reads what [`Fixed::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or does not fit the vocabulary.
    pub fn load(sections: &Sections, vocabulary: &Vocabulary) -> Result<Self> {
        let (values, sizes) =
            (sections.get("neural.vectors")?, sections.get("neural.vectors.sizes")?);
        let (values, sizes): (Array<f32>, Array<u64>) = (values, sizes);
        let words = vocabulary.sizes().words;
        match sizes[..] {
            [width, trained] if trained > u64::from(UNKNOWN) && trained as usize <= words => {
                let width = width as usize;
                let fits = width > 0 && words.checked_mul(width) == Some(values.len());
                if fits && values.iter().all(|value| value.is_finite()) {
                    return Ok(Self { values: Arc::new(values), width, trained: trained as usize });
                }
            }
            _ => {}
        }
        Err(Error::Unfit(
            "the vectors of words are not those of this vocabulary: train the model again".into(),
        ))
    }

    fn row(&self, word: u32) -> &[f32] {
        &self.values[word as usize * self.width..][..self.width]
    }
}

/// The tables.
#[derive(Debug, Clone)]
pub struct Words {
    words: Param,
    tags: Param,
    forms: Option<Param>,
    fixed: Option<Fixed>,
    /// For each word the chance that it is read as an unknown one while learning.
    forget: Vec<f32>,
}

impl Words {
    /// Lays out the tables; all matrices come before them.
    pub fn new(widths: Widths, inventory: &Inventory, builder: &mut Builder) -> Self {
        let VocabularySizes { words, tags, parts } = inventory.vocabulary;
        let trained = inventory.fixed.as_ref().map_or(words, |fixed| fixed.trained);
        Self {
            words: builder.table(trained, widths.word),
            tags: builder.table(tags, widths.tag),
            forms: (widths.form > 0).then(|| builder.table(parts, widths.form)),
            fixed: inventory.fixed.clone(),
            forget: Vec::new(),
        }
    }

    /// The vectors that were learned elsewhere, if there are any.
    pub fn fixed(&self) -> Option<&Fixed> {
        self.fixed.as_ref()
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
        }
        if let Some(fixed) = &self.fixed {
            out.push(pen.tape.constant(fixed.row(word)));
            word = if word < fixed.trained as u32 { word } else { UNKNOWN };
        }
        let forget = self.forget.get(word as usize).copied().unwrap_or(0.0);
        if pen.noise.as_mut().is_some_and(|noise| forget > 0.0 && noise.happens(forget)) {
            word = UNKNOWN;
        }
        out.push(pen.tape.lookup(pen.params, self.words, word));
        out.push(pen.tape.lookup(pen.params, self.tags, tag));
        if let Some(forms) = self.forms {
            let parts = parts.map(|part| pen.tape.lookup(pen.params, forms, part));
            out.push(pen.tape.sum(&parts));
        }
    }
}
