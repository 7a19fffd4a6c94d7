//! `srparse eval`: scores test trees against gold trees.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use super::aligned_trees::{AlignedTrees, no_trees, refuse_two_stdins};
use crate::eval::report::{evalb, json, text};
use crate::eval::{Evaluation, Params, SentenceScore};
use crate::tree::heads::HeadRules;
use crate::treebank::{Encoding, Input, LineReader, ReadOptions, expand};

/// How many of the sentences left out as errors are named.
const NAMED_ERRORS: u64 = 10;

/// Score test trees against gold trees.
///
/// Trees may spread over several lines. Roots called ROOT, S1, VROOT or nothing are taken as TOP, which
/// is not scored. The summary has EVALB's numbers to the last digit. EVALB leaves out sentences whose
/// words differ or that have no parse, such as (()); when that happens, an F1 that counts them as
/// parses without brackets stands beside EVALB's.
///
/// Exit status: 0 done, 1 F1 below --min-f1 (or, with --evalb, too many errors), 2 error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  srparse eval data/sample/dev.mrg data/sample/dev.mrg")]
pub struct EvalArgs {
    /// Gold trees: a file (.gz too), a folder, a quoted pattern, or - for standard input.
    gold: PathBuf,
    /// Trees to score, as many as there are gold trees.
    test: PathBuf,
    /// What counts: collins, new or spmrl, or a file in EVALB's .prm format.
    #[arg(long, value_name = "NAME|FILE.prm", default_value = "collins")]
    params: String,
    /// Do all as EVALB: pair lines, keep roots as they are, print its report, stop past MAX_ERROR.
    #[arg(long)]
    evalb: bool,
    /// Take the tags of both trees from the gold tree, so that wrong tags do not change which words
    /// count; tagging accuracy is still that of the test trees' own tags.
    #[arg(long, conflicts_with = "evalb")]
    gold_tags: bool,
    /// Print one JSON object instead of the report.
    #[arg(long, conflicts_with = "evalb")]
    json: bool,
    /// Print a row for each sentence before the report, in EVALB's columns.
    #[arg(long, conflicts_with_all = ["evalb", "json"])]
    per_sentence: bool,
    /// Fail with exit status 1 if EVALB's F1 over all sentences is below this.
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    min_f1: Option<f64>,
    /// Head rules for dependency accuracy: a name or a file.
    #[arg(long, value_name = "NAME|FILE", default_value = "collins")]
    heads: String,
    /// Encoding of both files: utf-8, gb18030 or latin-1.
    #[arg(long, value_name = "NAME", default_value = "utf-8")]
    encoding: Encoding,
}

/// Runs the command.
///
/// # Errors
/// When something cannot be read, or there are not as many test trees as gold trees.
pub fn run(args: &EvalArgs) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(io::stdout().lock());
    let code = score(args, &mut out)?;
    out.flush()?;
    Ok(code)
}

