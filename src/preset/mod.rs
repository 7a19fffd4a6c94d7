//! Presets: complete descriptions of parsers, in text files.
//!
//! A [`Preset`] is the file as written, with the settings of the presets that it extends. [`schema`] has the ranges and
//! descriptions of all settings, [`plan`] checks how the parts fit together and loads the files that they name, and
//! [`registry`] is the one place that knows which transition systems and which ways to train there are. Nothing trains here.

mod extend;
pub mod learner;
pub mod method;
pub mod plan;
pub mod registry;
pub mod schema;
mod set;
pub mod tagger;
pub(crate) mod text;
mod treebank_profile;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::built_in::PRESETS;
use crate::decode::Search;
use crate::error::{Error, Result, choices};
use crate::text::TextSettings;
use crate::transition::items::{ItemOrder, MaxChildren};
use crate::tree::binarize::{Binarization, Scheme};
use crate::tree::markovize::Markovization;
use crate::treebank::Cleaning;
pub use learner::LearnerChoice;
pub use method::MethodChoice;
pub use tagger::TaggerChoice;
pub use treebank_profile::TreebankProfile;

/// A preset, as written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Preset {
    /// What the preset is, in a sentence or two.
    pub description: String,
    /// The licence and the sources of models, for whoever gets one.
    #[doc(hidden)]
    pub about: About,
    /// Training and development trees with more words are left out, counted before cleaning; 0 for no limit.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub max_words: u32,
    /// Whether only the tagger is trained, and no parser.
    pub only_tagger: bool,
    /// If not 0, the parser is trained on predicted tags: the training trees are divided into this many
    /// folds, and each fold is tagged by a tagger trained on the others.
    #[schemars(extend("anyOf" = [{"const": 0}, {"minimum": 2, "maximum": 100}]))]
    pub jackknife: u32,
    /// How raw text is split into sentences and words.
    pub text: TextSettings,
    /// How trees and sentences are cleaned before the parser sees them.
    #[doc(hidden)]
    pub clean: Cleaning,
    /// The transition system.
    #[doc(hidden)]
    pub system: SystemChoice,
    /// The features.
    #[doc(hidden)]
    pub features: FeatureChoice,
    /// The learner.
    #[doc(hidden)]
    pub learner: MethodChoice,
    /// The decoder.
    #[doc(hidden)]
    pub search: Search,
    /// The part-of-speech tagger that is trained with the parser and stored in the model.
    #[doc(hidden)]
    pub tagger: TaggerChoice,
}

/// What the file of a model says of itself: `srparse info` prints it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct About {
    /// The licence, such as `CC BY-SA 4.0`.
    pub licence: String,
    /// The treebanks and other data that went into it, each with its attribution and licence.
    pub sources: Vec<String>,
}

/// A transition system and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SystemChoice {
    /// Binary bottom-up (Sagae and Lavie 2005).
    Binary {
        /// Head rules: a name or a file.
        #[serde(default = "default_heads")]
        heads: String,
    },
    /// Non-binary bottom-up (Fernández-González and Gómez-Rodríguez 2018; over binarized trees the
    /// shift-reduce parser of Kalt 2004).
    NonBinary {
        /// Head rules for features: a name or a file; empty for none.
        #[serde(default)]
        heads: String,
        /// How trees are binarized.
        #[serde(default)]
        binarization: Scheme,
        /// What labels remember (Klein and Manning 2003).
        #[serde(default)]
        markovization: Markovization,
    },
    /// Top-down (Dyer et al. 2016).
    TopDown {
        /// Head rules for features: a name or a file; empty for none.
        #[serde(default)]
        heads: String,
    },
    /// In-order (Liu and Zhang 2017; over binarized trees the left-corner parser of Kalt 2004).
    InOrder {
        /// Head rules for features: a name or a file; empty for none.
        #[serde(default)]
        heads: String,
        /// How trees are binarized.
        #[serde(default)]
        binarization: Scheme,
        /// What labels remember (Klein and Manning 2003).
        #[serde(default)]
        markovization: Markovization,
    },
    /// Labelled spans in any order, or in a fixed one (Turian and Melamed 2005).
    Items {
        /// Head rules: a name or a file.
        #[serde(default = "default_heads")]
        heads: String,
        /// In which order items are inferred.
        #[serde(default)]
        order: ItemOrder,
        /// The most children of an item.
        #[serde(default)]
        max_children: MaxChildren,
    },
    /// Top-down by predicted children (the top-down parser of Kalt 2004).
    Predictive {
        /// How trees are binarized.
        #[serde(default)]
        binarization: Scheme,
        /// What labels remember (Klein and Manning 2003).
        #[serde(default)]
        markovization: Markovization,
    },
}

