//! Raw text as sentences to parse.

use std::collections::VecDeque;
use std::sync::Arc;

use super::input::Input;
use super::item::{Item, Missing, Origin, RawText, Reason};
use super::line_reader::LineReader;
use crate::error::{Place, Result};
use crate::text::{Layout, Splitter, TextSentence, Tokenizer};

/// The sentences of one input.
pub(super) struct TextReader {
    lines: LineReader,
    tokenizer: Tokenizer,
    splitter: Splitter,
    /// The line that cannot be read, while the paragraph before it is returned.
    bad: Option<Item>,
    ended: bool,
    /// The lines with text since the one on which the last sentence began: their numbers, and the numbers of characters before them.
    starts: VecDeque<(u64, u64)>,
    /// The number of characters that have been read.
    characters: u64,
    /// The line and the column of the last sentence.
    began: (u64, u64),
    origins: Origins,
}

impl TextReader {
    pub(super) fn new(lines: LineReader, tokenizer: Tokenizer) -> Self {
        let origins = Origins::of(&lines);
        let splitter = Splitter::new(tokenizer.clone());
        Self {
            lines,
            tokenizer,
            splitter,
            bad: None,
            ended: false,
            starts: VecDeque::new(),
            characters: 0,
            began: (0, 0),
            origins,
        }
    }

    /// The next sentence or unreadable line; `None` at the end.
    pub(super) fn read(&mut self) -> Result<Option<Item>> {
        loop {
            if let Some(sentence) = self.splitter.next_sentence() {
                if let Some(first) = sentence.layout.spans.first() {
                    self.find_beginning(first.start);
                }
                return Ok(Some(match self.tokenizer.refuses(&sentence.layout.text) {
                    Some(problem) => self.origins.bad(self.began(), problem),
                    None => self.origins.item(sentence),
                }));
            }
            if self.bad.is_some() || self.ended {
                return Ok(self.bad.take());
            }
            self.advance()?;
        }
    }

    /// Where the last sentence began.
    pub(super) fn began(&self) -> Place {
        let (line, column) = self.began;
        Place::new(self.lines.name(), line, column)
    }

    /// Finds the line and the column of a sentence with so many characters before it.
    fn find_beginning(&mut self, characters: u64) {
        while self.starts.get(1).is_some_and(|&(_, start)| start <= characters) {
            self.starts.pop_front();
        }
        if let Some(&(line, start)) = self.starts.front() {
            self.began = (line, characters - start + 1);
        }
    }

    /// Reads the next line. One that cannot be read ends the paragraph.
    fn advance(&mut self) -> Result<()> {
        self.ended = !self.lines.advance()?;
        if self.ended {
            self.splitter.end_paragraph();
            return Ok(());
        }
        if !self.lines.bytes().iter().all(u8::is_ascii_whitespace) {
            self.starts.push_back((self.lines.place(0).line, self.characters));
        }
        self.characters += match self.lines.decode() {
            Ok(line) => {
                self.splitter.add_line(&line);
                line.chars().count() as u64
            }
            Err((column, problem)) => {
                self.bad = Some(self.origins.bad(self.lines.place(column), problem));
                let characters = String::from_utf8_lossy(self.lines.bytes()).chars().count() as u64;
                self.splitter.skip_line(characters);
                characters
            }
        };
        Ok(())
    }
}

/// The lines of one input, each of them a sentence of raw text.
pub(super) struct TextLines {
    lines: LineReader,
    tokenizer: Tokenizer,
    /// The number of characters before the current line.
    characters: u64,
    origins: Origins,
}

impl TextLines {
    pub(super) fn new(lines: LineReader, tokenizer: Tokenizer) -> Self {
        let origins = Origins::of(&lines);
        Self { lines, tokenizer, characters: 0, origins }
    }

    /// The next line; `None` at the end.
    pub(super) fn read(&mut self) -> Result<Option<Item>> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        self.lines.begin();
        let (item, length) = match self.lines.decode() {
            Ok(line) => {
                let item = match self.tokenizer.one_sentence(&line) {
                    Some(sentence) => match self.tokenizer.refuses(&sentence.layout.text) {
                        Some(problem) => self.origins.bad(self.lines.place(1), problem),
                        None => self.origins.item(sentence.after(self.characters)),
                    },
                    None => self.origins.missing(Reason::Blank),
                };
                (item, line.chars().count())
            }
            Err((column, problem)) => {
                let at = self.lines.place(column);
                let length = String::from_utf8_lossy(self.lines.bytes()).chars().count();
                (self.origins.bad(at, problem), length)
            }
        };
        self.characters += length as u64;
        Ok(Some(item))
    }

    /// Where the last line began.
    pub(super) fn began(&self) -> Place {
        self.lines.began()
    }
}

/// The origins of the sentences of one input.
struct Origins {
    file: Option<Arc<str>>,
    begins_input: bool,
}

impl Origins {
    fn of(lines: &LineReader) -> Self {
        let name = lines.name();
        let file = (name != Input::Stdin.name()).then(|| name.into());
        Self { file, begins_input: true }
    }

    fn item(&mut self, TextSentence { tokens, layout }: TextSentence) -> Item {
        let begins_input = std::mem::take(&mut self.begins_input);
        let text = RawText { layout, file: self.file.clone(), begins_input };
        Item::Sentence(tokens, Origin::Text(Box::new(text)))
    }

    /// A line without words to parse.
    fn missing(&self, reason: Reason) -> Item {
        let (layout, file) = (Layout::default(), self.file.clone());
        let text = RawText { layout, file, begins_input: false };
        Item::Missing(Missing { reason, origin: Origin::Text(Box::new(text)) })
    }

    fn bad(&self, at: Place, problem: &str) -> Item {
        self.missing(Reason::Bad { at, problem: problem.to_owned() })
    }
}
