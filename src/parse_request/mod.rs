//! What is asked of a parser for each sentence, and the answer as JSON: the same for `parse`, for the server, and in a
//! browser.

pub mod json_request;

use std::io::{self, Write};
use std::num::NonZeroUsize;

use crate::error::Result;
use crate::parser::{NbestRequest, Parse, ParserWorker};
use crate::text::{Layout, remove_given_tags};
use crate::tree::dependencies::head_positions;
use crate::tree::{Token, Tree};
use crate::treebank::{Origin, json, penn};

/// The options for each sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ParseRequest {
    /// Whether the tagger replaces the tags of the input; those that the splitter of raw text knows stay.
    pub retags: bool,
    /// The number of different trees; `None` for one tree that is not in a list.
    pub nbest: Option<NonZeroUsize>,
    /// Whether each constituent gets a confidence score.
    pub span_scores: bool,
    /// Whether words are written as in the raw text, or else without the escapes of treebanks.
    pub unescape: bool,
}

impl ParseRequest {
    /// Parses a sentence; the first parse is the best.
    ///
    /// # Errors
    /// As [`ParserWorker::parse`].
    pub fn parse(
        self,
        worker: &mut ParserWorker<'_>,
        mut tokens: Vec<Token>,
        layout: Option<&Layout>,
    ) -> Result<Vec<Parse>> {
        if self.retags {
            remove_given_tags(&mut tokens, layout);
        }
        let mut parses = if self.nbest.is_none() && !self.span_scores {
            vec![worker.parse(&tokens)?]
        } else {
            let trees = self.nbest.map_or(1, NonZeroUsize::get);
            let request = NbestRequest { trees, constituents: self.span_scores };
            worker.parse_nbest(&tokens, request)?
        };
        if self.unescape {
            parses.iter_mut().for_each(|parse| unescape(parse.tree.tokens_mut(), layout));
        }
        Ok(parses)
    }

    /// Writes the parses of a sentence as a line of JSON: an object, or with `nbest` a list of objects.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_json(
        self,
        parses: &[Parse],
        origin: &Origin,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        if let ([parse], None) = (parses, self.nbest) {
            return write_parse(parse, origin, out);
        }
        for (at, parse) in parses.iter().enumerate() {
            out.push(if at == 0 { b'[' } else { b',' });
            write_parse(parse, origin, out)?;
            out.pop();
        }
        out.write_all(b"]\n")
    }

    /// Writes the JSON of a sentence without a parse, with the keys of one that has a parse and empty values; `problem` says
    /// why it cannot be read.
    pub fn write_missing(self, origin: &Origin, problem: Option<&str>, out: &mut Vec<u8>) {
        let (tree, layout) = (Tree::default(), Layout::default());
        let parse = json::Parse {
            id: origin.id(),
            span_scores: self.span_scores.then_some(&[][..]),
            layout: origin.layout().map(|_| &layout),
            file: origin.file(),
            error: problem,
            ..json::Parse::bare(&tree)
        };
        if self.nbest.is_some() {
            out.push(b'[');
        }
        // Writing to memory does not fail.
        let _ = json::write_line(&parse, out);
        if self.nbest.is_some() {
            out.pop();
            out.extend_from_slice(b"]\n");
        }
    }
}

/// Writes words as in the raw text, or else without the escapes of treebanks.
fn unescape(tokens: &mut [Token], layout: Option<&Layout>) {
    match layout {
        Some(layout) => {
            let surfaces = tokens.iter_mut().zip(layout.surfaces());
            surfaces.for_each(|(token, surface)| token.word = surface.into());
        }
        None => {
            tokens.iter_mut().for_each(|token| token.word = (&*penn::unescape(&token.word)).into());
        }
    }
}

/// Writes a parse as a line of JSON.
fn write_parse(parse: &Parse, origin: &Origin, out: &mut Vec<u8>) -> io::Result<()> {
    let Parse { tree, score, complete, constituents } = parse;
    let heads = head_positions(tree);
    json::write_line(
        &json::Parse {
            id: origin.id(),
            tree,
            heads: &heads,
            score: Some(*score),
            complete: *complete,
            span_scores: constituents.as_deref(),
            layout: origin.layout(),
            file: origin.file(),
            error: None,
        },
        out,
    )
}
