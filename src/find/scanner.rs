//! The text of a pattern or of a rule, character by character, with places for messages.

use compact_str::CompactString;
use fancy_regex::Regex;

use crate::error::{Error, Place, Result};

/// A text that is read from left to right.
#[derive(Debug, Clone)]
pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// The name of the text in messages.
    name: &'t str,
    /// The line of its beginning, from 1.
    first_line: u64,
}

/// Characters that end a label; such labels are written as expressions.
fn ends_label(c: char) -> bool {
    c.is_whitespace() || "()/|@!#%&=?[]><~.,$:;{}\"".contains(c)
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, name: &'t str, first_line: u64) -> Self {
        Self { text, at: 0, name, first_line }
    }

    /// The text that has not been read.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// How much has been read, in bytes.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Moves to a place that [`Scanner::at`] returned.
    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Skips white space; returns whether anything is left.
    pub(super) fn skip_space(&mut self) -> bool {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.at < self.text.len()
    }

    /// The next character after white space.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Takes a text, if it is next after white space.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        self.skip_space();
        self.eat_here(text)
    }

    /// Takes a text, if it is next.
    pub(super) fn eat_here(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Takes the characters for which a condition holds.
    pub(super) fn take_while(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Takes what a label or a name can be made of; nothing if there is none.
    pub(super) fn word(&mut self) -> &'t str {
        self.take_while(|c| !ends_label(c))
    }

    /// Takes the name after `=` or `~`.
    pub(super) fn name(&mut self) -> Result<&'t str> {
        self.skip_space();
        match self.word() {
            "" => Err(self.error("expected a name, of letters, digits, `-` and `_`")),
            name => Ok(name),
        }
    }

    /// Takes labels separated by `|` without spaces; nothing if there is none.
    pub(super) fn labels(&mut self) -> Result<Vec<CompactString>> {
        let mut labels = Vec::new();
        let first = self.at;
        loop {
            let label = self.word();
            if label.is_empty() {
                return Ok(labels);
            }
            labels.push(label.into());
            let bar = self.at;
            if !self.eat_here("|") {
                return Ok(labels);
            }
            if self.rest().starts_with('/') {
                let written = &self.text[first..bar];
                return Err(self.error(format!(
                    "an expression cannot be one of several labels: write one for all, such as /^({written}|V.*)$/"
                )));
            }
            if self.rest().starts_with(ends_label) || self.rest().is_empty() {
                self.at = bar;
                return Ok(labels);
            }
        }
    }

    /// Takes a number of ASCII digits.
    pub(super) fn number(&mut self) -> Result<u32> {
        let start = self.clone();
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().map_err(|_| start.error("expected a number below 4294967296"))
    }

    /// Takes an expression between slashes; `None` if there is none.
    pub(super) fn regex(&mut self) -> Result<Option<Regex>> {
        let start = self.clone();
        if !self.eat_here("/") {
            return Ok(None);
        }
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        let end = loop {
            match chars.next() {
                Some((end, '/')) => break end,
                // Escapes that expressions would read otherwise.
                Some((_, '\\')) => match chars.next() {
                    Some((_, c @ ('/' | '<' | '>'))) => text.push(c),
                    Some((_, c)) => text.extend(['\\', c]),
                    None => {}
                },
                Some((_, '\n')) | None => {
                    return Err(start.error("this expression has no end: `/` is missing; a slash in it is written `\\/`"));
                }
                Some((_, c)) => text.push(c),
            }
        };
        self.at += end + 1;
        if self.rest().starts_with(|c: char| !ends_label(c)) {
            return Err(self.error("expected the end of the description after `/`; for upper and lower case alike write /(?i)np/"));
        }
        Regex::new(&text).map(Some).map_err(|problem| {
            start.error(format!("this is no expression: {}", one_line(&problem.to_string())))
        })
    }

    /// An error at the place that is read next.
    pub(super) fn error(&self, problem: impl Into<String>) -> Error {
        self.error_at(self.at, problem)
    }

    /// An error at an earlier place.
    pub(super) fn error_at(&self, at: usize, problem: impl Into<String>) -> Error {
        let before = &self.text[..at];
        let line = self.first_line + before.matches('\n').count() as u64;
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) as u64 + 1;
        Error::syntax(Place::new(self.name, line, column), problem)
    }
}

/// A message of another library, on one line.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}
