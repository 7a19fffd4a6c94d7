//! Lines of text, read as bytes: a line that cannot be decoded does not affect the next.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

use super::input::{Encoding, Input};
use super::text_window::{MAX_BYTES, too_long};
use crate::error::{Error, Place, Result};

/// The lines of one input.
pub struct LineReader {
    reader: BufReader<Box<dyn Read + Send>>,
    name: String,
    encoding: Encoding,
    bytes: Vec<u8>,
    number: u64,
    began: u64,
}

impl LineReader {
    /// Returns a reader of a stream; messages call it `name`.
    pub fn new(reader: Box<dyn Read + Send>, name: String, encoding: Encoding) -> Self {
        let reader = BufReader::with_capacity(64 * 1024, reader);
        Self { reader, name, encoding, bytes: Vec::new(), number: 0, began: 0 }
    }

    /// Opens an input.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be opened.
    pub fn open(input: &Input, encoding: Encoding) -> Result<Self> {
        Ok(Self::new(input.open()?, input.name(), encoding))
    }

    /// Reads the next line; returns false at the end.
    ///
    /// # Errors
    /// [`Error::Io`] when the stream fails.
    pub(super) fn advance(&mut self) -> Result<bool> {
        self.bytes.clear();
        let limit = MAX_BYTES as u64 + 1;
        let read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.bytes);
        read.map_err(|source| Error::io(&self.name, source))?;
        self.number += 1;
        if self.bytes.len() > MAX_BYTES {
            return Err(too_long(&self.name, self.number));
        }
        // The byte-order mark that Windows editors put at the beginning of UTF-8 files.
        if self.number == 1 && self.bytes.starts_with(b"\xef\xbb\xbf") {
            self.bytes.drain(..3);
        }
        Ok(!self.bytes.is_empty())
    }

    /// Returns the name of the input.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the current line as bytes, with its line feed.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns a place on the current line; `column` counts characters from 1.
    pub(super) fn place(&self, column: u64) -> Place {
        Place::new(&self.name, self.number, column)
    }

    /// Notes that a sentence begins on the current line.
    pub(super) fn begin(&mut self) {
        self.began = self.number;
    }

    /// Returns the line on which the last sentence began.
    pub(super) fn began(&self) -> Place {
        Place::new(&self.name, self.began, 0)
    }

    /// Decodes the current line, line feed included.
    ///
    /// # Errors
    /// The column of the first byte that is not text in the encoding, and a message.
    pub(super) fn decode(&self) -> Result<Cow<'_, str>, (u64, &'static str)> {
        self.encoding.decode(&self.bytes).map_err(|good| (good + 1, self.encoding.complaint()))
    }

    /// Returns the next line without its line feed; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Io`] when the stream fails, [`Error::Syntax`] when a line is not text in the encoding.
    pub fn read(&mut self) -> Result<Option<String>> {
        if !self.advance()? {
            return Ok(None);
        }
        match self.decode() {
            Ok(text) => Ok(Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())),
            Err((column, problem)) => Err(Error::syntax(self.place(column), problem)),
        }
    }
}

impl fmt::Debug for LineReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, number, .. } = self;
        f.debug_struct("LineReader").field("name", name).field("number", number).finish()
    }
}
