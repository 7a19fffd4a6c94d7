//! Requests for parses as JSON: the same for the server and for the library in a browser.

use std::io::{Cursor, Write};
use std::num::NonZeroUsize;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ParseRequest;
use crate::error::{Error, Place, Result};
use crate::parser::{Parser, ParserWorker};
use crate::text::remove_given_tags;
use crate::tree::Token;
use crate::treebank::sentence_id::without_line_breaks;
use crate::treebank::{
    Encoding, Input, InputFormat, Item, Missing, Origin, Reason, SentenceId, Sentences,
};

/// What is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct JsonRequest {
    /// A raw text.
    pub text: Option<String>,
    /// The words of a sentence, with or without tags.
    pub tokens: Option<Value>,
    /// The name of that sentence.
    pub id: Option<SentenceId>,
    /// A list of sentences, each a text, a list of words, or an object with either.
    pub sentences: Option<Box<RawValue>>,
    /// The name of the model.
    pub model: Option<String>,
    /// The number of different trees.
    #[serde(deserialize_with = "count")]
    pub nbest: Option<NonZeroUsize>,
    /// How each tree is found, with so many actions of each decision.
    #[serde(deserialize_with = "count")]
    pub trace: Option<NonZeroUsize>,
    /// Whether each line of the text is a sentence.
    pub lines: bool,
    /// Whether the tagger replaces the tags of the input.
    pub retag: bool,
    /// Whether each constituent gets a confidence score.
    pub span_scores: bool,
    /// Whether words are written as in the raw text, or else without the escapes of treebanks.
    pub unescape: bool,
}

/// A sentence as `parse` reads it.
#[derive(Serialize)]
struct Sentence {
    tokens: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<SentenceId>,
}

/// The input of a request, as `parse` reads it.
#[derive(Debug)]
pub struct RequestInput {
    /// Its format.
    pub format: InputFormat,
    bytes: Vec<u8>,
    /// What messages call it.
    name: &'static str,
}

impl RequestInput {
    /// A text, or words as JSON.
    pub fn new(format: InputFormat, bytes: Vec<u8>) -> Self {
        Self { format, bytes, name: TEXT }
    }
}

/// What messages call a text; trees in brackets have this name too.
const TEXT: &str = "<text>";
/// The name of the words of one sentence.
const TOKENS: &str = "tokens";
/// The name of a list of sentences, of which each is a line.
const SENTENCES: &str = "sentences";

/// A number from 1.
fn count<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<NonZeroUsize>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    match number.and_then(NonZeroUsize::new) {
        None if !value.is_null() => {
            Err(serde::de::Error::custom(format!("{value} is not a number from 1")))
        }
        number => Ok(number),
    }
}

impl JsonRequest {
    /// The format of the text.
    pub fn text_format(&self) -> InputFormat {
        if self.lines { InputFormat::Lines } else { InputFormat::Text }
    }

    /// The input.
    ///
    /// # Errors
    /// Why there is none.
    pub fn take_input(&mut self) -> std::result::Result<RequestInput, String> {
        if self.id.is_some() && self.tokens.is_none() {
            let problem =
                "id names one sentence: give it beside tokens, or in an object of sentences";
            return Err(problem.to_owned());
        }
        let parts = (self.text.take(), self.tokens.take(), self.sentences.take());
        match parts {
            (Some(text), None, None) => {
                Ok(RequestInput::new(self.text_format(), text.into_bytes()))
            }
            (None, Some(tokens), None) => {
                let object = Sentence { tokens, id: self.id.take() };
                let line = serde_json::to_vec(&object).map_err(|error| error.to_string())?;
                Ok(RequestInput { name: TOKENS, ..RequestInput::new(InputFormat::Json, line) })
            }
            (None, None, Some(list)) => {
                let sentences = serde_json::from_str::<Vec<&RawValue>>(list.get());
                let sentences = sentences.map_err(|_| NO_LIST.to_owned())?;
                let mut lines = Vec::new();
                for sentence in sentences {
                    let value = without_line_breaks(sentence);
                    // Writing to memory does not fail.
                    let _ = match value.as_bytes().first() {
                        Some(b'"') => writeln!(lines, "{{\"text\":{value}}}"),
                        Some(b'[') => writeln!(lines, "{{\"tokens\":{value}}}"),
                        _ => writeln!(lines, "{value}"),
                    };
                }
                Ok(RequestInput { name: SENTENCES, ..RequestInput::new(InputFormat::Json, lines) })
            }
            _ => Err(format!("the body needs one of text, tokens and sentences: {FORM}")),
        }
    }

