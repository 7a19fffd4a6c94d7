//! Messages on standard error. Nobody has to listen: the terminal may be gone and the log's disk full, and the
//! work goes on.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Prints a line on standard error, if it can be printed.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::message::line(format_args!($($text)*)) };
}

/// Prints a line at once, so that lines of several threads do not mix.
pub(super) fn line(text: Arguments<'_>) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}
