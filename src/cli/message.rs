//! Messages on standard error. Nobody has to listen: the terminal may be gone and the log's disk full, and the
//! work goes on.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, Write};

/// Prints a line on standard error, if it can be printed.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::message::line(format_args!($($text)*)) };
}

/// Prints a line at once, so that lines of several threads do not mix.
pub(super) fn line(text: Arguments<'_>) {
    let text = text.to_string();
    let _ = io::stderr().write_all(format!("{}\n", harmless(&text)).as_bytes());
}

/// Words of more characters than this are shortened.
const LONGEST_WORD: usize = 1_000;

/// A text with escapes for the characters that command a terminal or turn the direction of writing, and without the
/// middle of words of thousands of characters: words, labels and names of files may be hostile.
fn harmless(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_WORD && !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len() + 16);
    for word in text.split_inclusive(char::is_whitespace) {
        let length = word.chars().count();
        let (start, end) = if length > LONGEST_WORD {
            (LONGEST_WORD / 2, length - LONGEST_WORD / 4)
        } else {
            (length, length)
        };
        for (place, c) in word.chars().enumerate() {
            match c {
                _ if place == start => harmless.push('…'),
                _ if (start..end).contains(&place) => {}
                c if is_command(c) => harmless.extend(c.escape_default()),
                c => harmless.push(c),
            }
        }
    }
    Cow::Owned(harmless)
}

/// Whether a character commands a terminal, or turns the direction of writing.
fn is_command(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn commands_are_escaped_and_words_without_end_shortened() {
        assert_eq!(harmless("a\tplain\nmessage"), "a\tplain\nmessage");
        assert_eq!(harmless("\u{1b}[2J \u{202e}dog"), "\\u{1b}[2J \\u{202e}dog");
        let shortened =
            harmless(&format!("the word {} is too long", "a".repeat(300_000))).into_owned();
        assert_eq!(
            shortened,
            format!("the word {}…{} is too long", "a".repeat(500), "a".repeat(249))
        );
        let words = "dog ".repeat(1_000);
        assert_eq!(harmless(&words), words);
    }
}
