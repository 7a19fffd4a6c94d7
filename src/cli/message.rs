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

/// A text with escapes for control characters: words, labels and names of files are not to command the terminal.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_command = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_command) {
        return Cow::Borrowed(text);
    }
    let mut harmless = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_command(c) {
            harmless.extend(c.escape_default());
        } else {
            harmless.push(c);
        }
    }
    Cow::Owned(harmless)
}
