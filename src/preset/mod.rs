//! Presets: everything that makes a parser, in a text file.
//!
//! A [`Preset`] is what a person writes; [`plan`] checks it and loads what it names; [`registry`] is the
//! one place that knows which systems there are; [`fit`] trains, and [`load`] makes a parser of a model.

mod boosted;
pub mod checkpoint;
pub mod combination;
mod epochs;
pub mod fit;
pub mod learner;
pub mod load;
pub mod neural;
pub mod plan;
pub mod registry;
pub mod tagger;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::built_in::PRESETS;
use crate::decode::Search;
use crate::error::{Error, Place, Result, did_you_mean};
use crate::transition::items::{ItemOrder, MaxChildren};
use crate::tree::binarize::Scheme;
use crate::treebank::Cleaning;
pub use learner::LearnerChoice;
pub use tagger::TaggerChoice;

/// A preset, as written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preset {
    /// What the preset is, in a sentence or two.
    pub description: String,
    /// Training and development trees with more words are left out, counted before cleaning; 0 for no limit.
    pub max_words: u32,
    /// Whether only the tagger is trained, and no parser.
    pub only_tagger: bool,
    /// If not 0, the parser is trained on tags that taggers predict that have not seen the tree: in so many
    /// parts, each tagged by a tagger of the others.
    pub jackknife: u32,
    /// What is done to trees and sentences before the parser sees them.
    pub clean: Cleaning,
    /// The transition system.
    pub system: SystemChoice,
    /// The features.
    pub features: FeatureChoice,
    /// The learner.
    pub learner: LearnerChoice,
    /// The decoder.
    pub search: Search,
    /// The part-of-speech tagger that the model has inside, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tagger: Option<TaggerChoice>,
}

/// A transition system and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    },
}

impl SystemChoice {
    /// The head rules it names; empty for none.
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

    /// How it binarizes trees, where that can be chosen.
    pub fn binarization(&self) -> Scheme {
        match self {
            Self::Binary { .. } => Scheme::HeadOutward,
            Self::TopDown { .. } | Self::Items { .. } => Scheme::None,
            Self::NonBinary { binarization, .. }
            | Self::InOrder { binarization, .. }
            | Self::Predictive { binarization } => *binarization,
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

/// Which features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureChoice {
    /// A template file: a name or a path.
    pub templates: String,
    /// Addresses: the templates that ask about them are left out.
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
    /// When there is no such preset, a key is unknown, or a value does not fit.
    pub fn load(name: &str, settings: &[String]) -> Result<Self> {
        let text = match PRESETS.text(name) {
            Some(text) => text.to_owned(),
            None if Path::new(name).is_file() => {
                std::fs::read_to_string(name).map_err(|error| Error::io(name, error))?
            }
            None => {
                let known = Self::names().collect::<Vec<_>>().join(", ");
                let hint = did_you_mean(name, Self::names());
                return Err(Error::config(
                    "preset",
                    format!("no preset or file `{name}`: {hint}there are {known}"),
                ));
            }
        };
        Self::parse(&text, name, settings)
    }

    /// Reads the text of a preset; `name` stands in messages.
    ///
    /// # Errors
    /// As [`Preset::load`].
    pub fn parse(text: &str, name: &str, settings: &[String]) -> Result<Self> {
        let preset: Self = toml::from_str(text).map_err(|error| toml_error(&error, text, name))?;
        if settings.is_empty() {
            return Ok(preset);
        }
        let mut table = toml::Table::try_from(&preset)
            .map_err(|error| Error::config(name, error.to_string()))?;
        let mut changed = preset;
        for setting in settings {
            apply_setting(&mut table, setting)?;
            // Read after every change, so that the message names the one that does not fit.
            changed = table.clone().try_into().map_err(|error: toml::de::Error| {
                Error::config(format!("--set {setting}"), error.message().trim().to_owned())
            })?;
        }
        Ok(changed)
    }

    /// The preset as text.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }
}

/// A reading error with line, column and, for an unknown key, the nearest known one.
fn toml_error(error: &toml::de::Error, text: &str, name: &str) -> Error {
    let start = error.span().map_or(0, |span| span.start).min(text.len());
    let unknown =
        error.message().strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    // Keys inside a choice are reported at its beginning: look for the line that has the key.
    let at_key = |key: &str| text.get(start..).is_some_and(|rest| rest.starts_with(key));
    let start = match unknown {
        Some(key) if !at_key(key) => line_of_key(text, key).unwrap_or(start),
        _ => start,
    };
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() as u64 + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
    let mut problem = error.message().trim().to_owned();
    let mut quoted = problem.split('`').skip(1).step_by(2);
    let unknown = quoted.next().filter(|_| problem.starts_with("unknown"));
    let hint = unknown.map(|unknown| did_you_mean(unknown, quoted)).unwrap_or_default();
    if !hint.is_empty() {
        problem = format!("{problem}; {}", hint.trim_end());
    }
    Error::syntax(Place::new(name, line, column), problem)
}

/// Where the first line begins that sets a key.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let sets = |line: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let line = text.lines().find(|line| sets(line))?;
    Some(line.as_ptr() as usize - text.as_ptr() as usize)
}

/// Changes one value. A key is a dotted path, or the last part of one if that is unambiguous. The whole
/// path of a table or a list of tables replaces all of it.
fn apply_setting(table: &mut toml::Table, setting: &str) -> Result<()> {
    let Some((key, text)) = setting.split_once('=') else {
        return Err(Error::config(setting, "a setting is KEY=VALUE, such as learner.epochs=5"));
    };
    let (key, text) = (key.trim(), text.trim());
    let mut paths = Vec::new();
    leaves(table, "", &mut paths);
    let suffix = format!(".{key}");
    let found: Vec<&String> = match paths.iter().find(|path| *path == key) {
        Some(path) => vec![path],
        None => paths.iter().filter(|path| path.ends_with(&suffix)).collect(),
    };
    let path = match found[..] {
        [path] => path.clone(),
        [] if value_at(table, key).is_some() => key.to_owned(),
        [] => {
            let short = paths
                .iter()
                .flat_map(|path| [path.as_str(), path.rsplit('.').next().unwrap_or(path)]);
            let hint = did_you_mean(key, short);
            let known = paths.join(", ");
            return Err(Error::config(
                key,
                format!("no such key; {hint}the keys of this preset are {known}"),
            ));
        }
        _ => {
            let all = found.into_iter().cloned().collect::<Vec<_>>().join(", ");
            return Err(Error::config(key, format!("which one? write one of {all}")));
        }
    };
    // What reads as a TOML value is one; anything else is a string.
    let value =
        format!("v = {text}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("v"));
    let mut value = value.unwrap_or_else(|| toml::Value::String(text.to_owned()));
    let Some(place) = value_at(table, &path) else {
        return Err(Error::config(key, "no such key"));
    };
    match (&*place, &value) {
        (toml::Value::Table(_), toml::Value::Table(_))
        | (toml::Value::Array(_), toml::Value::Array(_)) => {}
        (toml::Value::Table(_), _) => {
            let problem = format!("is a table: give one, as {key}='{{ … }}', or one of its keys");
            return Err(Error::config(key, problem));
        }
        (toml::Value::Array(_), _) => {
            return Err(Error::config(key, format!("is a list: give one, as {key}='[ … ]'")));
        }
        (toml::Value::Float(_), toml::Value::Integer(whole)) => {
            value = toml::Value::Float(*whole as f64);
        }
        (toml::Value::String(_), toml::Value::String(_)) => {}
        (toml::Value::String(_), _) => value = toml::Value::String(text.to_owned()),
        _ => {}
    }
    *place = value;
    Ok(())
}

/// The value at a dotted path.
fn value_at<'a>(table: &'a mut toml::Table, path: &str) -> Option<&'a mut toml::Value> {
    let mut parts = path.split('.');
    let mut place = table.get_mut(parts.next()?)?;
    for part in parts {
        place = match place {
            toml::Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?)?,
            _ => place.get_mut(part)?,
        };
    }
    Some(place)
}

