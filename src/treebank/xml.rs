//! What the readers of XML treebanks share: elements with their places, and errors.

use std::io::{self, Read};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::input::Encoding;
use super::penn::excerpt;
use super::text_window::{TextWindow, too_long};
use crate::error::{Error, Place, Result};

/// The XML of one stream.
pub(super) struct Xml {
    reader: Reader<TextWindow<Box<dyn Read + Send>>>,
    name: String,
    encoding: Encoding,
    buffer: Vec<u8>,
    /// The number of open elements.
    depth: u64,
    ended: bool,
}

impl Xml {
    /// Returns the XML of a stream; messages call it `name`.
    pub(super) fn new(
        reader: Box<dyn Read + Send>,
        name: impl Into<String>,
        encoding: Encoding,
    ) -> Self {
        let (reader, name) = (Reader::from_reader(TextWindow::new(reader, encoding)), name.into());
        Self { reader, name, encoding, buffer: Vec::new(), depth: 0, ended: false }
    }

    /// Returns the name used in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the next event with its place; `None` at the end, and after an error.
    ///
    /// # Errors
    /// [`Error::Syntax`] for malformed XML and text in another encoding, [`Error::Io`] when the stream fails.
    pub(super) fn next(&mut self) -> Result<Option<(Event<'_>, Place)>> {
        if self.ended {
            return Ok(None);
        }
        let at = self.place();
        self.buffer.clear();
        self.reader.get_mut().begin_event();
        match self.reader.read_event_into(&mut self.buffer) {
            Ok(Event::Eof) => {
                self.ended = true;
                Ok(None)
            }
            Ok(event) => {
                match event {
                    Event::Start(_) => self.depth += 1,
                    Event::End(_) => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                Ok(Some((event, at)))
            }
            Err(error) => {
                (self.ended, self.depth) = (true, 0);
                let text = self.reader.get_ref();
                let (line, column) = text.place(text.pos);
                let here = Place::new(&self.name, line, column);
                Err(malformed(error, &self.name, self.encoding, at, here))
            }
        }
    }

    /// Reads no further.
    pub(super) fn end(&mut self) {
        (self.ended, self.depth) = (true, 0);
    }

    /// Checks at the end that no element is open, `sentence` the line where the open sentence began; reports it once.
    ///
    /// # Errors
    /// [`Error::Tree`] when a sentence is open, [`Error::Syntax`] when another element is.
    pub(super) fn check_end(&mut self, sentence: Option<u64>) -> Result<()> {
        let depth = std::mem::take(&mut self.depth);
        let (at, cut) = (self.place(), "the text ends inside");
        match sentence {
            Some(began) => Err(Error::Tree { at, began, problem: format!("{cut} the sentence") }),
            None if depth == 0 => Ok(()),
            None => {
                let problem =
                    format!("{cut} an element: the file is cut off, so trees may be missing");
                Err(Error::syntax(at, problem))
            }
        }
    }

    /// Returns the place of the next event.
    pub(super) fn place(&self) -> Place {
        let text = self.reader.get_ref();
        let (line, column) = text.place(text.pos);
        Place::new(&self.name, line, column)
    }
}

fn malformed(
    error: quick_xml::Error,
    name: &str,
    encoding: Encoding,
    at: Place,
    here: Place,
) -> Error {
    match error {
        quick_xml::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            Error::syntax(here, encoding.complaint())
        }
        quick_xml::Error::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            too_long(name, at.line)
        }
        quick_xml::Error::Io(error) => Error::io(name, error.kind().into()),
        error => Error::syntax(at, format!("malformed XML, the rest is not read: {error}")),
    }
}

/// The error of XML in no format of treebanks.
pub(super) fn foreign(element: &str, at: Place) -> Error {
    let problem = format!(
        "the XML begins with <{}>: TIGER-XML begins with <corpus>, Alpino's with <alpino_ds>, GENIA's with <annotation>; \
         give treebanks in these formats, in export format or in brackets",
        excerpt(element)
    );
    Error::syntax(at, problem)
}

/// Returns the values of attributes that an element must have.
pub(super) fn attributes<const N: usize>(
    element: &BytesStart<'_>,
    names: [&str; N],
) -> Result<[String; N], String> {
    let values = optional(element, names)?;
    let element = element.local_name();
    for (name, value) in names.iter().zip(&values) {
        if value.is_none() {
            return Err(format!("<{}> has no attribute `{name}`: add it", element.as_ref()));
        }
    }
    Ok(values.map(Option::unwrap_or_default))
}

/// Returns the values of attributes that an element may have.
pub(super) fn optional<const N: usize>(
    element: &BytesStart<'_>,
    names: [&str; N],
) -> Result<[Option<String>; N], String> {
    let mut values = names.map(|_| None);
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| format!("malformed attribute: {error}"))?;
        let name = attribute.key.local_name();
        if let Some(at) = names.iter().position(|wanted| *wanted == name.as_ref()) {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|error| format!("malformed attribute: {error}"))?;
            values[at] = Some(value.into_owned());
        }
    }
    Ok(values)
}
