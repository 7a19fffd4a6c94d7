//! The fast tagger: greedy from left to right, an averaged perceptron (Collins 2002) over the features
//! of [`super::feature`].
//!
//! It is trained with its own predictions as the tags to the left, as at test time, and updates its weights
//! unless the correct tag leads by a margin.
//!
//! On the CRAFT treebank (`craft/dev`) the margin is worth 0.2 points. These gain no more than another seed
//! and are left out: words at distance three, pairs and triples of shapes, the pair of words around the
//! token, pairs of affixes with tags and shapes, averaging over three seeds. The ambiguity class of the
//! lowercased word costs 0.07.

mod predict;
mod training;

use serde::{Deserialize, Serialize};

use super::lexicon::Lexicon;
use super::{TagPredictor, Tagger};
use crate::classifier::Fit;
use crate::classifier::packed::{Pruning, WeightTables};
use crate::memory::Sections;
use crate::model::bincode_section;
use crate::symbols::Symbols;
use crate::tree::Token;
use crate::{Error, Result};

/// The settings of the perceptron tagger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PerceptronTaggerParams {
    /// Passes over the training sentences.
    #[schemars(range(min = 1, max = 100_000))]
    pub epochs: u32,
    /// The lead of the correct tag, in updates times features, below which weights are updated.
    #[schemars(range(min = 0, max = 10_000))]
    pub margin: u32,
    /// The minimum number of occurrences of a word in training for its possible tags to be a feature.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub min_word_count: u32,
    /// The probability that a rarer word is treated as unseen in training.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub word_dropout: f64,
    /// How the packed model is pruned.
    pub prune: Pruning,
}

impl Default for PerceptronTaggerParams {
    fn default() -> Self {
        Self {
            epochs: 12,
            margin: 150,
            min_word_count: 5,
            word_dropout: 0.2,
            prune: Pruning::default(),
        }
    }
}

impl PerceptronTaggerParams {
    /// Trains a tagger on tagged sentences.
    ///
    /// # Errors
    /// When there are no words, or more tags than a linear model can have.
    pub fn fit(&self, sentences: &[&[Token]], fit: &Fit<'_>) -> Result<PerceptronTagger> {
        training::Training::new(sentences, self, fit.seed)?.run(self, fit)
    }
}

/// The tagger.
#[derive(Debug, Clone)]
pub struct PerceptronTagger {
    tags: Symbols,
    lexicon: Lexicon,
    tables: WeightTables,
}

impl PerceptronTagger {
    /// Reads what [`Tagger::store`] put.
    ///
    /// # Errors
    /// When the sections are not those of such a tagger.
    pub fn load(sections: &Sections) -> Result<Self> {
        let tags: Symbols = bincode_section::get(sections, "tags")?;
        let tables = WeightTables::load(sections)?;
        if tags.is_empty() || tables.offsets.len() != tags.len() {
            let (listed, scored) = (tags.len(), tables.offsets.len());
            return Err(Error::Corrupt(format!(
                "the tagger has {listed} tags and weights for {scored}"
            )));
        }
        Ok(Self { tags, lexicon: Lexicon::load(sections)?, tables })
    }
}

impl Tagger for PerceptronTagger {
    fn tags(&self) -> &Symbols {
        &self.tags
    }

    fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    fn predictor(&self) -> Box<dyn TagPredictor + '_> {
        Box::new(predict::PerceptronPredictor::new(self))
    }

    fn store(&self, sections: &mut Sections) -> Result<()> {
        bincode_section::put(sections, "tags", &self.tags)?;
        self.lexicon.store(sections);
        self.tables.store(sections);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