/// The dotted paths of all values that are neither tables nor lists of tables; items of such a list are
/// numbered from 0.
fn leaves(table: &toml::Table, prefix: &str, out: &mut Vec<String>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => leaves(inner, &path, out),
            toml::Value::Array(items) if items.iter().any(toml::Value::is_table) => {
                for (number, inner) in items.iter().filter_map(toml::Value::as_table).enumerate() {
                    leaves(inner, &format!("{path}.{number}"), out);
                }
            }
            _ => out.push(path),
        }
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
        let LearnerChoice::OnlinePerceptron(params) =
            Preset::load("binary-dynamic", &settings).unwrap().learner
        else {
            panic!("the greedy preset learns online")
        };
        assert_eq!((params.epochs, params.exploration.probability), (3, 1.0));
    }

    #[test]
    fn settings_reach_into_lists_of_learners() {
        let text = "[learner]\nkind = 'vote'\n[[learner.members]]\nkind = 'maxent'\n\
                    [[learner.members]]\nkind = 'perceptron'\nepochs = 3\n";
        let settings = ["learner.members.1.epochs=5".to_owned(), "iterations=9".to_owned()];
        let preset = Preset::parse(text, "test", &settings).unwrap();
        let LearnerChoice::Vote(vote) = &preset.learner else { panic!("{preset:?}") };
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
        let LearnerChoice::Stack(stack) = &preset.learner else { panic!("{preset:?}") };
        assert_eq!(stack.from, Members::OutOfFold { folds: 3 });
        assert!(matches!(*stack.final_learner, LearnerChoice::Maxent(_)));
        for (setting, says) in [
            ("learner=maxent", "learner: is a table"),
            ("learner.members=3", "learner.members: is a list"),
            ("learner={ kind = 'maxent', epochs = 3 }", "epochs"),
            ("learner.from={ kind = 'nowhere' }", "nowhere"),
            ("features.without=s0.w", "features.without: is a list"),
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