impl SystemChoice {
    /// The name of the head rules; empty for none.
    pub fn heads(&self) -> &str {
        match self {
            Self::Binary { heads }
            | Self::NonBinary { heads, .. }
            | Self::TopDown { heads }
            | Self::InOrder { heads, .. }
            | Self::Items { heads, .. } => heads,
            Self::Predictive { .. } => "",
        }
    }

    /// How it binarizes trees.
    pub fn binarization(&self) -> Binarization {
        match *self {
            Self::Binary { .. } => Scheme::HeadOutward.into(),
            Self::TopDown { .. } | Self::Items { .. } => Scheme::None.into(),
            Self::NonBinary { binarization: scheme, markovization, .. }
            | Self::InOrder { binarization: scheme, markovization, .. }
            | Self::Predictive { binarization: scheme, markovization } => {
                Binarization { scheme, markovization }
            }
        }
    }
}

fn default_heads() -> String {
    "collins-modified".to_owned()
}

impl Default for SystemChoice {
    fn default() -> Self {
        Self::Binary { heads: default_heads() }
    }
}

/// The features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureChoice {
    /// A template file: a name or a path.
    pub templates: String,
    /// Addresses, and headings of the file (comments above templates) or their beginnings: templates that contain such an
    /// address or stand below such a heading are left out.
    pub without: Vec<String>,
}

impl Default for FeatureChoice {
    fn default() -> Self {
        Self { templates: "rich".to_owned(), without: Vec::new() }
    }
}

/// The preset that training uses when none is named.
pub const DEFAULT: &str = "fast";

