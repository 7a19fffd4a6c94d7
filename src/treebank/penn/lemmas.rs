//! Lemmas after words, and words that end in a backslash.

use std::io::Read;

use super::{Lemmas, PennReader, Recover, is_space};
use crate::error::{Error, Place, Result};
use crate::tree::TRACE;
use crate::treebank::text_window::More;

/// The longest `(lemma x)`, in bytes.
const LONGEST: usize = 1024;

impl<R: Read> PennReader<R> {
    /// Leaves out the second word of a token, which is a lemma if every token of the first tree has one.
    pub(super) fn lemma(&mut self) -> Result<()> {
        match &mut self.lemmas {
            Lemmas::No => return Err(self.two_words()),
            Lemmas::Yes => {}
            Lemmas::Perhaps(_, _, words) => *words += 1,
            Lemmas::Unknown => {
                let at = self.place(self.text.place(self.word.start));
                self.lemmas = Lemmas::Perhaps(at, self.two_words_problem(), 1);
            }
        }
        self.new_lemmas += 1;
        Ok(())
    }

    /// Begins a tree; leaves undecided what a malformed tree did not decide.
    pub(super) fn forget_lemmas(&mut self) {
        self.new_lemmas = 0;
        if matches!(self.lemmas, Lemmas::Perhaps(..)) {
            self.lemmas = Lemmas::Unknown;
        }
    }

    /// Notes a word without a lemma. In the first tree it shows that what followed the words before were not lemmas.
    pub(super) fn no_lemma(&mut self) -> Result<()> {
        if matches!(self.lemmas, Lemmas::Yes | Lemmas::No) {
            return Ok(());
        }
        let is_empty = self.builder.last_token().is_some_and(|token| token.tag == TRACE);
        if is_empty {
            return Ok(());
        }
        match std::mem::replace(&mut self.lemmas, Lemmas::No) {
            Lemmas::Perhaps(at, problem, _) => {
                let open = self.builder.depth();
                Err(self.broken_at(at, open, problem))
            }
            _ => Ok(()),
        }
    }

    /// Decides after the first tree whether words have lemmas; a single word with a second one is a mistake.
    pub(super) fn check_lemmas(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.lemmas, Lemmas::No) {
            Lemmas::Perhaps(at, problem, 1) => Err(self.broken_at(at, 0, problem)),
            Lemmas::Perhaps(..) | Lemmas::Yes => {
                self.lemmas = Lemmas::Yes;
                Ok(())
            }
            Lemmas::Unknown => {
                self.lemmas = Lemmas::Unknown;
                Ok(())
            }
            Lemmas::No => Ok(()),
        }
    }

    /// An error that was met earlier in the tree, of which `open` brackets are still open.
    fn broken_at(&mut self, at: Place, open: usize, problem: String) -> Error {
        self.recover = Recover::Brackets(open);
        Error::Tree { at, began: self.began, problem }
    }

    /// Skips `(lemma x)` after a word, of which the bracket has been read; returns false if something else is there.
    pub(super) fn skip_lemma(&mut self) -> Result<bool> {
        let mut whole = false;
        let length = loop {
            let rest = &self.text.window()[self.text.pos..];
            if let Some(length) = lemma_length(rest) {
                break length;
            }
            if whole || rest.len() > LONGEST || rest.contains(['(', ')']) {
                return Ok(false);
            }
            whole = self.more(self.text.pos - 1)? != More::Text;
        };
        let end = self.text.pos + length;
        while self.text.pos < end {
            let byte = self.text.window().as_bytes()[self.text.pos];
            self.text.pos += 1;
            if byte == b'\n' {
                self.text.newline(self.text.pos);
            }
        }
        self.new_lemmas += 1;
        if matches!(self.lemmas, Lemmas::Unknown) {
            self.lemmas = Lemmas::No;
        }
        Ok(true)
    }

    /// Ends the word at a backslash before its last bracket if this bracket ends the token: `(NN \\)` is the word `\\`,
    /// `(NN \\))` the escaped bracket, unless all open brackets are needed to end the tree.
    pub(super) fn end_at_backslash(&mut self) -> Result<()> {
        let word = &self.text.window()[self.word.start..self.word.end];
        if !word.ends_with("\\)") || !self.bracket_ends_token()? {
            return Ok(());
        }
        self.word.end -= 1;
        self.text.pos = self.word.end;
        let word = &self.text.window()[self.word.start..self.word.end];
        self.word.escaped = word.contains("\\(") || word.contains("\\)");
        Ok(())
    }

    /// Whether the bracket at the end of the word must end the token: no other follows, or those that follow would leave
    /// one open where the text ends or the next tree begins, at the left margin.
    fn bracket_ends_token(&mut self) -> Result<bool> {
        let (mut at, mut closing) = (self.word.end, 1);
        let open = self.builder.depth() + 1;
        loop {
            let start = self.word.start;
            let Some(&byte) = self.text.window().as_bytes().get(at) else {
                // Adding text moves the window.
                let length = self.word.end - start;
                let more = self.more(start)?;
                (at, self.word.start, self.word.end) = (at - start, 0, length);
                match more {
                    More::Text => continue,
                    More::Bad | More::End => return Ok(closing == 1 || closing == open),
                }
            };
            match byte {
                b')' => closing += 1,
                _ if is_space(char::from(byte)) => {}
                _ => {
                    let is_next = byte == b'(' && self.text.window().as_bytes()[at - 1] == b'\n';
                    return Ok(closing == 1 || (closing == open && is_next));
                }
            }
            if closing > open {
                return Ok(false);
            }
            at += 1;
        }
    }
}

/// The length of `lemma x)`; `None` if the text is something else, or ends too early.
fn lemma_length(text: &str) -> Option<usize> {
    let (inside, _) = text.split_once(')')?;
    let mut words = inside.split(is_space).filter(|word| !word.is_empty());
    let is_lemma = words.next()?.eq_ignore_ascii_case("lemma");
    let is_pair = words.next().is_some_and(|lemma| !lemma.contains('(')) && words.next().is_none();
    (is_lemma && is_pair && inside.len() < LONGEST).then_some(inside.len() + 1)
}
