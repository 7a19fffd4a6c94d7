//! Punctuation and symbols: tokens that begin with neither letter nor digit.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::compounds::is_hyphen;
use super::piece::Role;

/// Full stops of all scripts.
const PERIODS: &str =
    ".\u{3002}\u{ff0e}\u{ff61}\u{6d4}\u{589}\u{964}\u{965}\u{1362}\u{17d4}\u{17d5}\u{104a}\u{104b}";
/// Question and exclamation marks of all scripts.
const EXCLAMATIONS: &str =
    "?!\u{ff1f}\u{ff01}\u{61f}\u{37e}\u{203c}\u{203d}\u{2047}\u{2048}\u{2049}\u{1367}";
const OPENING: &str = "([{\u{ff08}\u{ff3b}\u{ff5b}\u{201c}\u{2018}\u{201e}\u{201a}\u{ab}\u{2039}\u{300c}\
                       \u{300e}\u{3010}\u{300a}\u{3008}\u{3014}\u{301d}\u{ff62}\u{bf}\u{a1}";
const CLOSING: &str = ")]}\u{ff09}\u{ff3d}\u{ff5d}\u{201d}\u{2019}\u{bb}\u{203a}\u{300d}\u{300f}\u{3011}\
                       \u{300b}\u{3009}\u{3015}\u{301e}\u{301f}\u{ff63}";
/// Brackets and quotation marks that belong together; full-width and ASCII ones are often mixed.
const PAIRS: [&str; 16] = [
    "()\u{ff08}\u{ff09}",
    "[]\u{ff3b}\u{ff3d}",
    "{}\u{ff5b}\u{ff5d}",
    "\u{300c}\u{300d}\u{ff62}\u{ff63}",
    "\u{300e}\u{300f}",
    "\u{3010}\u{3011}",
    "\u{300a}\u{300b}",
    "\u{3008}\u{3009}",
    "\u{3014}\u{3015}",
    "\u{301d}\u{301e}\u{301f}",
    "\u{201c}\u{201d}\u{201e}",
    "\u{2018}\u{2019}\u{201a}",
    "\u{ab}\u{bb}",
    "\u{2039}\u{203a}",
    "\"\u{ff02}",
    "`'",
];

/// Tokens of several characters. Emoticons belong to the sentence before them, as closing brackets do.
const GROUPS: &[(&str, Role)] = &[
    ("``", Role::Opening),
    ("''", Role::Closing),
    ("\u{2018}\u{2018}", Role::Opening),
    ("\u{2019}\u{2019}", Role::Closing),
    ("\u{b0}C", Role::Word),
    ("\u{b0}F", Role::Word),
    (":-)", Role::Emoticon),
    (":-(", Role::Emoticon),
    (":-D", Role::Emoticon),
    (":-P", Role::Emoticon),
    (";-)", Role::Emoticon),
    (":)", Role::Emoticon),
    (":(", Role::Emoticon),
    (":D", Role::Emoticon),
    (":P", Role::Emoticon),
    (":p", Role::Emoticon),
    (";)", Role::Emoticon),
    ("=)", Role::Emoticon),
    ("=(", Role::Emoticon),
    ("^_^", Role::Emoticon),
    ("<3", Role::Emoticon),
    ("!=", Role::Word),
];

/// The length and the role of the token at the beginning of a text, which is not empty.
pub(super) fn mark(text: &str) -> (usize, Role) {
    let first = text.chars().next().unwrap_or_default();
    let dots = text.find(|c| c != '.' && c != '\u{2026}').unwrap_or(text.len());
    if dots > 1 {
        return (dots, Role::Ellipsis);
    }
    if let Some((group, role)) = GROUPS.iter().find(|(group, _)| is_group(text, group)) {
        return (group.len(), *role);
    }
    if "-*+=_~#<>".contains(first) {
        let same = text.bytes().take_while(|&byte| char::from(byte) == first).count();
        return (same, Role::Word);
    }
    if is_exclamation(first) {
        let run = text.find(|c| !is_exclamation(c)).unwrap_or(text.len());
        return (run, Role::Exclamation);
    }
    (grapheme(text), role(first))
}

