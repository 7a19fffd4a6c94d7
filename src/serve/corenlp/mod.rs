//! The protocol of CoreNLP's server, as its clients speak it: a text is posted to `/`, with properties in the address; the
//! reply is one JSON object.

mod brackets;
mod document;
mod properties;
mod tregex;

use std::sync::Arc;

use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use serde::Serialize;

use self::document::{Document, Sentence, Sentences};
use self::properties::Properties;
use super::body::{self, Content};
use super::own::{FORM, LONG, media_type, named_model};
use super::pool::Share;
use super::reply::{JSON, Refusal, Reply};
use super::task::{Answer, Asked, Render};
use super::{Shared, query};
use crate::error::{Error, Result, choices};
use crate::parse_request::json_request::too_long;
use crate::parser::{Parser, ParserWorker};
use crate::tree::Tree;
use crate::tree::dependencies::head_positions;
pub(super) use tregex::tregex;

/// The annotators that are computed.
const COMPUTED: [&str; 7] = ["tokenize", "ssplit", "mwt", "pos", "lemma", "parse", "depparse"];
/// Those that CoreNLP has besides.
const OTHERS: [&str; 17] = [
    "cdc_tokenize",
    "cleanxml",
    "coref",
    "coref.mention",
    "dcoref",
    "docdate",
    "entitylink",
    "entitymentions",
    "kbp",
    "mention",
    "natlog",
    "ner",
    "openie",
    "quote",
    "regexner",
    "relation",
    "sentiment",
];

/// `POST /`.
pub(super) async fn annotate(
    shared: &Arc<Shared>,
    head: &Parts,
    body: Incoming,
) -> Result<Reply, Refusal> {
    let Checked { properties, model } = checked(shared, head)?;
    let (annotations, missing) = annotations(&properties)?;
    if annotations.pos && !shared.models[model].parser.has_tagger() {
        let name = &shared.models[model].name;
        return Err(Refusal::bad(format!("the model {name} has no tagger, which words need")));
    }
    let Received { document, is_long, share } =
        read_document(shared, head, body, &properties, model).await?;
    let room = shared.pool.admit()?;
    let render = Json { annotations, max_words: shared.settings.max_words };
    let asked = Asked { model, render, items: Box::new(document), is_long };
    let answer = Answer::begin(shared, asked, [share, room]);
    let reply = Reply::new(JSON, Content::of(answer, b"{\"sentences\":[", b"]}\n").await?);
    Ok(if missing.is_empty() { reply } else { reply.with("X-Not-Computed", missing.join(",")) })
}

/// The properties of a request, and the model that they ask for.
struct Checked {
    properties: Properties,
    model: usize,
}

fn checked(shared: &Shared, head: &Parts) -> Result<Checked, Refusal> {
    let properties =
        Properties::of_query(head.uri.query().unwrap_or_default()).map_err(Refusal::bad)?;
    let format = properties.get("outputFormat").unwrap_or("json");
    if !format.eq_ignore_ascii_case("json") {
        let problem =
            format!("the output format {format} is not written here: ask for outputFormat json");
        return Err(Refusal::bad(problem));
    }
    let format = properties.get("inputFormat").unwrap_or("text");
    if !format.eq_ignore_ascii_case("text") {
        let problem = format!("the input format {format} is not read here: send the text");
        return Err(Refusal::bad(problem));
    }
    let model = model(shared, &properties)?;
    Ok(Checked { properties, model })
}

/// The text of a request.
struct Received {
    document: Document,
    is_long: bool,
    /// What it takes of the budget of all bodies.
    share: Share,
}

async fn read_document(
    shared: &Shared,
    head: &Parts,
    body: Incoming,
    properties: &Properties,
    model: usize,
) -> Result<Received, Refusal> {
    let is_form = media_type(head)? == FORM;
    let (body, share) = body::read(shared, body).await?;
    let is_long = body.len() > LONG;
    let text = body::text(if is_form { query::decoded(&body) } else { body })?;
    let is_tokenized =
        properties.is("tokenize.whitespace") || properties.is("tokenize.pretokenized");
    let tokenizer = shared.models[model].parser.tokenizer();
    if let Some(problem) = tokenizer.refuses(&text).filter(|_| !is_tokenized) {
        return Err(Refusal::bad(problem));
    }
    let document = Document::new(text, sentences(properties), is_tokenized, tokenizer);
    Ok(Received { document, is_long, share })
}

/// The annotations computed for each sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Annotations {
    pos: bool,
    lemma: bool,
    parse: bool,
    dependencies: bool,
}

/// The annotators asked for, and those that are not computed; all that are, if none are named.
fn annotations(properties: &Properties) -> Result<(Annotations, Vec<&'static str>), Refusal> {
    let Some(names) = properties.get("annotators") else {
        return Ok((
            Annotations { pos: true, lemma: true, parse: true, dependencies: true },
            Vec::new(),
        ));
    };
    let mut found = Annotations::default();
    let mut missing = Vec::new();
    for name in names.split([',', ' ']).filter(|name| !name.is_empty()) {
        match name {
            "tokenize" | "ssplit" | "mwt" => {}
            "pos" => found.pos = true,
            "lemma" => (found.pos, found.lemma) = (true, true),
            "parse" => (found.pos, found.parse, found.dependencies) = (true, true, true),
            "depparse" => (found.pos, found.dependencies) = (true, true),
            _ => match OTHERS.iter().find(|other| **other == name) {
                Some(other) => missing.push(*other),
                None => {
                    let choices = choices(name, "this server has", COMPUTED);
                    return Err(Refusal::bad(format!("`{name}` is no annotator: {choices}")));
                }
            },
        }
    }
    if found == Annotations::default() && !missing.is_empty() {
        let (missing, known) = (missing.join(", "), COMPUTED.join(", "));
        let problem = format!("{missing}: not computed here: this server has {known}");
        return Err(Refusal::bad(problem));
    }
    Ok((found, missing))
}

