//! The report for people: a summary, then tables that show where the errors are.

use std::io::{self, Write};

use super::{by_frequency, rows};
use crate::eval::{CHILDREN, Counts, Evaluation, FunctionScores, LENGTHS, Totals};

/// A line of the summary: its name and its value.
type Line<N> = (&'static str, fn(&Totals) -> N);

const COUNTS: [Line<u64>; 3] = [
    ("sentences", |totals| totals.sentences),
    ("excluded: error", |totals| totals.errors),
    ("excluded: no parse", |totals| totals.skipped),
];

const SHARES: [Line<f64>; 7] = [
    ("coverage", Totals::coverage),
    ("recall", Totals::recall),
    ("precision", Totals::precision),
    ("F1", Totals::f1),
    ("F1, failures empty", Totals::f1_failures_empty),
    ("exact match", Totals::exact),
    ("tagging accuracy", Totals::tagging),
];

const CROSSING: [Line<f64>; 3] = [
    ("crossing per sentence", Totals::average_crossing),
    ("no crossing", Totals::without_crossing),
    ("2 or less crossing", Totals::two_or_less_crossing),
];

const DEPENDENCY: [Line<f64>; 2] = [
    ("UAS", |totals| totals.attachments.uas()),
    ("UAS, no punctuation", |totals| totals.attachments.uas_no_punctuation()),
];

/// Writes the summary and the tables.
///
/// The line "F1, failures empty" is present only if sentences with gold brackets were excluded, that is, if it
/// differs from EVALB's F1.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    let (all, short) = (&evaluation.all, &evaluation.short);
    let cutoff = format!("len<={}", evaluation.params.cutoff);
    writeln!(out, "{:22}{:>10}{cutoff:>10}", "", "all")?;
    for (name, count) in COUNTS {
        writeln!(out, "{name:22}{:10}{:10}", count(all), count(short))?;
    }
    let dependency = if evaluation.heads.is_some() { &DEPENDENCY[..] } else { &[] };
    for (name, share) in SHARES.iter().chain(&CROSSING).chain(dependency) {
        if *name == "F1, failures empty" && all.lost == 0 {
            continue;
        }
        writeln!(out, "{name:22}{:10.2}{:10.2}", share(all), share(short))?;
    }
    tables(out, evaluation)
}

fn tables(out: &mut impl Write, evaluation: &Evaluation) -> io::Result<()> {
    heading(out, "label")?;
    for (label, counts) in by_frequency(evaluation) {
        row(out, if label.is_empty() { "(none)" } else { label }, counts)?;
    }
    if let Some(FunctionScores { brackets, tags }) = &evaluation.functions {
        heading(out, "functions")?;
        row(out, "brackets", brackets)?;
        row(out, "tags", tags)?;
    }
    heading(out, "children")?;
    for (name, counts) in rows(CHILDREN, &evaluation.children) {
        row(out, name, counts)?;
    }
    writeln!(
        out,
        "\n{:12}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "length", "sentences", "excluded", "prec.", "recall", "F1", "exact"
    )?;
    for ((name, _), totals) in rows(LENGTHS, &evaluation.lengths) {
        let left_out = totals.errors + totals.skipped;
        write!(out, "{name:12}{:9}{left_out:9}", totals.sentences)?;
        write!(out, "{:9.2}{:9.2}", totals.precision(), totals.recall())?;
        writeln!(out, "{:9.2}{:9.2}", totals.f1(), totals.exact())?;
    }
    writeln!(out, "\ncounted: {}", evaluation.params.counted())?;
    if evaluation.gold_tags {
        writeln!(out, "tags: gold")?;
    }
    match &evaluation.heads {
        Some(heads) => writeln!(out, "heads: {}", heads.name()),
        None => Ok(()),
    }
}

fn heading(out: &mut impl Write, kind: &str) -> io::Result<()> {
    writeln!(
        out,
        "\n{kind:12}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "gold", "test", "matched", "prec.", "recall", "F1"
    )
}

fn row(out: &mut impl Write, name: &str, counts: &Counts) -> io::Result<()> {
    let Counts { gold, test, gold_matched, .. } = counts;
    write!(out, "{name:12}{gold:9}{test:9}{gold_matched:9}")?;
    writeln!(out, "{:9.2}{:9.2}{:9.2}", counts.precision(), counts.recall(), counts.f1())
}
