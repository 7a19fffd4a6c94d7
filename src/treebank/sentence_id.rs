//! Names of sentences.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The name of a sentence: that of a treebank, or a value of JSON, which is written as it was read: `1.10` stays `1.10`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceId {
    text: String,
    /// Whether the text is JSON: a number, or another value that is no string.
    is_json: bool,
}

impl From<&str> for SentenceId {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), is_json: false }
    }
}

impl SentenceId {
    /// The name, or the value as JSON.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl Serialize for SentenceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.is_json {
            return serializer.serialize_str(&self.text);
        }
        RawValue::from_string(self.text.clone()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SentenceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer)?;
        if value.get().starts_with('"') {
            let text = serde_json::from_str(value.get()).map_err(D::Error::custom)?;
            return Ok(Self { text, is_json: false });
        }
        Ok(Self { text: without_line_breaks(&value), is_json: true })
    }
}

/// A value without line breaks, which are allowed between its parts only; its strings stay as they are.
pub(crate) fn without_line_breaks(value: &RawValue) -> String {
    value.get().replace(['\n', '\r'], " ")
}
