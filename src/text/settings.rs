//! The settings of raw text, and how they are inferred from training trees.

use serde::{Deserialize, Serialize};

use super::language::Language;

/// How raw text becomes sentences of words.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(default, deny_unknown_fields)]
pub struct TextSettings {
    /// The rules for words.
    pub tokenization: Tokenization,
    /// Whether hyphens and slashes separate words.
    pub compounds: Compounds,
    /// How quotation marks, dashes and brackets are written.
    pub punctuation: Punctuation,
    /// The language, for abbreviations and ordinal numbers. Words as in the Penn Treebank are English.
    #[serde(skip_serializing_if = "is_auto")]
    pub language: Language,
}

fn is_auto(language: &Language) -> bool {
    *language == Language::Auto
}

/// The rules for words.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Tokenization {
    /// `penn` if the training trees have words such as `n't`, else `learned`.
    #[default]
    Auto,
    /// English as in the Penn Treebank: `do n't`, `dog 's`, `gon na`.
    Penn,
    /// Any language: the word boundaries of Unicode (UAX #29).
    Unicode,
    /// The word boundaries of the training trees: a model learns them.
    Learned,
}

/// Whether hyphens and slashes separate words.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Compounds {
    /// The more frequent convention of the training trees.
    #[default]
    Auto,
    /// `wild - type`, `and / or`, but `non-human`: as in CRAFT, GUM and OntoNotes.
    Split,
    /// `wild-type`, `and/or`: as in the Wall Street Journal part of the Penn Treebank.
    Keep,
}

/// How quotation marks, dashes and brackets are written.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Punctuation {
    /// `penn` if that is how the training trees write most quotation marks, else `keep`.
    #[default]
    Auto,
    /// As in the text, except that round brackets are `-LRB-` and `-RRB-`.
    Keep,
    /// As in the Penn Treebank: also ` `` ` and `''`, `--`, `...`, `-LCB-`, `\/`.
    Penn,
}

/// Counts in the training trees from which settings are inferred.
#[derive(Debug, Default)]
struct Evidence {
    words: u64,
    clitics: u64,
    articles: u64,
    separate: u64,
    joined: u64,
    penn_quotes: u64,
    other_quotes: u64,
}

impl Evidence {
    fn count(&mut self, word: &str) {
        self.words += 1;
        let counter = match word {
            "n't" | "n\u{2019}t" | "'s" | "\u{2019}s" => &mut self.clitics,
            "the" => &mut self.articles,
            "-" | "/" => &mut self.separate,
            "``" => &mut self.penn_quotes,
            "\"" | "\u{201c}" => &mut self.other_quotes,
            _ if has_inner_hyphen(word) => &mut self.joined,
            _ => return,
        };
        *counter += 1;
    }
}

/// Whether a hyphen stands between letters or digits.
fn has_inner_hyphen(word: &str) -> bool {
    let (Some(at), Some(last)) = (word.find('-'), word.rfind('-')) else { return false };
    word[..at].ends_with(char::is_alphanumeric)
        && word[last + 1..].starts_with(char::is_alphanumeric)
}

impl Tokenization {
    /// Whether words are those of the Penn Treebank, which are also the default.
    pub(super) fn is_penn(self) -> bool {
        matches!(self, Self::Auto | Self::Penn)
    }
}

impl TextSettings {
    /// Replaces `auto` by what the words of the training trees suggest.
    #[must_use]
    pub fn resolved<'w>(self, words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut evidence = Evidence::default();
        words.into_iter().for_each(|word| evidence.count(word));
        let Self { mut tokenization, mut compounds, mut punctuation, language } = self;
        if tokenization == Tokenization::Auto {
            // Texts in other languages cite English; English has about 50 articles in 1,000 words.
            let is_english = evidence.clitics > 0 && evidence.articles * 100 > evidence.words;
            tokenization = if is_english { Tokenization::Penn } else { Tokenization::Learned };
        }
        if compounds == Compounds::Auto {
            let split = evidence.separate > evidence.joined;
            compounds = if split { Compounds::Split } else { Compounds::Keep };
        }
        if punctuation == Punctuation::Auto {
            let is_penn = evidence.penn_quotes > evidence.other_quotes;
            punctuation = if is_penn { Punctuation::Penn } else { Punctuation::Keep };
        }
        Self { tokenization, compounds, punctuation, language }
    }
}
