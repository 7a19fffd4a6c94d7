//! `srparse eval`: scores parse trees against gold trees.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use super::aligned_trees::{AlignedTrees, no_trees, refuse_two_stdins};
use super::listed;
use super::notes::Notes;
use super::options::{OUTPUT, SCORING, ScoringArgs, Verbosity};
use super::out::OutArg;
use crate::eval::report::{evalb, json, text};
use crate::eval::{Evaluation, FunctionScores, Params, SentenceScore};
use crate::tree::heads::HeadRules;
use crate::treebank::clean::{Cleaning, Functions};
use crate::treebank::{Input, LineReader, expand};

/// Score parse trees against gold trees.
///
/// Computes labelled precision, recall and F1 (PARSEVAL) exactly as EVALB does, and unlabelled dependency
/// accuracy (UAS). The n-th test tree is compared with the n-th gold tree; trees may span several lines.
/// Roots labelled ROOT, S1, VROOT or without a label are treated as TOP, which is not scored.
///
/// EVALB excludes sentences without a parse, such as (()), and sentences whose words differ from gold. If
/// there are any, the report also gives an F1 that counts them as parses without brackets.
///
/// Exit status: 0 on success; 1 if F1 is below --min-f1 or, with --evalb, there are too many errors; 2 on
/// an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse parse --input penn data/sample/dev.mrg | srparse eval data/sample/dev.mrg -
  srparse eval --json data/sample/dev.mrg data/sample/dev.mrg")]
pub struct EvalArgs {
    /// Gold trees: a file (may be .gz), a folder, a quoted pattern, or - for standard input.
    gold: PathBuf,
    /// Trees to score, one for each gold tree; given like the gold trees.
    test: PathBuf,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    /// Also score function tags, such as SBJ in NP-SBJ: brackets whose function tags must match too, and the tags of
    /// matching brackets.
    #[arg(long, conflicts_with = "evalb", help_heading = SCORING)]
    functions: bool,
    /// Head rules for dependency accuracy: a name listed by `srparse info`, or a file.
    #[arg(value_parser = listed::heads(), hide_possible_values = true, long, value_name = "NAME|FILE", default_value = "collins", help_heading = SCORING)]
    heads: String,
    /// Behave as EVALB: compare line by line, leave roots as they are, print its report, and stop after
    /// more than MAX_ERROR errors.
    #[arg(long, conflicts_with_all = ["treebank", "gold_tags"], help_heading = SCORING)]
    evalb: bool,
    /// Print one JSON object instead of the report.
    #[arg(long, conflicts_with = "evalb", help_heading = OUTPUT)]
    json: bool,
    /// Print a row for each sentence before the report, in EVALB's columns.
    #[arg(long, conflicts_with_all = ["evalb", "json"], help_heading = OUTPUT)]
    per_sentence: bool,
    /// Exit with status 1 if F1 over all sentences, as EVALB computes it, is below PERCENT.
    #[arg(long, value_name = "PERCENT", value_parser = percentage, help_heading = OUTPUT)]
    min_f1: Option<f64>,
    #[command(flatten)]
    scoring: ScoringArgs,
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, or the numbers of test trees and gold trees differ.
pub fn run(args: &EvalArgs) -> anyhow::Result<ExitCode> {
    let mut out = args.out.open([&args.gold, &args.test])?;
    let code = score(args, &mut out)?;
    out.finish()?;
    Ok(code)
}

fn score(args: &EvalArgs, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    let params = args.scoring.params()?;
    if params.debug > 0 && !args.verbosity.quiet {
        say!(
            "note: DEBUG in {} has no effect; use --per-sentence instead",
            args.scoring.params_name()
        );
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
            say!("F1 {f1:.2} is below --min-f1 {least}");
            Ok(ExitCode::FAILURE)
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Scores tree by tree; prints a row for each sentence if asked for.
fn score_trees(
    args: &EvalArgs,
    params: Params,
    out: &mut impl Write,
) -> anyhow::Result<Evaluation> {
    let heads = HeadRules::load(&args.heads).context("--heads")?;
    let options = args.scoring.options();
    let named = [("gold", args.gold.as_path()), ("test", args.test.as_path())];
    let sides = AlignedTrees::open(&named, &options, args.verbosity.quiet)?;
    let mut sides = sides.strip_gold(gold_cleaning(args)?);
    let mut evaluation = args.scoring.evaluation(params, Some(heads));
    evaluation.functions = args.functions.then(FunctionScores::default);
    if args.per_sentence {
        evalb::header(out)?;
    }
    let mut excluded = Notes::new("excluded sentences", args.verbosity.quiet);
    while let Some(trees) = sides.next()? {
        let [gold, test] = &trees[..] else { break };
        let score = evaluation.add(gold, test);
        report_error(&score, &sides, &mut excluded);
        if args.per_sentence {
            evalb::row(out, sides.read(), &score)?;
        }
    }
    if sides.read() == 0 {
        return Err(no_trees(&args.gold));
    }
    excluded.end();
    sides.report();
    Ok(evaluation)
}

/// Returns how gold trees are cleaned; function tags stay if they are scored.
fn gold_cleaning(args: &EvalArgs) -> anyhow::Result<Cleaning> {
    let mut cleaning = args.scoring.cleaning()?;
    if args.functions {
        cleaning.functions = Functions::Keep;
    }
    Ok(cleaning)
}

/// Notes why a sentence was excluded.
fn report_error(score: &SentenceScore, sides: &AlignedTrees, excluded: &mut Notes) {
    if !score.problems.is_empty() {
        let place = sides.place(1).map(|place| format!("{place}: ")).unwrap_or_default();
        let problems = score.problems.join("; ");
        let message = format!("{place}sentence {} excluded: {problems}", sides.read());
        sides.print(|| excluded.print(&message));
    }
}

/// Scores line by line and prints EVALB's report; returns `None` if there were too many errors.
fn score_lines(
    args: &EvalArgs,
    params: Params,
    out: &mut impl Write,
) -> anyhow::Result<Option<Evaluation>> {
    refuse_two_stdins(&[("gold", &args.gold), ("test", &args.test)])?;
    let mut gold = LineReader::open(&single(&args.gold)?, args.scoring.encoding())?;
    let mut test = LineReader::open(&single(&args.test)?, args.scoring.encoding())?;
    let mut errors = EvalbErrors { count: 0, max: params.max_error };
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

/// Prints and counts errors as EVALB does.
struct EvalbErrors {
    count: u64,
    max: u64,
}

impl EvalbErrors {
    /// Prints an error. EVALB compares before it counts, so it tolerates one error more than MAX_ERROR.
    fn is_too_many(&mut self, number: u64, problem: &str) -> bool {
        say!("{number} : {problem}");
        self.count += 1;
        self.count - 1 > self.max
    }
}

/// Returns the input of a path that must be a single file.
fn single(path: &Path) -> anyhow::Result<Input> {
    let mut inputs = expand(&[path.to_path_buf()])?.found;
    match inputs.pop() {
        Some(input) if inputs.is_empty() => Ok(input),
        _ => {
            bail!("{}: --evalb compares two files line by line: give a single file", path.display())
        }
    }
}

fn percentage(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err("must be a percentage from 0 to 100, such as 87.5".to_owned()),
    }
}
