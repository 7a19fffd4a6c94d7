//! `srparse diff`: what differs between parses and gold trees.

mod json;
mod side_by_side;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;

use super::aligned_trees::{AlignedTrees, no_trees};
use super::options::{OUTPUT, ScoringArgs, Verbosity};
use super::out::OutArg;
use crate::error::Place;
use crate::eval::{Difference, ErrorCounts, Evaluation, SentenceScore};
use crate::tree::Tree;

/// Show where parse trees differ from gold trees.
///
/// Counts errors by class, such as PP attachment or coordination, with the F1 that a parser without errors of the
/// class would have; then shows the sentences with the lowest F1. The gold tree is on the left: its brackets marked
/// with - are missed, those of the parse marked with + are spurious, and ~ marks another label. With a second parser,
/// the sentences are those in which it loses most against the first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse diff data/sample/dev.mrg dev.out
  srparse diff --nth 3 data/sample/dev.mrg dev.out
  srparse diff --worst 100 --output json data/sample/dev.mrg dev.out")]
pub struct DiffArgs {
    /// Gold trees: a file (may be .gz), a folder, a quoted pattern, or - for standard input.
    gold: PathBuf,
    /// Trees of a parser, one for each gold tree; given like the gold trees.
    test: PathBuf,
    /// Trees of another parser.
    test2: Option<PathBuf>,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    /// How many sentences to show.
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = OUTPUT)]
    worst: usize,
    /// Show the N-th sentence, counted from 1, instead of the worst; may be repeated.
    #[arg(long, value_name = "N", num_args = 1, value_parser = clap::value_parser!(u64).range(1..),
          conflicts_with = "worst", help_heading = OUTPUT)]
    nth: Vec<u64>,
    /// Output format.
    #[arg(long, value_enum, default_value_t, help_heading = OUTPUT)]
    output: DiffOutput,
    #[command(flatten)]
    scoring: ScoringArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum DiffOutput {
    /// Tables, and trees side by side.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// A parser, over all sentences.
struct System {
    evaluation: Evaluation,
    errors: ErrorCounts,
}

/// A sentence to show.
struct Sentence {
    /// Its number, from 1.
    number: u64,
    /// Where its gold tree begins.
    at: Option<Place>,
    gold: Tree,
    /// Its parses: one for each parser.
    parses: Vec<SentenceParse>,
}

/// A parse of a sentence.
struct SentenceParse {
    tree: Tree,
    f1: f64,
    difference: Difference,
}

/// What is shown.
struct Found {
    systems: Vec<System>,
    sentences: Vec<Sentence>,
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read, or the numbers of trees differ.
pub fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let inputs = [&args.gold, &args.test].into_iter().chain(&args.test2);
    let mut out = args.out.open(inputs)?;
    let (gold, test) = (("gold", args.gold.as_path()), args.test.as_path());
    let found = match &args.test2 {
        None => collect(args, [gold, ("test", test)])?,
        Some(test2) => collect(args, [gold, ("A", test), ("B", test2)])?,
    };
    match args.output {
        DiffOutput::Text => text::write(&found, args.out.is_terminal(), &mut out)?,
        DiffOutput::Json => json::write(&found, &mut out)?,
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Compares all sentences and returns those to show.
fn collect<const N: usize>(
    args: &DiffArgs,
    named: [(&'static str, &Path); N],
) -> anyhow::Result<Found> {
    let params = args.scoring.params()?;
    let options = args.scoring.options();
    let sides = AlignedTrees::open(named, &options, args.verbosity.quiet)?;
    let mut sides = sides.strip_gold(args.scoring.cleaning()?);
    let system = |_| {
        let evaluation = args.scoring.evaluation(params.clone(), None);
        System { evaluation, errors: ErrorCounts::default() }
    };
    let mut systems: Vec<System> = (1..N).map(system).collect();
    let mut selection = Selection::new(args);
    while let Some(trees) = sides.next()? {
        let mut trees = trees.into_iter();
        let Some(gold) = trees.next() else { break };
        let parses = systems.iter_mut().zip(trees).map(|(system, tree)| system.add(&gold, tree));
        let parses: Vec<Option<SentenceParse>> = parses.collect();
        if let Some(parses) = parses.into_iter().collect() {
            selection.add(Sentence { number: sides.read(), at: sides.place(0), gold, parses });
        }
    }
    if sides.read() == 0 {
        return Err(no_trees(&args.gold));
    }
    sides.report();
    selection.check(sides.read())?;
    Ok(Found { systems, sentences: selection.sentences })
}

impl System {
    /// Scores a parse; `None` if it is excluded.
    fn add(&mut self, gold: &Tree, tree: Tree) -> Option<SentenceParse> {
        let (score, difference) = self.evaluation.add_and_compare(gold, &tree);
        let difference = difference?;
        self.errors.add(gold, &tree, &difference);
        Some(SentenceParse { tree, f1: f1(&score), difference })
    }
}

/// The F1 of a sentence; 100 if there are no brackets.
fn f1(score: &SentenceScore) -> f64 {
    match score.gold + score.test {
        0 => 100.0,
        brackets => 200.0 * f64::from(score.matched) / f64::from(brackets),
    }
}

/// The sentences to show: the worst first, or those with given numbers.
struct Selection<'a> {
    args: &'a DiffArgs,
    sentences: Vec<Sentence>,
}

impl<'a> Selection<'a> {
    fn new(args: &'a DiffArgs) -> Self {
        Self { args, sentences: Vec::new() }
    }

    /// How good the last parser is; with two, how much better than the first.
    fn quality(sentence: &Sentence) -> f64 {
        match &sentence.parses[..] {
            [a, b] => b.f1 - a.f1,
            parses => parses.first().map_or(0.0, |parse| parse.f1),
        }
    }

    fn add(&mut self, sentence: Sentence) {
        if !self.args.nth.is_empty() {
            if self.args.nth.contains(&sentence.number) {
                self.sentences.push(sentence);
            }
            return;
        }
        let quality = Self::quality(&sentence);
        let is_worse = if sentence.parses.len() == 1 { quality < 100.0 } else { quality < 0.0 };
        if is_worse {
            let at = self.sentences.partition_point(|other| Self::quality(other) <= quality);
            self.sentences.insert(at, sentence);
            self.sentences.truncate(self.args.worst);
        }
    }

    /// Returns an error if a sentence with a given number does not exist.
    fn check(&self, read: u64) -> anyhow::Result<()> {
        match self.args.nth.iter().find(|&&nth| nth > read) {
            Some(nth) => anyhow::bail!("--nth {nth}: there are only {read} sentences"),
            None => Ok(()),
        }
    }
}
