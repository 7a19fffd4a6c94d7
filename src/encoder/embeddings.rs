//! Embeddings of words, tags and word forms.

use std::sync::Arc;

use super::{PARTS, TAGS, WORDS, WordInventory};
use crate::memory::{Array, Sections};
use crate::neural::params::Builder;
use crate::neural::{Dropout, ForwardPass, Param, RowTables, Var};
use crate::symbols::{FIRST, Lists, NOTHING, Sentence, UNKNOWN, Vocabulary, VocabularySizes};
use crate::treebank::embeddings::PretrainedEmbeddings;
use crate::{Error, Result};

/// Embedding dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingDims {
    /// Of a word.
    pub word: usize,
    /// Of a tag.
    pub tag: usize,
    /// Of a word form: the sum of the embeddings of its last two characters, its last three characters and
    /// its shape; 0 for none.
    pub form: usize,
    /// Of the character n-grams of a word; 0 for none.
    pub ngram: usize,
    /// The number of embeddings of n-grams.
    pub ngram_rows: usize,
    /// Of a pretrained embedding; 0 for none.
    pub pretrained: usize,
}

impl EmbeddingDims {
    /// The dimension of all of them concatenated.
    pub fn total(self) -> usize {
        let Self { word, tag, form, ngram, pretrained, .. } = self;
        word + tag + form + ngram + pretrained
    }
}

/// Pretrained word embeddings, which training does not change: one row per word of the vocabulary, zeros for
/// words without an embedding.
#[derive(Debug, Clone)]
pub struct PretrainedTable {
    values: Arc<Array<f32>>,
    dim: usize,
    /// The number of words known from training sentences. Words from this index on are known only from their
    /// pretrained embeddings.
    pub trained: usize,
}

impl PretrainedTable {
    /// Collects the embeddings of a vocabulary whose first `trained` words come from training sentences.
    pub fn new(vectors: &PretrainedEmbeddings, vocabulary: &Vocabulary, trained: usize) -> Self {
        let dim = vectors.dim;
        let mut values = vec![0.0; vocabulary.sizes().words * dim];
        for (word, vector) in vectors.words.iter().zip(vectors.values.chunks_exact(dim)) {
            let row = vocabulary.words().value(word) as usize;
            values[row * dim..(row + 1) * dim].copy_from_slice(vector);
        }
        Self { values: Arc::new(values.into()), dim, trained }
    }

    /// The embedding dimension.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Adds the embeddings to the sections of a model.
    pub fn store(&self, sections: &mut Sections) {
        sections.put("neural.vectors", Array::clone(&self.values));
        sections.put("neural.vectors.sizes", vec![self.dim as u64, self.trained as u64].into());
    }

    /// Loads the sections written by [`PretrainedTable::store`].
    ///
    /// # Errors
    /// When a section is missing or does not match the vocabulary.
    pub fn load(sections: &Sections, vocabulary: &Vocabulary) -> Result<Self> {
        let (values, sizes) =
            (sections.get("neural.vectors")?, sections.get("neural.vectors.sizes")?);
        let (values, sizes): (Array<f32>, Array<u64>) = (values, sizes);
        let words = vocabulary.sizes().words;
        match sizes[..] {
            [dim, trained] if trained > u64::from(UNKNOWN) && trained as usize <= words => {
                let dim = dim as usize;
                let fits = dim > 0 && words.checked_mul(dim) == Some(values.len());
                if fits && values.iter().all(|value| value.is_finite()) {
                    return Ok(Self { values: Arc::new(values), dim, trained: trained as usize });
                }
            }
            _ => {}
        }
        Err(Error::Corrupt(
            "the pretrained embeddings do not match the vocabulary: train the model again".into(),
        ))
    }

    /// The words that have an embedding, with it.
    pub fn embeddings(&self, vocabulary: &Vocabulary) -> PretrainedEmbeddings {
        let (mut words, mut values) = (Vec::new(), Vec::new());
        for (word, value) in vocabulary.words().names().zip(FIRST..) {
            let row = self.row(value);
            if row.iter().any(|&number| number != 0.0) {
                words.push(word.into());
                values.extend_from_slice(row);
            }
        }
        PretrainedEmbeddings { words, dim: self.dim, values }
    }

    fn row(&self, word: u32) -> &[f32] {
        &self.values[word as usize * self.dim..][..self.dim]
    }
}

/// The embedding tables of a network.
#[derive(Debug, Clone)]
pub struct Embeddings {
    words: Param,
    tags: Param,
    forms: Option<Param>,
    ngrams: Option<Param>,
    /// The n-grams of known words.
    known_ngrams: Arc<Lists>,
    pretrained: Option<PretrainedTable>,
    /// For each word, the probability that training replaces it by UNK; empty for no word dropout.
    word_dropout: Vec<f32>,
}

impl Embeddings {
    /// Allocates the tables. All matrices must be allocated before.
    pub fn new(dims: EmbeddingDims, inventory: &WordInventory, builder: &mut Builder) -> Self {
        let VocabularySizes { words, tags, parts } = inventory.sizes;
        let trained = inventory.pretrained.as_ref().map_or(words, |table| table.trained);
        Self {
            words: builder.symbol_table(WORDS, trained, dims.word),
            tags: builder.symbol_table(TAGS, tags, dims.tag),
            forms: (dims.form > 0).then(|| builder.symbol_table(PARTS, parts, dims.form)),
            ngrams: (dims.ngram > 0).then(|| builder.table(dims.ngram_rows, dims.ngram)),
            known_ngrams: Arc::clone(&inventory.ngrams),
            pretrained: inventory.pretrained.clone(),
            word_dropout: Vec::new(),
        }
    }

