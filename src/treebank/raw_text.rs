//! Raw text as sentences to parse.

use super::item::{Item, Origin};
use super::line_reader::LineReader;
use crate::error::{Place, Result};
use crate::text::{Splitter, TextSentence, TextSettings};

/// The sentences of one input.
pub(super) struct TextReader {
    lines: LineReader,
    splitter: Splitter,
    /// The line that cannot be read, while the paragraph before it is returned.
    bad: Option<Item>,
    ended: bool,
    /// Whether the current paragraph has a line.
    begun: bool,
}

impl TextReader {
    pub(super) fn new(lines: LineReader, settings: TextSettings) -> Self {
        Self { lines, splitter: Splitter::new(settings), bad: None, ended: false, begun: false }
    }

    /// The next sentence or unreadable line; `None` at the end.
    pub(super) fn read(&mut self) -> Result<Option<Item>> {
        loop {
            if let Some(sentence) = self.splitter.next_sentence() {
                let TextSentence { tokens, layout } = sentence;
                return Ok(Some(Item::Sentence(tokens, Origin::Text(Box::new(layout)))));
            }
            if self.bad.is_some() || self.ended {
                return Ok(self.bad.take());
            }
            self.advance()?;
        }
    }

    /// Where the paragraph of the last sentence began.
    pub(super) fn began(&self) -> Place {
        self.lines.began()
    }

    /// Reads the next line. One that cannot be read ends the paragraph.
    fn advance(&mut self) -> Result<()> {
        self.ended = !self.lines.advance()?;
        if self.ended {
            self.splitter.end_paragraph();
            return Ok(());
        }
        let is_blank = self.lines.bytes().iter().all(u8::is_ascii_whitespace);
        if !is_blank && !self.begun {
            self.lines.begin();
        }
        self.begun = !is_blank;
        match self.lines.decode() {
            Ok(line) => self.splitter.add_line(&line),
            Err((column, problem)) => {
                self.bad =
                    Some(Item::Bad { at: self.lines.place(column), problem: problem.to_owned() });
                let characters = String::from_utf8_lossy(self.lines.bytes()).chars().count();
                self.splitter.skip_line(characters as u64);
            }
        }
        Ok(())
    }
}
