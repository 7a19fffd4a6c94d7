//! The server's own protocol: what `srparse parse --output json` writes, over HTTP.

use std::io::{Cursor, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;

use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::body::{self, Content};
use super::query;
use super::reply::{JSON_LINES, Refusal, Reply};
use super::task::{Answer, Asked, Render};
use super::{ServedModel, Shared};
use crate::error::{Error, Result, did_you_mean};
use crate::parse_request::ParseRequest;
use crate::parser::{Parser, ParserWorker};
use crate::tree::{Token, remove_tags};
use crate::treebank::{Encoding, Input, InputFormat, Item, Origin, Sentences};

/// A body of more bytes may be worked on by several threads.
pub(super) const LONG: usize = 4096;

/// The contents of a request; a text or sentences only in a body of JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asks {
    text: Option<String>,
    tokens: Option<Value>,
    id: Option<Value>,
    sentences: Option<Vec<Value>>,
    model: Option<String>,
    nbest: Option<NonZeroUsize>,
    trace: Option<NonZeroUsize>,
    lines: bool,
    retag: bool,
    span_scores: bool,
    unescape: bool,
}

impl Asks {
    /// The options of the query.
    fn of_query(query: &str) -> std::result::Result<Self, Refusal> {
        flags(query, &["text", "tokens", "id", "sentences"], &["model"])
    }

    /// The options of the body, and those of the query where the body has none.
    fn of_body(body: &[u8], query: Self) -> std::result::Result<Self, Refusal> {
        let body: Self =
            serde_json::from_slice(body).map_err(|error| unreadable("body", &error))?;
        Ok(Self {
            model: body.model.or(query.model),
            nbest: body.nbest.or(query.nbest),
            trace: body.trace.or(query.trace),
            lines: body.lines || query.lines,
            retag: body.retag || query.retag,
            span_scores: body.span_scores || query.span_scores,
            unescape: body.unescape || query.unescape,
            ..body
        })
    }

    fn text_format(&self) -> InputFormat {
        if self.lines { InputFormat::Lines } else { InputFormat::Text }
    }

    /// The input as `parse` reads it, with its format.
    fn take_input(&mut self) -> std::result::Result<(InputFormat, Vec<u8>), Refusal> {
        let parts = (self.text.take(), self.tokens.take(), self.sentences.take());
        match parts {
            (Some(text), None, None) => Ok((self.text_format(), text.into_bytes())),
            (None, Some(tokens), None) => {
                let mut object = json!({ "tokens": tokens });
                if let Some(id) = self.id.take() {
                    object["id"] = id;
                }
                Ok((InputFormat::Json, object.to_string().into_bytes()))
            }
            (None, None, Some(sentences)) => {
                let mut lines = Vec::new();
                for sentence in sentences {
                    let object = match sentence {
                        Value::String(text) => json!({ "text": text }),
                        Value::Array(tokens) => json!({ "tokens": tokens }),
                        other => other,
                    };
                    // Writing to memory does not fail.
                    let _ = writeln!(lines, "{object}");
                }
                Ok((InputFormat::Json, lines))
            }
            _ => Err(Refusal::bad(format!(
                "the body needs one of text, tokens and sentences: {FORM}"
            ))),
        }
    }
}

const FORM: &str = "send an object such as {\"text\":\"We sing.\"}, {\"tokens\":[\"We\",\"sing\"]} or \
                    {\"sentences\":[[\"We\",\"sing\"]]}";

/// What a query asks for: numbers, names, and flags, which may be without a value. Some parameters belong into the body,
/// some are texts whatever they look like.
pub(super) fn flags<T: DeserializeOwned>(
    query: &str,
    of_body: &[&str],
    texts: &[&str],
) -> std::result::Result<T, Refusal> {
    let mut values = Map::new();
    for (name, value) in query::pairs(query) {
        if of_body.contains(&&*name) {
            return Err(Refusal::bad(format!("`{name}` belongs into the body")));
        }
        let is_number = name == "nbest" || name == "trace";
        let value = match &*value {
            _ if texts.contains(&&*name) => Value::String(value),
            "" | "true" | "1" if !is_number => Value::Bool(true),
            "false" | "0" if !is_number => Value::Bool(false),
            _ => value.parse::<u64>().map_or(Value::String(value), Value::from),
        };
        values.insert(name, value);
    }
    serde_json::from_value(Value::Object(values)).map_err(|error| unreadable("query", &error))
}

