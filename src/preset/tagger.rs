//! Taggers in presets, and their training and loading.

use serde::{Deserialize, Serialize};

use super::Preset;
use super::learner::LearnerChoice;
use crate::classifier::{Fit, Learner, LearnerParams, Parts};
use crate::error::{Error, Result};
use crate::feature::{Column, Indicators};
use crate::memory::Sections;
use crate::tagger::Tagger;
use crate::tagger::perceptron::{PerceptronTagger, PerceptronTaggerParams};
use crate::tagger::two_pass::{self, TwoPassTagger};
use crate::tree::Token;

/// A tagger and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TaggerChoice {
    /// No tagger: the parser takes tagged sentences only, or its network predicts tags (`untagged`).
    None,
    /// Averaged perceptron, greedy from left to right.
    Perceptron(PerceptronTaggerParams),
    /// Two passes (Wang, Sagae and Mitamura 2006).
    TwoPass(TwoPassChoice),
}

impl Default for TaggerChoice {
    fn default() -> Self {
        Self::Perceptron(PerceptronTaggerParams::default())
    }
}

/// The settings of the tagger in two passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoPassChoice {
    /// The number of jackknifing folds in which the first pass tags the sentences that the second pass learns
    /// from.
    #[serde(default = "default_parts")]
    #[schemars(range(min = 2, max = 100))]
    pub jackknife: u32,
    /// Whether the first character of a word, and its last one, two and three, are features. The paper names none that
    /// would distinguish unseen words of the same length and kind.
    #[serde(default = "default_affixes")]
    pub affixes: bool,
    /// Learns each of the two passes.
    pub learner: Box<LearnerChoice>,
}

fn default_parts() -> u32 {
    5
}

fn default_affixes() -> bool {
    true
}

impl TwoPassChoice {
    fn make(&self, columns: &[Column], n_tags: usize) -> Result<Box<dyn Learner>> {
        self.learner.learner(&Parts {
            columns: columns.to_vec(),
            indicators: Indicators::of_columns(columns),
            shifts: vec![false; n_tags],
        })
    }
}

impl TaggerChoice {
    /// Checks the learner of a tagger that has one.
    fn check(&self) -> Result<()> {
        match self {
            Self::None | Self::Perceptron(_) => Ok(()),
            Self::TwoPass(choice) => {
                let learner = choice.learner.asked(two_pass::columns(true));
                learner.map(|_| ()).map_err(|error| error.under("tagger.learner"))
            }
        }
    }

    /// Fits a tagger.
    ///
    /// # Errors
    /// When none is chosen, there are no words, or the learner refuses the data.
    pub fn fit(&self, sentences: &[&[Token]], fit: &Fit<'_>) -> Result<Box<dyn Tagger>> {
        Ok(match self {
            Self::None => return Err(none_chosen()),
            Self::Perceptron(params) => Box::new(params.fit(sentences, fit)?),
            Self::TwoPass(choice) => {
                let make = |columns: &[Column], n_tags| choice.make(columns, n_tags);
                Box::new(TwoPassTagger::fit(
                    sentences,
                    &make,
                    choice.jackknife,
                    choice.affixes,
                    fit,
                )?)
            }
        })
    }

    /// Loads the tagger that was stored.
    ///
    /// # Errors
    /// When no tagger is chosen, or the sections are not those of such a tagger.
    pub fn load(&self, sections: &Sections) -> Result<Box<dyn Tagger>> {
        Ok(match self {
            Self::None => return Err(none_chosen()),
            Self::Perceptron(_) => Box::new(PerceptronTagger::load(sections)?),
            Self::TwoPass(choice) => {
                let make = |columns: &[Column], n_tags| choice.make(columns, n_tags);
                Box::new(TwoPassTagger::load(sections, &make)?)
            }
        })
    }
}

fn none_chosen() -> Error {
    Error::config("tagger.kind", "there is no tagger: choose perceptron or two-pass")
}

/// Checks the settings of a preset that concern tagging.
///
/// # Errors
/// Naming the key and the fix.
pub(super) fn check(preset: &Preset) -> Result<()> {
    let lacks = |key: &str| Err(Error::config(key, "needs a tagger: set tagger.kind=perceptron"));
    let predicts = preset.learner.predicts_tags();
    match (&preset.tagger, preset.jackknife) {
        (TaggerChoice::Perceptron(_) | TaggerChoice::TwoPass(_), _) if predicts => {
            let problem = "the network predicts tags itself: set tagger.kind=none, or \
                           learner.network.untagged=0";
            Err(Error::config("tagger.kind", problem))
        }
        (TaggerChoice::None, 1..) if predicts => {
            let problem = "the network predicts tags itself, without a tagger: set it to 0";
            Err(Error::config("jackknife", problem))
        }
        (TaggerChoice::None, 1..) => lacks("jackknife"),
        (TaggerChoice::None, 0) if preset.only_tagger => lacks("only_tagger"),
        (_, 1..) if preset.only_tagger => {
            let problem =
                "is for the tags that a parser learns from: leave it out for a tagger alone";
            Err(Error::config("jackknife", problem))
        }
        (choice, _) => choice.check(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::plan::Plan;

    fn refused(text: &str) -> String {
        let plan = Preset::parse(text, "test", &[]).and_then(Plan::new);
        plan.map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn settings_that_make_no_sense_are_named() {
        for (text, key) in [
            ("jackknife = 10\n[tagger]\nkind = \"none\"", "jackknife: needs a tagger"),
            ("only_tagger = true\n[tagger]\nkind = \"none\"", "only_tagger: needs a tagger"),
            (
                "jackknife = 1\n[tagger]\nkind = \"perceptron\"",
                "test:1:1: jackknife: must be 0, or 2 to 100",
            ),
            (
                "jackknife = 5\nonly_tagger = true\n[tagger]\nkind = \"perceptron\"",
                "jackknife: is for the tags",
            ),
            ("[tagger]\nkind = \"perceptron\"\nepochs = 0", "test:3:1: tagger.epochs: must be"),
            (
                "[tagger]\nkind = \"perceptron\"\nprune = { min_row = 2.0 }",
                "test:3:11: tagger.prune.min_row: must be 0 to 1, not 2",
            ),
            (
                "[tagger]\nkind = \"two-pass\"\nlearner = { kind = \"perceptron\", epochs = 0 }",
                "test:3:34: tagger.learner.epochs: must be",
            ),
            (
                "[tagger]\nkind = \"two-pass\"\nlearner = { kind = \"online-perceptron\" }",
                "test:3:13: tagger.learner.kind: unknown kind",
            ),
        ] {
            let problem = refused(text);
            assert!(problem.starts_with(key), "{text}: {problem}");
        }
    }
}
