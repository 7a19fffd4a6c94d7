//! The form of a token in a tree.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::piece::Role;
use super::settings::Punctuation;
#[cfg(feature = "serve")]
use super::settings::TextSettings;

/// The word in a tree for a word that is split off already.
#[cfg(feature = "serve")]
pub(crate) fn form_of_word(word: &str, settings: TextSettings) -> Cow<'_, str> {
    form(word, Role::Word, settings.punctuation, false)
}

/// Whether a character has no width and no meaning for a word: soft hyphens, zero-width spaces, word joiners, byte order marks,
/// and marks of the direction of text.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The word in a tree for a token of the text: composed (Unicode's form NFC), as treebanks are, and without invisible characters.
/// `straightens` writes curly apostrophes of words as straight ones.
pub(super) fn form(
    surface: &str,
    role: Role,
    punctuation: Punctuation,
    straightens: bool,
) -> Cow<'_, str> {
    match composed(surface) {
        Cow::Borrowed(surface) => written(surface, role, punctuation, straightens),
        Cow::Owned(surface) => {
            Cow::Owned(written(&surface, role, punctuation, straightens).into_owned())
        }
    }
}

/// The same characters, composed and without invisible ones; invisible ones alone are a word.
fn composed(surface: &str) -> Cow<'_, str> {
    if surface.is_ascii() || surface.chars().all(is_invisible) {
        return Cow::Borrowed(surface);
    }
    if !surface.contains(is_invisible) && is_nfc_quick(surface.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(surface);
    }
    Cow::Owned(surface.chars().filter(|&c| !is_invisible(c)).nfc().collect())
}

fn written(surface: &str, role: Role, punctuation: Punctuation, straightens: bool) -> Cow<'_, str> {
    if punctuation == Punctuation::Penn && !surface.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return penn(surface, role);
    }
    if straightens && surface.contains('\u{2019}') && surface.contains(char::is_alphabetic) {
        return Cow::Owned(surface.replace('\u{2019}', "'"));
    }
    if surface.contains(['(', ')']) {
        return Cow::Owned(surface.replace('(', "-LRB-").replace(')', "-RRB-"));
    }
    Cow::Borrowed(surface)
}

fn penn(surface: &str, role: Role) -> Cow<'_, str> {
    let whole = match surface {
        "\"" | "\u{ff02}" => {
            if role == Role::Closing {
                "''"
            } else {
                "``"
            }
        }
        "\u{201c}" | "\u{201e}" | "\u{ab}" => "``",
        "\u{201d}" | "\u{bb}" => "''",
        "'" if role == Role::Opening => "`",
        "\u{2018}" | "\u{201a}" => "`",
        "\u{2013}" | "\u{2014}" => "--",
        "\u{2026}" => "...",
        _ => "",
    };
    if !whole.is_empty() {
        return Cow::Borrowed(whole);
    }
    let mut text = String::with_capacity(surface.len() + 8);
    for c in surface.chars() {
        match c {
            '(' => text.push_str("-LRB-"),
            ')' => text.push_str("-RRB-"),
            '[' => text.push_str("-LSB-"),
            ']' => text.push_str("-RSB-"),
            '{' => text.push_str("-LCB-"),
            '}' => text.push_str("-RCB-"),
            '/' => text.push_str("\\/"),
            '*' => text.push_str("\\*"),
            '\u{2019}' => text.push('\''),
            c => text.push(c),
        }
    }
    Cow::Owned(text)
}
