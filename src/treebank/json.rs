//! JSON Lines: one object per sentence. Parses are written; when reading, only `tokens` or `text`, and `id`, are used.

use std::fmt;
use std::io::{self, Write};

use compact_str::CompactString;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::penn::{excerpt, is_space, write_brackets};
use super::sentence_id::SentenceId;
use super::tagged::LineProblem;
use crate::text::{Layout, Tokenizer};
use crate::tree::{Token, Tree};

/// A sentence as it is read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sentence {
    /// Its words; those without tags have empty ones.
    pub tokens: Vec<Token>,
    /// The value of `id`.
    pub id: Option<SentenceId>,
    /// The place of each word in `text`, if there are no `tokens`.
    pub layout: Option<Layout>,
}

/// Reads an object: its `tokens`, words or lists of a word and a tag, or else its `text`, which is one sentence; and
/// its `id`. A blank line has no tokens.
///
/// # Errors
/// When the line is not such an object, a word or a tag is empty, or a tag is missing and required.
pub fn parse_line(
    line: &str,
    needs_tags: bool,
    tokenizer: &Tokenizer,
) -> Result<Sentence, LineProblem> {
    let line = line.trim_end_matches(is_space);
    if line.trim_start_matches(is_space).is_empty() {
        return Ok(Sentence::default());
    }
    if !is_object(line) {
        return Err(LineProblem::new(
            line,
            line,
            format!("`{}` is not an object: {FORM}", excerpt(line)),
        ));
    }
    let Object { id, tokens, text } =
        serde_json::from_str(line).map_err(|error| problem(line, &error))?;
    let (tokens, layout) = match (tokens, text) {
        (Some(tokens), _) => {
            (tokens.into_iter().map(|Readable(token)| token).collect::<Vec<_>>(), None)
        }
        (None, Some(Value::String(text))) => match tokenizer.one_sentence(&text) {
            Some(sentence) => match tokenizer.refuses(&sentence.layout.text) {
                Some(problem) => return Err(LineProblem::new(line, line, problem.to_owned())),
                None => (sentence.tokens, Some(sentence.layout)),
            },
            None => (Vec::new(), Some(Layout::default())),
        },
        (None, text) => {
            let what = if text.is_some() {
                "`text` is no string"
            } else {
                "missing field `tokens` or `text`"
            };
            let column = line.chars().count() as u64;
            return Err(LineProblem { column, problem: format!("{what}: {FORM}") });
        }
    };
    match tokens.iter().find(|token| needs_tags && token.tag.is_empty()) {
        None => Ok(Sentence { tokens, id, layout }),
        Some(token) => {
            let problem = format!(
                "`{}` has no tag, which is needed here: write [\"{0}\",\"TAG\"]",
                excerpt(&token.word)
            );
            Err(LineProblem::new(line, line, problem))
        }
    }
}

fn is_object(line: &str) -> bool {
    line.trim_start_matches(is_space).starts_with('{')
}

/// The `id` of an object that is no sentence; `None` if it has none or the line is no object.
pub fn id(line: &str) -> Option<SentenceId> {
    #[derive(Deserialize)]
    struct Named {
        id: Option<SentenceId>,
    }

    // A list would be read as the fields in their order.
    if !is_object(line) {
        return None;
    }
    serde_json::from_str::<Named>(line).ok()?.id
}

/// The format that messages recommend.
const FORM: &str =
    "write an object such as {\"tokens\":[\"We\",[\"sing\",\"VBP\"]]} or {\"text\":\"We sing.\"}";

fn problem(line: &str, error: &serde_json::Error) -> LineProblem {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let message = message.replace("invalid type: ", "found ").replace("a sequence", "a list");
    let before = line.as_bytes().get(..error.column().saturating_sub(1)).unwrap_or(line.as_bytes());
    let column = String::from_utf8_lossy(before).chars().count() as u64 + 1;
    let advice = if error.is_eof() { ", on one line" } else { "" };
    LineProblem { column, problem: format!("{message}: {FORM}{advice}") }
}

#[derive(Deserialize)]
struct Object {
    id: Option<SentenceId>,
    tokens: Option<Vec<Readable>>,
    text: Option<Value>,
}

