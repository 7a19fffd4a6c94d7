//! Decoded text from a stream of bytes, in chunks, with exact lines and columns.

use std::io::{self, BufRead, Read};

use super::input::Encoding;
use crate::Error;
use crate::text_file::read_some;

/// How many bytes are requested at a time; fewer are used if a pipe has fewer ready.
const CHUNK: usize = 64 * 1024;

/// The longest line, word or label that is read.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// The error of a longer one. Nothing after it can be read, so it is none of syntax.
pub(super) fn too_long(name: &str, line: u64) -> Error {
    let problem = "a line, word or label of more than 256 MB: split it, or give a file of text";
    Error::io(format!("{name}:{line}"), io::Error::new(io::ErrorKind::FileTooLarge, problem))
}

/// The result of [`TextWindow::more`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    /// There is more text.
    Text,
    /// The text has ended.
    End,
    /// The next bytes are not text; [`TextWindow::step_over_bad`] skips them.
    Bad,
}

/// A window of the decoded text; text that has been read is discarded, so memory does not grow.
#[derive(Debug)]
pub(super) struct TextWindow<R> {
    reader: R,
    decoder: Option<encoding_rs::Decoder>,
    raw: Vec<u8>,
    raw_start: usize,
    raw_end: usize,
    at_end: bool,
    decoded_all: bool,
    bad: Option<usize>,
    first: bool,
    window: String,
    /// The next byte of the window to read; always at a character boundary.
    pub(super) pos: usize,
    line: u64,
    line_start: usize,
    columns_before: u64,
    /// Whether the discarded part of the current line is white space.
    blank_before: bool,
    /// Bytes consumed since [`TextWindow::begin_event`].
    event: usize,
}

impl<R: Read> TextWindow<R> {
    pub(super) fn new(reader: R, encoding: Encoding) -> Self {
        Self {
            reader,
            decoder: encoding.table().map(|table| table.new_decoder_without_bom_handling()),
            raw: vec![0; CHUNK],
            raw_start: 0,
            raw_end: 0,
            at_end: false,
            decoded_all: false,
            bad: None,
            first: true,
            window: String::new(),
            pos: 0,
            line: 1,
            line_start: 0,
            columns_before: 0,
            blank_before: true,
            event: 0,
        }
    }

    /// Starts counting the bytes of the next event, at most [`MAX_BYTES`].
    pub(super) fn begin_event(&mut self) {
        self.event = 0;
    }

    /// Returns the current text, which begins before `pos`.
    pub(super) fn window(&self) -> &str {
        &self.window
    }

    /// Returns the line of `pos`, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the line and column of a position on the current line.
    pub(super) fn place(&self, at: usize) -> (u64, u64) {
        let on_line = &self.window.as_bytes()[self.line_start.min(at)..at];
        (self.line, self.columns_before + count_characters(on_line) + 1)
    }

