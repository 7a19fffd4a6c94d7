//! `/tregex`: tree search as CoreNLP's clients ask for it.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::http::request::Parts;
use serde::Serialize;
use serde_json::{Value, json};

use super::document::Sentence;
use super::{Checked, Received, brackets, checked, read_document};
use crate::error::{Error, Result};
use crate::find::{Match, Position};
use crate::found::Search;
use crate::parse_request::json_request::too_long;
use crate::parser::{Parser, ParserWorker};
use crate::serve::Shared;
use crate::serve::body::Content;
use crate::serve::pattern;
use crate::serve::query;
use crate::serve::reply::{JSON, Refusal, Reply};
use crate::serve::task::{Answer, Asked, Render};
use crate::tree::Tree;

/// `GET` and `POST /tregex`: as for CoreNLP, `filter` changes nothing.
pub(in crate::serve) async fn tregex(
    shared: &Arc<Shared>,
    head: &Parts,
    body: Incoming,
) -> Result<Reply, Refusal> {
    let Checked { properties, model } = checked(shared, head)?;
    let pairs = query::pairs(head.uri.query().unwrap_or_default());
    let pattern = pairs.into_iter().find(|(name, _)| name == "pattern").map(|(_, value)| value);
    let served = &shared.models[model];
    if !served.parser.has_tagger() {
        let problem = format!("the model {} has no tagger, which words need", served.name);
        return Err(Refusal::bad(problem));
    }
    let Received { document, is_long, share } =
        read_document(shared, head, body, &properties, model).await?;
    let room = shared.pool.admit()?;
    let search = pattern::compile(pattern, served.heads.clone(), false).await?;
    let render = Matches { search, max_words: shared.settings.max_words };
    let asked = Asked { model, render, items: Box::new(document), is_long };
    let answer = Answer::begin(shared, asked, [share, room]);
    Ok(Reply::new(JSON, Content::of(answer, b"{\"sentences\":[", b"]}\n").await?))
}

/// A JSON object for each sentence, whose keys are the numbers of the matches, with a comma before all but the first.
struct Matches {
    search: Search,
    max_words: usize,
}

impl Render for Matches {
    type Item = Sentence;

    fn words(&self, sentence: &Sentence) -> usize {
        sentence.tokens.len()
    }

    fn render(
        &self,
        sentence: Sentence,
        (_, worker): (&Parser, &mut ParserWorker<'_>),
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let words = sentence.tokens.len();
        if words > self.max_words {
            return Err(Error::config("text", too_long(words, self.max_words)));
        }
        let tree = brackets::rooted(worker.parse(&sentence.tokens)?.tree);
        out.extend_from_slice(if sentence.index > 0 { b",{" } else { b"{" });
        self.search.write_all(&tree, out, |at, found, out| {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(format!("\"{at}\":").as_bytes());
            // Writing to memory does not fail.
            let _ = serde_json::to_writer(out, &MatchObject::of(found, &tree, &sentence));
        })?;
        out.push(b'}');
        Ok(())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MatchObject {
    sent_index: usize,
    #[serde(flatten)]
    node: Value,
    named_nodes: Vec<Value>,
}

impl MatchObject {
    fn of(found: &Match<'_>, tree: &Tree, sentence: &Sentence) -> Self {
        let node = |position| node_object(position, tree, sentence);
        Self {
            sent_index: sentence.index,
            node: node(found.position()),
            named_nodes: found.nodes().map(|(name, at)| json!({ name: node(at) })).collect(),
        }
    }
}

/// A node with the places of its first and last words.
fn node_object(position: Position, tree: &Tree, sentence: &Sentence) -> Value {
    let (start, end) = position.span(tree);
    let (start, end) = (start as usize, end as usize);
    let places = &sentence.places[start..end];
    let begins = places.first().map_or((0, 0), |place| (place.units.0, place.points.0));
    let ends = places.last().map_or(begins, |place| (place.units.1, place.points.1));
    let words: Vec<&str> = tree.tokens()[start..end].iter().map(|token| &*token.word).collect();
    json!({
        "characterOffsetBegin": begins.0,
        "codepointOffsetBegin": begins.1,
        "characterOffsetEnd": ends.0,
        "codepointOffsetEnd": ends.1,
        "match": brackets::subtree(tree, position) + "\n",
        "spanString": words.join(" "),
    })
}
