//! The findings of a lint.

use std::fmt;

use crate::error::Place;

/// A suspicious pattern in a treebank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspect {
    /// Trees on which `clean.rules` fail, and which stay as they are.
    FailedRules,
    /// Identifiers of sentences.
    Identifiers,
    /// Empty elements that are read as words.
    Traces,
    /// Markup, page numbers, comments.
    Markup,
    /// Words with their lemmas.
    Lemmas,
    /// Words that are cut at the lemma separator although the treebank seems to have no lemmas.
    NoLemmas,
    /// Sentences of one word, if they are very frequent.
    OneWord,
    /// Labels with marks of functions or indices.
    LabelMarks,
    /// Labels that occur once, if they are a large share of all labels.
    RareLabels,
    /// Tags that equal the words, or are as many as only words or tags with extensions are.
    TagsLikeWords,
    /// Labels over single words for which the other files have another label.
    OtherLabels,
}

impl Suspect {
    /// A description of the items that are counted.
    fn description(self) -> &'static str {
        match self {
            Self::FailedRules => "trees on which clean.rules fail",
            Self::Identifiers => "words that look like identifiers",
            Self::Traces => "words that look like empty elements",
            Self::Markup => "words that look like markup or comments",
            Self::Lemmas => "words that seem to be followed by a lemma",
            Self::NoLemmas => "words cut at the lemma separator, though most words have none",
            Self::OneWord => "sentences of one word",
            Self::LabelMarks => "labels with marks of functions or indices",
            Self::RareLabels => "labels that occur once",
            Self::TagsLikeWords => "tags that look like words",
            Self::OtherLabels => "labels over single words that differ between the files",
        }
    }
}

/// A finding, displayed as `words that look like identifiers: 12, such as (ID x.1) in a.psd:3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The suspicious pattern.
    pub suspect: Suspect,
    /// How many words, sentences, trees, labels or tags.
    pub count: u64,
    /// One of them, as it stands in the tree; of failed rules, the first error.
    pub example: String,
    /// The line on which the tree of the example begins.
    pub at: Place,
    /// The setting that fixes it, as `KEY=VALUE`; `None` if there is no such setting.
    pub setting: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suspect, count, example, at, .. } = self;
        let (what, path, line) = (suspect.description(), &at.path, at.line);
        match suspect {
            Suspect::FailedRules => write!(f, "{what}: {count}, first {path}:{line}: {example}"),
            _ => write!(f, "{what}: {count}, such as {example} in {path}:{line}"),
        }
    }
}