    /// Returns whether a position is the first of the current line.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        at == self.line_start && self.columns_before == 0
    }

    /// Returns how many characters of white space are before a position on its line; `None` if others are too.
    pub(super) fn indentation(&self, at: usize) -> Option<u64> {
        let before = &self.window.as_bytes()[self.line_start.min(at)..at];
        let is_blank = before.iter().rev().all(u8::is_ascii_whitespace) && self.blank_before;
        is_blank.then(|| self.columns_before + before.len() as u64)
    }

    /// Records that a new line begins at `start`.
    pub(super) fn newline(&mut self, start: usize) {
        self.line += 1;
        self.line_start = start;
        self.columns_before = 0;
        self.blank_before = true;
    }

    /// The error of a failed read.
    pub(super) fn failure(&self, name: &str, failure: io::Error) -> Error {
        match failure.kind() {
            io::ErrorKind::FileTooLarge => too_long(name, self.line),
            _ => Error::io(name, failure),
        }
    }

    /// Discards the window before `keep`, which shifts all positions, and adds the next text.
    pub(super) fn more(&mut self, keep: usize) -> io::Result<More> {
        if self.line_start < keep {
            let discarded = &self.window.as_bytes()[self.line_start..keep];
            self.columns_before += count_characters(discarded);
            self.blank_before &= discarded.iter().all(u8::is_ascii_whitespace);
        }
        self.line_start = self.line_start.saturating_sub(keep);
        self.pos -= keep;
        self.window.drain(..keep);
        let before = self.window.len();
        if before > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        loop {
            self.decode();
            if self.window.len() > before {
                return Ok(More::Text);
            }
            if self.bad.is_some() {
                return Ok(More::Bad);
            }
            if self.decoded_all {
                return Ok(More::End);
            }
            self.read()?;
        }
    }

    /// Replaces bytes that are not text by the replacement character.
    pub(super) fn step_over_bad(&mut self) {
        if let Some(length) = self.bad.take() {
            self.raw_start += length;
            self.window.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn read(&mut self) -> io::Result<()> {
        self.raw.copy_within(self.raw_start..self.raw_end, 0);
        self.raw_end -= self.raw_start;
        self.raw_start = 0;
        // At most three bytes of an unfinished character are left, so there is always room.
        let read = read_some(&mut self.reader, &mut self.raw[self.raw_end..])?;
        self.raw_end += read;
        self.at_end = read == 0;
        Ok(())
    }

    /// Decodes raw bytes into the window, up to the first invalid byte.
    fn decode(&mut self) {
        if self.bad.is_some() || self.decoded_all {
            return;
        }
        let before = self.window.len();
        match self.decoder.as_mut() {
            None => self.decode_utf8(),
            Some(decoder) => {
                let raw = &self.raw[self.raw_start..self.raw_end];
                let room = decoder.max_utf8_buffer_length_without_replacement(raw.len());
                self.window.reserve(room.unwrap_or(4 * raw.len() + 16));
                let (result, used) = decoder.decode_to_string_without_replacement(
                    raw,
                    &mut self.window,
                    self.at_end,
                );
                self.raw_start += used;
                if let encoding_rs::DecoderResult::Malformed(..) = result {
                    self.bad = Some(0);
                } else {
                    self.decoded_all = self.at_end;
                }
            }
        }
        if self.first && self.window.len() > before {
            self.first = false;
            if self.window.starts_with('\u{feff}') {
                self.window.drain(..'\u{feff}'.len_utf8());
            }
        }
    }

    fn decode_utf8(&mut self) {
        let raw = &self.raw[self.raw_start..self.raw_end];
        match std::str::from_utf8(raw) {
            Ok(text) => {
                self.window.push_str(text);
                self.raw_start = self.raw_end;
                self.decoded_all = self.at_end;
            }
            Err(problem) => {
                let (text, rest) = raw.split_at(problem.valid_up_to());
                self.window.push_str(std::str::from_utf8(text).unwrap_or_default());
                self.raw_start += text.len();
                // A character that is cut off by the end of the chunk is completed by the next one.
                self.bad = problem.error_len().or(self.at_end.then_some(rest.len()));
            }
        }
    }
}

/// Counts the characters of a piece of UTF-8.
fn count_characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64
}

/// The decoded text as bytes, with lines counted. Bytes that are not text are an error of the kind
/// [`io::ErrorKind::InvalidData`], and too many for one event of the kind [`io::ErrorKind::FileTooLarge`].
impl<R: Read> BufRead for TextWindow<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.pos == self.window.len() && self.more(self.pos)? == More::Bad {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if self.event > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(&self.window.as_bytes()[self.pos..])
    }

    fn consume(&mut self, amount: usize) {
        let end = self.pos + amount;
        self.event += amount;
        while let Some(length) =
            self.window.as_bytes()[self.pos..end].iter().position(|&byte| byte == b'\n')
        {
            self.pos += length + 1;
            self.newline(self.pos);
        }
        // Counted once: a file may be one line, and every event asks for its place.
        self.columns_before += count_characters(&self.window.as_bytes()[self.pos..end]);
        self.line_start = end;
        self.pos = end;
    }
}

impl<R: Read> Read for TextWindow<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(into.len());
        into[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}
