//! `srparse eval`: scores test trees against gold trees.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;

use crate::eval::report::{evalb, json, text};
use crate::eval::{Evaluation, Lines, OTHER_ROOTS, Params, SentenceScore};
use crate::tree::Tree;
use crate::tree::heads::HeadRules;
use crate::treebank::{Encoding, Input, ReadOptions, Trees, expand};

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
    if is_stdin(&args.gold) && is_stdin(&args.test) {
        bail!("GOLD and TEST are both -: only one of them can be standard input");
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
    let mut gold = Side::open("gold", &args.gold, &options)?;
    let mut test = Side::open("test", &args.test, &options)?;
    let mut evaluation = Evaluation::new(params, Some(heads));
    if args.per_sentence {
        evalb::header(out)?;
    }
    loop {
        let (gold_tree, test_tree) = match (gold.next()?, test.next()?) {
            (Some(gold), Some(test)) => (gold, test),
            (None, None) => break,
            _ => return Err(other_numbers(&mut gold, &mut test)?),
        };
        let score = evaluation.add(&gold_tree, &test_tree);
        complain(&score, gold.read, evaluation.all.errors, &test);
        if args.per_sentence {
            evalb::row(out, gold.read, &score)?;
        }
    }
    if gold.read == 0 {
        bail!("{}: no trees to score: is this the right file?", args.gold.display());
    }
    if evaluation.all.errors > NAMED_ERRORS {
        eprintln!("{} more left out as errors", evaluation.all.errors - NAMED_ERRORS);
    }
    for side in [&gold, &test] {
        eprintln!("{}: {}", side.name, side.trees.report());
        side.report_roots();
    }
    Ok(evaluation)
}

/// One of the two treebanks, and the roots met in it that are taken as `TOP`.
struct Side {
    name: &'static str,
    trees: Trees,
    read: u64,
    roots: [u64; OTHER_ROOTS.len()],
}

impl Side {
    fn open(name: &'static str, path: &Path, options: &ReadOptions) -> anyhow::Result<Self> {
        let trees = Trees::open(&[path.to_path_buf()], options)?;
        Ok(Self { name, trees, read: 0, roots: [0; OTHER_ROOTS.len()] })
    }

    fn next(&mut self) -> anyhow::Result<Option<Tree>> {
        let Some(tree) = self.trees.next().transpose()? else {
            return Ok(None);
        };
        self.read += 1;
        // `(())` has no root worth a word: it is no tree at all.
        let root = tree.root().filter(|_| !tree.tokens().is_empty());
        let root = root.map(|root| tree.node(root).label.as_str());
        if let Some(known) = OTHER_ROOTS.iter().position(|&other| Some(other) == root) {
            self.roots[known] += 1;
        }
        Ok(Some(tree))
    }

    fn report_roots(&self) {
        let met: Vec<String> = (OTHER_ROOTS.iter().zip(self.roots))
            .filter(|&(_, count)| count > 0)
            .map(|(root, count)| {
                let root = if root.is_empty() { "without label" } else { root };
                format!("{count} {root}")
            })
            .collect();
        if !met.is_empty() {
            eprintln!("{} roots taken as TOP: {}", self.name, met.join(", "));
        }
    }
}

/// Says why a sentence was left out, for the first few.
fn complain(score: &SentenceScore, number: u64, errors: u64, test: &Side) {
    if errors <= NAMED_ERRORS && !score.problems.is_empty() {
        let place = test.trees.place().map(|place| format!("{place}: ")).unwrap_or_default();
        eprintln!("{place}sentence {number} left out: {}", score.problems.join("; "));
    }
}

/// The error of treebanks that are not parallel; reads what is left of the longer one to count it.
fn other_numbers(gold: &mut Side, test: &mut Side) -> anyhow::Result<anyhow::Error> {
    for side in [&mut *gold, &mut *test] {
        while side.next()?.is_some() {}
    }
    let (gold, test) = (gold.read, test.read);
    Ok(anyhow::anyhow!(
        "{gold} gold trees but {test} test trees: sentence {} has no partner; \
         give both files one tree a sentence, (()) where there is no parse",
        gold.min(test) + 1
    ))
}

/// Scores line by line and prints what EVALB prints; `None` when there were too many errors.
fn score_lines(
    args: &EvalArgs,
    params: Params,
    out: &mut impl Write,
) -> anyhow::Result<Option<Evaluation>> {
    let mut gold = Lines::open(&single(&args.gold)?, args.encoding)?;
    let mut test = Lines::open(&single(&args.test)?, args.encoding)?;
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

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn percentage(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value),
        _ => Err("give a percentage from 0 to 100, such as 87.5".to_owned()),
    }
}