impl Preset {
    /// The names of the built-in presets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PRESETS.names()
    }

    /// Reads a built-in preset or a file, and changes it by `KEY=VALUE` settings.
    ///
    /// # Errors
    /// When there is no such preset, a key is unknown, or a value is not allowed.
    pub fn load(name: &str, settings: &[String]) -> Result<Self> {
        let text = PRESETS.load(name)?.ok_or_else(|| {
            let choices = choices(name, "there are", Self::names());
            Error::config("preset", format!("no preset or file `{name}`: {choices}"))
        })?;
        Self::parse(&text, name, settings)
    }

    /// Reads the text of a preset, which may extend another one; messages call it `name`.
    ///
    /// # Errors
    /// As [`Preset::load`], and when a preset that it extends does not exist or extends it.
    pub fn parse(text: &str, name: &str, settings: &[String]) -> Result<Self> {
        Self::from_json(extend::read(text, name)?)?.with_settings(settings)
    }

    /// The preset changed by `KEY=VALUE` settings.
    fn with_settings(self, settings: &[String]) -> Result<Self> {
        if settings.is_empty() {
            return Ok(self);
        }
        let mut value = self.to_json();
        let mut rest = settings;
        while let Some((setting, later)) = rest.split_first() {
            let more = set::apply(&mut value, setting, later)?;
            rest = &later[more..];
        }
        Self::from_json(value)
    }

    /// The preset of checked JSON.
    fn from_json(value: Value) -> Result<Self> {
        serde_json::from_value(value).map_err(|error| Error::config("preset", error.to_string()))
    }

    /// The preset that a model file has.
    ///
    /// # Errors
    /// As [`Preset::parse`].
    pub(crate) fn of_model(value: &Value) -> Result<Self> {
        schema::check(value)?;
        Self::from_json(value.clone())
    }

    fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Checks each setting on its own: its range, and the length of lists.
    ///
    /// # Errors
    /// With the full path of the key.
    pub(crate) fn check(&self) -> Result<()> {
        schema::check(&self.to_json())
    }

    /// Refuses a preset by which no parser is trained.
    ///
    /// # Errors
    /// When only the tagger is trained.
    #[doc(hidden)]
    pub fn refuse_tagger(&self) -> Result<()> {
        if self.only_tagger {
            return Err(Error::config("preset", "trains a tagger alone: name one of a parser"));
        }
        Ok(())
    }

    /// The preset as TOML text.
    pub fn to_toml(&self) -> String {
        text::write(&self.to_json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::combine::stack::Members;

    #[test]
    fn the_built_in_presets_read_and_survive_writing() {
        for name in Preset::names() {
            let preset = Preset::load(name, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(Preset::parse(&preset.to_toml(), name, &[]).unwrap(), preset);
        }
    }

    #[test]
    fn a_setting_changes_one_value_by_its_last_name_or_its_path() {
        let settings = ["epochs=3".to_owned(), "learner.exploration.probability=1".to_owned()];
        let MethodChoice::OnlinePerceptron(params) =
            Preset::load("binary-dynamic", &settings).unwrap().learner
        else {
            panic!("the greedy preset learns online")
        };
        assert_eq!((params.epochs, params.exploration.probability), (3, 1.0));
    }

    #[test]
    fn another_kind_begins_with_its_defaults() {
        let none = ["tagger.kind=none".to_owned()];
        assert_eq!(Preset::load("fast", &none).unwrap().tagger, TaggerChoice::None);
        let refused = Preset::load("fast", &["tagger.kind=nine".to_owned()]).unwrap_err();
        assert!(refused.to_string().starts_with("tagger.kind: "), "{refused}");
        // Some need settings that have no defaults.
        let decay = ["learner.decay.kind=inverse", "learner.decay.by=0.5", "epochs=3"];
        let preset = Preset::load("small", &decay.map(str::to_owned)).unwrap();
        let table = "kind = \"inverse\"\nby = 0.5";
        assert!(preset.to_toml().contains(table), "{}", preset.to_toml());
        for settings in [&decay[..1], &["learner.decay.kind=inverse", "epochs=3"]] {
            let settings: Vec<String> = settings.iter().map(|&text| text.to_owned()).collect();
            let refused = Preset::load("small", &settings).unwrap_err();
            assert_eq!(refused.to_string(), "learner.decay.by: is missing");
        }
    }

    #[test]
    fn settings_reach_into_lists_of_learners() {
        let text = "[learner]\nkind = 'vote'\n[[learner.members]]\nkind = 'maxent'\n\
                    [[learner.members]]\nkind = 'perceptron'\nepochs = 3\n";
        let settings = ["learner.members.1.epochs=5".to_owned(), "iterations=9".to_owned()];
        let preset = Preset::parse(text, "test", &settings).unwrap();
        let MethodChoice::Batch(LearnerChoice::Vote(vote)) = &preset.learner else {
            panic!("{preset:?}")
        };
        let [LearnerChoice::Maxent(maxent), LearnerChoice::Perceptron(perceptron)] =
            &vote.members[..]
        else {
            panic!("{vote:?}")
        };
        assert_eq!((maxent.iterations, perceptron.epochs), (9, 5));
        assert_eq!(Preset::parse(&preset.to_toml(), "again", &[]).unwrap(), preset);
    }

    #[test]
    fn a_table_is_replaced_by_its_path() {
        let from = "learner.from={ kind = \"out-of-fold\", folds = 3 }".to_owned();
        let learner = "learner.final_learner={ kind = 'maxent' }".to_owned();
        let preset = Preset::load("wang-2006-stack", &[from, learner]).unwrap();
        let MethodChoice::Batch(LearnerChoice::Stack(stack)) = &preset.learner else {
            panic!("{preset:?}")
        };
        assert_eq!(stack.from, Members::OutOfFold { folds: 3 });
        assert!(matches!(*stack.final_learner, LearnerChoice::Maxent(_)));
        for (setting, says) in [
            ("learner=maxent", "learner: must be a table"),
            ("learner.members=3", "learner.members: must be a list: write learner.members='[ … ]'"),
            ("learner={ kind = 'maxent', epochs = 3 }", "epochs"),
            ("learner.from={ kind = 'nowhere' }", "nowhere"),
            ("features.without=s0.w", "features.without: must be a list"),
        ] {
            let error = Preset::load("wang-2006-stack", &[setting.to_owned()]).unwrap_err();
            assert!(error.to_string().contains(says), "{setting}: {error}");
        }
    }

    #[test]
    fn mistakes_name_the_nearest_key_and_the_place() {
        let error =
            Preset::load("binary-dynamic", &["epoks=3".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("did you mean `epochs`?"), "{error}");
        let error =
            Preset::parse("max_words = 3\nmax_word = 4\n", "my.toml", &[]).unwrap_err().to_string();
        assert!(
            error.starts_with("my.toml:2:1:") && error.contains("did you mean `max_words`?"),
            "{error}"
        );
        let error = Preset::load("fasst", &[]).unwrap_err().to_string();
        assert!(error.contains("did you mean `fast`?"), "{error}");
    }
}