fn score(args: &EvalArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let params = Params::load(&args.params)?;
    if params.debug > 0 {
        eprintln!("note: DEBUG in {} has no effect; use --per-sentence", args.params);
    }
    let evaluation = if args.evalb {
        match score_lines(args, params, out)? {
            Some(evaluation) => evaluation,
            None => return Ok(ExitCode::FAILURE),
        }
    } else {
        let evaluation = score_trees(args, params, out)?;
        if args.json {
            json::write(out, &evaluation)?;
        } else {
            text::write(out, &evaluation)?;
        }
        evaluation
    };
    let f1 = evaluation.all.f1();
    match args.min_f1 {
        Some(least) if f1 < least => {
            out.flush()?;
            eprintln!("F1 {f1:.2} is below --min-f1 {least}");
            Ok(ExitCode::FAILURE)
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Scores tree by tree; prints the rows of sentences if they are wanted.
fn score_trees(
    args: &EvalArgs,
    params: Params,
    out: &mut impl Write,
) -> anyhow::Result<Evaluation> {
    let heads = load_heads(&args.heads)?;
    let options = ReadOptions { encoding: args.encoding, ..ReadOptions::default() };
    let named = [("gold", args.gold.as_path()), ("test", args.test.as_path())];
    let mut sides = AlignedTrees::open(named, &options)?;
    let mut evaluation = Evaluation::new(params, Some(heads));
    evaluation.gold_tags = args.gold_tags;
    if args.per_sentence {
        evalb::header(out)?;
    }
    while let Some([gold, test]) = sides.next()? {
        let score = evaluation.add(&gold, &test);
        complain(&score, evaluation.all.errors, &sides);
        if args.per_sentence {
            evalb::row(out, sides.read(), &score)?;
        }
    }
    if sides.read() == 0 {
        return Err(no_trees(&args.gold));
    }
    if evaluation.all.errors > NAMED_ERRORS {
        eprintln!("{} more left out as errors", evaluation.all.errors - NAMED_ERRORS);
    }
    sides.report();
    Ok(evaluation)
}

/// Says why a sentence was left out, for the first few.
fn complain(score: &SentenceScore, errors: u64, sides: &AlignedTrees<2>) {
    if errors <= NAMED_ERRORS && !score.problems.is_empty() {
        let place = sides.place(1).map(|place| format!("{place}: ")).unwrap_or_default();
        eprintln!("{place}sentence {} left out: {}", sides.read(), score.problems.join("; "));
    }
}

/// Scores line by line and prints what EVALB prints; `None` when there were too many errors.
fn score_lines(
    args: &EvalArgs,
    params: Params,
    out: &mut impl Write,
) -> anyhow::Result<Option<Evaluation>> {
    refuse_two_stdins(&[("gold", &args.gold), ("test", &args.test)])?;
    let mut gold = LineReader::open(&single(&args.gold)?, args.encoding)?;
    let mut test = LineReader::open(&single(&args.test)?, args.encoding)?;
    let mut errors = EvalbErrors { count: 0, most: params.max_error };
    let mut evaluation = Evaluation::new(params, None);
    evalb::header(out)?;
    let mut number = 1;
    loop {
        let (gold_line, test_line) = match (gold.read()?, test.read()?) {
            (Some(gold), Some(test)) => (gold, test),
            (None, None) => break,
            (gold, _) => {
                let longer = if gold.is_some() { "gold" } else { "test" };
                let problem = format!("Number of lines unmatch (too many lines in {longer} file)");
                if errors.is_too_many(number, &problem) {
                    return Ok(None);
                }
                break;
            }
        };
        let score = evaluation.add_lines(&gold_line, &test_line);
        if score.problems.iter().any(|problem| errors.is_too_many(number, problem)) {
            return Ok(None);
        }
        evalb::row(out, number, &score)?;
        number += 1;
    }
    evalb::summary(out, &evaluation)?;
    Ok(Some(evaluation))
}

/// Errors as EVALB prints and counts them.
struct EvalbErrors {
    count: u64,
    most: u64,
}

impl EvalbErrors {
    /// Prints an error. EVALB compares before it counts, so that one more than MAX_ERROR are borne.
    fn is_too_many(&mut self, number: u64, problem: &str) -> bool {
        eprintln!("{number} : {problem}");
        self.count += 1;
        self.count - 1 > self.most
    }
}

/// The one input that a path stands for.
fn single(path: &Path) -> anyhow::Result<Input> {
    let mut inputs = expand(&[path.to_path_buf()])?;
    match inputs.pop() {
        Some(input) if inputs.is_empty() => Ok(input),
        _ => bail!("{}: --evalb pairs the lines of two files: give one file", path.display()),
    }
}

fn load_heads(name: &str) -> anyhow::Result<HeadRules> {
    let path = Path::new(name);
    match HeadRules::named(name) {
        Err(_) if path.exists() || path.extension().is_some() => Ok(HeadRules::read(path)?),
        other => Ok(other?),
    }
}

fn percentage(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err("give a percentage from 0 to 100, such as 87.5".to_owned()),
    }
}
