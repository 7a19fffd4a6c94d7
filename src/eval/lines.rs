//! Text line by line, as EVALB pairs it: an empty line is a sentence too.

use std::fmt;
use std::io::{BufRead, BufReader, Read};

use crate::error::{Error, Place, Result};
use crate::treebank::{Encoding, Input};

/// The lines of one input.
pub struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    name: String,
    encoding: Encoding,
    number: u64,
    buffer: Vec<u8>,
}

impl Lines {
    /// The lines of an input.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(input: &Input, encoding: Encoding) -> Result<Self> {
        let reader = BufReader::new(input.open()?);
        Ok(Self { reader, name: input.name(), encoding, number: 0, buffer: Vec::new() })
    }

    /// The next line without its line feed; `None` at the end.
    ///
    /// # Errors
    /// When the input cannot be read, or a line is not text in the encoding.
    pub fn read(&mut self) -> Result<Option<String>> {
        self.buffer.clear();
        let read = self.reader.read_until(b'\n', &mut self.buffer);
        if read.map_err(|source| Error::io(&self.name, source))? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        // Windows editors mark UTF-8 files with these three bytes.
        let mark: &[u8] = if self.number == 1 { b"\xef\xbb\xbf" } else { b"" };
        let line = line.strip_prefix(mark).unwrap_or(line);
        match self.encoding.decode(line) {
            Ok(text) => Ok(Some(text.into_owned())),
            Err(good) => {
                let at = Place::new(&self.name, self.number, good + 1);
                Err(Error::syntax(at, self.encoding.complaint()))
            }
        }
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("name", &self.name).field("number", &self.number).finish()
    }
}
