//! The texts of treebanks: their trees have words, and do not say where the text has spaces.

use compact_str::CompactString;

use super::script::Script;
use crate::escapes::{mark, unescape};

/// Words that follow an opening mark, or come before a closing one, without a space.
const OPENING: &str = "([{\u{201c}\u{2018}\u{201e}\u{201a}\u{ab}\u{2039}\u{bf}\u{a1}";
const CLOSING: &str = ")]}.,:;?!%\u{2026}\u{201d}\u{2019}\u{bb}\u{203a}";

/// The conventions of a treebank's texts, as its words show them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spacing {
    /// The script has no spaces between words.
    pub(super) is_unspaced: bool,
    /// Hyphens and slashes between words are words.
    splits_compounds: bool,
    /// Words that are written together with the word before them.
    attached: Vec<String>,
    /// The mark of words that are written together: `$` in `orð$ $ið`.
    pub(super) glue: Option<char>,
    /// The mark of words that have a space in the text: `_` in `par_exemple`.
    pub(super) join: Option<char>,
}

/// A sentence as in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SpacedLine {
    pub(super) text: String,
    /// Where its words end, in bytes.
    pub(super) ends: Vec<usize>,
}

/// A mark that so many words have is no accident.
const ENOUGH: usize = 20;

impl Spacing {
    /// Infers it from the words of all sentences.
    pub(super) fn of(
        sentences: &[Vec<CompactString>],
        splits_compounds: bool,
        attached: &[String],
    ) -> Self {
        let words = || sentences.iter().flatten().map(CompactString::as_str);
        let glued = sentences.iter().flat_map(|words| words.windows(2));
        let glued = glued.filter(|pair| pair[0].ends_with('$') && pair[1].starts_with('$')).count();
        let joined = words().filter(|word| is_compound(word)).count();
        Self {
            is_unspaced: Script::of_text(words()).is_some(),
            splits_compounds,
            attached: attached.to_vec(),
            glue: (glued >= ENOUGH).then_some('$'),
            join: (joined >= ENOUGH).then_some('_'),
        }
    }

    /// The text of a sentence.
    pub(super) fn line(&self, words: &[CompactString]) -> SpacedLine {
        let mut line = SpacedLine::default();
        let mut in_quotes = false;
        for (at, word) in words.iter().enumerate() {
            if at > 0 && !self.is_joined(&words[at - 1], word, in_quotes) {
                line.text.push(' ');
            }
            in_quotes ^= word == "\"";
            self.push(word, &mut line.text);
            line.ends.push(line.text.len());
        }
        line
    }

    /// Sentences as one line.
    pub(super) fn joined(&self, lines: impl Iterator<Item = SpacedLine>) -> SpacedLine {
        let mut all = SpacedLine::default();
        for line in lines {
            if !all.text.is_empty() && !self.is_unspaced {
                all.text.push(' ');
            }
            all.ends.extend(line.ends.iter().map(|end| all.text.len() + end));
            all.text.push_str(&line.text);
        }
        all
    }

    /// Adds a word as it is in the text.
    fn push(&self, word: &str, text: &mut String) {
        let plain = unescape(mark(word).unwrap_or(word));
        let mut word = &*plain;
        if let Some(mark) = self.glue
            && word.len() > mark.len_utf8()
        {
            word = word.strip_suffix(mark).unwrap_or(word);
            word = word.strip_prefix(mark).unwrap_or(word);
        }
        match self.join {
            Some(mark) if is_compound(word) => {
                // `d'_autres` is `d'autres`.
                let word = word.replace("'_", "'").replace("\u{2019}_", "\u{2019}");
                text.push_str(&word.replace(mark, " "));
            }
            _ => text.push_str(word),
        }
    }

    /// Whether there is no space between two words.
    fn is_joined(&self, word: &str, next: &str, in_quotes: bool) -> bool {
        if self.is_unspaced {
            return !(word.is_ascii() && next.is_ascii());
        }
        let is_only =
            |word: &str, list: &str| !word.is_empty() && word.chars().all(|c| list.contains(c));
        let ends_word = word.ends_with(char::is_alphanumeric);
        let compound = |mark: &str| self.splits_compounds && matches!(mark, "-" | "/");
        match (word, next) {
            ("\"", _) if in_quotes => true,
            (_, "\"") => in_quotes,
            ("(" | "-LRB-" | "-LSB-" | "-LCB-" | "``", _) => true,
            (_, ")" | "-RRB-" | "-RSB-" | "-RCB-" | "''") => true,
            _ if is_only(word, OPENING) || is_only(next, CLOSING) => true,
            // Elision: `l' eau`; not a quotation mark alone.
            _ if word.ends_with(['\'', '\u{2019}']) && word.chars().count() > 1 => true,
            // `dit -il`.
            _ if next.starts_with('-') && next.chars().nth(1).is_some_and(char::is_alphabetic) => {
                ends_word
            }
            _ if compound(next) => ends_word,
            _ if compound(word) => next.starts_with(char::is_alphanumeric),
            _ if self.glue.is_some_and(|mark| word.ends_with(mark) && next.starts_with(mark)) => {
                true
            }
            _ => self.attached.iter().any(|attached| attached == next),
        }
    }
}

/// Whether a word has an underscore between its parts.
fn is_compound(word: &str) -> bool {
    word.trim_matches('_').contains('_') && !word.contains(['@', ':', '.'])
}
