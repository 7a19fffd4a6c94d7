//! A word form as numbers: hashes of the word, its affixes and its shape.

use super::hash::{START, plain, step_char, word_hash};
use super::lexicon::Lexicon;
use crate::hash::finish;

/// The length of the longest prefix that is a feature, in characters.
pub const PREFIXES: usize = 4;
/// The length of the longest suffix that is a feature, in characters.
pub const SUFFIXES: usize = 5;
/// The number of characters from which shape and character classes are computed.
const MAX_EXAMINED: usize = 64;

/// The features of a word form. All numbers except `class` are hashes; 0 means that there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Form {
    /// The word, byte for byte.
    pub word: u64,
    /// The word in lower case, with every digit as 0.
    pub lower: u64,
    /// The prefixes of one to four characters of the word in lower case, if it has so many.
    pub prefixes: [u64; PREFIXES],
    /// The suffixes of one to five characters of the word in lower case, if it has so many.
    pub suffixes: [u64; SUFFIXES],
    /// Runs of upper case, lower case, digits and other characters: the first eight.
    pub shape: u64,
    /// The length (up to 15 characters) and the classes of characters that occur.
    pub kinds: u64,
    /// The ambiguity class of the word in the lexicon; 0 for rare and unseen words.
    pub class: u16,
}

/// The class of a character: its symbol in shapes, and its bit.
fn kind(character: char) -> (u8, u64) {
    match character {
        c if c.is_lowercase() => (b'x', 1),
        c if c.is_uppercase() => (b'X', 2),
        c if c.is_numeric() => (b'9', 4),
        c if c.is_alphabetic() => (b'c', 8),
        '-' => (b'-', 16),
        '.' | ',' => (character as u8, 32),
        c if c.is_ascii() => (c as u8, 64),
        _ => (b'?', 128),
    }
}

fn lowered(character: char) -> impl Iterator<Item = char> {
    let character = if character.is_numeric() { '0' } else { character };
    character.to_lowercase()
}

impl Form {
    /// The form beyond the ends of a sentence.
    pub const BOUNDARY: Self = Self {
        word: 1,
        lower: 1,
        prefixes: [0; PREFIXES],
        suffixes: [0; SUFFIXES],
        shape: 1,
        kinds: 0,
        class: u16::MAX,
    };

    /// The form as that of an unseen word.
    #[must_use]
    pub fn hidden(self) -> Self {
        Self { word: 0, lower: 2, class: 0, ..self }
    }

    /// The form of a word, with its ambiguity class in a lexicon.
    pub fn of(word: &str, lexicon: &Lexicon) -> Self {
        let word = plain(word);
        let hash = word_hash(word);
        let class = lexicon.class(hash).unwrap_or(0);
        let mut form = Self { word: hash, class, ..Self::default() };
        let mut hash = START;
        for (length, character) in word.chars().flat_map(lowered).enumerate() {
            hash = step_char(hash, character);
            if let Some(prefix) = form.prefixes.get_mut(length) {
                *prefix = finish(hash);
            }
        }
        form.lower = finish(hash);
        let mut hash = START;
        for (length, character) in word.chars().rev().flat_map(lowered).enumerate().take(SUFFIXES) {
            hash = step_char(hash, character);
            form.suffixes[length] = finish(hash);
        }
        (form.shape, form.kinds) = shape_of(word);
        form
    }
}

/// The shape and the character classes of a word.
fn shape_of(word: &str) -> (u64, u64) {
    let (mut shape, mut bits, mut length, mut last) = (0u64, 0, 0, 0);
    for character in word.chars().take(MAX_EXAMINED) {
        let (sign, bit) = kind(character);
        bits |= bit;
        length += 1;
        if sign != last && shape >> 56 == 0 {
            shape = shape << 8 | u64::from(sign);
        }
        last = sign;
    }
    (finish(shape), finish(bits << 4 | length.min(15)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(word: &str) -> Form {
        Form::of(word, &Lexicon::of([].into_iter(), 1))
    }

    #[test]
    fn affixes_are_those_of_the_word_in_lower_case() {
        let (a, b) = (form("Running"), form("jumping"));
        assert_eq!(a.suffixes[..3], b.suffixes[..3]);
        assert_ne!(a.suffixes[4], b.suffixes[4]);
        assert_eq!(a.prefixes, form("runner").prefixes);
        assert_eq!(form("at").suffixes[2], 0);
        assert_ne!(a.shape, b.shape);
        assert_ne!(a.word, form("running").word);
        assert_eq!(a.lower, form("running").lower);
    }

    #[test]
    fn digits_are_alike_and_characters_are_affixes_in_any_script() {
        assert_eq!(form("1987").lower, form("2006").lower);
        assert_eq!(form("\u{5317}\u{4eac}").suffixes[0], form("\u{4eac}").suffixes[0]);
        assert_eq!(form("\u{c9}t\u{e9}").lower, form("\u{e9}t\u{e9}").lower);
    }

    #[test]
    fn a_bracket_is_known_by_both_its_names() {
        assert_eq!(form("("), form("-LRB-"));
        assert_ne!(form("("), form(")"));
    }

    #[test]
    fn a_very_long_word_is_a_word() {
        let long = "\u{e9}".repeat(100_000);
        assert_eq!(form(&long).suffixes, form(&long[..200]).suffixes);
        assert_eq!(form("").suffixes, [0; SUFFIXES]);
    }
}
