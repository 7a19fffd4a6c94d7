//! Abbreviations: words whose final period belongs to them.

use super::language::LanguageRules;
use super::piece::{Abbreviation, Role};

/// The role of a word with the period after it; `None` if the period is not part of it.
pub(super) fn role(word: &str, rules: &LanguageRules) -> Option<Role> {
    let is_title =
        |title: &String| word.starts_with(char::is_uppercase) && word.eq_ignore_ascii_case(title);
    let has_suffix = |suffix: &String| word.ends_with(suffix.as_str());
    if rules.open.contains(word)
        || rules.titles.iter().any(is_title)
        || rules.suffixes.iter().any(has_suffix)
    {
        Some(Role::Word)
    } else if rules.closed.contains(word) {
        Some(Role::Abbreviation(Abbreviation::Closed))
    } else if rules.numbered.contains(word) || is_capitalized(word, rules) {
        Some(Role::Abbreviation(Abbreviation::Numbered))
    } else {
        of_letters(word)
    }
}

/// Whether a word is an abbreviation in lower case that begins with a capital letter, as at the beginning of a sentence: `Approx`. It
/// may be a name too, such as `Max`: then a sentence ends after it, unless a number or a lower-case word follows.
fn is_capitalized(word: &str, rules: &LanguageRules) -> bool {
    let mut rest = word.chars();
    let is_candidate = rest.next().is_some_and(char::is_uppercase)
        && !rest.as_str().is_empty()
        && !rest.any(char::is_uppercase);
    is_candidate && {
        let word = word.to_lowercase();
        [&rules.open, &rules.closed, &rules.numbered].iter().any(|list| list.contains(&word))
    }
}

/// The role of an initial (`J`) or of short parts with periods between them (`U.S`, `Ph.D`), with the period
/// after it; `None` for other words.
fn of_letters(word: &str) -> Option<Role> {
    if !word.contains('.') {
        return is_initial(word).then_some(Role::Abbreviation(Abbreviation::Initial));
    }
    let has_letters = |part: &str, most: usize| {
        (1..=most).contains(&part.chars().count()) && part.chars().all(char::is_alphabetic)
    };
    let most = if word.starts_with(char::is_uppercase) { 3 } else { 1 };
    let is_short = word.len() <= 32 && word.split('.').all(|part| has_letters(part, most));
    is_short.then_some(Role::Abbreviation(Abbreviation::Closed))
}

/// Whether a word is one capital letter.
pub(super) fn is_initial(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(char::is_uppercase) && characters.next().is_none()
}
