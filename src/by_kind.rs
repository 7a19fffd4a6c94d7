//! Deserialization of enums whose variants a preset names by the key `kind`.
//!
//! Serde's derived code would read through a buffer of its own, so that the settings of every variant are
//! compiled for two formats, and again for each level of nesting. Here everything is read from JSON values.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A table with the key `kind`.
pub(crate) struct ByKind {
    /// The kind; `None` if the key is missing or is not text.
    pub(crate) kind: Option<String>,
    table: Value,
}

impl ByKind {
    /// Reads a table and its kind.
    pub(crate) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = Value::deserialize(deserializer)?;
        let kind = table.get("kind").and_then(Value::as_str).map(str::to_owned);
        Ok(Self { kind, table })
    }

    /// The settings of the variant: the table without its kind.
    pub(crate) fn settings<T: DeserializeOwned, E: serde::de::Error>(mut self) -> Result<T, E> {
        if let Some(table) = self.table.as_object_mut() {
            table.remove("kind");
        }
        self.whole()
    }

    /// What the whole table describes.
    pub(crate) fn whole<T: DeserializeOwned, E: serde::de::Error>(self) -> Result<T, E> {
        serde_json::from_value(self.table).map_err(E::custom)
    }

    /// The error for an unknown kind. Checks against the schema come first and have better messages.
    pub(crate) fn unknown<E: serde::de::Error>(self) -> E {
        E::custom(format!("unknown kind `{}`", self.kind.unwrap_or_default()))
    }
}

/// Implements `Deserialize` for an enum whose variants contain one table of settings each.
macro_rules! deserialize_by_kind {
    ($choice:ident { $($kind:pat => $variant:ident),+ $(,)? }) => {
        impl<'de> serde::Deserialize<'de> for $choice {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let read = $crate::by_kind::ByKind::read(from)?;
                match read.kind.as_deref() {
                    $($kind => read.settings().map(Self::$variant),)+
                    _ => Err(read.unknown()),
                }
            }
        }
    };
}

pub(crate) use deserialize_by_kind;