/// A token as it is read.
struct Readable(Token);

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordOrPair;

        impl<'de> Visitor<'de> for WordOrPair {
            type Value = Readable;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word or [word, tag]")
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Readable, E> {
                if word.is_empty() {
                    return Err(E::custom("an empty word"));
                }
                Ok(Readable(Token::untagged(word)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Readable, A::Error> {
                let (word, tag) = (list.next_element()?, list.next_element()?);
                let more = list.next_element::<serde::de::IgnoredAny>()?;
                let (Some(word), Some(tag), None) = (word, tag, more) else {
                    return Err(A::Error::custom("a list that is not [word, tag]"));
                };
                let (word, tag): (CompactString, CompactString) = (word, tag);
                let token = Token::new(word, tag);
                if token.word.is_empty() || token.tag.is_empty() {
                    return Err(A::Error::custom("an empty word or tag"));
                }
                Ok(Readable(token))
            }
        }

        deserializer.deserialize_any(WordOrPair)
    }
}

/// A parse with its score and dependencies.
#[derive(Debug, Clone, Copy)]
pub struct Parse<'a> {
    /// The identifier that the input gave the sentence.
    pub id: Option<&'a SentenceId>,
    /// The tree.
    pub tree: &'a Tree,
    /// The position of each token's head, from 1; 0 is the root.
    pub heads: &'a [u32],
    /// The score of the tree; written as `null` if it is not finite.
    pub score: Option<f64>,
    /// Whether the parser reached a complete parse.
    pub complete: bool,
    /// A score for each node of the tree; written as `null` if it is not finite.
    pub span_scores: Option<&'a [f32]>,
    /// The original text and offsets, for raw text.
    pub layout: Option<&'a Layout>,
    /// The file that has the text.
    pub file: Option<&'a str>,
    /// Why there is no parse.
    pub error: Option<&'a str>,
}

impl<'a> Parse<'a> {
    /// A tree without heads and scores.
    pub fn bare(tree: &'a Tree) -> Self {
        Self {
            id: None,
            tree,
            heads: &[],
            score: None,
            complete: false,
            span_scores: None,
            layout: None,
            file: None,
            error: None,
        }
    }
}

