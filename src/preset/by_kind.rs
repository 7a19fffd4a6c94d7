//! Deserialization of enums whose variants a preset names by the key `kind`.
//!
//! Serde's derived code would read through a buffer of its own, so that the settings of every variant are
//! compiled for two formats, and again for each level of nesting. Here everything is read from JSON values.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A table with the key `kind`.
pub(super) struct ByKind {
    /// The kind; empty if the key is missing.
    pub(super) kind: String,
    settings: Value,
}

impl ByKind {
    /// Splits a table into its kind and its settings.
    pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut settings = Value::deserialize(deserializer)?;
        let kind = settings.as_object_mut().and_then(|table| table.remove("kind"));
        let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Self { kind, settings })
    }

    /// The settings of the variant.
    pub(super) fn settings<T: DeserializeOwned, E: serde::de::Error>(self) -> Result<T, E> {
        serde_json::from_value(self.settings).map_err(E::custom)
    }

    /// The error for an unknown kind. Checks against the schema come first and have better messages.
    pub(super) fn unknown<E: serde::de::Error>(self) -> E {
        E::custom(format!("unknown kind `{}`", self.kind))
    }
}

/// Implements `Deserialize` for an enum whose variants contain one table of settings each.
macro_rules! deserialize_by_kind {
    ($choice:ident { $($kind:literal => $variant:ident),+ $(,)? }) => {
        impl<'de> serde::Deserialize<'de> for $choice {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let read = $crate::preset::by_kind::ByKind::read(from)?;
                match read.kind.as_str() {
                    $($kind => read.settings().map(Self::$variant),)+
                    _ => Err(read.unknown()),
                }
            }
        }
    };
}

pub(super) use deserialize_by_kind;
