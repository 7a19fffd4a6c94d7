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
use crate::text_file::read_some;
use crate::tree::Tree;

/// How many bytes are read at a time to recognize a format.
const LOOK: usize = 256;
/// The most bytes of blank lines after which the format is that of brackets.
const MAX_BLANK: usize = 1 << 16;

type Stream = Box<dyn Read + Send>;

/// The most bytes of XML before its first element.
const MAX_PROLOGUE: usize = 1 << 16;

/// Reads the trees of one format from a stream.
pub trait FormatReader: Send {
    /// Returns the next tree; `None` at the end, and after malformed XML.
    ///
    /// # Errors
    /// [`Error::Tree`] for a malformed tree, after which reading can continue; [`Error::Syntax`] for text that is no tree, or
    /// is in another encoding; [`Error::Io`] when the stream fails.
    fn read(&mut self) -> Result<Option<Tree>>;

    /// What is known about the trees so far.
    fn facts(&self) -> &TreeFacts;
}

/// What a reader knows about the last tree, those before it, and the last error.
#[derive(Debug, Default)]
pub struct TreeFacts {
    /// The line on which the last tree began.
    pub began: u64,
    /// The ID of the last tree, which is no part of it.
    pub id: Option<String>,
    /// Whether IDs are among the brackets of trees.
    pub ids_in_brackets: bool,
    /// The number of nodes with crossing branches so far.
    pub discontinuous: u64,
    /// The number of lemmas after words so far; they are left out.
    pub lemmas: u64,
    /// Whether the last error concerns no tree of its own.
    pub is_stray: bool,
}

/// Penn brackets; the IDs of trees are no words.
struct PennTrees {
    reader: PennReader<Stream>,
    facts: TreeFacts,
}

impl FormatReader for PennTrees {
    fn read(&mut self) -> Result<Option<Tree>> {
        let tree = self.reader.read();
        let Self { reader, facts } = self;
        (facts.began, facts.lemmas, facts.is_stray) =
            (reader.began(), reader.lemmas(), reader.is_stray());
        let tree = tree?;
        facts.id = tree.as_ref().and_then(ids::of).map(str::to_owned);
        Ok(tree.map(ids::without_id))
    }

    fn facts(&self) -> &TreeFacts {
        &self.facts
    }
}

/// Reads trees from one stream: Penn brackets, NEGRA export, TIGER-XML, Alpino XML or GENIA XML.
pub(super) struct TreeReader {
    source: Source,
    name: String,
    encoding: Encoding,
    is_lenient: bool,
}

enum Source {
    /// Nothing has been read yet.
    Unknown(Stream),
    Known(Box<dyn FormatReader>),
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

    /// Returns what is known about the trees so far.
    pub(super) fn facts(&self) -> &TreeFacts {
        static NOTHING: TreeFacts = TreeFacts {
            began: 0,
            id: None,
            ids_in_brackets: false,
            discontinuous: 0,
            lemmas: 0,
            is_stray: false,
        };
        match &self.source {
            Source::Unknown(_) => &NOTHING,
            Source::Known(reader) => reader.facts(),
        }
    }

    /// Returns the next tree; `None` at the end.
    ///
    /// # Errors
    /// As [`FormatReader::read`].
    pub(super) fn read(&mut self) -> Result<Option<Tree>> {
        if let Source::Unknown(stream) = &mut self.source {
            let stream = std::mem::replace(stream, Box::new(io::empty()));
            let reader = self.recognized(stream).map_err(|error| Error::io(&self.name, error))?;
            self.source = Source::Known(reader);
        }
        match &mut self.source {
            Source::Unknown(_) => Ok(None),
            Source::Known(reader) => reader.read(),
        }
    }

    /// Recognizes the format of a stream by its beginning.
    fn recognized(&self, mut stream: Stream) -> io::Result<Box<dyn FormatReader>> {
        let mut head = first_line(&mut stream)?;
        let begins = |head: &[u8], with: &[&str]| {
            with.iter().any(|with| text_of(head).starts_with(with.as_bytes()))
        };
        let is_export = begins(&head, &EXPORT) || begins(&head, &["%%"]);
        let is_xml = begins(&head, &XML);
        let root = if is_xml { first_element(&mut head, &mut stream)? } else { String::new() };
        let text = text_of(&head);
        let declared = declared(text).filter(|_| is_xml && self.encoding == Encoding::Auto);
        let encoding = declared.unwrap_or(self.encoding);
        let (name, stream) = (&self.name, Box::new(Cursor::new(head).chain(stream)));
        Ok(if is_xml && ["alpino_ds", "treebank"].contains(&root.as_str()) {
            Box::new(AlpinoXmlReader::new(stream, name, encoding))
        } else if is_xml && ["annotation", "PubmedArticleSet"].contains(&root.as_str()) {
            Box::new(GeniaXmlReader::new(stream, name, encoding))
        } else if is_xml {
            Box::new(TigerXmlReader::new(stream, name, encoding))
        } else if is_export {
            Box::new(ExportReader::new(stream, name, encoding))
        } else {
            let reader = PennReader::new(stream as Stream, name, encoding);
            let reader = if self.is_lenient { reader.lenient() } else { reader };
            let facts = TreeFacts { ids_in_brackets: true, ..TreeFacts::default() };
            Box::new(PennTrees { reader, facts })
        })
    }
}

/// What export format begins with, after comments (`%%`).
const EXPORT: [&str; 3] = ["#FORMAT", "#BOT", "#BOS"];

/// What XML begins with.
pub(super) const XML: [&str; 6] =
    ["<?xml", "<corpus", "<alpino_ds", "<treebank", "<annotation", "<PubmedArticleSet"];

/// The text without what may stand before it.
fn text_of(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start()
}

/// Reads up to the name of the first element, and returns it.
fn first_element(head: &mut Vec<u8>, stream: &mut Stream) -> io::Result<String> {
    loop {
        if let Some(name) = element_name(head) {
            return Ok(name);
        }
        if head.len() >= MAX_PROLOGUE || !extend(head, stream)? {
            return Ok(String::new());
        }
    }
}

/// Adds what a single read returns; returns `false` at the end of the stream.
fn extend(head: &mut Vec<u8>, stream: &mut Stream) -> io::Result<bool> {
    let mut buffer = [0; LOOK];
    let read = read_some(stream, &mut buffer)?;
    head.extend_from_slice(&buffer[..read]);
    Ok(read > 0)
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
    loop {
        let text = head.trim_ascii_start();
        let is_enough = text.starts_with(b"(") || text.len() >= LOOK || text.contains(&b'\n');
        if is_enough || head.len() >= MAX_BLANK || !extend(&mut head, stream)? {
            return Ok(head);
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
        let mut reader = TreeReader::new(Box::new(bytes), "t", Encoding::Auto);
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
        assert_eq!(trees(b"( (S (A a)) (ID x))").unwrap(), ["( (S (A a)))"]);
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
