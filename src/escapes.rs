//! The escapes of treebanks: words and characters that stand for others.

use std::borrow::Cow;

use compact_str::CompactString;

/// The escapes of brackets.
const BRACKETS: [(&str, &str); 6] = [
    ("-LRB-", "("),
    ("-RRB-", ")"),
    ("-LSB-", "["),
    ("-RSB-", "]"),
    ("-LCB-", "{"),
    ("-RCB-", "}"),
];

/// Double quotation marks, as words. Which side one is on differs by language: „so“, “so”, «so», »so«.
pub(crate) const QUOTATION_MARKS: [&str; 11] =
    ["\"", "``", "''", "“", "”", "„", "‟", "«", "»", "＂", "〝"];

/// Undoes the escapes in a word: `-LRB-` becomes `(`, `\/` becomes `/`, and so on.
///
/// ```
/// use srparse::treebank::penn::unescape;
/// assert_eq!(unescape("-LRB-"), "(");
/// assert_eq!(unescape("1\\/2"), "1/2");
/// ```
pub fn unescape(word: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(word);
    if word.contains("B-") {
        for (escape, bracket) in BRACKETS {
            if text.contains(escape) {
                text = Cow::Owned(text.replace(escape, bracket));
            }
        }
    }
    for (escape, plain) in [("\\/", "/"), ("\\*", "*")] {
        if text.contains(escape) {
            text = Cow::Owned(text.replace(escape, plain));
        }
    }
    text
}

/// The bracket of an escape, or the escape of a bracket.
pub(crate) fn other_bracket(word: &str) -> Option<&'static str> {
    BRACKETS.iter().find_map(|&(escape, bracket)| match word {
        word if word == escape => Some(bracket),
        word if word == bracket => Some(escape),
        _ => None,
    })
}

/// The full-width form of an ASCII mark, or the ASCII form of a full-width one.
pub(crate) fn other_width(word: &str) -> Option<CompactString> {
    let mut characters = word.chars();
    let mark = characters.next().filter(|_| characters.as_str().is_empty())?;
    let other = match mark {
        '!'..='~' if mark.is_ascii_punctuation() => u32::from(mark) + 0xfee0,
        '\u{ff01}'..='\u{ff5e}' => u32::from(mark) - 0xfee0,
        _ => return None,
    };
    char::from_u32(other)
        .filter(|other| !other.is_alphanumeric())
        .map(|other| other.to_string().into())
}

/// The escape of a bracket at the end of a text, as in the tag `$-LRB-`; empty if there is none.
pub(crate) fn escaped_bracket(text: &str) -> &'static str {
    BRACKETS.iter().find_map(|(escape, _)| text.ends_with(escape).then_some(*escape)).unwrap_or("")
}

/// The mark that a word of the Penn Treebank stands for, if it is an escaped bracket or quotation marks.
pub(crate) fn mark(word: &str) -> Option<&'static str> {
    let bracket = BRACKETS.iter().find(|(escape, _)| *escape == word).map(|(_, bracket)| *bracket);
    bracket.or(matches!(word, "``" | "''").then_some("\""))
}
