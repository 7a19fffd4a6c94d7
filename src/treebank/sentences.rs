//! The sentences to parse, from any input format: one item per sentence, in order, including those that
//! cannot be read.

use std::io::Read;

use super::clean::Cleaning;
use super::conllu::SentenceReader;
use super::input::{ByteCounter, Encoding, Input};
pub use super::input_format::InputFormat;
use super::item::{Item, JsonOrigin, Missing, Origin, Reason, TreeOrigin};
use super::json;
use super::line_reader::LineReader;
use super::penn::is_space;
use super::raw_text::{TextLines, TextReader};
use super::recognize;
use super::sentence_id::SentenceId;
use super::tagged::{self, LineProblem, TaggedFormat};
use super::tree_reader::TreeReader;
use crate::error::{Error, InputKind, Place, Result};
use crate::text::Tokenizer;
use crate::tree::{TRACE, Token};

/// Iterates over the sentences of several inputs, each returned as soon as it is complete.
///
/// An item is an error only if an input cannot be opened or read; it is then the last one.
pub struct Sentences {
    inputs: std::vec::IntoIter<Input>,
    format: InputFormat,
    encoding: Encoding,
    cleaning: Cleaning,
    tokenizer: Tokenizer,
    needs_tags: bool,
    keeps_trees: bool,
    keeps_ids: bool,
    counter: ByteCounter,
    source: Option<Source>,
    ended: bool,
}

enum Source {
    Text(Box<TextReader>),
    TextLines(Box<TextLines>),
    Lines(LineReader),
    Trees(TreeReader),
}

impl Sentences {
    /// Returns the sentences of the inputs, which are opened one at a time.
    pub fn new(inputs: Vec<Input>, format: InputFormat, encoding: Encoding) -> Self {
        let inputs = inputs.into_iter();
        let (cleaning, tokenizer) = (Cleaning::none(), Tokenizer::default());
        Self {
            inputs,
            format,
            encoding,
            cleaning,
            tokenizer,
            needs_tags: false,
            keeps_trees: false,
            keeps_ids: false,
            counter: ByteCounter::default(),
            source: None,
            ended: false,
        }
    }

    /// Strips trees ([`Cleaning::strip`]) before their words are taken.
    #[must_use]
    pub fn strip_trees(self, cleaning: Cleaning) -> Self {
        Self { cleaning, ..self }
    }

    /// Sets how raw text is split.
    #[must_use]
    pub fn split_by(self, tokenizer: impl Into<Tokenizer>) -> Self {
        Self { tokenizer: tokenizer.into(), ..self }
    }

    /// Sets whether the tree of a sentence is kept ([`Origin::Tree`]).
    #[must_use]
    pub fn keeping_trees(self, keeps_trees: bool) -> Self {
        Self { keeps_trees, ..self }
    }

    /// Sets whether IDs of trees and of CoNLL-U are kept ([`Origin::id`]).
    #[must_use]
    pub fn keeping_ids(self, keeps_ids: bool) -> Self {
        Self { keeps_ids, ..self }
    }

    /// Sets whether a JSON object with an untagged word is an error.
    #[must_use]
    pub fn needing_tags(self, needs_tags: bool) -> Self {
        Self { needs_tags, ..self }
    }

    /// Returns the sentences of one stream; messages call it `name`.
    pub fn from_reader(
        reader: Box<dyn Read + Send>,
        name: &str,
        format: InputFormat,
        encoding: Encoding,
    ) -> Self {
        Self::new(Vec::new(), format, encoding).reading(reader, name.to_owned())
    }

    /// Reads this stream before the inputs; messages call it `name`.
    #[must_use]
    pub fn reading(mut self, reader: Box<dyn Read + Send>, name: String) -> Self {
        self.attach(reader, name);
        self
    }

    /// Counts the bytes that are read by this counter.
    #[must_use]
    pub fn counted_by(self, counter: ByteCounter) -> Self {
        Self { counter, ..self }
    }

    /// Returns where the last item began.
    pub fn place(&self) -> Option<Place> {
        Some(match self.source.as_ref()? {
            Source::Lines(lines) => lines.began(),
            Source::Text(text) => text.began(),
            Source::TextLines(lines) => lines.began(),
            Source::Trees(reader) => Place::new(reader.name(), reader.facts().began, 0),
        })
    }

    /// Opens an input, unless it is in another format.
    fn open(&mut self, input: &Input) -> Result<()> {
        let name = input.name();
        let reader = input.open_counted(&self.counter)?;
        let (start, reader) = recognize::peek(reader).map_err(|source| Error::io(&name, source))?;
        let found = recognize::kind(&start).filter(|&kind| !self.reads(kind, &start));
        if let Some(found) = found.or_else(|| self.unlike(input, &start)) {
            return Err(Error::OtherInput { input: name, found });
        }
        self.attach(reader, name);
        Ok(())
    }

