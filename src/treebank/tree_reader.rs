//! Trees in any treebank format, recognized by the beginning of the text.

use std::io::{self, Cursor, Read};

use super::alpino_xml::AlpinoXmlReader;
use super::export::ExportReader;
use super::genia_xml::GeniaXmlReader;
use super::ids;
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

/// The most bytes of XML before its first element.
const MAX_PROLOGUE: usize = 1 << 16;

/// Reads trees from one stream: Penn brackets, NEGRA export, TIGER-XML, Alpino XML or GENIA XML.
pub(super) struct TreeReader {
    source: Source,
    name: String,
    encoding: Encoding,
    is_lenient: bool,
    /// The ID of the last tree, for brackets.
    id: Option<String>,
}

enum Source {
    /// Nothing has been read yet.
    Unknown(Stream),
    Penn(Box<PennReader<Stream>>),
    Export(ExportReader),
    TigerXml(Box<TigerXmlReader>),
    Alpino(Box<AlpinoXmlReader>),
    Genia(Box<GeniaXmlReader>),
}

impl TreeReader {
    /// Returns a reader of a stream; messages call it `name`.
    pub(super) fn new(stream: Stream, name: impl Into<String>, encoding: Encoding) -> Self {
        Self {
            source: Source::Unknown(stream),
            name: name.into(),
            encoding,
            is_lenient: false,
            id: None,
        }
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
            Source::Alpino(reader) => reader.began(),
            Source::Genia(reader) => reader.began(),
        }
    }

    /// Returns the ID of the last tree.
    pub(super) fn id(&self) -> Option<&str> {
        match &self.source {
            Source::Unknown(_) => None,
            Source::Penn(_) => self.id.as_deref(),
            Source::Export(reader) => reader.id(),
            Source::TigerXml(reader) => reader.id(),
            Source::Alpino(reader) => reader.id(),
            Source::Genia(reader) => reader.id(),
        }
    }

    /// Returns how many lemmas after words were left out.
    pub(super) fn lemmas(&self) -> u64 {
        if let Source::Penn(reader) = &self.source { reader.lemmas() } else { 0 }
    }

    /// Returns whether the last error stands for no tree; see [`PennReader::is_stray`].
    pub(super) fn is_stray(&self) -> bool {
        matches!(&self.source, Source::Penn(reader) if reader.is_stray())
    }

    /// Returns how many nodes had crossing branches.
    pub(super) fn discontinuous(&self) -> u64 {
        match &self.source {
            Source::Unknown(_) | Source::Penn(_) | Source::Genia(_) => 0,
            Source::Export(reader) => reader.discontinuous(),
            Source::TigerXml(reader) => reader.discontinuous(),
            Source::Alpino(reader) => reader.discontinuous(),
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
            Source::Penn(reader) => {
                let tree = reader.read()?;
                self.id = tree.as_ref().and_then(ids::of).map(str::to_owned);
                Ok(tree)
            }
            Source::Export(reader) => reader.read(),
            Source::TigerXml(reader) => reader.read(),
            Source::Alpino(reader) => reader.read(),
            Source::Genia(reader) => reader.read(),
        }
    }

    /// Recognizes the format of a stream by its beginning.
    fn recognized(&self, mut stream: Stream) -> io::Result<Source> {
        let mut head = first_line(&mut stream)?;
        let begins = |head: &[u8], with: &[&str]| {
            with.iter().any(|with| text_of(head).starts_with(with.as_bytes()))
        };
        let is_export = begins(&head, &["%%", "#FORMAT", "#BOT", "#BOS"]);
        let is_xml = begins(&head, &XML);
        let root = if is_xml { first_element(&mut head, &mut stream)? } else { String::new() };
        let text = text_of(&head);
        let declared = declared(text).filter(|_| is_xml && self.encoding == Encoding::Utf8);
        let encoding = declared.unwrap_or(self.encoding);
        let (name, stream) = (&self.name, Box::new(Cursor::new(head).chain(stream)));
        Ok(if is_xml && ["alpino_ds", "treebank"].contains(&root.as_str()) {
            Source::Alpino(Box::new(AlpinoXmlReader::new(stream, name, encoding)))
        } else if is_xml && ["annotation", "PubmedArticleSet"].contains(&root.as_str()) {
            Source::Genia(Box::new(GeniaXmlReader::new(stream, name, encoding)))
        } else if is_xml {
            Source::TigerXml(Box::new(TigerXmlReader::new(stream, name, encoding)))
        } else if is_export {
            Source::Export(ExportReader::new(stream, name, encoding))
        } else {
            let reader = PennReader::new(stream as Stream, name, encoding);
            Source::Penn(Box::new(if self.is_lenient { reader.lenient() } else { reader }))
        })
    }
}

/// What XML begins with.
const XML: [&str; 6] =
    ["<?xml", "<corpus", "<alpino_ds", "<treebank", "<annotation", "<PubmedArticleSet"];

/// The text without what may stand before it.
fn text_of(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start()
}

/// Reads up to the name of the first element, and returns it.
fn first_element(head: &mut Vec<u8>, stream: &mut Stream) -> io::Result<String> {
    let mut buffer = [0; LOOK];
    loop {
        if let Some(name) = element_name(head) {
            return Ok(name);
        }
        if head.len() >= MAX_PROLOGUE {
            return Ok(String::new());
        }
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(String::new()),
            Ok(n) => head.extend_from_slice(&buffer[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The name of the first element, if it is there; comments may contain elements, other declarations may not.
fn element_name(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let mut rest = text.as_ref();
    loop {
        rest = &rest[rest.find('<')? + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = &comment[comment.find("-->")?..];
        } else if rest.starts_with(|c: char| c.is_alphabetic()) {
            let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/'))?;
            return Some(rest[..end].to_owned());
        } else if rest.is_empty() {
            return None;
        }
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
