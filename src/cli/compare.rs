//! `srparse compare`: is one system better than another, or only luckier?

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::aligned_trees::{AlignedTrees, no_trees};
use crate::eval::report::compare::Report;
use crate::eval::significance::{Brackets, Settings, compare};
use crate::eval::{Evaluation, Params, Status};
use crate::treebank::{Encoding, ReadOptions};

/// Compare two systems on the same sentences.
///
/// Prints the scores of both, their differences, and for each a p-value: the chance that systems that do
/// not differ would differ as much, in either direction (stratified shuffling). A paired bootstrap gives
/// a 95 % interval of the F1 difference. Sentences that EVALB leaves out count as parses without
/// brackets, as in the "F1, failures empty" of `srparse eval`.
///
/// Exit status: 0 done, 1 B is not better by --max-p, 2 error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  srparse compare data/sample/dev.mrg data/sample/dev.mrg data/sample/dev.mrg")]
pub struct CompareArgs {
    /// Gold trees: a file (.gz too), a folder, a quoted pattern, or - for standard input.
    gold: PathBuf,
    /// Trees of system A, as many as there are gold trees.
    a: PathBuf,
    /// Trees of system B.
    b: PathBuf,
    /// What counts: collins, new or spmrl, or a file in EVALB's .prm format.
    #[arg(long, value_name = "NAME|FILE.prm", default_value = "collins")]
    params: String,
    /// Take the tags of all trees from the gold tree.
    #[arg(long)]
    gold_tags: bool,
    /// Compare sentences of at most this length only, punctuation included.
    #[arg(long, value_name = "N")]
    max_words: Option<u32>,
    /// Shuffles for the p-values; no p-value is below 1 / (shuffles + 1).
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..=MOST_SHUFFLES))]
    shuffles: u64,
    /// Resamples for the interval.
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..=MOST_RESAMPLES))]
    resamples: u64,
    /// Seed of shuffles and resamples.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Fail with exit status 1 unless B has the higher F1, with a p-value of at most this.
    #[arg(long, value_name = "P", value_parser = probability)]
    max_p: Option<f64>,
    /// Print one JSON object instead of the report.
    #[arg(long)]
    json: bool,
    /// Threads; 0 for one on each core. The output is the same for any number.
    #[arg(short = 'j', long = "threads", value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Encoding of all files: utf-8, gb18030 or latin-1.
    #[arg(long, value_name = "NAME", default_value = "utf-8")]
    encoding: Encoding,
}

/// The most shuffles.
const MOST_SHUFFLES: u64 = 1_000_000_000;
/// The most resamples: the difference of each is kept in memory.
const MOST_RESAMPLES: u64 = 10_000_000;

/// Runs the command.
///
/// # Errors
/// When something cannot be read, or there are not as many trees on all sides.
pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    super::set_threads(args.threads);
    let (sentences, failures) = read(args)?;
    let CompareArgs { shuffles, resamples, seed, max_words, .. } = *args;
    let settings = Settings { shuffles, resamples, seed };
    let comparison = compare(&sentences, &settings);
    let report = Report { comparison: &comparison, settings: &settings, max_words, failures };
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        report.json(&mut out)?;
    } else {
        report.text(&mut out)?;
    }
    out.flush()?;
    let (difference, p) = (comparison.difference().f1, comparison.p.f1);
    match args.max_p {
        Some(most) if difference <= 0.0 || p > most => {
            eprintln!("B is not better with --max-p {most}: F1 {difference:+.2}, p {p:.4}");
            Ok(ExitCode::FAILURE)
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The brackets of each sentence within the length limit, and how many of them A and B failed on.
fn read(args: &CompareArgs) -> anyhow::Result<(Vec<[Brackets; 2]>, [u64; 2])> {
    let params = Params::load(&args.params)?;
    let options = ReadOptions { encoding: args.encoding, ..ReadOptions::default() };
    let paths = [("gold", args.gold.as_path()), ("A", &args.a), ("B", &args.b)];
    let mut sides = AlignedTrees::open(paths, &options)?;
    let mut systems = [(); 2].map(|()| {
        let mut evaluation = Evaluation::new(params.clone(), None);
        evaluation.gold_tags = args.gold_tags;
        evaluation
    });
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
        bail!("{}: no sentence has so few words: raise --max-words", args.gold.display());
    }
    for (name, failures) in ["A", "B"].iter().zip(failures) {
        if failures > 0 {
            eprintln!(
                "{name}: sentences without a parse or with other words than gold: {failures}; \
                 they count as parses without brackets (`srparse eval` names them)"
            );
        }
    }
    sides.report();
    Ok((sentences, failures))
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("give a probability from 0 to 1, such as 0.05".to_owned()),
    }
}
