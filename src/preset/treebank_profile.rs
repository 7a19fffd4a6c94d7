//! Treebank profiles: how the trees of a treebank, or of a family of treebanks, are cleaned.

use serde_json::{Map, Value};

use super::{Preset, schema, text};
use crate::built_in::TREEBANKS;
use crate::error::{Error, Result, choices};
use crate::treebank::clean::Cleaning;

/// The part of a preset that depends on the treebank: settings of `[clean]`, and head rules.
///
/// The settings of a profile replace those of a preset. Its head rules replace the rules of presets that have any.
#[derive(Debug, Clone, PartialEq)]
pub struct TreebankProfile {
    /// Which treebanks it is for.
    pub description: String,
    /// Head rules: a name or a file.
    pub heads: Option<String>,
    /// Its text, with comments.
    pub text: String,
    clean: Map<String, Value>,
}

impl TreebankProfile {
    /// The names of the built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TREEBANKS.names()
    }

    /// Reads a built-in profile or a file.
    ///
    /// # Errors
    /// When there is no such profile, a key is unknown, or a value is not allowed.
    pub fn load(name: &str) -> Result<Self> {
        let text = TREEBANKS.load(name)?.ok_or_else(|| {
            let choices = choices(name, "there are", Self::names());
            Error::config("treebank", format!("no profile or file `{name}`: {choices}"))
        })?;
        Self::parse(&text, name)
    }

    /// Reads the text of a profile; messages call it `name`.
    ///
    /// # Errors
    /// As [`TreebankProfile::load`].
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let mut keys = text::read(text, name, check)?;
        let mut take_text = |key| match keys.get_mut(key).map(Value::take) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let description = take_text("description").unwrap_or_default();
        let heads = take_text("heads");
        let clean = keys["clean"].as_object().cloned().unwrap_or_default();
        Ok(Self { description, heads, text: text.to_owned(), clean })
    }

    /// Changes a preset, as JSON.
    pub(super) fn apply(&self, preset: &mut Value) {
        for (key, value) in &self.clean {
            preset["clean"][key] = value.clone();
        }
        let heads = preset.get_mut("system").and_then(|system| system.get_mut("heads"));
        if let (Some(heads), Some(new)) = (heads, &self.heads)
            && heads.as_str().is_some_and(|heads| !heads.is_empty())
        {
            *heads = Value::String(new.clone());
        }
    }
}

/// Checks a profile, which is a part of a preset, except for its head rules.
fn check(profile: &Value) -> Result<()> {
    let mut part = profile.clone();
    let keys = part.as_object_mut().map(|keys| (keys.remove("heads"), keys.keys()));
    let Some((heads, mut keys)) = keys else { return Ok(()) };
    if heads.is_some_and(|heads| !heads.is_string()) {
        return Err(Error::config("heads", "must be text: the name of head rules, or a file"));
    }
    if let Some(key) = keys.find(|key| !["description", "clean"].contains(&key.as_str())) {
        let problem = "no such key; the keys of a treebank profile are description, heads, clean";
        return Err(Error::config(key, problem));
    }
    schema::check_file(&part)?;
    for (key, value) in part["clean"].as_object().into_iter().flatten() {
        let settings = Map::from_iter([(key.clone(), value.clone())]);
        serde_json::from_value::<Cleaning>(Value::Object(settings))
            .map_err(|problem| Error::config(format!("clean.{key}"), problem.to_string()))?;
    }
    Ok(())
}

impl Preset {
    /// Reads a built-in preset or a file, then applies a treebank profile, then `KEY=VALUE` settings.
    ///
    /// # Errors
    /// As [`Preset::load`].
    #[doc(hidden)]
    pub fn load_for(
        name: &str,
        treebank: Option<&TreebankProfile>,
        settings: &[String],
    ) -> Result<Self> {
        Self::load(name, &[])?.changed(treebank, settings)
    }

    /// The preset changed by a treebank profile, then by `KEY=VALUE` settings.
    ///
    /// # Errors
    /// When a key is unknown, or a value is not allowed.
    #[doc(hidden)]
    pub fn changed(self, treebank: Option<&TreebankProfile>, settings: &[String]) -> Result<Self> {
        let Some(treebank) = treebank else { return self.with_settings(settings) };
        let mut value = self.to_json();
        treebank.apply(&mut value);
        Self::from_json(value)?.with_settings(settings)
    }
}
