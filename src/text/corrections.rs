//! Rules for lines whose words are learned: a treebank of some thousand sentences shows too little of abbreviations, ordinal
//! numbers, quotation marks, brackets and inverted pronouns.

use super::abbreviations;
use super::language::LanguageRules;
use super::script::is_unspaced;

/// Marks that are words of their own.
const SEPARATE: &str = "\u{201e}\u{201c}\u{201d}\u{ab}\u{bb}\u{2039}\u{203a}\"\u{bf}\u{a1}\u{301d}\u{301e}\u{301f}\u{ff62}\u{ff63}";

/// Corrects where words end, in bytes in ascending order: a period belongs to the abbreviation or ordinal number before
/// it, and to no other number or word; quotation marks, brackets around words, and pronouns after a verb and a hyphen are
/// words. `knows` is whether the treebank has a word.
pub(super) fn correct(
    line: &str,
    rules: &LanguageRules,
    knows: impl Fn(&str) -> bool,
    ends: &mut Vec<usize>,
) {
    let mut corrected = Corrected { learned: ends, ends: Vec::new(), next: 0 };
    let mut brackets = Brackets::default();
    let (mut before, mut after_pronoun) = (None, None);
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        let is_separate = brackets.is_separate(before, c, &line[end..]);
        match c {
            // `Vas-y.`: no initial.
            '.' if after_pronoun == Some(at) && !line[end..].starts_with('.') => {
                corrected.replace(at, Some(at), end);
            }
            '.' => match belongs_to_word(line, at, rules, &knows) {
                Some((word, true)) => corrected.replace(word + 1, None, end),
                Some((_, false)) => corrected.replace(at, Some(at), end),
                None => {}
            },
            c if SEPARATE.contains(c) || is_separate => {
                let is_after_word = before.is_some_and(|c: char| !c.is_whitespace());
                corrected.replace(at, is_after_word.then_some(at), end);
            }
            // The second hyphen of `-t-il` has been read.
            '-' if after_pronoun.is_none_or(|last| last <= at) => {
                if let Some(length) = pronoun(line, at, after_pronoun, rules, &knows) {
                    corrected.replace(at, Some(at), at + length);
                    after_pronoun = Some(at + length);
                }
            }
            _ => {}
        }
        before = Some(c);
    }
    let Corrected { ends: mut all, next, .. } = corrected;
    all.extend_from_slice(&ends[next..]);
    *ends = all;
}

/// The brackets of a run of characters without white space.
#[derive(Default)]
struct Brackets {
    /// Whether the last opening one, unless it is closed, stands around words.
    opening: Option<bool>,
}

impl Brackets {
    /// Reads the character before `rest`; returns whether it is a bracket around words, not around parts of one:
    /// `étudiant(s)`, `夫（おっと）`. Those of emoticons are learned.
    fn is_separate(&mut self, before: Option<char>, c: char, rest: &str) -> bool {
        let is_joined = |to: char| c.is_ascii() && to.is_alphanumeric() && !is_unspaced(to);
        match c {
            '(' | '[' | '\u{ff08}' | '\u{ff3b}' => {
                let is_separate = !before.is_some_and(is_joined) && !is_reading(before, rest);
                self.opening = Some(is_separate);
                is_separate
            }
            ')' | ']' | '\u{ff09}' | '\u{ff3d}' => {
                let is_opened_so = self.opening.take().unwrap_or(true);
                let is_emoticon = before.is_some_and(|c| ":;-=^".contains(c));
                is_opened_so && !is_emoticon && !rest.starts_with(is_joined)
            }
            _ => {
                if c.is_whitespace() {
                    self.opening = None;
                }
                false
            }
        }
    }
}

/// Whether the text in brackets before `rest` is in Hiragana, as the reading of a Chinese character is.
fn is_reading(before: Option<char>, rest: &str) -> bool {
    let is_hiragana = |c: char| ('\u{3041}'..='\u{309f}').contains(&c);
    let after = rest.trim_start_matches(is_hiragana);
    before.is_some_and(|c| is_unspaced(c) && !is_hiragana(c))
        && after.len() < rest.len()
        && after.starts_with([')', '\u{ff09}'])
}

/// The ends of words up to a place.
struct Corrected<'a> {
    learned: &'a [usize],
    ends: Vec<usize>,
    /// The number of learned ends before the place.
    next: usize,
}

impl Corrected<'_> {
    /// Replaces the ends from `first` to `last` by `inner` and `last`.
    fn replace(&mut self, first: usize, inner: Option<usize>, last: usize) {
        let before = |ends: &[usize], place| ends.partition_point(|&end| end < place);
        let until = before(self.learned, first).max(self.next);
        self.ends.extend_from_slice(&self.learned[self.next..until]);
        self.ends.truncate(before(&self.ends, first));
        self.next = before(self.learned, last + 1).max(until);
        self.ends.extend(inner.into_iter().chain([last]));
    }
}

/// Where the word before a period begins, and whether the period is part of it; `None` if that is for the segmenter to say.
fn belongs_to_word(
    line: &str,
    period: usize,
    rules: &LanguageRules,
    knows: impl Fn(&str) -> bool,
) -> Option<(usize, bool)> {
    let rest = &line[period + 1..];
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '.') {
        return None;
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '.';
    let word = line[..period].rsplit(|c| !is_part(c)).next()?;
    let start = period - word.len();
    let belongs = if let Some(is_ordinal) = rules.is_ordinal(&line[..start], word, rest) {
        is_ordinal
    } else if !word.is_empty() && line[..start].ends_with(['\u{b0}', '/']) {
        // Units: `5 °C.`, `100 km/h.`.
        false
    } else if abbreviations::role(word, rules).is_some() {
        true
    } else if is_whole(word) && !knows(&line[start..=period]) {
        false
    } else {
        return None;
    };
    Some((start, belongs))
}

/// The length of the pronoun that a hyphen joins to the verb, or to the pronoun, before it, as in `est-ce` and `donne-le-moi`;
/// `None` if there is none, or if the treebank has both as one word (`rendez-vous`).
fn pronoun(
    line: &str,
    hyphen: usize,
    after_pronoun: Option<usize>,
    rules: &LanguageRules,
    knows: impl Fn(&str) -> bool,
) -> Option<usize> {
    let length = rules.pronoun_at(&line[hyphen..])?;
    let verb = line[..hyphen].rsplit(|c: char| !c.is_alphabetic()).next()?;
    let start = hyphen - verb.len();
    // No part of a longer word: `garde-à-vous`.
    let is_verb = !verb.is_empty() && !line[..start].ends_with('-');
    if !is_verb && after_pronoun != Some(hyphen) {
        return None;
    }
    let both = &line[start..hyphen + length];
    let is_one_word = knows(both) || knows(&both.to_lowercase());
    (!is_one_word).then_some(length)
}

/// Whether a word has letters alone and is no Roman number.
fn is_whole(word: &str) -> bool {
    let is_roman = || word.chars().all(|c| "IVXLCDM".contains(c));
    !word.is_empty() && word.chars().all(|c| c.is_alphabetic() && !is_unspaced(c)) && !is_roman()
}

#[cfg(test)]
mod tests;
