//! Trees in any treebank format, recognized by the beginning of the text.

use std::io::{self, Cursor, Read};

use super::export::ExportReader;
use super::input::Encoding;
use super::penn::PennReader;
use super::tiger_xml::TigerXmlReader;
use crate::error::{Error, Result};
use crate::tree::Tree;

/// Maximum number of bytes that are examined.
const LOOK: usize = 256;
/// The most bytes of blank lines after which the format is that of brackets.
const MAX_BLANK: usize = 1 << 16;

type Stream = Box<dyn Read + Send>;

/// Reads trees from one stream: Penn brackets, NEGRA export or TIGER-XML.
pub(super) struct TreeReader {
    source: Source,
    name: String,
    encoding: Encoding,
    is_lenient: bool,
}

enum Source {
    /// Nothing has been read yet.
    Unknown(Stream),
    Penn(Box<PennReader<Stream>>),
    Export(ExportReader),
    TigerXml(Box<TigerXmlReader>),
}

impl TreeReader {
    /// Returns a reader of a stream; messages call it `name`.
    pub(super) fn new(stream: Stream, name: impl Into<String>, encoding: Encoding) -> Self {
        Self { source: Source::Unknown(stream), name: name.into(), encoding, is_lenient: false }
    }

    /// Prepares for malformed trees; see [`PennReader::lenient`].
    #[must_use]
    pub(super) fn lenient(self) -> Self {
        Self { is_lenient: true, ..self }
    }

    /// Returns the name used in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the line on which the last tree began.
    pub(super) fn began(&self) -> u64 {
        match &self.source {
            Source::Unknown(_) => 0,
            Source::Penn(reader) => reader.began(),
            Source::Export(reader) => reader.began(),
            Source::TigerXml(reader) => reader.began(),
        }
    }

    /// Returns whether the last error stands for no tree; see [`PennReader::is_stray`].
    pub(super) fn is_stray(&self) -> bool {
        matches!(&self.source, Source::Penn(reader) if reader.is_stray())
    }

    /// Returns how many nodes had crossing branches.
    pub(super) fn discontinuous(&self) -> u64 {
        match &self.source {
            Source::Unknown(_) | Source::Penn(_) => 0,
            Source::Export(reader) => reader.discontinuous(),
            Source::TigerXml(reader) => reader.discontinuous(),
        }
    }

    /// Returns the next tree; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Tree`] and [`Error::Syntax`], after which reading can continue, and [`Error::Io`].
    pub(super) fn read(&mut self) -> Result<Option<Tree>> {
        if let Source::Unknown(stream) = &mut self.source {
            let stream = std::mem::replace(stream, Box::new(io::empty()));
            self.source = self.recognized(stream).map_err(|error| Error::io(&self.name, error))?;
        }
        match &mut self.source {
            Source::Unknown(_) => Ok(None),
            Source::Penn(reader) => reader.read(),
            Source::Export(reader) => reader.read(),
            Source::TigerXml(reader) => reader.read(),
        }
    }

    /// Recognizes the format of a stream by its beginning.
    fn recognized(&self, mut stream: Stream) -> io::Result<Source> {
        let head = first_line(&mut stream)?;
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
        let begins = |with: &[&str]| with.iter().any(|with| text.starts_with(with.as_bytes()));
        let (is_xml, is_export) =
            (begins(&["<?xml", "<corpus"]), begins(&["%%", "#FORMAT", "#BOT", "#BOS"]));
        let declared = declared(text).filter(|_| is_xml && self.encoding == Encoding::Utf8);
        let encoding = declared.unwrap_or(self.encoding);
        let (name, stream) = (&self.name, Box::new(Cursor::new(head).chain(stream)));
        Ok(if is_xml {
            Source::TigerXml(Box::new(TigerXmlReader::new(stream, name, encoding)))
        } else if is_export {
            Source::Export(ExportReader::new(stream, name, encoding))
        } else {
            let reader = PennReader::new(stream as Stream, name, encoding);
            Source::Penn(Box::new(if self.is_lenient { reader.lenient() } else { reader }))
        })
    }
}

/// Reads up to the first non-blank line, or a part of it, and does not wait for more; of blank lines at most
/// [`MAX_BLANK`] bytes.
fn first_line(stream: &mut Stream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut buffer = [0; LOOK];
    loop {
        let text = head.trim_ascii_start();
        let is_enough = text.starts_with(b"(") || text.len() >= LOOK || text.contains(&b'\n');
        if is_enough || head.len() >= MAX_BLANK {
            return Ok(head);
        }
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(head),
            Ok(n) => head.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The encoding that an XML declaration names, if it is known.
fn declared(text: &[u8]) -> Option<Encoding> {
    let text = String::from_utf8_lossy(text);
    let (_, rest) =
        text.split_once("?>").map_or(text.as_ref(), |(first, _)| first).split_once("encoding=")?;
    let value =
        ['"', '\''].into_iter().find_map(|quote| rest.strip_prefix(quote)?.split(quote).next());
    value?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees(bytes: &'static [u8]) -> Result<Vec<String>> {
        let mut reader = TreeReader::new(Box::new(bytes), "t", Encoding::Utf8);
        let mut trees = Vec::new();
        while let Some(tree) = reader.read()? {
            trees.push(tree.to_string());
        }
        Ok(trees)
    }

    #[test]
    fn formats_are_recognized_by_their_beginnings() {
        assert_eq!(trees(b"\xef\xbb\xbf\n <DOC>\n(S (A a))").unwrap(), ["(S (A a))"]);
        assert_eq!(trees(b"  (S (A a))(S (B b))").unwrap(), ["(S (A a))", "(S (B b))"]);
        let export = b"\n%% x\n#BOS 1\na\tA\t--\t--\t0\n#EOS 1\n";
        assert_eq!(trees(export).unwrap(), ["(VROOT (A a))"]);
        let xml = b"<?xml version='1.0' encoding='ISO-8859-1'?>\n<corpus><s><graph><terminals>\
                    <t id='1' word='\xe4' pos='A'/></terminals></graph></s></corpus>";
        assert_eq!(trees(xml).unwrap(), ["(VROOT (A \u{e4}))"]);
        for tree in ["(S (X encoding=\u{e9}))", "(S (X encoding='\u{e9}'))", "(S (X encoding=\"))"]
        {
            assert_eq!(trees(tree.as_bytes()).unwrap(), [tree]);
        }
        let late: &'static [u8] = vec![b'\n'; 10_000_000].leak();
        assert_eq!(trees(late).unwrap(), [""; 0]);
        assert_eq!(trees(b"").unwrap(), [""; 0]);
        assert!(trees(b"word").is_err());
    }
}