/// The emoticons between white space in a line, in order.
pub(super) fn emoticons(line: &str) -> impl Iterator<Item = Range<usize>> {
    let is_emoticon =
        |word: &str| GROUPS.iter().any(|&(group, role)| group == word && role == Role::Emoticon);
    let mut end = 0;
    line.split_inclusive(char::is_whitespace).filter_map(move |run| {
        let start = end;
        end += run.len();
        let word = run.trim_end();
        is_emoticon(word).then_some(start..start + word.len())
    })
}

fn is_group(text: &str, group: &str) -> bool {
    text.strip_prefix(group).is_some_and(|after| {
        !(group.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric))
    })
}

fn is_exclamation(c: char) -> bool {
    EXCLAMATIONS.contains(c)
}

fn role(c: char) -> Role {
    match c {
        c if PERIODS.contains(c) => Role::Period,
        c if OPENING.contains(c) => Role::Opening,
        c if CLOSING.contains(c) => Role::Closing,
        '"' | '\'' | '\u{ff02}' => Role::Quote,
        c if is_emoji(c) => Role::Emoticon,
        _ => Role::Word,
    }
}

/// Whether a character is an emoji that stands for a feeling or a thing, as emoticons do, rather than a symbol or a flag.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2639}' | '\u{263a}' | '\u{2764}' | '\u{1f300}'..='\u{1faff}')
}

/// Whether a character may be an opening bracket or quotation mark.
pub(super) fn may_open(c: char) -> bool {
    OPENING.contains(c) || "\"'`<".contains(c)
}

/// The length of what ends the name of a programming language such as `C++`, `C++17` and `F#`, between its letter, the
/// last of `word`, and the rest of the text; 0 for other words.
pub(super) fn end_of_name(word: &str, rest: &str) -> usize {
    let mut letters = word.chars().rev();
    let is_letter = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.next().is_none_or(|c| c == '/' || is_hyphen(c));
    if !is_letter {
        return 0;
    }
    let (sign, after) = match (rest.strip_prefix("++"), rest.strip_prefix('#')) {
        (Some(after), _) => (2, after),
        (_, Some(after)) => (1, after),
        _ => return 0,
    };
    let version = after.find(|c: char| !c.is_alphanumeric()).unwrap_or(after.len());
    let is_version = version == 0 || sign == 2 && after.starts_with(|c: char| c.is_ascii_digit());
    let is_end = is_version && !after.starts_with(['+', '#']);
    if is_end { sign + version } else { 0 }
}

/// Whether a mark may close a quotation.
pub(super) fn may_close_quotation(mark: &str) -> bool {
    matches!(mark, "\"" | "'" | "''" | "\u{2019}" | "\u{201d}" | "\u{bb}")
}

/// Whether a bracket or quotation mark closes an opening one; one that is never closed, such as `¿`, has no pair with itself
/// either.
pub(super) fn is_pair(opening: char, closing: char) -> bool {
    PAIRS.iter().any(|marks| marks.contains(opening) && marks.contains(closing))
}

/// The length of the first character with the marks on it.
pub(super) fn grapheme(text: &str) -> usize {
    // Nothing combines within ASCII but line ends, which are white space.
    match text.as_bytes() {
        [0..=127] | [0..=127, 0..=127, ..] => 1,
        _ => text.graphemes(true).next().map_or(0, str::len),
    }
}

/// The number of digits of a reference such as `[12]`, which belongs to the sentence before it.
pub(super) fn reference(text: &str) -> Option<usize> {
    let after = text.strip_prefix('[')?;
    let digits = after.bytes().take(4).take_while(u8::is_ascii_digit).count();
    ((1..=3).contains(&digits) && after[digits..].starts_with(']')).then_some(digits)
}
