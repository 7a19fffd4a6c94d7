//! `srparse diff`: what differs between parses and gold trees.

pub(super) mod html;
mod json;
mod side_by_side;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;

use super::aligned_trees::{AlignedTrees, no_trees};
use super::by_tags::ByTags;
use super::options::{Numbers, OUTPUT, ScoringArgs, Verbosity};
use super::out::OutArg;
use crate::error::{Place, counted};
use crate::eval::{Counts, Difference, ErrorCounts, Evaluation, SentenceScore, Status};
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
  srparse diff --output html data/sample/dev.mrg dev.out > diff.html
  srparse diff --worst 100 --output json data/sample/dev.mrg dev.out")]
pub struct DiffArgs {
    /// Gold trees: a file (may be .gz), a folder, a quoted glob, or - for standard input.
    gold: PathBuf,
    /// Trees of a parser, one for each gold tree; given like the gold trees.
    test: PathBuf,
    /// Trees of another parser.
    test2: Option<PathBuf>,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    /// How many sentences to show, the worst first: 10 unless given; in HTML all, also those without errors.
    #[arg(long, value_name = "N", help_heading = OUTPUT)]
    worst: Option<usize>,
    /// Show the N-th sentence, counted from 1, or a range of sentences, such as 2-40, instead of the worst; may be
    /// repeated.
    #[arg(long, value_name = "N|N-M", num_args = 1, conflicts_with = "worst", help_heading = OUTPUT)]
    nth: Vec<Numbers>,
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
    /// A page: sentences to sort and filter, with their trees; errors by class; confusions; charts.
    Html,
    /// One JSON object.
    Json,
}

/// How many sentences are shown unless the user says.
const WORST: usize = 10;

/// A parser, over all sentences.
pub(super) struct System {
    pub(super) evaluation: Evaluation,
    pub(super) errors: ErrorCounts,
}

/// A sentence to show.
pub(super) struct Sentence {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Where its gold tree begins.
    pub(super) at: Option<Place>,
    pub(super) gold: Tree,
    /// Its parses: one for each parser.
    pub(super) parses: Vec<SentenceParse>,
}

/// A parse of a sentence.
pub(super) struct SentenceParse {
    tree: Tree,
    f1: f64,
    difference: Difference,
}

/// The sentences to show.
pub(super) struct Found {
    pub(super) systems: Vec<System>,
    pub(super) sentences: Vec<Sentence>,
    /// The brackets of all sentences by parser, if there are two.
    pub(super) brackets: Vec<[Counts; 2]>,
}

/// The names of the parsers; the only one has none.
fn names(parsers: usize) -> &'static [&'static str] {
    if parsers == 1 { &[""] } else { &["A", "B"] }
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
        None => collect(args, &[gold, ("test", test)])?,
        Some(test2) => collect(args, &[gold, ("A", test), ("B", test2)])?,
    };
    match args.output {
        DiffOutput::Text => text::write(&found, args.out.is_terminal(), &mut out)?,
        DiffOutput::Html => html::write(args, &found, &mut out)?,
        DiffOutput::Json => json::write(&found, &mut out)?,
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Compares all sentences and returns those to show.
fn collect(args: &DiffArgs, named: &[(&'static str, &Path)]) -> anyhow::Result<Found> {
    let params = args.scoring.params()?;
    let options = args.scoring.encoding.options();
    let sides = AlignedTrees::open(named, &options, args.verbosity.quiet)?;
    let mut sides = sides.strip_gold(args.scoring.cleaning()?);
    let mut scores = ByTags::new(&args.scoring, &params, |evaluation| Scores {
        systems: (1..named.len()).map(|_| System::new(evaluation.clone())).collect(),
        selection: Selection::new(args),
        brackets: Vec::new(),
    });
    while let Some(trees) = sides.next()? {
        let (number, at) = (sides.read(), sides.place(0));
        scores.add(|scores| scores.add(&trees, number, at.as_ref()));
    }
    if sides.read() == 0 {
        return Err(no_trees(&args.gold));
    }
    sides.report();
    let Scores { systems, selection, brackets } = scores.choose(args.verbosity.quiet);
    sides.warn_of_other_words(systems.iter().map(|system| &system.evaluation), &args.scoring);
    selection.check(sides.read())?;
    Ok(Found { systems, sentences: selection.sentences, brackets })
}

/// The differences by one kind of tags.
struct Scores<'a> {
    systems: Vec<System>,
    selection: Selection<'a>,
    brackets: Vec<[Counts; 2]>,
}

impl Scores<'_> {
    /// Adds a sentence: the gold tree and those of the parsers.
    fn add(&mut self, trees: &[Tree], number: u64, at: Option<&Place>) -> Vec<Status> {
        let Some((gold, parses)) = trees.split_first() else { return Vec::new() };
        let parses = self.systems.iter_mut().zip(parses);
        let parses = parses.map(|(system, tree)| system.add(gold, tree.clone()));
        let (counts, parses): (Vec<Counts>, Vec<Option<SentenceParse>>) = parses.unzip();
        self.brackets.extend(<[Counts; 2]>::try_from(counts));
        let status =
            |parse: &Option<_>| if parse.is_some() { Status::Valid } else { Status::Error };
        let statuses = parses.iter().map(status).collect();
        if let Some(parses) = parses.into_iter().collect() {
            let (at, gold) = (at.cloned(), gold.clone());
            self.selection.add(Sentence { number, at, gold, parses });
        }
        statuses
    }
}

impl System {
    /// Nothing scored so far.
    pub(super) fn new(evaluation: Evaluation) -> Self {
        Self { evaluation, errors: ErrorCounts::default() }
    }

    /// Scores a parse and counts its brackets; `None` if it is excluded.
    pub(super) fn add(&mut self, gold: &Tree, tree: Tree) -> (Counts, Option<SentenceParse>) {
        let (score, difference) =
            self.evaluation.add_with(gold, &tree, |pair| (pair.score.clone(), pair.difference()));
        let parse = difference.map(|difference| {
            self.errors.add(gold, &tree, &difference);
            SentenceParse { tree, f1: f1(&score), difference }
        });
        (Counts::of(&score), parse)
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

    /// How many of the worst sentences are shown; `None` if all sentences are.
    fn worst(&self) -> Option<usize> {
        let is_page = self.args.output == DiffOutput::Html;
        self.args.worst.or((!is_page).then_some(WORST))
    }

    fn add(&mut self, sentence: Sentence) {
        if !self.args.nth.is_empty() {
            if self.args.nth.iter().any(|nth| nth.contains(sentence.number)) {
                self.sentences.push(sentence);
            }
            return;
        }
        let Some(worst) = self.worst() else {
            self.sentences.push(sentence);
            return;
        };
        let quality = Self::quality(&sentence);
        let is_worse = if sentence.parses.len() == 1 { quality < 100.0 } else { quality < 0.0 };
        if is_worse {
            let at = self.sentences.partition_point(|other| Self::quality(other) <= quality);
            self.sentences.insert(at, sentence);
            self.sentences.truncate(worst);
        }
    }

    /// Returns an error if a sentence with a given number does not exist.
    fn check(&self, read: u64) -> anyhow::Result<()> {
        match self.args.nth.iter().find(|nth| nth.last > read) {
            Some(nth) => {
                anyhow::bail!("--nth {nth}: the input has only {}", counted(read, "sentence"))
            }
            None => Ok(()),
        }
    }
}
