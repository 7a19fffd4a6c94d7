//! The formats of sentences to parse.

use std::fmt;
use std::str::FromStr;

use super::input::unknown;
use crate::error::{Error, Result};

/// Formats of sentences to parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InputFormat {
    /// `word/TAG`, one sentence per line.
    #[default]
    Tagged,
    /// `word_TAG`, one sentence per line.
    Underscore,
    /// CoNLL-U.
    Conllu,
    /// Trees in any treebank format, of which only words and tags are used.
    Penn,
    /// Words without tags, one sentence per line; the tags are empty.
    Tokens,
    /// Raw text, split into sentences and words; the tags are empty.
    Text,
    /// Raw text, one sentence per line, split into words; the tags are empty.
    Lines,
    /// One JSON object per line, with `tokens`: words, whose tags are empty, or lists of word and tag; or with `text`: a
    /// sentence of raw text.
    Json,
}

impl InputFormat {
    /// The names that [`FromStr`] accepts and messages list.
    pub const NAMES: [&'static str; 8] =
        ["tagged", "underscore", "conllu", "penn", "tokens", "text", "lines", "json"];
}

impl fmt::Display for InputFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

impl FromStr for InputFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "tagged" => Ok(Self::Tagged),
            "underscore" => Ok(Self::Underscore),
            "conllu" => Ok(Self::Conllu),
            "penn" => Ok(Self::Penn),
            "tokens" => Ok(Self::Tokens),
            "text" => Ok(Self::Text),
            "lines" => Ok(Self::Lines),
            "json" => Ok(Self::Json),
            other => Err(Error::config("input format", unknown(other, Self::NAMES))),
        }
    }
}
