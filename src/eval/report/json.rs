//! The report as JSON, for programs.
//!
//! Keys are stable: a later version may add keys, but never rename or remove one. Scores are percentages in
//! full precision.

use std::io::{self, Write};

use serde::Serialize;

use super::{by_frequency, rows};
use crate::eval::{CHILDREN, Counts, Evaluation, LENGTHS, Totals};
use crate::tree::heads::HeadRules;

/// Writes the evaluation as one JSON object.
///
/// - `all`: scores over all sentences; see below.
/// - `len40`: the same for the sentences up to the cut-off length, which is part of the key and in `cutoff`.
/// - `counted`: a description of what is counted.
/// - `tags`: `gold` or `own`, the tags by which words count; `heads`: the head rules, if heads were compared.
/// - `functions`, if function tags were scored: rows `brackets` and `tags`, with the keys of a row of `labels`.
/// - `labels`, `children`, `lengths`: tables, as lists of rows. A row of the first two has its
///   `label` or `children`, then `gold`, `test`, `matched` (gold brackets matched), `precision`, `recall`
///   and `f1`; a row of `lengths` has its `length` and the keys of `all`.
///
/// `all` holds `sentences`, `errors`, `skipped`, `coverage`, `gold`, `test`, `matched` (brackets),
/// `precision`, `recall`, `f1` (EVALB's), `f1_failures_empty`, `exact`, `tagging`, `crossing` (crossing
/// brackets per sentence), `no_crossing` and `two_or_less_crossing` (sentences), and, if heads were compared,
/// `dependency` with `uas` and `uas_no_punctuation`.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let with_heads = evaluation.heads.is_some();
    let summary = |totals| Summary::new(totals, with_heads);
    let document = Document {
        cutoff: evaluation.params.cutoff,
        counted: evaluation.params.counted(),
        tags: if evaluation.gold_tags { "gold" } else { "own" },
        heads: evaluation.heads.as_ref().map(HeadRules::name),
        all: summary(&evaluation.all),
        short: [(format!("len{}", evaluation.params.cutoff), summary(&evaluation.short))].into(),
        functions: evaluation.functions.map(|functions| Functions {
            brackets: Row::new(&functions.brackets),
            tags: Row::new(&functions.tags),
        }),
        labels: (by_frequency(evaluation).into_iter())
            .map(|(label, counts)| LabelRow { label, counts: Row::new(counts) })
            .collect(),
        children: (rows(CHILDREN, &evaluation.children))
            .map(|(children, counts)| ChildrenRow { children, counts: Row::new(counts) })
            .collect(),
        lengths: (rows(LENGTHS, &evaluation.lengths))
            .map(|((length, _), totals)| LengthRow { length, totals: summary(totals) })
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

#[derive(Serialize)]
struct Document<'a> {
    cutoff: u32,
    counted: String,
    tags: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    heads: Option<&'a str>,
    all: Summary,
    #[serde(flatten)]
    short: std::collections::BTreeMap<String, Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    functions: Option<Functions>,
    labels: Vec<LabelRow<'a>>,
    children: Vec<ChildrenRow>,
    lengths: Vec<LengthRow>,
}

#[derive(Serialize)]
struct Functions {
    brackets: Row,
    tags: Row,
}

#[derive(Serialize)]
struct Summary {
    sentences: u64,
    errors: u64,
    skipped: u64,
    coverage: f64,
    gold: u64,
    test: u64,
    matched: u64,
    precision: f64,
    recall: f64,
    f1: f64,
    f1_failures_empty: f64,
    exact: f64,
    tagging: f64,
    crossing: f64,
    no_crossing: f64,
    two_or_less_crossing: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dependency: Option<Dependency>,
}

impl Summary {
    fn new(totals: &Totals, with_heads: bool) -> Self {
        Self {
            sentences: totals.sentences,
            errors: totals.errors,
            skipped: totals.skipped,
            coverage: totals.coverage(),
            gold: totals.gold,
            test: totals.test,
            matched: totals.matched,
            precision: totals.precision(),
            recall: totals.recall(),
            f1: totals.f1(),
            f1_failures_empty: totals.f1_failures_empty(),
            exact: totals.exact(),
            tagging: totals.tagging(),
            crossing: totals.average_crossing(),
            no_crossing: totals.without_crossing(),
            two_or_less_crossing: totals.two_or_less_crossing(),
            dependency: with_heads.then(|| Dependency {
                uas: totals.attachments.uas(),
                uas_no_punctuation: totals.attachments.uas_no_punctuation(),
            }),
        }
    }
}

#[derive(Serialize)]
struct Dependency {
    uas: f64,
    uas_no_punctuation: f64,
}

#[derive(Serialize)]
struct LabelRow<'a> {
    label: &'a str,
    #[serde(flatten)]
    counts: Row,
}

#[derive(Serialize)]
struct ChildrenRow {
    children: &'static str,
    #[serde(flatten)]
    counts: Row,
}

#[derive(Serialize)]
struct LengthRow {
    length: &'static str,
    #[serde(flatten)]
    totals: Summary,
}

#[derive(Serialize)]
struct Row {
    gold: u64,
    test: u64,
    matched: u64,
    precision: f64,
    recall: f64,
    f1: f64,
}

impl Row {
    fn new(counts: &Counts) -> Self {
        Self {
            gold: counts.gold,
            test: counts.test,
            matched: counts.gold_matched,
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
        }
    }
}
