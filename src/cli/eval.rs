//! `srparse eval`: scores parse trees against gold trees.

mod aligned;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use super::aligned_trees::{AlignedTrees, no_trees, refuse_two_stdins};
use super::by_tags::ByTags;
use super::listed;
use super::notes::Notes;
use super::options::{OUTPUT, SCORING, ScoringArgs, Verbosity};
use super::out::OutArg;
use crate::eval::report::{evalb, json, text};
use crate::eval::{Evaluation, FunctionScores, Params, SentenceScore};
use crate::memory::MODEL_MAGIC;
use crate::model::Model;
use crate::tree::heads::HeadRules;
use crate::tree::{Tree, base_label, is_root_label};
use crate::treebank::clean::{Cleaning, Functions};
use crate::treebank::{Input, LineReader, expand};

/// Score parse trees against gold trees.
///
/// Computes labelled precision, recall and F1 (PARSEVAL) as EVALB does, and unlabelled dependency
/// accuracy (UAS). The n-th test tree is compared with the n-th gold tree; trees may span several lines.
/// Roots labelled ROOT, S1, VROOT or without a label are treated as TOP, which is not scored.
///
/// EVALB excludes sentences without a parse, such as (()), and sentences whose words differ from gold. If
/// there are any, the report also gives an F1 that counts them as parses without brackets.
///
/// In the table by number of children, recall goes by the children of gold brackets and precision by those
/// of test brackets, so "matched", which counts gold brackets, can exceed "test".
///
/// Exit status: 0 on success; 1 if F1 is below --min-f1 or, with --evalb, there are too many errors; 2 on
/// an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse parse --input penn data/sample/dev.mrg | srparse eval data/sample/dev.mrg -
  srparse eval --json data/sample/dev.mrg data/sample/dev.mrg")]
pub struct EvalArgs {
    /// Gold trees: a file (may be .gz), a folder, a quoted glob, or - for standard input.
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
    /// Head rules for dependency accuracy: a name listed by `srparse info`, a file, or a model with its rules. Without
    /// this option those of the treebank profile; without a profile `collins`, if they fit the labels of the gold trees.
    #[arg(value_parser = listed::heads(), hide_possible_values = true, long, value_name = "NAME|FILE", help_heading = SCORING)]
    heads: Option<String>,
    /// Behave as EVALB: compare line by line, leave roots as they are, print its report, and stop after
    /// more than MAX_ERROR errors.
    #[arg(long, conflicts_with_all = ["treebank", "gold_tags", "own_tags"], help_heading = SCORING)]
    evalb: bool,
    /// Align the texts by their characters: for parses of raw text whose words or sentences differ from gold. Prints
    /// precision, recall and F1 of sentences, words, tagged words and brackets.
    #[arg(long, conflicts_with_all = ["evalb", "functions", "per_sentence", "gold_tags", "own_tags", "heads"], help_heading = SCORING)]
    align: bool,
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
    if args.align {
        return aligned::score(args, &params, out);
    }
    let evaluation = if args.evalb {
        match score_lines(args, params, out)? {
            Some(evaluation) => evaluation,
            None => return Ok(ExitCode::FAILURE),
        }
    } else {
        let evaluation = score_trees(args, &params, out)?;
        if args.json {
            json::write(out, &evaluation)?;
        } else {
            text::write(out, &evaluation)?;
        }
        evaluation
    };
    check_f1(evaluation.all.f1(), args.min_f1, out)
}

