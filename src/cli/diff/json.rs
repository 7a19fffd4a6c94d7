//! The differences as one JSON object, whose keys docs/formats.md describes.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Found, Sentence, SentenceParse, System};
use crate::eval::{ParseError, Relabelled};
use crate::tree::{NodeId, Tree};

/// Writes the object on one line.
pub(super) fn write(found: &Found, out: &mut impl Write) -> io::Result<()> {
    let systems: Vec<Value> = found.systems.iter().map(system).collect();
    let sentences: Vec<Value> = found.sentences.iter().map(sentence).collect();
    serde_json::to_writer(&mut *out, &json!({ "systems": systems, "sentences": sentences }))?;
    writeln!(out)
}

fn system(System { evaluation, errors }: &System) -> Value {
    let totals = &evaluation.all;
    let class = |(class, counts): (crate::eval::ErrorClass, &crate::eval::ClassCounts)| {
        json!({
            "class": class.name(),
            "count": counts.errors,
            "missed": counts.missed,
            "spurious": counts.spurious,
            "f1_mended": counts.f1_mended(totals),
        })
    };
    let label = |relabelled: Relabelled<'_>| {
        let Relabelled { gold, test, count } = relabelled;
        json!({ "gold": gold, "test": test, "count": count })
    };
    json!({
        "f1": totals.f1(),
        "sentences": totals.sentences,
        "excluded": totals.errors + totals.skipped,
        "exact": totals.complete,
        "errors": errors.by_brackets().into_iter().map(class).collect::<Vec<_>>(),
        "labels": errors.relabelled().into_iter().map(label).collect::<Vec<_>>(),
    })
}

fn sentence(Sentence { number, at, gold, parses }: &Sentence) -> Value {
    json!({
        "sentence": number,
        "at": at.as_ref().map(ToString::to_string),
        "gold": gold.to_string(),
        "parses": parses.iter().map(|parse| row(gold, parse)).collect::<Vec<_>>(),
    })
}

fn row(gold: &Tree, SentenceParse { tree, f1, difference }: &SentenceParse) -> Value {
    let error = |ParseError { class, missed, spurious }: &ParseError| {
        let (missed, spurious) = (spans(gold, missed), spans(tree, spurious));
        json!({ "class": class.name(), "missed": missed, "spurious": spurious })
    };
    let errors: Vec<Value> = difference.errors.iter().map(error).collect();
    json!({ "tree": tree.to_string(), "f1": f1, "errors": errors })
}

/// Label, first token and the token after the last, from 0.
fn spans<'t>(tree: &'t Tree, ids: &[NodeId]) -> Vec<(&'t str, u32, u32)> {
    let nodes = ids.iter().map(|&id| tree.node(id));
    nodes.map(|node| (node.label.as_str(), node.start, node.end)).collect()
}
