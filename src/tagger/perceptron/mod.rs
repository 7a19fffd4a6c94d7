//! The fast tagger: greedy from left to right, an averaged perceptron (Collins 2002) over the features
//! of [`super::feature`].
//!
//! It learns from its own tags to the left, as it will see them later, and goes on learning until the
//! right tag leads by a margin.
//!
//! Measured on the CRAFT treebank (`craft/dev`): the margin gives 0.2 points. Left out, since no gain was
//! larger than that of another seed: the words three away, pairs and triples of shapes, the pair of words
//! around the token, pairs of affixes with tags and shapes, averaging over three seeds; the class of the
//! word in lower case takes 0.07.

mod predict;
mod training;

use serde::{Deserialize, Serialize};

use super::lexicon::Lexicon;
use super::{TagPredictor, Tagger};
use crate::classifier::packed::{Pruning, Tables};
use crate::classifier::{Fit, Setting};
use crate::memory::Sections;
use crate::model::bincode_section;
use crate::symbols::Symbols;
use crate::tree::Token;
use crate::{Error, Result};

/// The settings of the perceptron tagger.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PerceptronTaggerParams {
    /// Passes over the training sentences; at least 1.
    pub epochs: u32,
    /// By how much, in updates times features, the right tag must lead for nothing to be learned.
    pub margin: u32,
    /// Words seen fewer times are taken for unseen as regards the tags they can have; at least 1.
    #[serde(alias = "class_from")]
    pub min_word_count: u32,
    /// How often a token whose word has no class is learned from without its word, as if it were unseen;
    /// from 0 to 1.
    #[serde(alias = "hide")]
    pub word_dropout: f64,
    /// What is left out of the packed model.
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
    /// The settings, explained.
    pub const SETTINGS: &[Setting] = &[
        Setting { key: "epochs", range: "1 or more", help: "passes over the training sentences" },
        Setting {
            key: "margin",
            range: "0 to 10000",
            help: "how far the right tag must lead for nothing to be learned",
        },
        Setting {
            key: "min_word_count",
            range: "1 or more",
            help: "how often a word must be seen for its possible tags to be a feature",
        },
        Setting {
            key: "word_dropout",
            range: "0 to 1",
            help: "how often a rarer word is hidden while learning, as if it were unseen",
        },
        Setting { key: "prune", range: Pruning::RANGE, help: Pruning::HELP },
    ];

    /// Checks the settings.
    ///
    /// # Errors
    /// Naming the key and the fix.
    pub fn check(&self) -> Result<()> {
        for (key, value) in
            [("tagger.epochs", self.epochs), ("tagger.min_word_count", self.min_word_count)]
        {
            if value == 0 {
                return Err(Error::config(key, "must be at least 1"));
            }
        }
        if self.margin > 10_000 {
            let problem = format!("{} is too much: give 0 to 10000", self.margin);
            return Err(Error::config("tagger.margin", problem));
        }
        if !(0.0..=1.0).contains(&self.word_dropout) {
            let problem =
                format!("{} is no share: give 0 (never) to 1 (always)", self.word_dropout);
            return Err(Error::config("tagger.word_dropout", problem));
        }
        self.prune.check()
    }

    /// Fits a tagger to tagged sentences.
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
    tables: Tables,
}

impl PerceptronTagger {
    /// Reads what [`Tagger::store`] put.
    ///
    /// # Errors
    /// When the sections are not those of such a tagger.
    pub fn load(sections: &Sections) -> Result<Self> {
        let tags: Symbols = bincode_section::get(sections, "tags")?;
        let tables = Tables::load(sections)?;
        if tags.is_empty() || tables.offsets.len() != tags.len() {
            let (listed, scored) = (tags.len(), tables.offsets.len());
            return Err(Error::Unfit(format!(
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