    /// The pretrained embeddings, if there are any.
    pub fn pretrained(&self) -> Option<&PretrainedTable> {
        self.pretrained.as_ref()
    }

    /// Sets word dropout: training replaces a word by UNK with probability `strength / (strength + count)`,
    /// where `count` is its number of occurrences in the training sentences; 0 for none. So UNK is trained on
    /// rare words (Kiperwasser and Goldberg 2016).
    pub fn set_word_dropout(&mut self, counts: &[u32], strength: f32) {
        let probability = |&count: &u32| {
            if strength > 0.0 { strength / (strength + count as f32) } else { 0.0 }
        };
        self.word_dropout = counts.iter().map(probability).collect();
    }

    /// The rows of a token, or of the padding before and after a sentence (`None`): of its pretrained embedding,
    /// its word, its tag, and the parts of its form.
    fn rows(&self, sentence: &Sentence, token: Option<usize>) -> (u32, u32, u32, [u32; 3]) {
        let (mut word, mut tag, mut parts) = (NOTHING, NOTHING, [NOTHING; 3]);
        if let Some(token) = token {
            let form = sentence.forms[token];
            (word, tag) = (sentence.words[token], sentence.tags[token]);
            parts = [form.suffix2, form.suffix3, form.shape];
        }
        let trained = self.pretrained.as_ref().is_none_or(|table| word < table.trained as u32);
        (word, if trained { word } else { UNKNOWN }, tag, parts)
    }

    /// The row of a word, or of UNK if it is dropped.
    fn drop_word(&self, word: u32, dropout: Option<&mut Dropout>) -> u32 {
        let rate = self.word_dropout.get(word as usize).copied().unwrap_or(0.0);
        let is_dropped = dropout.is_some_and(|dropout| rate > 0.0 && dropout.happens(rate));
        if is_dropped { UNKNOWN } else { word }
    }

    /// Appends the embeddings of a token, or of the padding before and after a sentence (`None`), to `out`.
    pub fn embed(
        &self,
        sentence: &Sentence,
        token: Option<usize>,
        pass: &mut ForwardPass<'_>,
        out: &mut Vec<Var>,
    ) {
        let (known, word, tag, parts) = self.rows(sentence, token);
        if let Some(pretrained) = &self.pretrained {
            out.push(pass.tape.constant(pretrained.row(known)));
        }
        let word = self.drop_word(word, pass.dropout.as_deref_mut());
        out.push(pass.tape.lookup(pass.params, self.words, word));
        out.push(pass.tape.lookup(pass.params, self.tags, tag));
        if let Some(forms) = self.forms {
            let parts = parts.map(|part| pass.tape.lookup(pass.params, forms, part));
            out.push(pass.tape.sum(&parts));
        }
    }

    /// The dimension of an embedding.
    pub fn dim(&self) -> usize {
        let pretrained = self.pretrained.as_ref().map_or(0, PretrainedTable::dim);
        let tables =
            [Some(self.words), Some(self.tags), self.forms, self.ngrams].into_iter().flatten();
        pretrained + tables.map(|table| table.columns as usize).sum::<usize>()
    }

    /// Writes the same embedding to `out`, with that of the n-grams; `used` gets the rows of tables that it is made of,
    /// with the place from which each was added and its factor.
    pub fn write(
        &self,
        sentence: &Sentence,
        token: Option<usize>,
        tables: &impl RowTables,
        dropout: Option<&mut Dropout>,
        out: &mut [f32],
        mut used: impl FnMut(usize, Param, u32, f32),
    ) {
        let (known, word, tag, parts) = self.rows(sentence, token);
        let word = self.drop_word(word, dropout);
        out.fill(0.0);
        let mut place = 0;
        if let Some(pretrained) = &self.pretrained {
            place = pretrained.dim;
            out[..place].copy_from_slice(pretrained.row(known));
        }
        let mut add = |place: usize, table: Param, row: u32, factor: f32| {
            let row = row.min(table.rows.saturating_sub(1));
            tables.add_row(table, row, factor, &mut out[place..][..table.columns as usize]);
            used(place, table, row, factor);
            place + table.columns as usize
        };
        place = add(place, self.words, word, 1.0);
        place = add(place, self.tags, tag, 1.0);
        if let Some(forms) = self.forms {
            place = parts.map(|part| add(place, forms, part, 1.0))[0];
        }
        if let Some(ngrams) = self.ngrams {
            let hashes = token.map_or(&[][..], |token| self.hashes(sentence, token));
            let factor = 1.0 / (hashes.len() as f32).sqrt();
            hashes.iter().for_each(|hash| _ = add(place, ngrams, hash % ngrams.rows, factor));
        }
    }

    /// The hashes of the n-grams of a token.
    fn hashes<'a>(&'a self, sentence: &'a Sentence, token: usize) -> &'a [u32] {
        match sentence.words[token] {
            UNKNOWN => sentence.ngrams.of(token),
            word => self.known_ngrams.of(word as usize),
        }
    }
}