pub(super) fn unreadable(what: &str, error: &serde_json::Error) -> Refusal {
    Refusal::bad(format!("the {what} cannot be read: {error}"))
}

/// `POST /parse`.
pub(super) async fn parse(
    shared: &Arc<Shared>,
    head: &Parts,
    body: Incoming,
) -> std::result::Result<Reply, Refusal> {
    let query = Asks::of_query(head.uri.query().unwrap_or_default())?;
    let kind = media_type(head)?;
    let (body, share) = body::read(shared, body).await?;
    let is_long = body.len() > LONG;
    let (asks, format, input) = match &*kind {
        "application/json" => {
            let mut asks = Asks::of_body(&body, query)?;
            let (format, input) = asks.take_input()?;
            (asks, format, input)
        }
        "application/x-ndjson" | "application/jsonl" | "application/json-lines" => {
            (query, InputFormat::Json, body)
        }
        "" | "text/plain" | "application/x-www-form-urlencoded" => {
            let format = query.text_format();
            (query, format, body)
        }
        _ => {
            let problem = format!(
                "bodies of type {kind} are not understood: send text/plain, application/json or application/x-ndjson"
            );
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
        }
    };
    let model = named_model(shared, asks.model.as_deref())?;
    let render = rendering(shared, &shared.models[model], &asks, format)?;
    let room = shared.pool.admit();
    let room = room.ok_or_else(|| Refusal::busy("too many requests wait: try again later"))?;
    let items = items(&shared.models[model].parser, format, input);
    let asked = Asked { model, render, items, is_long };
    let answer = Answer::begin(shared, asked, [share, room]);
    Ok(Reply::new(JSON_LINES, Content::of(answer, b"", b"").await?))
}

/// The media type of the body, in lower case, without its parameters; empty if there is none.
pub(super) fn media_type(head: &Parts) -> std::result::Result<String, Refusal> {
    let Some(value) = head.headers.get(CONTENT_TYPE) else { return Ok(String::new()) };
    let value = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut parts = value.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_owned();
    let charset = parts.find_map(|part| part.strip_prefix("charset="));
    let charset = charset.map_or("utf-8", |charset| charset.trim_matches('"'));
    if ["utf-8", "utf8", "us-ascii", "ascii"].contains(&charset) {
        return Ok(kind);
    }
    let problem = format!("the body must be UTF-8, not {charset}");
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem))
}

/// The position of a model; the first if no name is given.
pub(super) fn named_model(
    shared: &Shared,
    name: Option<&str>,
) -> std::result::Result<usize, Refusal> {
    let Some(name) = name else { return Ok(0) };
    let names = || shared.models.iter().map(|model| &*model.name);
    names().position(|known| known == name).ok_or_else(|| {
        let known = names().collect::<Vec<_>>().join(", ");
        let nearest = did_you_mean(name, names());
        let problem = format!("no model has the name `{name}`: {nearest}the models are {known}");
        Refusal::new(StatusCode::NOT_FOUND, problem)
    })
}

