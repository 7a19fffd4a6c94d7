//! The languages whose abbreviations and ordinal numbers are known: one file each in `data/text`.

use std::collections::HashSet;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// The language of a text.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// The one whose most frequent words the model knows.
    #[default]
    Auto,
    /// Any other: only initials and short parts with periods between them are abbreviations.
    Other,
    /// Dutch.
    Dutch,
    /// English.
    English,
    /// Faroese.
    Faroese,
    /// French.
    French,
    /// German.
    German,
    /// Icelandic.
    Icelandic,
    /// Indonesian.
    Indonesian,
    /// Japanese.
    Japanese,
    /// Spanish.
    Spanish,
}

/// Words with a period, words around the end of a sentence, and pronouns after a hyphen. All are without the final period.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LanguageRules {
    pub(super) frequent: Vec<String>,
    pub(super) titles: HashSet<String>,
    pub(super) open: HashSet<String>,
    pub(super) closed: HashSet<String>,
    pub(super) numbered: HashSet<String>,
    /// Units whose period after a number belongs to them before a lower-case word.
    pub(super) small_units: HashSet<String>,
    /// Those whose period belongs to them before another number too.
    pub(super) units: HashSet<String>,
    /// Words of up to three letters that are no abbreviations.
    pub(super) short_words: HashSet<String>,
    before_ordinals: HashSet<String>,
    after_ordinals: HashSet<String>,
    pub(super) suffixes: Vec<String>,
    pub(super) after_quotations: HashSet<String>,
    /// Verbs that follow a quotation and the name of its speaker.
    pub(super) reporting: HashSet<String>,
    /// With the hyphen before them.
    pronouns: Vec<String>,
    first_words: HashSet<String>,
}

impl Language {
    /// The languages with rules of their own.
    pub(super) const KNOWN: [Self; 9] = [
        Self::Dutch,
        Self::English,
        Self::Faroese,
        Self::French,
        Self::German,
        Self::Icelandic,
        Self::Indonesian,
        Self::Japanese,
        Self::Spanish,
    ];

    /// Replaces `auto` by the language of which most frequent words are known, if more than half of them are.
    pub(super) fn resolved(self, is_known: impl Fn(&str) -> bool) -> Self {
        if self != Self::Auto {
            return self;
        }
        let share = |language: Self| {
            let words = &language.rules().frequent;
            let known = words.iter().filter(|word| is_known(word)).count();
            known * 100 / words.len().max(1)
        };
        let best = Self::KNOWN.into_iter().max_by_key(|&language| share(language));
        best.filter(|&language| share(language) > 50).unwrap_or(Self::Other)
    }

    /// The rules of the language; those of `auto` are those of `other`.
    pub(super) fn rules(self) -> &'static LanguageRules {
        static RULES: [OnceLock<LanguageRules>; 1 + Language::Spanish as usize] =
            [const { OnceLock::new() }; 1 + Language::Spanish as usize];
        let text = match self {
            Self::Auto | Self::Other => "",
            Self::Dutch => include_str!("../../data/text/dutch.toml"),
            Self::English => include_str!("../../data/text/english.toml"),
            Self::Faroese => include_str!("../../data/text/faroese.toml"),
            Self::French => include_str!("../../data/text/french.toml"),
            Self::German => include_str!("../../data/text/german.toml"),
            Self::Icelandic => include_str!("../../data/text/icelandic.toml"),
            Self::Indonesian => include_str!("../../data/text/indonesian.toml"),
            Self::Japanese => include_str!("../../data/text/japanese.toml"),
            Self::Spanish => include_str!("../../data/text/spanish.toml"),
        };
        RULES[self as usize].get_or_init(|| {
            toml::from_str(text).expect("rules are valid, as the tests of this module show")
        })
    }
}

impl LanguageRules {
    /// Whether a word begins sentences more often than names.
    pub(super) fn begins_sentences(&self, word: &str) -> bool {
        self.first_words.contains(word)
    }

    /// Whether a word does, in upper or lower case.
    pub(super) fn begins_sentences_in_any_case(&self, word: &str) -> bool {
        self.first_words.iter().any(|first| first.eq_ignore_ascii_case(word))
    }

    /// The length of the pronoun with a hyphen at the beginning of a text, if the word ends after it or after a second one
    /// (`-le-moi`).
    pub(super) fn pronoun_at(&self, text: &str) -> Option<usize> {
        let first = self.longest_pronoun(text)?;
        let rest = &text[first..];
        let second_ends = || Some(is_end_of_word(&rest[self.longest_pronoun(rest)?..]));
        (is_end_of_word(rest) || second_ends() == Some(true)).then_some(first)
    }

    fn longest_pronoun(&self, text: &str) -> Option<usize> {
        let begins = |pronoun: &&String| {
            text.get(..pronoun.len()).is_some_and(|start| start.eq_ignore_ascii_case(pronoun))
        };
        self.pronouns.iter().filter(begins).map(String::len).max()
    }

    /// Whether a number and the period after it, between `before` and `rest`, are an ordinal number; `None` if it is no
    /// number.
    pub(super) fn is_ordinal(&self, before: &str, number: &str, rest: &str) -> Option<bool> {
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        if !is_number(number) {
            return None;
        }
        if self.after_ordinals.is_empty() || number.len() > 3 {
            return Some(false);
        }
        let (before, rest) = (before.trim_end(), rest.trim_start());
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (next, after) = rest.split_at(end);
        let last = last_word(before);
        // `3. 5. 2021`.
        let is_date = is_number(next)
            && (next.len() <= 2 && after.starts_with('.')
                || next.len() == 4 && last.ends_with('.'));
        let is_counted = next.starts_with(char::is_uppercase)
            && self.before_ordinals.contains(last)
            && !self.first_words.contains(next);
        let is_listed = next.starts_with(char::is_lowercase) || self.after_ordinals.contains(next);
        Some(is_date || is_counted || is_listed)
    }
}

/// Whether no word or address goes on with a text.
fn is_end_of_word(text: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || "-_@".contains(c) || is_combining(c);
    let after_period = text.strip_prefix('.').unwrap_or_default();
    !text.starts_with(goes_on) && !after_period.starts_with(char::is_alphanumeric)
}

/// Whether a character is an accent of the one before it.
fn is_combining(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// The last word of a text, or its end if it is longer than any word in a list.
fn last_word(text: &str) -> &str {
    let end = text.char_indices().rev().take(16).take_while(|(_, c)| !c.is_whitespace());
    &text[end.last().map_or(text.len(), |(at, _)| at)..]
}
