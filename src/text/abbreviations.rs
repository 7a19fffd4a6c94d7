//! Abbreviations: words whose final period belongs to them.

use super::piece::{Abbreviation, Role};

/// English titles, which precede a name. They may be in capitals.
const TITLES: &[&str] = &[
    "Adm", "Capt", "Cmdr", "Col", "Cpl", "Dr", "Drs", "Gen", "Gov", "Govs", "Hon", "Lt", "Maj",
    "Messrs", "Mlle", "Mme", "Mr", "Mrs", "Ms", "Ph", "Pres", "Prof", "Profs", "Rep", "Reps",
    "Rev", "Sen", "Sens", "Sgt", "St", "Supt",
];

/// Other English abbreviations after which a sentence goes on. None of them is an ordinary word as well.
const OPEN: &[&str] = &[
    "Attn", "Cf", "Chr", "E.g", "Eq", "Eqs", "Fig", "Figs", "Ft", "I.e", "Mt", "Ref", "Refs",
    "Suppl", "abbr", "approx", "c.f", "ca", "cf", "chr", "e.g", "eds", "eg", "eq", "eqs", "esp",
    "i.e", "ie", "incl", "resp", "viz", "vs",
];

/// English abbreviations that may end a sentence.
const CLOSED: &[&str] = &[
    "Apr", "Ariz", "Assoc", "Aug", "Ave", "Blvd", "Bros", "Cal", "Calif", "Co", "Colo", "Conn",
    "Corp", "Cos", "Dec", "Dept", "Ed", "Eds", "Esq", "Feb", "Fla", "Fri", "Ga", "Inc", "Int",
    "Intl", "Jan", "Jr", "Ky", "Ltd", "Md", "Mich", "Minn", "Mon", "Nov", "Oct", "Okla", "Ont",
    "Pa", "Rd", "Sat", "Sep", "Sept", "Sr", "Sun", "Tenn", "Tex", "Thur", "Thurs", "Tue", "Tues",
    "Univ", "Va", "Vt", "Wed", "Wis", "Wyo", "al", "etc", "voc",
];

/// English abbreviations that may end a sentence unless a number or a lower-case word follows; most of them are ordinary
/// words as well.
const NUMBERED: &[&str] = &[
    "Art", "Ch", "Chap", "Ext", "No", "Nos", "Nr", "Sec", "Tel", "Vol", "Vols", "art", "avg", "b",
    "c", "cat", "ch", "chap", "d", "dept", "ed", "est", "ext", "fig", "figs", "govt", "max", "min",
    "misc", "n", "no", "nos", "nr", "p", "pp", "ref", "refs", "sec", "str", "tel", "trans", "v",
    "vol", "vols",
];

/// The role of an English word with the period after it; `None` if the period is not part of it.
pub(super) fn english(word: &str) -> Option<Role> {
    let is_title =
        |title: &&str| word.starts_with(char::is_uppercase) && word.eq_ignore_ascii_case(title);
    if OPEN.contains(&word) || TITLES.iter().any(is_title) {
        Some(Role::Word)
    } else if CLOSED.contains(&word) {
        Some(Role::Abbreviation(Abbreviation::Closed))
    } else if NUMBERED.contains(&word) {
        Some(Role::Abbreviation(Abbreviation::Numbered))
    } else {
        of_letters(word)
    }
}

/// The role of an initial (`J`) or of short parts with periods between them (`U.S`, `Ph.D`), with the period
/// after it; `None` for other words.
pub(super) fn of_letters(word: &str) -> Option<Role> {
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

/// Words that begin sentences more often than names.
const FIRST_WORDS: &[&str] = &[
    "A",
    "After",
    "All",
    "Also",
    "Although",
    "An",
    "And",
    "Another",
    "As",
    "At",
    "Because",
    "Before",
    "Both",
    "But",
    "By",
    "During",
    "Each",
    "Every",
    "Finally",
    "First",
    "For",
    "From",
    "Furthermore",
    "He",
    "Her",
    "Here",
    "His",
    "How",
    "However",
    "I",
    "If",
    "In",
    "Indeed",
    "It",
    "Its",
    "Many",
    "Moreover",
    "Most",
    "My",
    "No",
    "Now",
    "Oh",
    "Okay",
    "On",
    "One",
    "Our",
    "She",
    "Since",
    "So",
    "Some",
    "That",
    "The",
    "Their",
    "Then",
    "There",
    "These",
    "They",
    "This",
    "Those",
    "Thus",
    "To",
    "Two",
    "We",
    "Well",
    "What",
    "When",
    "Where",
    "Which",
    "While",
    "Who",
    "Why",
    "With",
    "Yeah",
    "Yes",
    "You",
    "Your",
];

/// Whether a word begins sentences more often than names.
pub(super) fn begins_sentences(word: &str) -> bool {
    FIRST_WORDS.contains(&word)
}