/// The work for each sentence.
fn rendering(
    shared: &Shared,
    model: &ServedModel,
    asks: &Asks,
    format: InputFormat,
) -> std::result::Result<JsonLines, Refusal> {
    let most = shared.settings.max_nbest;
    for (name, number) in [("nbest", asks.nbest), ("trace", asks.trace)] {
        if number.is_some_and(|number| number.get() > most) {
            return Err(Refusal::bad(format!("{name} is at most {most} here")));
        }
    }
    if asks.trace.is_some() && (asks.nbest.is_some() || asks.span_scores || asks.unescape) {
        let problem = "trace shows how one tree was found: omit nbest, span_scores and unescape";
        return Err(Refusal::bad(problem));
    }
    let is_raw = format != InputFormat::Json;
    if (is_raw || asks.retag) && !model.parser.has_tagger() {
        let problem = format!("the model {} has no tagger: send tagged tokens", model.name);
        return Err(Refusal::bad(problem));
    }
    let request = ParseRequest {
        retags: is_raw || asks.retag,
        nbest: asks.nbest,
        span_scores: asks.span_scores,
        unescape: asks.unescape,
    };
    Ok(JsonLines { request, trace: asks.trace, max_words: shared.settings.max_words })
}

/// The sentences of a request, and what stands for those that cannot be read.
pub(super) fn items(
    parser: &Parser,
    format: InputFormat,
    input: Vec<u8>,
) -> Box<dyn Iterator<Item = Item> + Send> {
    let reader = Box::new(Cursor::new(input));
    // The name that `parse` gives to what it reads from a pipe, so that both write the same.
    let name = Input::Stdin.name();
    let sentences = Sentences::new(Vec::new(), format, Encoding::Utf8)
        .split_by(parser.tokenizer())
        .needing_tags(!parser.has_tagger())
        .reading(reader, name);
    Box::new(sentences.map_while(Result::ok))
}

/// A line of JSON for each sentence.
struct JsonLines {
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
                remove_tags(&mut tokens);
            }
            let trace = parser.trace(&tokens, None, best.get())?;
            serde_json::to_writer(&mut *out, &trace)
                .map_err(Into::into)
                .and_then(|()| writeln!(out))
        } else {
            let parses = self.request.parse(worker, tokens, origin.layout())?;
            self.request.write_json(&parses, origin, out)
        };
        written.map_err(|error| Error::io(Input::Stdin.name(), error))
    }
}

impl Render for JsonLines {
    type Item = Item;

    fn words(&self, item: &Item) -> usize {
        if let Item::Sentence(tokens, _) = item { tokens.len() } else { 0 }
    }

    fn render(
        &self,
        item: Item,
        model: (&Parser, &mut ParserWorker<'_>),
        out: &mut Vec<u8>,
    ) -> Result<()> {
        match item {
            Item::Blank | Item::NoWords => self.request.write_missing(None, out),
            Item::Bad { at, problem } => {
                self.request.write_missing(Some(&format!("{at}: {problem}")), out);
            }
            Item::Stray { .. } => {}
            Item::Sentence(tokens, _) if tokens.len() > self.max_words => {
                let problem = too_long(tokens.len(), self.max_words);
                self.request.write_missing(Some(&problem), out);
            }
            Item::Sentence(tokens, origin) => return self.sentence(tokens, &origin, model, out),
        }
        Ok(())
    }
}

/// Why a sentence is not parsed.
pub(super) fn too_long(words: usize, most: usize) -> String {
    format!("a sentence of {words} words: the limit is {most} here")
}

/// `GET /models`.
pub(super) fn models(shared: &Shared) -> Reply {
    let model = |(at, model): (usize, &ServedModel)| {
        let mut about = Map::new();
        about.insert("name".to_owned(), model.name.clone().into());
        about.insert("default".to_owned(), (at == 0).into());
        about.insert("tagger".to_owned(), model.parser.has_tagger().into());
        if let Value::Object(more) = &model.about {
            about.extend(more.clone());
        }
        Value::Object(about)
    };
    let models: Vec<Value> = shared.models.iter().enumerate().map(model).collect();
    Reply::json(&json!({ "models": models }))
}

/// The description of the protocol.
pub(super) fn openapi() -> String {
    include_str!("openapi.json")
        .replace("\"VERSION\"", concat!("\"", env!("CARGO_PKG_VERSION"), "\""))
}
