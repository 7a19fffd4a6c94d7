//! Parses as JSON Lines: one object per sentence.

use std::io::{self, Write};

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::penn::write_brackets;
use crate::tree::Tree;

/// A parse with its score and dependencies.
#[derive(Debug, Clone, Copy)]
pub struct Parse<'a> {
    /// The tree.
    pub tree: &'a Tree,
    /// The position of each token's head, from 1, with 0 for the root.
    pub heads: Option<&'a [u32]>,
    /// The score of the tree; written as `null` if it is not finite.
    pub score: Option<f64>,
    /// Whether the parser reached a complete parse.
    pub complete: bool,
    /// A score for each node of the tree; written as `null` if it is not finite.
    pub span_scores: Option<&'a [f32]>,
}

/// Writes a parse as one line.
///
/// The keys are always present, in this order: `tree` (Penn brackets), `tokens` (a list of `[word, tag]`),
/// `spans` (a list of `[label, start, end]`, in tokens from 0, end exclusive, children before parents),
/// `heads` (from 1, with 0 for the root; or `null`), `score` (or `null`) and `complete`; then `span_scores`
/// (parallel to `spans`, with `null` for a score that is not finite) if there are any. Words and tags are
/// escaped only in `tree`.
///
/// # Errors
/// When writing fails.
pub fn write_line(parse: &Parse<'_>, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, parse)?;
    out.write_all(b"\n")
}

impl Serialize for Parse<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut brackets = Vec::new();
        write_brackets(self.tree, &mut brackets).map_err(serde::ser::Error::custom)?;
        let brackets = String::from_utf8(brackets).map_err(serde::ser::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tree", &brackets)?;
        map.serialize_entry("tokens", &Tokens(self.tree))?;
        map.serialize_entry("spans", &Spans(self.tree))?;
        map.serialize_entry("heads", &self.heads)?;
        // JSON has no infinity.
        map.serialize_entry("score", &self.score.filter(|score| score.is_finite()))?;
        map.serialize_entry("complete", &self.complete)?;
        if let Some(scores) = self.span_scores {
            let finite = |&score: &f32| Some(score).filter(|score| score.is_finite());
            map.serialize_entry("span_scores", &scores.iter().map(finite).collect::<Vec<_>>())?;
        }
        map.end()
    }
}

struct Tokens<'a>(&'a Tree);

impl Serialize for Tokens<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.tokens().len()))?;
        for token in self.0.tokens() {
            list.serialize_element(&(&token.word, &token.tag))?;
        }
        list.end()
    }
}

struct Spans<'a>(&'a Tree);

impl Serialize for Spans<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.nodes().len()))?;
        for node in self.0.nodes() {
            list.serialize_element(&(&node.label, node.start, node.end))?;
        }
        list.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeBuilder;

    #[test]
    fn a_parse_is_one_line_with_all_keys() {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.token("\"(\"\n", "``");
        builder.close();
        let tree = builder.finish();
        let (heads, span_scores) = (Some(&[0][..]), None);
        let mut parse =
            Parse { tree: &tree, heads, score: Some(-1.5), complete: true, span_scores };
        let mut out = Vec::new();
        write_line(&parse, &mut out).unwrap();
        parse = Parse { heads: None, score: Some(f64::NAN), complete: false, ..parse };
        write_line(&parse, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (first, second) = text.split_once('\n').unwrap();
        assert_eq!(
            first,
            "{\"tree\":\"(TOP (`` \\\"-LRB-\\\"_))\",\"tokens\":[[\"\\\"(\\\"\\n\",\"``\"]],\
             \"spans\":[[\"TOP\",0,1]],\"heads\":[0],\"score\":-1.5,\"complete\":true}"
        );
        assert!(
            second.ends_with("\"heads\":null,\"score\":null,\"complete\":false}\n"),
            "{second}"
        );
    }
}