    /// What an input looks like: raw text with tags or JSON, or a file without tags where tags are expected. Standard input
    /// may have them in later lines.
    fn unlike(&self, input: &Input, start: &[u8]) -> Option<InputKind> {
        match (input, self.format) {
            (_, InputFormat::Text | InputFormat::Lines) => recognize::annotated(start),
            (Input::File(_), InputFormat::Tagged) => recognize::untagged(start, '/'),
            (Input::File(_), InputFormat::Underscore) => recognize::untagged(start, '_'),
            _ => None,
        }
    }

    /// Whether an input with this beginning may be in the format.
    fn reads(&self, kind: InputKind, start: &[u8]) -> bool {
        let start = String::from_utf8_lossy(start);
        let first = start.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match (self.format, kind) {
            (_, InputKind::Model) => false,
            (InputFormat::Penn, InputKind::Trees | InputKind::Treebank)
            | (InputFormat::Conllu, InputKind::Conllu) => true,
            (InputFormat::Tagged, _) => tagged::parse_line(first, TaggedFormat::Slash).is_ok(),
            (InputFormat::Underscore, _) => {
                tagged::parse_line(first, TaggedFormat::Underscore).is_ok()
            }
            _ => false,
        }
    }

    fn attach(&mut self, reader: Box<dyn Read + Send>, name: String) {
        self.source = Some(match self.format {
            InputFormat::Penn => {
                Source::Trees(TreeReader::new(reader, name, self.encoding).lenient())
            }
            InputFormat::Text => {
                let lines = LineReader::new(reader, name, self.encoding);
                Source::Text(Box::new(TextReader::new(lines, self.tokenizer.clone())))
            }
            InputFormat::Lines => {
                let lines = LineReader::new(reader, name, self.encoding);
                Source::TextLines(Box::new(TextLines::new(lines, self.tokenizer.clone())))
            }
            _ => Source::Lines(LineReader::new(reader, name, self.encoding)),
        });
    }

    fn advance(&mut self) -> Result<Option<Item>> {
        loop {
            let item = match &mut self.source {
                None => {
                    let Some(input) = self.inputs.next() else { return Ok(None) };
                    self.open(&input)?;
                    continue;
                }
                Some(Source::Trees(reader)) => {
                    tree_item(reader, &self.cleaning, self.keeps_trees, self.keeps_ids)?
                }
                Some(Source::Text(reader)) => reader.read()?,
                Some(Source::TextLines(lines)) => lines.read()?,
                Some(Source::Lines(lines)) => match self.format {
                    InputFormat::Conllu => conllu_item(lines, self.keeps_ids)?,
                    InputFormat::Tokens => line_item(lines, words)?,
                    InputFormat::Json => json_item(lines, self.needs_tags, &self.tokenizer)?,
                    InputFormat::Underscore => {
                        line_item(lines, |line| tagged::parse_line(line, TaggedFormat::Underscore))?
                    }
                    _ => line_item(lines, |line| tagged::parse_line(line, TaggedFormat::Slash))?,
                },
            };
            match item {
                Some(item) => return Ok(Some(item)),
                None => self.source = None,
            }
        }
    }
}

