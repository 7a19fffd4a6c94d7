//! Lines that end a sentence: mail headers and items of lists.

/// The evidence of a line about the end of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Text that may go on in the next line.
    Text,
    /// Text that hardly goes on in the next line: it is short, or ends with a mark.
    Short,
    /// A mail header or an item of a list.
    Item,
    /// White space.
    Blank,
}

/// Names of mail headers.
const HEADERS: &[&str] = &[
    "BCC",
    "Bcc",
    "CC",
    "Cc",
    "Date",
    "From",
    "In-Reply-To",
    "Message-ID",
    "Organization",
    "Reply-To",
    "Sent",
    "Subject",
    "To",
];

/// Characters that begin an item and nothing else at the beginning of a line.
const BULLETS: &[char] =
    &['*', '\u{2022}', '\u{2023}', '\u{25aa}', '\u{25cf}', '\u{25e6}', '\u{b7}'];

/// The bullet of Japanese, which no white space follows.
const JAPANESE_BULLET: char = '\u{30fb}';

/// Marks after which a line hardly goes on.
const FINAL: &[char] =
    &[':', ';', '.', '?', '!', '\u{ff1a}', '\u{ff1b}', '\u{3002}', '\u{ff1f}', '\u{ff01}'];

/// The number of characters that hardly fit in a line which was broken to limit its length.
const SHORT: usize = 45;

impl LineKind {
    /// The kind of the line after `before`.
    pub(super) fn after(before: Self, line: &str) -> Self {
        let text = line.trim();
        if text.is_empty() {
            Self::Blank
        } else if before.goes_on(line) || is_header(line) || is_item(text, before) {
            Self::Item
        } else if text.ends_with(FINAL) || text.chars().nth(SHORT).is_none() {
            Self::Short
        } else {
            Self::Text
        }
    }

    /// Whether a sentence ends between this line and the next, which is `next`: `text`.
    pub(super) fn ends_before(self, next: Self, text: &str) -> bool {
        match self {
            Self::Item => !self.goes_on(text),
            _ => next == Self::Item,
        }
    }

    /// Whether the next line continues this item: it is indented and begins no other one.
    fn goes_on(self, next: &str) -> bool {
        let text = next.trim();
        self == Self::Item && next.starts_with([' ', '\t']) && !is_item(text, self)
    }
}

/// Whether a line begins with the name of a mail header.
fn is_header(line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else { return false };
    HEADERS.contains(&name) && value.starts_with(char::is_whitespace)
}

/// Whether a line begins with a bullet, or with a dash, a number or a letter (`2.`, `(b)`) where the line before it
/// does not go on.
fn is_item(text: &str, before: LineKind) -> bool {
    let (mark, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_bullet = |marks: &[char]| mark.chars().count() == 1 && mark.starts_with(marks);
    let may_be = is_bullet(&['-', '\u{2013}']) || is_number(mark, rest);
    let is_japanese = mark.strip_prefix(JAPANESE_BULLET).is_some_and(|item| !item.is_empty());
    !rest.is_empty() && is_bullet(BULLETS)
        || before != LineKind::Text && (!rest.is_empty() && may_be || is_japanese)
}

/// Whether a word before `rest` numbers an item: `2.`, `2)`, `(2)`, `b)`, `(b)`; `b.` and `iv.` before a capital letter.
fn is_number(word: &str, rest: &str) -> bool {
    let Some(inner) = word.strip_suffix(['.', ')']) else { return false };
    let is_enumerated = word.ends_with('.') && is_enumerator(inner);
    let inner = inner.strip_prefix('(').unwrap_or(inner);
    let is_short = (1..=3).contains(&inner.len());
    let is_letter = inner.len() == 1 && word.ends_with(')');
    is_short && inner.bytes().all(|byte| byte.is_ascii_digit())
        || is_letter && inner.bytes().all(|byte| byte.is_ascii_alphabetic())
        || is_enumerated && rest.starts_with(char::is_uppercase)
}

/// Whether a word is a small letter or Roman numeral with which items are numbered. Some letters are abbreviations or words
/// more often: `p. 5`, `c. 1900`, `k. See you`.
pub(super) fn is_enumerator(word: &str) -> bool {
    matches!(
        word,
        "a" | "b"
            | "c"
            | "d"
            | "e"
            | "f"
            | "g"
            | "h"
            | "i"
            | "ii"
            | "iii"
            | "iv"
            | "vi"
            | "vii"
            | "viii"
            | "ix"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_items_are_recognized() {
        let after = |line: &str| LineKind::after(LineKind::Short, line);
        for line in [
            "From: Ann",
            "Subject: Re: dogs",
            "- milk",
            "* milk",
            "\u{2022} milk",
            "  1. milk",
            "12) milk",
            "(3) milk",
            "a) milk",
            "(b) milk",
            "a. Milk",
            "B) milk",
            "iv. Milk",
            "\u{30fb}milk",
        ] {
            assert_eq!(after(line), LineKind::Item, "{line}");
        }
        for line in [
            "Dogs bark.",
            "-",
            "1.",
            "1.5 miles",
            "A. Reed",
            "i.e. milk",
            "b. 1950",
            "k. See you",
            "**bold** word",
            "1234. x",
            "from: x",
            "From:x",
            ") x",
        ] {
            assert_eq!(after(line), LineKind::Short, "{line}");
        }
        assert_eq!(after(" \n"), LineKind::Blank);
    }

    #[test]
    fn a_number_after_a_full_line_is_part_of_its_text() {
        let line = "These dogs bark all night and sleep all day, as on";
        assert_eq!(LineKind::after(LineKind::Blank, line), LineKind::Text);
        assert_eq!(
            LineKind::after(LineKind::Blank, &format!("{line} the first.")),
            LineKind::Short
        );
        assert_eq!(LineKind::after(LineKind::Text, "12. That is all."), LineKind::Short);
        assert_eq!(LineKind::after(LineKind::Text, "- which is much -"), LineKind::Short);
        assert_eq!(LineKind::after(LineKind::Text, "* milk"), LineKind::Item);
        assert_eq!(
            LineKind::after(LineKind::Blank, "Buy these things, and do not forget any of them:"),
            LineKind::Short
        );
    }
}
