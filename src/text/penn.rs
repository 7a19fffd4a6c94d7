//! English words, split as in the Penn Treebank.

use unicode_normalization::char::is_combining_mark;

use super::contractions::APOSTROPHES;
use super::forms::is_invisible;
use super::settings::Compounds;
use super::{compounds, marks};

/// Words that begin sentences, and are hardly ever names after a period, as `First` is in `list.First`.
const FIRST_WORDS: [&str; 16] = [
    "And", "But", "He", "I", "If", "It", "My", "She", "So", "That", "The", "Then", "They", "This",
    "We", "You",
];

/// The length of the longest of them.
const LONGEST_FIRST: usize = 4;

/// The end of the word that begins at `start`.
pub(super) fn word_end(chunk: &str, start: usize, compounds: Compounds) -> usize {
    let mut end = start;
    while let Some(c) = chunk[end..].chars().next() {
        let word = Word { chunk, start, end, compounds };
        if !(c.is_alphanumeric() || c == '_' || end > start && word.continues_with(c)) {
            match marks::end_of_name(&chunk[start..end], &chunk[end..]) {
                0 => break,
                length => end += length,
            }
        } else {
            end += c.len_utf8();
        }
    }
    end
}

/// The word so far, which is not empty. The time of its methods does not depend on its length, except where
/// the word ends.
struct Word<'a> {
    chunk: &'a str,
    start: usize,
    end: usize,
    compounds: Compounds,
}

impl Word<'_> {
    /// Whether the next character, which is neither letter nor digit, is part of the word.
    fn continues_with(&self, c: char) -> bool {
        let word = &self.chunk[self.start..self.end];
        let rest = &self.chunk[self.end + c.len_utf8()..];
        let follows = |is: fn(char) -> bool| last_letter(word).is_some_and(is);
        let is_inside = follows(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric);
        match c {
            '.' if is_inside => !self.ends_sentence(rest),
            '.' => self.is_letters_before_hyphen(rest),
            ',' => word.ends_with(is_digit) && digits(rest) == 3,
            ':' => is_time(word) && is_minutes(rest),
            '&' => is_inside && are_initials(word) && rest.starts_with(char::is_uppercase),
            '+' => is_charge(word, rest),
            c if is_invisible(c) => {
                rest.trim_start_matches(is_invisible).starts_with(char::is_alphanumeric)
            }
            '/' if compounds::is_short_form(word, rest) => true,
            '/' => is_inside && (self.keeps() || compounds::is_fraction(self.chunk, self.start)),
            c if compounds::is_hyphen(c) && rest.starts_with(char::is_alphanumeric) => {
                self.keeps() || is_inside && compounds::stays(self.chunk, self.start, self.end)
            }
            c if compounds::is_hyphen(c) => {
                compounds::breaks_off(word) && !rest.starts_with(compounds::is_hyphen)
            }
            c if APOSTROPHES.contains(&c) => {
                follows(char::is_alphabetic) && rest.starts_with(char::is_alphabetic)
            }
            c => !c.is_ascii() && self.is_combined_with(c),
        }
    }

    fn keeps(&self) -> bool {
        self.compounds == Compounds::Keep
    }

    /// Whether the period after the word ends a sentence without white space: `He left.Then it rained`.
    fn ends_sentence(&self, rest: &str) -> bool {
        let length = rest.bytes().take(LONGEST_FIRST + 1).take_while(u8::is_ascii_alphabetic);
        let (next, after) = rest.split_at(length.count());
        let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || "_([".contains(c))
            || after
                .strip_prefix('.')
                .is_some_and(|after| after.starts_with(char::is_alphanumeric));
        let word = &self.chunk.as_bytes()[self.start..self.end];
        FIRST_WORDS.contains(&next)
            && !goes_on
            && (3..=20).contains(&word.len())
            && word[1..].iter().all(u8::is_ascii_lowercase)
    }

    /// Whether the period after the word is part of one like `U.S.-based`.
    fn is_letters_before_hyphen(&self, rest: &str) -> bool {
        let is_hyphenated = rest
            .strip_prefix(compounds::is_hyphen)
            .is_some_and(|after| after.starts_with(char::is_alphanumeric));
        let word = &self.chunk[self.start..self.end];
        self.keeps() && is_hyphenated && word.len() > 1 && word.as_bytes()[word.len() - 2] == b'.'
    }

    /// Whether a character combines with the last one, such as an accent.
    fn is_combined_with(&self, c: char) -> bool {
        let last = self.chunk[..self.end].chars().next_back().map_or(0, char::len_utf8);
        marks::grapheme(&self.chunk[self.end - last..self.end + c.len_utf8()]) > last
    }
}

/// The last character of a word, without the accents on it, if they are few.
fn last_letter(word: &str) -> Option<char> {
    word.chars().rev().take(4).find(|&c| !is_combining_mark(c))
}

/// Whether a word is one of up to three capital letters, as before the `&` of `R&D` and `AT&T`.
fn are_initials(word: &str) -> bool {
    word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The number of digits at the beginning of a text, up to four.
fn digits(text: &str) -> usize {
    text.bytes().take(4).take_while(u8::is_ascii_digit).count()
}

/// Whether a word is one or two digits, perhaps with two more after a colon.
fn is_time(word: &str) -> bool {
    let (hours, minutes) = word.split_once(':').unwrap_or((word, "00"));
    let is_number = |part: &str, most: usize| part.len() <= most && digits(part) == part.len();
    is_number(hours, 2) && is_number(minutes, 2)
}

/// Whether a text begins with exactly two digits.
fn is_minutes(text: &str) -> bool {
    let mut after = text.chars().skip(2);
    let (next, second) = (after.next(), after.next());
    let goes_on = next.is_some_and(|c| c == ',' || c == '.') && second.is_some_and(is_digit);
    digits(text) == 2 && !goes_on
}

/// Whether a plus sign is part of a name, as in `Ca2+`, rather than of a sum or of `+/-`.
fn is_charge(word: &str, rest: &str) -> bool {
    word.starts_with(char::is_alphabetic)
        && !rest.starts_with(|c: char| c.is_alphanumeric() || "+/-\u{2212}".contains(c))
}