impl Iterator for Sentences {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

fn sentence(tokens: Vec<Token>) -> Item {
    if tokens.is_empty() { Item::BLANK } else { Item::Sentence(tokens, Origin::Plain) }
}

fn tree_item(
    reader: &mut TreeReader,
    cleaning: &Cleaning,
    keeps_trees: bool,
    keeps_ids: bool,
) -> Result<Option<Item>> {
    Ok(Some(match reader.read() {
        Ok(None) => return Ok(None),
        Ok(Some(tree)) => {
            let id = reader.facts().id.as_deref().filter(|_| keeps_ids).map(SentenceId::from);
            let missing = |reason, id| {
                let origin = Origin::Tree(Box::new(TreeOrigin { tree: None, id }));
                Item::Missing(Missing { reason, origin })
            };
            let Some(tree) = cleaning.strip(tree) else {
                return Ok(Some(missing(Reason::Blank, id)));
            };
            let kept = keeps_trees.then(|| tree.clone());
            let mut tokens = tree.into_tokens();
            tokens.retain(|token| token.tag != TRACE);
            if tokens.is_empty() {
                missing(Reason::NoWords, id)
            } else if kept.is_some() || id.is_some() {
                let origin = TreeOrigin { tree: kept, id };
                Item::Sentence(tokens, Origin::Tree(Box::new(origin)))
            } else {
                Item::Sentence(tokens, Origin::Plain)
            }
        }
        Err(Error::Syntax { at, problem }) if reader.facts().is_stray => {
            Item::Stray { at, problem }
        }
        Err(Error::Syntax { at, problem }) => Item::bad(at, problem),
        Err(Error::Tree { at, began, problem }) => {
            Item::bad(at, format!("{problem} (the tree began on line {began})"))
        }
        Err(other) => return Err(other),
    }))
}

/// Reads the next line as a sentence of tokens.
fn line_item(
    lines: &mut LineReader,
    parse: impl FnOnce(&str) -> Result<Vec<Token>, LineProblem>,
) -> Result<Option<Item>> {
    if !lines.advance()? {
        return Ok(None);
    }
    lines.begin();
    Ok(Some(parse_line(lines, parse).map_or_else(|problem| bad_line(lines, problem), sentence)))
}

/// Reads the next line as a JSON object.
fn json_item(
    lines: &mut LineReader,
    needs_tags: bool,
    tokenizer: &Tokenizer,
) -> Result<Option<Item>> {
    if !lines.advance()? {
        return Ok(None);
    }
    lines.begin();
    let object = parse_line(lines, |line| json::parse_line(line, needs_tags, tokenizer));
    let origin = |id, layout| Origin::Json(Box::new(JsonOrigin { id, layout }));
    Ok(Some(match object {
        Err(LineProblem { column, problem }) => {
            let reason = Reason::Bad { at: lines.place(column), problem };
            let id = lines.decode().ok().and_then(|line| json::id(&line));
            Item::Missing(Missing { reason, origin: origin(id, None) })
        }
        Ok(json::Sentence { tokens, id, layout }) if tokens.is_empty() => {
            Item::Missing(Missing { reason: Reason::Blank, origin: origin(id, layout) })
        }
        Ok(json::Sentence { tokens, id: None, layout: None }) => {
            Item::Sentence(tokens, Origin::Plain)
        }
        Ok(json::Sentence { tokens, id, layout }) => Item::Sentence(tokens, origin(id, layout)),
    }))
}

/// Splits a line into words without tags.
fn words(line: &str) -> Result<Vec<Token>, LineProblem> {
    let words = line.split(is_space).filter(|word| !word.is_empty());
    Ok(words.map(|word| Token::new(word, "")).collect())
}

fn conllu_item(lines: &mut LineReader, keeps_ids: bool) -> Result<Option<Item>> {
    let mut sentence_reader = SentenceReader::new();
    let (mut fault, mut begun) = (None, false);
    loop {
        let ended = !lines.advance()?;
        if ended || lines.bytes().iter().all(|&byte| is_space(char::from(byte))) {
            match (begun, ended) {
                (true, _) => break,
                (false, true) => return Ok(None),
                (false, false) => continue,
            }
        }
        if !std::mem::replace(&mut begun, true) {
            lines.begin();
        }
        if fault.is_none() {
            // The rest of a sentence with a fault is skipped: one sentence, one item.
            let taken = parse_line(lines, |line| sentence_reader.line(line));
            fault = taken.err().map(|LineProblem { column, problem }| {
                let at = lines.place(column);
                Reason::Bad { at, problem }
            });
        }
    }
    // Comments alone are an empty sentence: their ID is not that of the next one.
    let tokens = sentence_reader.finish().unwrap_or_default();
    let mut source = sentence_reader.take_source();
    if keeps_ids {
        source.keep_id();
    }
    let origin = Origin::Conllu(Box::new(source));
    Ok(Some(match fault {
        Some(reason) => Item::Missing(Missing { reason, origin }),
        None if tokens.is_empty() => Item::Missing(Missing { reason: Reason::Blank, origin }),
        None => Item::Sentence(tokens, origin),
    }))
}

/// Decodes and parses the current line.
fn parse_line<T>(
    lines: &LineReader,
    parse: impl FnOnce(&str) -> Result<T, LineProblem>,
) -> Result<T, LineProblem> {
    match lines.decode() {
        Ok(line) => parse(&line),
        Err((column, problem)) => Err(LineProblem { column, problem: problem.to_owned() }),
    }
}

fn bad_line(lines: &LineReader, LineProblem { column, problem }: LineProblem) -> Item {
    Item::bad(lines.place(column), problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &'static [u8], format: InputFormat) -> Vec<Item> {
        Sentences::from_reader(Box::new(text), "in", format, Encoding::Utf8)
            .map(|item| item.unwrap())
            .collect()
    }

    /// `s` sentence, `b` blank, line number of a bad one.
    fn shape(text: &'static [u8], format: InputFormat) -> String {
        items(text, format)
            .iter()
            .map(|item| match item {
                Item::Sentence(..) => "s".to_owned(),
                Item::Stray { at, .. } => at.line.to_string(),
                Item::Missing(missing) => match &missing.reason {
                    Reason::Blank => "b".to_owned(),
                    Reason::NoWords => "n".to_owned(),
                    Reason::Bad { at, .. } => at.line.to_string(),
                },
            })
            .collect()
    }

    #[test]
    fn every_line_is_one_item() {
        let text = b"\xef\xbb\xbfa/A\n\n \t\r\nb\n\xff/X\nc/C";
        assert_eq!(shape(text, InputFormat::Tagged), "sbb45s");
        assert_eq!(shape(b"a_A\nb/B\n", InputFormat::Underscore), "s2");
        assert_eq!(shape(b"", InputFormat::Tagged), "");
        assert_eq!(shape(b"a  b/c\n\n\xff\n(", InputFormat::Tokens), "sb3s");
    }

    #[test]
    fn every_sentence_of_raw_text_is_one_item() {
        let text = b"\xef\xbb\xbfA b. C\nd\xff\nE.\n\nf\n\n";
        assert_eq!(shape(text, InputFormat::Text), "ss2ss");
        // Offsets go on over what cannot be read.
        let Item::Sentence(_, origin) = &items(text, InputFormat::Text)[3] else {
            panic!("no sentence")
        };
        assert_eq!(origin.layout().unwrap().spans[0].start, 10);
        assert_eq!(shape(b"", InputFormat::Text), "");
    }

    #[test]
    fn every_line_of_raw_text_is_one_item() {
        let text = b"\xef\xbb\xbfA b. C\r\n \xc2\xa0\n\xff\n - d\ne";
        assert_eq!(shape(text, InputFormat::Lines), "sb3ss");
        let places = |at: usize| -> Vec<(u64, u64)> {
            let Item::Sentence(_, origin) = &items(text, InputFormat::Lines)[at] else {
                panic!("no sentence")
            };
            origin.layout().unwrap().spans.iter().map(|span| (span.start, span.end)).collect()
        };
        assert_eq!(places(0), [(0, 1), (2, 3), (3, 4), (5, 6)]);
        assert_eq!(places(3), [(14, 15), (16, 17)]);
    }

    #[test]
    fn every_object_is_one_item() {
        let text = b"{\"tokens\":[\"a\"]}\n\n{\"tokens\":[]}\n{\n[]\n{\"text\":\"A. B\"}\n{\"text\":\" \"}";
        assert_eq!(shape(text, InputFormat::Json), "sbb45sb");
    }

    #[test]
    fn every_conllu_sentence_is_one_item() {
        let text = b"# c\n1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n\n# only\n\n1\tb\n2\tc\n\n\
                     1-2\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n1\td\t_\tX\t_\t_\t_\t_\t_\t_";
        assert_eq!(shape(text, InputFormat::Conllu), "sb7bs");
        // A block of comments keeps its ID to itself, and so does a sentence that cannot be read.
        let text = b"# sent_id = a\n\n# sent_id = b\n1\tb\t_\tX\t_\t_\t_\t_\t_\t_\n\n\
                     # sent_id = c\n1\tc\n\n# d";
        let sentences =
            Sentences::from_reader(Box::new(&text[..]), "in", InputFormat::Conllu, Encoding::Utf8);
        let ids: Vec<Option<String>> = sentences
            .keeping_ids(true)
            .map(|item| match item.unwrap() {
                Item::Sentence(_, origin) | Item::Missing(Missing { origin, .. }) => {
                    origin.id().map(|id| id.as_str().to_owned())
                }
                Item::Stray { .. } => None,
            })
            .collect();
        assert_eq!(ids, ["a", "b", "c", ""].map(|id| (!id.is_empty()).then(|| id.to_owned())));
    }

    #[test]
    fn every_tree_is_one_item_and_traces_are_not_words() {
        let text =
            b"(S (NP (-NONE- *)) (VP (V go)))\n(())\n(S (NP (-NONE- *)))\n(S (V a) b)\n(S (V c))\n";
        assert_eq!(shape(text, InputFormat::Penn), "snn4s");
        let Item::Sentence(tokens, _) = &items(text, InputFormat::Penn)[0] else {
            panic!("no sentence")
        };
        assert_eq!(tokens[..], [Token::new("go", "V")]);
    }

    #[test]
    fn words_without_tags_are_kept_byte_for_byte() {
        let text = "\u{2009}a\u{a0}b ( x/y\t\\ \n".as_bytes();
        let Item::Sentence(tokens, _) = &items(text, InputFormat::Tokens)[0] else {
            panic!("no sentence")
        };
        let words: Vec<&str> = tokens.iter().map(|token| token.word.as_str()).collect();
        assert_eq!(words, ["\u{2009}a\u{a0}b", "(", "x/y", "\\"]);
    }

    #[test]
    fn an_unknown_format_names_the_nearest() {
        let message = "connlu".parse::<InputFormat>().unwrap_err().to_string();
        assert!(message.contains("did you mean `conllu`?"), "{message}");
    }
}
