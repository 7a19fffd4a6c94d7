//! `srparse compare`: tests whether the difference between two parsers is significant.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::aligned_trees::{AlignedTrees, no_trees};
use super::options::{SCORING, ScoringArgs, ThreadsArg, Verbosity};
use super::out::OutArg;
use crate::eval::Status;
use crate::eval::report::compare::Report;
use crate::eval::significance::{Brackets, Settings, compare};

/// Compare two parsers on the same sentences.
///
/// Prints precision, recall and F1 of both parsers and tests the differences with stratified shuffling
/// (approximate randomization). The two-sided p-value is the probability of a difference at least as large
/// if the parsers did not differ. A paired bootstrap gives a 95 % confidence interval of the F1 difference.
/// Sentences that EVALB excludes count as parses without brackets, as in "F1, failures empty" of
/// `srparse eval`.
///
/// Exit status: 0 on success; 1 if B is not significantly better by --max-p; 2 on an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  srparse compare data/sample/dev.mrg data/sample/dev.mrg data/sample/dev.mrg")]
pub struct CompareArgs {
    /// Gold trees: a file (may be .gz), a folder, a quoted pattern, or - for standard input.
    gold: PathBuf,
    /// Trees of parser A, one for each gold tree; given like the gold trees.
    a: PathBuf,
    /// Trees of parser B.
    b: PathBuf,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    /// Compare only sentences of at most N tokens, punctuation included.
    #[arg(long, value_name = "N", help_heading = SCORING)]
    max_words: Option<u32>,
    /// Number of shuffles; the smallest possible p-value is 1 / (N + 1).
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = TEST,
          value_parser = clap::value_parser!(u64).range(1..=MOST_SHUFFLES))]
    shuffles: u64,
    /// Number of bootstrap samples for the confidence interval.
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = TEST,
          value_parser = clap::value_parser!(u64).range(1..=MOST_RESAMPLES))]
    resamples: u64,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = TEST)]
    seed: u64,
    /// Exit with status 1 unless B has the higher F1 with a p-value of at most P.
    #[arg(long, value_name = "P", value_parser = probability, help_heading = TEST)]
    max_p: Option<f64>,
    /// Print one JSON object instead of the report.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    scoring: ScoringArgs,
}

const TEST: &str = "Significance options";

/// The maximum number of shuffles.
const MOST_SHUFFLES: u64 = 1_000_000_000;
/// The maximum number of bootstrap samples: the difference of each is kept in memory.
const MOST_RESAMPLES: u64 = 10_000_000;

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, or the numbers of trees differ.
pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    let mut out = args.out.open([&args.gold, &args.a, &args.b])?;
    let (sentences, failures) = read(args)?;
    let CompareArgs { shuffles, resamples, seed, max_words, .. } = *args;
    let settings = Settings { shuffles, resamples, seed };
    let comparison = compare(&sentences, &settings);
    let report = Report { comparison: &comparison, settings: &settings, max_words, failures };
    if args.json {
        report.json(&mut out)?;
    } else {
        report.text(&mut out)?;
    }
    out.finish()?;
    let (difference, p) = (comparison.difference().f1, comparison.p.f1);
    match args.max_p {
        Some(most) if difference <= 0.0 || p > most => {
            say!("B is not better at --max-p {most}: F1 difference {difference:+.2}, p = {p:.4}");
            Ok(ExitCode::FAILURE)
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Counts the brackets of each sentence within the length limit, and the sentences that A and B failed on.
fn read(args: &CompareArgs) -> anyhow::Result<(Vec<[Brackets; 2]>, [u64; 2])> {
    let params = args.scoring.params()?;
    let options = args.scoring.options();
    let paths = [("gold", args.gold.as_path()), ("A", &args.a), ("B", &args.b)];
    let sides = AlignedTrees::open(paths, &options, args.verbosity.quiet)?;
    let mut sides = sides.strip_gold(args.scoring.cleaning()?);
    let mut systems = [(); 2].map(|()| args.scoring.evaluation(params.clone(), None));
    let (mut sentences, mut failures) = (Vec::new(), [0; 2]);
    while let Some([gold, a, b]) = sides.next()? {
        let scores = [systems[0].add(&gold, &a), systems[1].add(&gold, &b)];
        if args.max_words.is_some_and(|most| scores[0].length > most) {
            continue;
        }
        for (score, failures) in scores.iter().zip(&mut failures) {
            *failures += u64::from(score.status != Status::Valid);
        }
        sentences.push([Brackets::of(&scores[0]), Brackets::of(&scores[1])]);
    }
    if sides.read() == 0 {
        return Err(no_trees(&args.gold));
    }
    if sentences.is_empty() {
        bail!("{}: every sentence is longer than --max-words: raise it", args.gold.display());
    }
    for (name, failures) in ["A", "B"].iter().zip(failures) {
        if failures > 0 && !args.verbosity.quiet {
            say!(
                "{name}: sentences without a parse, or with words that differ from gold: {failures} (counted as \
                 parses without brackets; `srparse eval` lists them)"
            );
        }
    }
    sides.report();
    Ok((sentences, failures))
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("must be a probability from 0 to 1, such as 0.05".to_owned()),
    }
}
