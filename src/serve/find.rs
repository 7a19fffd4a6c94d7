//! `POST /find`: what `srparse find --output json` writes, over HTTP.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::http::request::Parts;
use serde::Deserialize;
use serde_json::json;

use super::Shared;
use super::body::{self, Content};
use super::own::{FORM, LONG, body_type, flags, named_model, not_understood, object};
use super::pattern;
use super::reply::{JSON, JSON_LINES, Refusal, Reply};
use super::task::{Answer, Asked, Render};
use crate::error::Result;
use crate::find::HEADS;
use crate::found::{Search, Searched};
use crate::parse_request::json_request::{RequestInput, items, too_long};
use crate::parser::{Parser, ParserWorker};
use crate::text::Layout;
use crate::tree::Tree;
use crate::tree::heads::HeadRules;
use crate::treebank::{InputFormat, Item};

/// The contents of a request; a text or trees only in a body of JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
struct FindRequest {
    text: Option<String>,
    trees: Option<Vec<String>>,
    pattern: Option<String>,
    model: Option<String>,
    lines: bool,
    once: bool,
}

impl FindRequest {
    fn read(query: &str, kind: &str, body: Vec<u8>) -> Result<Self, Refusal> {
        let query: Self = flags(query, &["text", "trees"], &["pattern", "model"])?;
        match kind {
            JSON => {
                let body: Self = object(&body)?;
                Ok(Self {
                    pattern: body.pattern.or(query.pattern),
                    model: body.model.or(query.model),
                    lines: body.lines || query.lines,
                    once: body.once || query.once,
                    ..body
                })
            }
            "" | "text/plain" | FORM => Ok(Self { text: Some(body::text(body)?), ..query }),
            _ => Err(not_understood(kind, "text/plain or application/json")),
        }
    }
}

/// `POST /find`.
pub(super) async fn find(
    shared: &Arc<Shared>,
    head: &Parts,
    body: Incoming,
) -> Result<Reply, Refusal> {
    let (body, share) = body::read(shared, body).await?;
    let kind = body_type(head, &body)?;
    let is_long = body.len() > LONG;
    let request = FindRequest::read(head.uri.query().unwrap_or_default(), &kind, body)?;
    let model = named_model(shared, request.model.as_deref())?;
    let served = &shared.models[model];
    let room = shared.pool.admit()?;
    let (items, heads) = match (request.text, request.trees) {
        (Some(_), None) if !served.parser.has_tagger() => {
            let problem = format!("the model {} has no tagger: send trees", served.name);
            return Err(Refusal::bad(problem));
        }
        (Some(text), None) => {
            let format = if request.lines { InputFormat::Lines } else { InputFormat::Text };
            let found = items(&served.parser, RequestInput::new(format, text.into_bytes()));
            (Box::new(found.filter_map(to_search)) as Sentences, Ok(served.heads.clone()))
        }
        (None, Some(trees)) => {
            let trees = trees.into_iter().map(Sentence::Brackets);
            (Box::new(trees) as Sentences, HeadRules::named(HEADS))
        }
        _ => {
            let problem = "the body needs one of text and trees: send an object such as \
                           {\"pattern\":\"NP < NN\",\"text\":\"Dogs bark.\"}";
            return Err(Refusal::bad(problem));
        }
    };
    let heads = heads.map_err(|_| Refusal::defect())?;
    let search = pattern::compile(request.pattern, heads, request.once).await?;
    let render = Matches { search, max_words: shared.settings.max_words };
    let asked = Asked { model, render, items: Box::new((1..).zip(items)), is_long };
    let answer = Answer::begin(shared, asked, [share, room]);
    Ok(Reply::new(JSON_LINES, Content::of(answer, b"", b"").await?))
}

/// The trees to search.
enum Sentence {
    /// A tree that was sent.
    Brackets(String),
    /// A sentence, parsed first.
    Parsed(Vec<crate::tree::Token>, Option<Layout>),
    /// A sentence that cannot be read.
    Bad(String),
}

type Sentences = Box<dyn Iterator<Item = Sentence> + Send>;

fn to_search(item: Item) -> Option<Sentence> {
    match item {
        Item::Sentence(tokens, origin) => Some(Sentence::Parsed(tokens, origin.layout().cloned())),
        Item::Missing(missing) => missing.problem().map(Sentence::Bad),
        Item::Stray { .. } => None,
    }
}

/// A line of JSON for each match, and for each tree that is not searched.
struct Matches {
    search: Search,
    max_words: usize,
}

impl Matches {
    /// The tree of a sentence, and its raw text.
    fn tree(
        &self,
        sentence: Sentence,
        worker: &mut ParserWorker<'_>,
    ) -> Result<(Tree, Option<Layout>), String> {
        match sentence {
            Sentence::Bad(problem) => Err(problem),
            Sentence::Brackets(text) => {
                let tree: Tree = text.parse().map_err(|error: crate::Error| error.to_string())?;
                match tree.tokens().len() {
                    words if words > self.max_words => Err(too_long(words, self.max_words)),
                    _ => Ok((tree, None)),
                }
            }
            Sentence::Parsed(tokens, _) if tokens.len() > self.max_words => {
                Err(too_long(tokens.len(), self.max_words))
            }
            Sentence::Parsed(tokens, layout) => {
                let parse = worker.parse(&tokens).map_err(|error| error.to_string())?;
                Ok((parse.tree, layout))
            }
        }
    }
}

impl Render for Matches {
    type Item = (u64, Sentence);

    fn words(&self, (_, sentence): &Self::Item) -> usize {
        match sentence {
            Sentence::Parsed(tokens, _) => tokens.len(),
            // About as many words, and they are not parsed.
            Sentence::Brackets(text) => text.len() / 100,
            Sentence::Bad(_) => 0,
        }
    }

    fn render(
        &self,
        (number, sentence): Self::Item,
        (_, worker): (&Parser, &mut ParserWorker<'_>),
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let found = self.tree(sentence, worker).and_then(|(tree, layout)| {
            let layout = layout.as_ref();
            let searched = Searched { tree: &tree, number, file: None, layout };
            let done = self.search.write_all(&tree, out, |_, found, out| {
                searched.write_json(found.position(), found, out);
            });
            done.map_err(|error| error.to_string())
        });
        if let Err(problem) = found {
            out.extend(json!({ "tree": number, "error": problem }).to_string().into_bytes());
            out.push(b'\n');
        }
        Ok(())
    }
}
