//! What the reader skips: markup between trees, and the rest of a broken tree.

use std::io::Read;

use super::{CLASS, Lexeme, PennReader, Recover, SPACE};
use crate::error::Result;
use crate::treebank::text_window::More;

impl<R: Read> PennReader<R> {
    /// Skips what the last error left behind.
    pub(super) fn skip_after_error(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.recover, Recover::Nothing) {
            Recover::Nothing => Ok(()),
            Recover::Line => self.skip_line(),
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
            match self.lexeme() {
                Lexeme::Failed => return Err(self.failed()),
                Lexeme::Word => {}
                Lexeme::End => return Ok(()),
                Lexeme::Bad => self.text.step_over_bad(),
                Lexeme::Close => open -= 1,
                Lexeme::Open => {
                    let at_margin = self.text.starts_line(self.text.pos - 1);
                    if at_margin && (self.flush_left != Some(true) || self.begins_tree()?) {
                        self.text.pos -= 1;
                        return Ok(());
                    }
                    open += 1;
                }
            }
        }
        Ok(())
    }

    /// Skips to the end of the line.
    fn skip_line(&mut self) -> Result<()> {
        loop {
            let rest = &self.text.window().as_bytes()[self.text.pos..];
            if let Some(length) = rest.iter().position(|&byte| byte == b'\n') {
                self.text.pos += length;
                return Ok(());
            }
            self.text.pos = self.text.window().len();
            match self.more(self.text.pos)? {
                More::Text => {}
                More::Bad => self.text.step_over_bad(),
                More::End => return Ok(()),
            }
        }
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
                _ if !in_tag && CLASS[usize::from(byte)] != SPACE => return self.skip_line(),
                _ => {}
            }
            self.text.pos += 1;
        }
    }
}
