//! The server's own protocol: what `srparse parse --output json` writes, over HTTP.

use std::sync::Arc;

use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value, json};

use super::body::{self, Content};
use super::query;
use super::reply::{JSON, JSON_LINES, Refusal, Reply};
use super::task::{Answer, Asked, Render};
use super::{ServedModel, Shared};
use crate::error::{Result, choices};
use crate::parse_request::json_request::{JsonLines, JsonRequest, RequestInput, items};
use crate::parser::{Parser, ParserWorker};
use crate::treebank::{InputFormat, Item};

/// A body of more bytes may be worked on by several threads.
pub(super) const LONG: usize = 4096;

/// What the query asks for; a text or sentences only in a body of JSON.
fn of_query(query: &str) -> Result<JsonRequest, Refusal> {
    flags(query, &["text", "tokens", "id", "sentences"], &["model"])
}

/// What the body asks for, and the query where the body does not say.
fn of_body(body: &[u8], query: JsonRequest) -> Result<JsonRequest, Refusal> {
    let body: JsonRequest = object(body)?;
    Ok(JsonRequest {
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

/// The object that a body contains.
pub(super) fn object<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    // Otherwise a list would give the fields in their order.
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(Refusal::bad("the body is a list: expected an object".to_owned()));
    }
    serde_json::from_slice(body).map_err(|error| unreadable("body", &error))
}

/// What a query asks for: numbers, names, and flags, which may be without a value. Some parameters may stand only in the
/// body, and some are texts whatever they look like.
pub(super) fn flags<T: DeserializeOwned>(
    query: &str,
    of_body: &[&str],
    texts: &[&str],
) -> Result<T, Refusal> {
    let mut values = Map::new();
    for (name, value) in query::pairs(query) {
        if of_body.contains(&&*name) {
            return Err(Refusal::bad(format!("`{name}` belongs in the body")));
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
) -> Result<Reply, Refusal> {
    let query = of_query(head.uri.query().unwrap_or_default())?;
    let (body, share) = body::read(shared, body).await?;
    let kind = body_type(head, &body)?;
    let is_long = body.len() > LONG;
    let (asks, input) = match &*kind {
        JSON => {
            let mut asks = of_body(&body, query)?;
            let input = asks.take_input().map_err(Refusal::bad)?;
            (asks, input)
        }
        JSON_LINES | "application/jsonl" | "application/json-lines" => {
            (query, RequestInput::new(InputFormat::Json, body))
        }
        "" | "text/plain" | FORM => {
            let format = query.text_format();
            (query, RequestInput::new(format, body))
        }
        _ => {
            let known = "text/plain, application/json or application/x-ndjson";
            return Err(not_understood(&kind, known));
        }
    };
    let model = named_model(shared, asks.model.as_deref())?;
    let render = rendering(shared, &shared.models[model], &asks, input.format)?;
    let room = shared.pool.admit()?;
    let items = items(&shared.models[model].parser, input);
    let asked = Asked { model, render, items, is_long };
    let answer = Answer::begin(shared, asked, [share, room]);
    Ok(Reply::new(JSON_LINES, Content::of(answer, b"", b"").await?))
}

/// The media type that `curl --data` sends with any body.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

/// The media type of a body as [`media_type`] returns it, except that an object of JSON is JSON if no program chose its type, and
/// several are lines of JSON.
pub(super) fn body_type(head: &Parts, body: &[u8]) -> Result<String, Refusal> {
    let kind = media_type(head)?;
    if !matches!(&*kind, "" | FORM) || !body.trim_ascii_start().starts_with(b"{") {
        return Ok(kind);
    }
    let mut objects = serde_json::Deserializer::from_slice(body).into_iter::<IgnoredAny>();
    let count = objects.by_ref().take_while(Result::is_ok).count();
    let is_whole = body[objects.byte_offset()..].trim_ascii().is_empty();
    Ok(match count {
        1 if is_whole => JSON.to_owned(),
        2.. if is_whole => JSON_LINES.to_owned(),
        _ => kind,
    })
}

/// The media type of the body, in lower case, without its parameters; empty if there is none.
pub(super) fn media_type(head: &Parts) -> Result<String, Refusal> {
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

/// The refusal of a body of a type that is not known here.
pub(super) fn not_understood(kind: &str, known: &str) -> Refusal {
    let problem = format!("bodies of type {kind} are not understood: send {known}");
    Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem)
}

/// The position of a model; the first if no name is given.
pub(super) fn named_model(shared: &Shared, name: Option<&str>) -> Result<usize, Refusal> {
    let Some(name) = name else { return Ok(0) };
    let names = || shared.models.iter().map(|model| &*model.name);
    names().position(|known| known == name).ok_or_else(|| {
        let choices = choices(name, "the models are", names());
        let problem = format!("no model has the name `{name}`: {choices}");
        Refusal::new(StatusCode::NOT_FOUND, problem)
    })
}

/// What is done with each sentence.
fn rendering(
    shared: &Shared,
    model: &ServedModel,
    asks: &JsonRequest,
    format: InputFormat,
) -> Result<JsonLines, Refusal> {
    let most = shared.settings.max_nbest;
    for (name, number) in [("nbest", asks.nbest), ("trace", asks.trace)] {
        if number.is_some_and(|number| number.get() > most) {
            return Err(Refusal::bad(format!("{name} is at most {most} here")));
        }
    }
    let named = (&model.parser, &*model.name);
    asks.lines(named, format, shared.settings.max_words).map_err(Refusal::bad)
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
        self.write(item, model, out)
    }
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