/// Returns the exit status.
fn check_f1(f1: f64, least: Option<f64>, out: &mut impl Write) -> anyhow::Result<ExitCode> {
    match least {
        Some(least) if f1 < least => {
            out.flush()?;
            say!("F1 {f1:.2} is below --min-f1 {least}");
            Ok(ExitCode::FAILURE)
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The scores by one kind of tags.
struct Scores {
    evaluation: Evaluation,
    /// The rows of the sentences.
    rows: Vec<u8>,
    /// Why sentences were excluded.
    excluded: Vec<String>,
}

/// Scores tree by tree; prints a row for each sentence if asked for.
fn score_trees(
    args: &EvalArgs,
    params: &Params,
    out: &mut impl Write,
) -> anyhow::Result<Evaluation> {
    let heads = EvalHeads::of(args)?;
    let named = [("gold", args.gold.as_path()), ("test", args.test.as_path())];
    let sides = AlignedTrees::open(&named, &args.scoring.encoding.options(), args.verbosity.quiet)?;
    let mut sides = sides.strip_gold(gold_cleaning(args)?);
    let mut scores = ByTags::new(&args.scoring, params, |mut evaluation| {
        evaluation.heads = Some(heads.rules.clone());
        evaluation.functions = args.functions.then(FunctionScores::default);
        Scores { evaluation, rows: Vec::new(), excluded: Vec::new() }
    });
    let mut fit = HeadFit::default();
    while let Some(trees) = sides.next()? {
        let [gold, test] = &trees[..] else { break };
        fit.add(gold, &heads.rules);
        scores.add(|Scores { evaluation, rows, excluded }| {
            let score = evaluation.add(gold, test);
            if args.per_sentence {
                // Writing to memory does not fail.
                let _ = evalb::row(rows, sides.read(), &score);
            }
            excluded.extend(excluded_note(&score, &sides));
            vec![score.status]
        });
    }
    if sides.read() == 0 {
        return Err(no_trees(&args.gold));
    }
    let Scores { mut evaluation, rows, excluded } = scores.choose(args.verbosity.quiet);
    if args.per_sentence {
        evalb::header(out)?;
        out.write_all(&rows)?;
    }
    let mut notes = Notes::new("excluded sentences", args.verbosity.quiet);
    excluded.iter().for_each(|message| notes.print(message));
    notes.end();
    sides.report();
    sides.warn_of_other_words([&evaluation], &args.scoring);
    if !heads.is_chosen && !fit.is_good() {
        evaluation.heads = None;
        if !args.verbosity.quiet {
            say!(
                "note: no UAS: the head rules `{}` have rules for only {:.0} % of the phrases: choose others with \
                 --heads, or the treebank with --treebank",
                heads.rules.name(),
                fit.percent()
            );
        }
    }
    Ok(evaluation)
}

/// The head rules by which dependencies are compared.
struct EvalHeads {
    rules: HeadRules,
    /// Whether they are those that the user, the treebank or a model names.
    is_chosen: bool,
}

/// The head rules without any other.
const DEFAULT_HEADS: &str = "collins";

impl EvalHeads {
    fn of(args: &EvalArgs) -> anyhow::Result<Self> {
        let chosen = match &args.heads {
            Some(name) if is_model(Path::new(name)) => {
                let model = Model::open(Path::new(name)).context("--heads")?;
                let text = &model.header.heads;
                anyhow::ensure!(
                    !text.is_empty(),
                    "--heads {name}: this model has no head rules: name a table, such as `left`"
                );
                Some(HeadRules::parse(text, name)?)
            }
            Some(name) => Some(HeadRules::load(name).context("--heads")?),
            None => args.scoring.heads()?,
        };
        let is_chosen = chosen.is_some();
        let rules = chosen.map_or_else(|| HeadRules::named(DEFAULT_HEADS), Ok)?;
        Ok(Self { rules, is_chosen })
    }
}

/// Whether a file begins as a model does.
fn is_model(path: &Path) -> bool {
    let mut start = vec![0; MODEL_MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == MODEL_MAGIC
}

/// How many phrases of the gold trees head rules have a rule for.
#[derive(Default)]
struct HeadFit {
    phrases: u64,
    covered: u64,
}

impl HeadFit {
    fn add(&mut self, tree: &Tree, rules: &HeadRules) {
        for id in tree.ids().filter(|&id| tree.children(id).len() > 1) {
            let label = &tree.node(id).label;
            if !is_root_label(label) {
                self.phrases += 1;
                self.covered += u64::from(rules.covers(base_label(label)));
            }
        }
    }

    fn percent(&self) -> f64 {
        100.0 * self.covered as f64 / self.phrases.max(1) as f64
    }

    /// Whether the rules are for this treebank. Some labels of any treebank are in no table.
    fn is_good(&self) -> bool {
        self.phrases == 0 || self.percent() >= 80.0
    }
}

/// Returns how gold trees are cleaned; function tags stay if they are scored.
fn gold_cleaning(args: &EvalArgs) -> anyhow::Result<Cleaning> {
    let mut cleaning = args.scoring.cleaning()?;
    if args.functions {
        cleaning.functions = Functions::Keep;
    }
    Ok(cleaning)
}

/// Why a sentence was excluded.
fn excluded_note(score: &SentenceScore, sides: &AlignedTrees) -> Option<String> {
    let place = sides.place(1).map(|place| format!("{place}: ")).unwrap_or_default();
    let problems = (!score.problems.is_empty()).then(|| score.problems.join("; "))?;
    Some(format!("{place}sentence {} excluded: {problems}", sides.read()))
}

/// Scores line by line and prints EVALB's report; returns `None` if there were too many errors.
fn score_lines(
    args: &EvalArgs,
    params: Params,
    out: &mut impl Write,
) -> anyhow::Result<Option<Evaluation>> {
    refuse_two_stdins(&[("gold", &args.gold), ("test", &args.test)])?;
    let mut gold = LineReader::open(&single(&args.gold)?, args.scoring.encoding.encoding)?;
    let mut test = LineReader::open(&single(&args.test)?, args.scoring.encoding.encoding)?;
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
