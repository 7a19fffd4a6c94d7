//! The differences as one JSON object, whose keys docs/formats.md describes.

use std::io::{self, Write};

use serde::Serialize;

use super::{Found, Sentence, SentenceParse, System};
use crate::eval::{ParseError, Relabelled};
use crate::tree::{NodeId, Tree};

#[derive(Serialize)]
struct Document<'a> {
    systems: Vec<SystemRow<'a>>,
    sentences: Vec<SentenceRow<'a>>,
}

#[derive(Serialize)]
struct SystemRow<'a> {
    f1: f64,
    sentences: u64,
    excluded: u64,
    exact: u64,
    errors: Vec<ClassRow>,
    labels: Vec<LabelRow<'a>>,
}

#[derive(Serialize)]
struct ClassRow {
    class: &'static str,
    count: u64,
    missed: u64,
    spurious: u64,
    f1_mended: f64,
}

#[derive(Serialize)]
struct LabelRow<'a> {
    gold: &'a str,
    test: &'a str,
    count: u64,
}

#[derive(Serialize)]
struct SentenceRow<'a> {
    sentence: u64,
    at: Option<String>,
    gold: String,
    parses: Vec<ParseRow<'a>>,
}

#[derive(Serialize)]
struct ParseRow<'a> {
    tree: String,
    f1: f64,
    errors: Vec<ErrorRow<'a>>,
}

#[derive(Serialize)]
struct ErrorRow<'a> {
    class: &'static str,
    missed: Vec<(&'a str, u32, u32)>,
    spurious: Vec<(&'a str, u32, u32)>,
}

/// Writes the object on one line.
pub(super) fn write(found: &Found, out: &mut impl Write) -> io::Result<()> {
    let document = Document {
        systems: found.systems.iter().map(system).collect(),
        sentences: found.sentences.iter().map(sentence).collect(),
    };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

fn system(System { evaluation, errors }: &System) -> SystemRow<'_> {
    let totals = &evaluation.all;
    let class = |(class, counts): (crate::eval::ErrorClass, &crate::eval::ClassCounts)| ClassRow {
        class: class.name(),
        count: counts.errors,
        missed: counts.missed,
        spurious: counts.spurious,
        f1_mended: counts.f1_mended(totals),
    };
    let label = |Relabelled { gold, test, count }| LabelRow { gold, test, count };
    SystemRow {
        f1: totals.f1(),
        sentences: totals.sentences,
        excluded: totals.errors + totals.skipped,
        exact: totals.complete,
        errors: errors.by_brackets().into_iter().map(class).collect(),
        labels: errors.relabelled().into_iter().map(label).collect(),
    }
}

fn sentence(sentence: &Sentence) -> SentenceRow<'_> {
    let Sentence { number, at, gold, parses } = sentence;
    SentenceRow {
        sentence: *number,
        at: at.as_ref().map(ToString::to_string),
        gold: gold.to_string(),
        parses: parses.iter().map(|parse| row(gold, parse)).collect(),
    }
}

fn row<'a>(
    gold: &'a Tree,
    SentenceParse { tree, f1, difference }: &'a SentenceParse,
) -> ParseRow<'a> {
    let error = |ParseError { class, missed, spurious }: &ParseError| ErrorRow {
        class: class.name(),
        missed: spans(gold, missed),
        spurious: spans(tree, spurious),
    };
    ParseRow {
        tree: tree.to_string(),
        f1: *f1,
        errors: difference.errors.iter().map(error).collect(),
    }
}

/// Label, first token and the token after the last, from 0.
fn spans<'t>(tree: &'t Tree, ids: &[NodeId]) -> Vec<(&'t str, u32, u32)> {
    let nodes = ids.iter().map(|&id| tree.node(id));
    nodes.map(|node| (node.label.as_str(), node.start, node.end)).collect()
}
