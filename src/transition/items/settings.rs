//! The settings of an item system in presets.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The order in which items are inferred. In a fixed order, items before the last inferred one are not
/// candidates.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ItemOrder {
    /// Any order that is bottom-up.
    #[default]
    Free,
    /// By the right end, then the smaller span, then the lower of a unary chain: post-order.
    LeftToRight,
    /// By the left end from the right, then the smaller span, then the lower of a unary chain.
    RightToLeft,
}

/// The largest number of children of an item other than `TOP`, as written in presets: a number, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MaxChildren {
    /// As many as in the training trees.
    #[default]
    Auto,
    /// This number.
    AtMost(u16),
}

impl Serialize for MaxChildren {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::AtMost(most) => serializer.serialize_u16(*most),
        }
    }
}

impl<'de> Deserialize<'de> for MaxChildren {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = MaxChildren;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a number of children from 2 to 65535, or \"auto\"")
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<MaxChildren, E> {
                let most = u16::try_from(value).ok().filter(|&most| most >= 2);
                let wrong = || E::invalid_value(serde::de::Unexpected::Unsigned(value), &self);
                most.map(MaxChildren::AtMost).ok_or_else(wrong)
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<MaxChildren, E> {
                self.visit_u64(value.try_into().unwrap_or(0))
            }

            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<MaxChildren, E> {
                let wrong = || E::invalid_value(serde::de::Unexpected::Str(value), &self);
                (value == "auto").then_some(MaxChildren::Auto).ok_or_else(wrong)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl schemars::JsonSchema for MaxChildren {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MaxChildren".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [{ "type": "integer", "minimum": 2, "maximum": 65535 }, { "const": "auto" }]
        })
    }
}