/// Where sentences end.
fn sentences(properties: &Properties) -> Sentences {
    if properties.is("ssplit.isOneSentence") {
        Sentences::One
    } else if properties.is("ssplit.eolonly") {
        Sentences::Lines
    } else if properties.get("ssplit.newlineIsSentenceBreak") == Some("always") {
        Sentences::FoundInLines
    } else {
        Sentences::Found
    }
}

/// The names of languages in CoreNLP's properties, and their codes.
const LANGUAGES: [(&str, &str); 8] = [
    ("arabic", "ar"),
    ("chinese", "zh"),
    ("english", "en"),
    ("french", "fr"),
    ("german", "de"),
    ("hungarian", "hu"),
    ("italian", "it"),
    ("spanish", "es"),
];

/// The model of the property `model`, or the one whose name is the language; the first if neither is given.
fn model(shared: &Shared, properties: &Properties) -> Result<usize, Refusal> {
    if let Some(name) = properties.get("model") {
        return named_model(shared, Some(name));
    }
    let Some(language) = properties.get("pipelineLanguage") else { return Ok(0) };
    let language = language.to_ascii_lowercase();
    let same = LANGUAGES.iter().find(|(name, code)| *name == language || *code == language);
    let (name, code) = same.copied().unwrap_or((&language, &language));
    let position = shared.models.iter().position(|model| model.name == name || model.name == code);
    match position {
        Some(position) => Ok(position),
        // The default, which is what clients that know of one language, or of none, ask for.
        None if ["en", "unspecified", "unknown", "whitespace"].contains(&code) => Ok(0),
        None => {
            let problem = format!(
                "no model is for the language {language}: start the server with --model {code}=FILE"
            );
            Err(Refusal::new(StatusCode::BAD_REQUEST, problem))
        }
    }
}

/// A JSON object for each sentence, with a comma before all but the first.
struct Json {
    annotations: Annotations,
    max_words: usize,
}

impl Render for Json {
    type Item = Sentence;

    fn words(&self, sentence: &Sentence) -> usize {
        sentence.tokens.len()
    }

    fn render(
        &self,
        mut sentence: Sentence,
        (_, worker): (&Parser, &mut ParserWorker<'_>),
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let asked = self.annotations;
        let words = sentence.tokens.len();
        if words > self.max_words && asked.pos {
            return Err(Error::config("text", too_long(words, self.max_words)));
        }
        let mut tree = None;
        if asked.parse || asked.dependencies {
            let parsed = brackets::rooted(worker.parse(&sentence.tokens)?.tree);
            sentence.tokens = parsed.tokens().to_vec();
            tree = Some(parsed);
        } else if asked.pos {
            worker.tag(&mut sentence.tokens)?;
        }
        if sentence.index > 0 {
            out.push(b',');
        }
        let object = SentenceObject {
            index: sentence.index,
            parse: tree.as_ref().filter(|_| asked.parse).map(brackets::pretty),
            dependencies: tree.as_ref().filter(|_| asked.dependencies).map(dependencies),
            tokens: tokens(&sentence, asked),
        };
        serde_json::to_writer(out, &object).map_err(|error| Error::io("reply", error.into()))
    }
}

#[derive(Serialize)]
struct SentenceObject<'s> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    parse: Option<String>,
    #[serde(rename = "basicDependencies", skip_serializing_if = "Option::is_none")]
    dependencies: Option<Vec<DependencyObject>>,
    tokens: Vec<TokenObject<'s>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DependencyObject {
    dep: &'static str,
    governor: u32,
    governor_gloss: String,
    dependent: u32,
    dependent_gloss: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TokenObject<'s> {
    index: usize,
    word: &'s str,
    original_text: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    lemma: Option<&'s str>,
    character_offset_begin: u64,
    character_offset_end: u64,
    codepoint_offset_begin: u64,
    codepoint_offset_end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pos: Option<&'s str>,
    before: &'s str,
    after: &'s str,
}

fn tokens(sentence: &Sentence, asked: Annotations) -> Vec<TokenObject<'_>> {
    let tokens = sentence.tokens.iter().zip(&sentence.places).zip(1..);
    let objects = tokens.map(|((token, place), index)| TokenObject {
        index,
        word: &token.word,
        original_text: &place.original,
        lemma: asked.lemma.then_some(&*token.word),
        character_offset_begin: place.units.0,
        character_offset_end: place.units.1,
        codepoint_offset_begin: place.points.0,
        codepoint_offset_end: place.points.1,
        pos: asked.pos.then_some(&*token.tag),
        before: &place.before,
        after: &place.after,
    });
    objects.collect()
}

/// The heads of all words, that of the root first.
fn dependencies(tree: &Tree) -> Vec<DependencyObject> {
    let word = |position: u32| match position.checked_sub(1) {
        Some(at) => tree.tokens()[at as usize].word.to_string(),
        None => "ROOT".to_owned(),
    };
    let mut found: Vec<DependencyObject> = (1..)
        .zip(head_positions(tree))
        .map(|(dependent, governor)| DependencyObject {
            dep: if governor == 0 { "ROOT" } else { "dep" },
            governor,
            governor_gloss: word(governor),
            dependent,
            dependent_gloss: word(dependent),
        })
        .collect();
    found.sort_by_key(|dependency| dependency.governor > 0);
    found
}
