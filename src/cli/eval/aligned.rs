//! `srparse eval --align`: scores parses of raw text.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::{EvalArgs, check_f1, gold_cleaning};
use crate::cli::aligned_trees::{no_trees, refuse_two_stdins};
use crate::cli::inputs::inputs;
use crate::eval::align::{self, AlignedScores};
use crate::eval::percent::percent;
use crate::eval::{Counts, Params};
use crate::tree::Tree;
use crate::treebank::{Cleaning, Trees};

/// Scores all trees and prints the report.
pub(super) fn score(
    args: &EvalArgs,
    params: &Params,
    out: &mut impl Write,
) -> anyhow::Result<ExitCode> {
    refuse_two_stdins(&[("gold", &args.gold), ("test", &args.test)])?;
    let gold = read(args, ("gold", &args.gold), &gold_cleaning(args)?)?;
    if gold.is_empty() {
        return Err(no_trees(&args.gold));
    }
    let test = read(args, ("test", &args.test), &Cleaning::none())?;
    let scores = align::score(&gold, &test, params);
    let aligned = percent(scores.aligned_characters, scores.characters);
    if aligned < LEAST_ALIGNED && !args.verbosity.quiet {
        say!(
            "note: only {aligned:.1} % of the gold characters are aligned: are these parses of the same text?"
        );
    }
    let exact = percent(scores.exact, scores.sentences.gold);
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &document(&scores, exact, aligned))?;
        writeln!(out)?;
    } else {
        writeln!(
            out,
            "{:14}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
            "aligned", "gold", "test", "matched", "prec.", "recall", "F1"
        )?;
        for (name, counts) in rows(&scores) {
            let Counts { gold, test, gold_matched, .. } = counts;
            write!(out, "{name:14}{gold:9}{test:9}{gold_matched:9}")?;
            writeln!(out, "{:9.2}{:9.2}{:9.2}", counts.precision(), counts.recall(), counts.f1())?;
        }
        writeln!(out, "exact match{exact:57.2}\naligned characters{aligned:50.2}")?;
        writeln!(out, "\ncounted: {}", params.counted_brackets())?;
    }
    check_f1(scores.brackets.f1(), args.min_f1, out)
}

/// The share of aligned characters, in percent, below which the texts look different.
const LEAST_ALIGNED: f64 = 90.0;

fn rows(scores: &AlignedScores) -> [(&'static str, Counts); 4] {
    [
        ("sentences", scores.sentences),
        ("words", scores.words),
        ("tagged words", scores.tagged),
        ("brackets", scores.brackets),
    ]
}

/// The scores as JSON: a row for each kind, and shares in percent.
fn document(scores: &AlignedScores, exact: f64, aligned: f64) -> Value {
    let row = |counts: Counts| {
        json!({
            "gold": counts.gold,
            "test": counts.test,
            "matched": counts.gold_matched,
            "precision": counts.precision(),
            "recall": counts.recall(),
            "f1": counts.f1(),
        })
    };
    let mut document: serde_json::Map<String, Value> = rows(scores)
        .into_iter()
        .map(|(name, counts)| (name.replace(' ', "_"), row(counts)))
        .collect();
    document.insert("exact".to_owned(), exact.into());
    document.insert("aligned_characters".to_owned(), aligned.into());
    document.into()
}

/// Reads the trees of a side.
fn read(
    args: &EvalArgs,
    (name, path): (&str, &Path),
    strip: &Cleaning,
) -> anyhow::Result<Vec<Tree>> {
    let inputs = inputs(&[path.to_path_buf()], args.verbosity.quiet)?;
    let mut trees = Trees::new(inputs, &args.scoring.encoding.options());
    let mut kept = Vec::new();
    while let Some(tree) = trees.next().transpose()? {
        kept.extend(strip.strip(tree));
    }
    if !args.verbosity.quiet {
        say!("{name}: {}", trees.report());
    }
    Ok(kept)
}
