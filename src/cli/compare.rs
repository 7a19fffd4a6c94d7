//! `srparse compare`: tests whether the difference between two parsers is significant.

mod agreement;

use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use super::aligned_trees::{AlignedTrees, no_trees};
use super::by_tags::ByTags;
use super::options::{SCORING, ScoringArgs, ThreadsArg, Verbosity};
use super::out::OutArg;
use crate::eval::agreement::{MOST_SYSTEMS, NAMES};
use crate::eval::report::compare::Report;
use crate::eval::significance::{MAX_RESAMPLES, MAX_SHUFFLES, Settings, compare};
use crate::eval::{BracketFilter, CHILDREN, Counts, Status};

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
#[command(after_help = "Examples:
  srparse compare data/sample/dev.mrg data/sample/dev.mrg data/sample/dev.mrg
  srparse compare --agreement data/sample/dev.mrg data/sample/dev.mrg data/sample/dev.mrg")]
pub struct CompareArgs {
    /// Gold trees: a file (may be .gz), a folder, a quoted glob, or - for standard input.
    gold: PathBuf,
    /// Trees of parser A, one for each gold tree; given like the gold trees.
    a: PathBuf,
    /// Trees of parser B.
    b: PathBuf,
    /// Trees of more parsers, C to F, with --agreement.
    #[arg(value_name = "C", num_args = 0..=MOST_SYSTEMS - 2, requires = "agreement")]
    more: Vec<PathBuf>,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    /// Compare only sentences of at most N tokens, punctuation included.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = SCORING)]
    max_words: Option<u32>,
    /// Compare only brackets with this label, such as NP.
    #[arg(long, value_name = "LABEL", help_heading = SCORING)]
    label: Option<String>,
    /// Compare only brackets with N children; 6+ means six or more.
    ///
    /// As in the table of `srparse eval`, recall goes by the children of gold brackets, precision by those of a parser's.
    #[arg(long, value_name = "N", value_parser = CHILDREN, help_heading = SCORING)]
    children: Option<String>,
    /// Number of shuffles; the smallest possible p-value is 1 / (N + 1).
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = TEST,
          value_parser = clap::value_parser!(u64).range(1..=MAX_SHUFFLES))]
    shuffles: u64,
    /// Number of bootstrap samples for the confidence interval.
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = TEST,
          value_parser = clap::value_parser!(u64).range(1..=MAX_RESAMPLES))]
    resamples: u64,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = TEST)]
    seed: u64,
    /// Exit with status 1 unless B has the higher F1 with a p-value of at most P.
    #[arg(long, value_name = "P", value_parser = probability, help_heading = TEST)]
    max_p: Option<f64>,
    /// Print instead how many gold brackets, and how many whole trees, each subset of the parsers gets right.
    ///
    /// Every bracket is counted once, under the parsers that find it and no others; likewise every sentence,
    /// under those whose brackets are exactly the gold ones.
    #[arg(long, conflicts_with_all = ["label", "children", "shuffles", "resamples", "seed", "max_p"])]
    agreement: bool,
    /// Print one JSON object instead of the report.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    scoring: ScoringArgs,
}

const TEST: &str = "Significance options";

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, or the numbers of trees differ.
pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    let mut out = args.out.open([&args.gold, &args.a, &args.b].into_iter().chain(&args.more))?;
    if args.agreement {
        return agreement::run(args, out);
    }
    let filter = BracketFilter::new(args.label.as_deref(), args.children.as_deref())?;
    let (sentences, failures) = read(args, &filter)?;
    let CompareArgs { shuffles, resamples, seed, max_words, .. } = *args;
    let settings = Settings { shuffles, resamples, seed };
    let comparison = compare(&sentences, &settings);
    let report = Report {
        comparison: &comparison,
        settings: &settings,
        max_words,
        filter: &filter,
        failures,
    };
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

impl CompareArgs {
    /// Opens the gold trees and those of all parsers.
    fn sides(&self) -> anyhow::Result<AlignedTrees> {
        let parsers = [&self.a, &self.b].into_iter().chain(&self.more);
        let gold = ("gold", self.gold.as_path());
        let named: Vec<(&str, &Path)> =
            iter::once(gold).chain(NAMES.into_iter().zip(parsers.map(PathBuf::as_path))).collect();
        let sides =
            AlignedTrees::open(&named, &self.scoring.encoding.options(), self.verbosity.quiet)?;
        Ok(sides.strip_gold(self.scoring.cleaning()?))
    }

    /// Checks that there were sentences, and says how many trees were read and on how many each parser failed.
    fn report(&self, sides: &AlignedTrees, sentences: u64, failures: &[u64]) -> anyhow::Result<()> {
        if sides.read() == 0 {
            return Err(no_trees(&self.gold));
        }
        if sentences == 0 {
            bail!("{}: every sentence is longer than --max-words: raise it", self.gold.display());
        }
        for (name, failures) in NAMES.iter().zip(failures) {
            if *failures > 0 && !self.verbosity.quiet {
                say!(
                    "{name}: sentences without a parse, or with words that differ from gold: {failures} (counted \
                     as parses without brackets; `srparse eval` lists them)"
                );
            }
        }
        sides.report();
        Ok(())
    }
}

/// Counts the brackets of each sentence within the length limit, and the sentences that A and B failed on.
fn read(
    args: &CompareArgs,
    filter: &BracketFilter,
) -> anyhow::Result<(Vec<[Counts; 2]>, [u64; 2])> {
    let params = args.scoring.params()?;
    let mut sides = args.sides()?;
    let mut scores = ByTags::new(&args.scoring, &params, |evaluation| {
        ([evaluation.clone(), evaluation], Vec::new(), [0; 2])
    });
    while let Some(trees) = sides.next()? {
        let [gold, a, b] = &trees[..] else { break };
        scores.add(|(systems, sentences, failures)| {
            let [system_a, system_b] = systems;
            let [(score_a, counts_a), (score_b, counts_b)] =
                [(system_a, a), (system_b, b)].map(|(system, tree)| {
                    system.add_with(gold, tree, |pair| (pair.score.clone(), pair.count(filter)))
                });
            let statuses = [score_a.status, score_b.status];
            if args.max_words.is_none_or(|most| score_a.length <= most) {
                for (status, failures) in statuses.iter().zip(failures) {
                    *failures += u64::from(*status != Status::Valid);
                }
                sentences.push([counts_a, counts_b]);
            }
            statuses.to_vec()
        });
    }
    let (systems, sentences, failures) = scores.choose(args.verbosity.quiet);
    args.report(&sides, sentences.len() as u64, &failures)?;
    sides.warn_of_other_words(&systems, &args.scoring);
    filter.check(&sentences)?;
    Ok((sentences, failures))
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("must be a probability from 0 to 1, such as 0.05".to_owned()),
    }
}
