//! The text that the reader skips: markup between trees, and the rest of a broken tree.

use std::io::Read;

use super::margin::{Margin, indentation_after};
use super::{CLASS, Lexeme, PennReader, Recover, SPACE, WORD};
use crate::error::Result;
use crate::treebank::text_window::More;

/// How far the reader looks for the end of a line or tree, in bytes.
const LOOK_AHEAD: usize = 64 * 1024;

/// The marks around the comments of CorpusSearch.
pub(in crate::treebank) const COMMENTS: [[&str; 2]; 3] =
    [["/~*", "*~/"], ["/*", "*/"], ["/+", "+/"]];

impl<R: Read> PennReader<R> {
    /// Skips what the last error left behind.
    pub(super) fn skip_after_error(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.recover, Recover::Nothing) {
            Recover::Nothing => Ok(()),
            Recover::Line => {
                let (opening, closing) = self.skip_line()?;
                // A tree without its first bracket may span several lines.
                let open = (1 + opening).saturating_sub(closing);
                let is_tree = self.lenient && opening > 0;
                if is_tree { self.skip_broken_tree(open) } else { Ok(()) }
            }
            Recover::Brackets(open) => self.skip_broken_tree(open),
            Recover::Closers => loop {
                match self.lexeme() {
                    Lexeme::Close => {}
                    Lexeme::Failed => return Err(self.failed()),
                    Lexeme::Bad | Lexeme::End => return Ok(()),
                    Lexeme::Open => {
                        self.text.pos -= 1;
                        return Ok(());
                    }
                    Lexeme::Word => {
                        self.text.pos = self.word.start;
                        return Ok(());
                    }
                }
            },
        }
    }

    /// Skips the rest of a broken tree of which `open` brackets are open.
    fn skip_broken_tree(&mut self, mut open: usize) -> Result<()> {
        while open > 0 {
            self.ended = self.text.line();
            match self.lexeme() {
                Lexeme::Failed => return Err(self.failed()),
                Lexeme::Word => {}
                Lexeme::End => return Ok(()),
                Lexeme::Bad => self.text.step_over_bad(),
                Lexeme::Close => open -= 1,
                Lexeme::Open => {
                    if self.is_at_margin(self.text.pos - 1) && self.begins_tree(open)? {
                        self.text.pos -= 1;
                        return Ok(());
                    }
                    open += 1;
                }
            }
        }
        Ok(())
    }

    /// Skips to the end of the line; returns how many opening and closing brackets that were.
    fn skip_line(&mut self) -> Result<(usize, usize)> {
        let (mut opening, mut closing) = (0, 0);
        loop {
            let rest = &self.text.window().as_bytes()[self.text.pos..];
            let length = rest.iter().position(|&byte| byte == b'\n');
            let line = &rest[..length.unwrap_or(rest.len())];
            opening += line.iter().filter(|&&byte| byte == b'(').count();
            closing += line.iter().filter(|&&byte| byte == b')').count();
            if let Some(length) = length {
                self.text.pos += length;
                return Ok((opening, closing));
            }
            self.text.pos = self.text.window().len();
            match self.more(self.text.pos)? {
                More::Text => {}
                More::Bad => self.text.step_over_bad(),
                More::End => return Ok((opening, closing)),
            }
        }
    }

    /// Returns whether the bracket before the position belongs to the tree before it, which ended too early: trees
    /// begin at the margin in this file, this bracket does not, and more brackets are closed than opened before the
    /// next tree, or it opens nothing.
    pub(super) fn is_rest_of_tree(&mut self) -> Result<bool> {
        let Margin::At(margin) = self.margin else { return Ok(false) };
        if self.text.indentation(self.text.pos - 1) == Some(margin) {
            return Ok(false);
        }
        // In a file of one tree per line, an indented line is a tree without its first bracket.
        let (is_same_line, mut spans_lines) = (self.text.line() == self.ended, self.spans_lines);
        let (mut length, mut open, mut before, mut has_words) = (0, 1, b'(', false);
        let mut indentation = None;
        while length < LOOK_AHEAD {
            let at = self.text.pos + length;
            let Some(&byte) = self.text.window().as_bytes().get(at) else {
                match self.more(self.text.pos - 1)? {
                    More::Text => continue,
                    More::End => return Ok(!has_words),
                    More::Bad => return Ok(false),
                }
            };
            match (before, byte) {
                (_, b'(') if indentation == Some(margin) => return Ok(!has_words),
                (_, b'\n') if is_same_line && !spans_lines && open == 0 => return Ok(false),
                (b'\\', _) => {}
                (_, b'(') => open += 1,
                (_, b')') if open == 0 => return Ok(is_same_line || spans_lines),
                (_, b')') => open -= 1,
                _ => has_words |= CLASS[usize::from(byte)] == WORD,
            }
            spans_lines |= byte == b'\n';
            indentation = indentation_after(indentation, byte);
            (before, length) = (byte, length + 1);
        }
        Ok(false)
    }

    /// Skips what may stand between trees: markup, a line that begins with `#`, and the comments of CorpusSearch,
    /// `/* … */` and `/~* … *~/`.
    ///
    /// # Errors
    /// When the word is neither.
    pub(super) fn skip_between_trees(&mut self) -> Result<()> {
        let start = self.word.start;
        let word = &self.text.window()[start..self.word.end];
        if word.starts_with('<') {
            self.text.pos = start;
            return self.skip_markup();
        }
        if word.starts_with('#') && self.text.starts_line(start) {
            return self.skip_line().map(drop);
        }
        let Some(comment) = COMMENTS.iter().find(|[begin, _]| word.starts_with(begin)) else {
            return Err(self.word_outside());
        };
        self.text.pos = start + comment[0].len();
        self.skip_comment(comment[1])
    }

    /// Skips a comment after its first mark.
    fn skip_comment(&mut self, end: &str) -> Result<()> {
        let began = self.text.place(self.text.pos);
        let mut matched = 0;
        while matched < end.len() {
            let Some(&byte) = self.text.window().as_bytes().get(self.text.pos) else {
                match self.more(self.text.pos)? {
                    More::Text => {}
                    More::Bad => self.text.step_over_bad(),
                    More::End => return Err(self.endless_comment(began, end)),
                }
                continue;
            };
            self.text.pos += 1;
            // The marks have no proper prefix that is also a suffix, apart from a repeated `*`.
            matched = match byte {
                byte if byte == end.as_bytes()[matched] => matched + 1,
                byte => usize::from(byte == end.as_bytes()[0]),
            };
            if byte == b'\n' {
                self.text.newline(self.text.pos);
            }
        }
        Ok(())
    }

    /// Skips the markup at the position: up to a bracket after it on the same line, or to the end of the line.
    pub(super) fn skip_markup(&mut self) -> Result<()> {
        let mut in_tag = true;
        loop {
            let bytes = self.text.window().as_bytes();
            let Some(&byte) = bytes.get(self.text.pos) else {
                match self.more(self.text.pos)? {
                    More::Text => continue,
                    More::Bad => {
                        self.text.step_over_bad();
                        continue;
                    }
                    More::End => return Ok(()),
                }
            };
            match byte {
                b'\n' => return Ok(()),
                b'>' => in_tag = false,
                b'<' => in_tag = true,
                b'(' if !in_tag => return Ok(()),
                _ if !in_tag && CLASS[usize::from(byte)] != SPACE => {
                    return self.skip_line().map(drop);
                }
                _ => {}
            }
            self.text.pos += 1;
        }
    }
}