    /// What is written of each sentence by a parser of this name; sentences of more than `max_words` are not parsed.
    ///
    /// # Errors
    /// Why what is asked for cannot be done.
    pub fn lines(
        &self,
        (parser, name): (&Parser, &str),
        format: InputFormat,
        max_words: usize,
    ) -> std::result::Result<JsonLines, String> {
        if self.trace.is_some() && (self.nbest.is_some() || self.span_scores || self.unescape) {
            let problem =
                "trace shows how one tree was found: omit nbest, span_scores and unescape";
            return Err(problem.to_owned());
        }
        let is_raw = format != InputFormat::Json;
        if (is_raw || self.retag) && !parser.has_tagger() {
            return Err(format!("the model {name} has no tagger: send tagged tokens"));
        }
        let request = ParseRequest {
            retags: is_raw || self.retag,
            nbest: self.nbest,
            span_scores: self.span_scores,
            unescape: self.unescape,
        };
        Ok(JsonLines { request, trace: self.trace, max_words })
    }
}

const FORM: &str = "send an object such as {\"text\":\"We sing.\"}, {\"tokens\":[\"We\",\"sing\"]} or \
                    {\"sentences\":[[\"We\",\"sing\"]]}";

const NO_LIST: &str = "sentences is not a list: send {\"sentences\":[\"We sing.\"]}, or a text as \
                       {\"text\":\"We sing.\"}";

/// The sentences of a request, and what stands for those that cannot be read.
pub fn items(parser: &Parser, input: RequestInput) -> Box<dyn Iterator<Item = Item> + Send> {
    let RequestInput { format, bytes, name } = input;
    // What `parse` reads from a pipe has no name of a file either.
    let sentences = Sentences::new(Vec::new(), format, Encoding::Utf8)
        .split_by(parser.tokenizer())
        .needing_tags(!parser.has_tagger())
        .reading(Box::new(Cursor::new(bytes)), Input::Stdin.name());
    Box::new(sentences.map(move |item| match item {
        Ok(item) => in_request(item, name),
        Err(error) => Item::bad(Place::new(name, 0, 0), error.to_string()),
    }))
}

/// The item; a problem has its place in the request of this name, and advice for requests.
fn in_request(mut item: Item, name: &str) -> Item {
    if let Item::Missing(Missing { reason: Reason::Bad { at, problem }, .. }) = &mut item {
        name.clone_into(&mut at.path);
        if *problem == Encoding::Utf8.complaint() {
            *problem = "not UTF-8 text: send UTF-8".to_owned();
        }
        if name != TEXT {
            // A column of the line that was made of the sentence.
            at.column = 0;
        }
        if name == TOKENS {
            at.line = 0;
        }
    }
    item
}

/// A line of JSON for each sentence.
#[derive(Debug)]
pub struct JsonLines {
    request: ParseRequest,
    trace: Option<NonZeroUsize>,
    max_words: usize,
}

impl JsonLines {
    fn sentence(
        &self,
        mut tokens: Vec<Token>,
        origin: &Origin,
        (parser, worker): (&Parser, &mut ParserWorker<'_>),
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let written = if let Some(best) = self.trace {
            if self.request.retags {
                remove_given_tags(&mut tokens, origin.layout());
            }
            let trace = parser.trace(&tokens, None, best.get())?;
            serde_json::to_writer(&mut *out, &trace)
                .map_err(Into::into)
                .and_then(|()| writeln!(out))
        } else {
            let parses = self.request.parse(worker, tokens, origin.layout())?;
            self.request.write_json(&parses, origin, out)
        };
        written.map_err(|error| Error::io(TEXT, error))
    }

    /// Writes what is asked for of a sentence.
    ///
    /// # Errors
    /// When the model is corrupt.
    pub fn write(
        &self,
        item: Item,
        model: (&Parser, &mut ParserWorker<'_>),
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match item {
            Item::Missing(missing) => {
                let problem = missing.problem();
                self.request.write_missing(&missing.origin, problem.as_deref(), out);
            }
            Item::Stray { .. } => {}
            Item::Sentence(tokens, origin) if tokens.len() > self.max_words => {
                let problem = too_long(tokens.len(), self.max_words);
                self.request.write_missing(&origin, Some(&problem), out);
            }
            Item::Sentence(tokens, origin) => return self.sentence(tokens, &origin, model, out),
        }
        Ok(())
    }
}

/// Why a sentence is not parsed.
pub fn too_long(words: usize, most: usize) -> String {
    format!("a sentence of {words} words: the limit is {most} here")
}