/// Writes a parse as one line.
///
/// `id` comes first, if there is one. Then these keys, always present, in this order: `tree` (Penn brackets), `tokens`
/// (a list of `[word, tag]`), `spans` (a list of `[label, start, end]`, in tokens from 0, end exclusive, children before parents),
/// `heads` (from 1, with 0 for the root), `score` (or `null`) and `complete`; then `span_scores`
/// (parallel to `spans`, with `null` for a score that is not finite) if there are any; then, for raw text, `text`
/// and `start` and `end` (parallel to `tokens`: the first character of each and the one after its last, counted
/// from 0 at the beginning of the input), and `file` for a file; then `error` if there is one. Words and tags are escaped
/// only in `tree`. The tree of no words is `(())`.
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
        if let Some(id) = self.id {
            map.serialize_entry("id", id)?;
        }
        map.serialize_entry("tree", &brackets)?;
        let tokens = self.tree.tokens().iter().map(|token| (&token.word, &token.tag));
        let spans = self.tree.nodes().iter().map(|node| (&node.label, node.start, node.end));
        map.serialize_entry("tokens", &tokens.collect::<Vec<_>>())?;
        map.serialize_entry("spans", &spans.collect::<Vec<_>>())?;
        map.serialize_entry("heads", &self.heads)?;
        // JSON has no infinity.
        map.serialize_entry("score", &self.score.filter(|score| score.is_finite()))?;
        map.serialize_entry("complete", &self.complete)?;
        if let Some(scores) = self.span_scores {
            let finite = |&score: &f32| Some(score).filter(|score| score.is_finite());
            map.serialize_entry("span_scores", &scores.iter().map(finite).collect::<Vec<_>>())?;
        }
        if let Some(layout) = self.layout {
            let spans = || layout.spans.iter();
            map.serialize_entry("text", &layout.text)?;
            map.serialize_entry("start", &spans().map(|span| span.start).collect::<Vec<_>>())?;
            map.serialize_entry("end", &spans().map(|span| span.end).collect::<Vec<_>>())?;
        }
        if let Some(file) = self.file {
            map.serialize_entry("file", file)?;
        }
        if let Some(error) = self.error {
            map.serialize_entry("error", error)?;
        }
        map.end()
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
        let (heads, score) = (&[0][..], Some(-1.5));
        let mut parse = Parse { heads, score, complete: true, ..Parse::bare(&tree) };
        let mut out = Vec::new();
        write_line(&parse, &mut out).unwrap();
        parse = Parse { score: Some(f64::NAN), complete: false, ..parse };
        write_line(&parse, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (first, second) = text.split_once('\n').unwrap();
        assert_eq!(
            first,
            "{\"tree\":\"(TOP (`` \\\"-LRB-\\\"_))\",\"tokens\":[[\"\\\"(\\\"\\n\",\"``\"]],\
             \"spans\":[[\"TOP\",0,1]],\"heads\":[0],\"score\":-1.5,\"complete\":true}"
        );
        assert!(second.ends_with("\"heads\":[0],\"score\":null,\"complete\":false}\n"), "{second}");
    }

    #[test]
    fn words_and_pairs_are_read_and_other_keys_are_not() {
        let line = "{\"id\":[{}],\"tokens\":[\"a b\",[\"(\",\"-LRB-\"]]}\n";
        let tokens = [Token::untagged("a b"), Token::new("(", "-LRB-")];
        let sentence = read(line, false).unwrap();
        assert_eq!(
            (sentence.tokens, sentence.id),
            (tokens.into(), serde_json::from_str("[{}]").ok())
        );
        assert_eq!(read(" \r\n", true).unwrap(), Sentence::default());
    }

    #[test]
    fn only_objects_have_an_id() {
        for (line, has_id) in [
            ("{\"id\":1}", true),
            (" {\"id\":1}\n", true),
            ("{}", false),
            ("[1]", false),
            ("1", false),
        ] {
            assert_eq!(id(line).is_some(), has_id, "{line}");
        }
    }

    #[test]
    fn text_is_one_sentence_unless_there_are_tokens() {
        let sentence = read("{\"text\":\" A b. C\",\"id\":\"x\"}", false).unwrap();
        let words: Vec<&str> = sentence.tokens.iter().map(|token| &*token.word).collect();
        assert_eq!(words, ["A", "b", ".", "C"]);
        let layout = sentence.layout.unwrap();
        assert_eq!((&*layout.text, layout.spans[0].start), ("A b. C", 1));
        let both = read("{\"text\":\"A b\",\"tokens\":[\"c\"]}", false).unwrap();
        assert_eq!((both.tokens, both.layout), (vec![Token::untagged("c")], None));
    }

    fn read(line: &str, needs_tags: bool) -> Result<Sentence, LineProblem> {
        parse_line(line, needs_tags, &Tokenizer::default())
    }

    #[test]
    fn faults_are_placed_and_say_what_to_write() {
        for (line, column, says) in [
            ("dogs bark", 1, "`dogs bark` is not an object"),
            ("[\"dogs\"]", 1, "is not an object"),
            ("{\"tokens\":[\"d\u{f6}gs\",]}", 19, "trailing comma"),
            ("{\"tokens\":[\"dogs\"", 17, "EOF while parsing"),
            ("{\"words\":[]}", 12, "missing field `tokens` or `text`"),
            ("{\"text\":3}", 10, "`text` is no string"),
            ("{\"tokens\":[3]}", 12, "expected a word or [word, tag]"),
            ("{\"tokens\":[[\"a\"]]}", 16, "a list that is not [word, tag]"),
            ("{\"tokens\":[[\"a\",\"\"]]}", 19, "an empty word or tag"),
        ] {
            let LineProblem { column: at, problem } = read(line, false).unwrap_err();
            assert!(
                problem.contains(says) && problem.contains("write an object"),
                "{line}: {problem}"
            );
            assert_eq!(at, column, "{line}: {problem}");
        }
        let problem = read("{\"tokens\":[\"a\"]}", true).unwrap_err().problem;
        assert_eq!(problem, "`a` has no tag, which is needed here: write [\"a\",\"TAG\"]");
    }
}
