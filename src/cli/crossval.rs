//! `srparse crossval`: how well a parser does on trees that it was not trained on, when there are few.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;

use super::experiment::{Runs, write_text};
use super::inputs::{note_report, note_without_words};
use super::listed;
use super::options::{INPUT, ThreadsArg, TreebankArgs, Verbosity};
use super::out::{note_leftovers, print, refuse_folder_of_inputs};
use super::split::UnitArgs;
use crate::error::counted;
use crate::eval::{Evaluation, Params};
use crate::experiment::{
    Cell, Experiment, Finished, Folder, GOLD_TAGS, OWN_TAGS, ParserEntry, TagScores, TreebankEntry,
};
use crate::output;
use crate::preset::{DEFAULT, MethodChoice};
use crate::tree::Tree;
use crate::treebank::partition::{self, Entry};
use crate::treebank::{Cleaning, ReadOptions, Treebank, penn};

/// Train and score a parser on each part of a treebank in turn (cross-validation).
///
/// The treebank is divided into folds; the parser is trained on all folds but one and parses that one, with gold and with
/// predicted tags; so for each fold. The best epoch of a network is selected on the fold after the one that is parsed,
/// without training on it; other parsers are trained without development trees. The runs are those of `srparse
/// experiment`: each on one thread, in parallel, and resumed by the same command.
///
/// Prints a row for each fold, with the mean and the standard deviation over all, and the scores of all sentences pooled.
/// Writes them to folds.tsv in the output folder, with the trees of the folds, gold.mrg, and the pooled parses in the order
/// of the treebank, parsed.gold-tags.SEED.mrg and parsed.own-tags.SEED.mrg, for `srparse diff` and `compare`. Exit status:
/// 0 on success; 1 if a run failed; 2 on an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse crossval --folds 5 --train data/sample/train.mrg
  srparse crossval --preset beam --by file -o folds --train 'bank/*.mrg'
  srparse diff folds/gold.mrg folds/parsed.own-tags.1.mrg")]
pub struct CrossvalArgs {
    /// The treebank: files (may be .gz), folders, or quoted globs.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = INPUT)]
    train: Vec<PathBuf>,
    /// Number of folds; with networks at least 3.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=1000))]
    folds: u16,
    /// Folder for the results, by which an interrupted command is resumed; if omitted, they are only printed.
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// A preset listed by `srparse info`, or a preset file.
    #[arg(value_parser = listed::presets(), hide_possible_values = true, long, value_name = "NAME|FILE", default_value = DEFAULT)]
    preset: String,
    /// Change a setting of the preset, such as learner.epochs=5; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seeds of training: with several, each fold is run with each.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    seeds: Vec<u64>,
    #[command(flatten)]
    units: UnitArgs,
    #[command(flatten)]
    treebank: TreebankArgs,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// Runs the command.
///
/// # Errors
/// When the treebank cannot be read or has too few trees, a setting is invalid, or the folder cannot be written.
pub fn run(args: &CrossvalArgs) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    let preset = args.treebank.profile.preset(&args.preset, &args.set)?;
    preset.refuse_tagger()?;
    let needs_dev = matches!(preset.learner, MethodChoice::Neural(_));
    ensure!(
        !needs_dev || args.folds > 2,
        "--folds {}: a network needs a fold for its best epoch besides those of training and test: give at least 3",
        args.folds
    );
    let (cleaning, set) =
        args.set.iter().cloned().partition::<Vec<_>, _>(|set| set.starts_with("clean."));
    if let Some(out) = &args.out {
        refuse_folder_of_inputs("--out", out, &args.train)?;
    }
    let bank = Bank::read(args, &args.treebank.profile.cleaning(&cleaning)?)?;
    let temporary = args.out.is_none().then(tempfile::tempdir).transpose()?;
    let path = match (&args.out, &temporary) {
        (Some(path), _) => path.as_path(),
        (None, Some(folder)) => folder.path(),
        (None, None) => Path::new("."),
    };
    let folder = Folder::create(path)?;
    bank.write(&folder)?;
    let experiment = experiment(args, &folder, needs_dev, (cleaning, set));
    experiment.check()?;
    let cells = experiment.cells(Path::new(""));
    let runs = Runs::new(&cells, &folder, args.verbosity.quiet);
    let status = runs.run(|_| true)?;
    let finished = runs.finished();
    let pooled = bank.pool(&args.seeds, &finished, &folder)?;
    let table = table(&finished, &bank, &pooled);
    write_text(&folder.file("folds.tsv"), &table)?;
    print(&table)?;
    if args.out.is_some() {
        note_leftovers(path, |file| is_of_other_run(file, &bank, &pooled), args.verbosity.quiet);
    }
    Ok(status)
}

/// The treebank in folds.
struct Bank {
    entries: Vec<Entry>,
    /// For each fold the positions of its trees, in the order of the treebank.
    folds: Vec<Vec<usize>>,
    cleaning: Cleaning,
}

impl Bank {
    /// Reads the treebank without trees that cleaning leaves no words, and draws its folds.
    fn read(args: &CrossvalArgs, cleaning: &Cleaning) -> anyhow::Result<Self> {
        let (mut entries, report) = partition::read(&args.train, &args.treebank.options())?;
        note_report(&report, args.verbosity.quiet);
        let read = entries.len();
        entries.retain(|entry| cleaning.strip(entry.tree.clone()).is_some());
        note_without_words((read - entries.len()) as u64, args.verbosity.quiet);
        ensure!(
            !entries.is_empty(),
            "--train {}: {}",
            args.train[0].display(),
            match read {
                0 => "no trees: check that this is a treebank file",
                _ =>
                    "no tree has words after cleaning: give other trees, or change the settings of `clean`",
            }
        );
        let units = args.units.units(&entries)?;
        let n_folds = usize::from(args.folds);
        let unit = if args.units.are_documents() { "document" } else { "tree" };
        ensure!(
            units.len() >= n_folds,
            "--folds {n_folds}: the treebank has only {}: {}",
            counted(units.len() as u64, unit),
            match (units.len(), unit) {
                (1, "document") => "give more files, or change or omit --by",
                (1, _) => "give more trees",
                _ => "give fewer folds",
            }
        );
        let mut folds = vec![Vec::new(); n_folds];
        let parts = partition::divide(&units, &vec![100.0 / f64::from(args.folds); n_folds]);
        for (unit, part) in units.iter().zip(parts) {
            // Shares that do not add up to exactly 100 leave nothing over.
            folds[part.unwrap_or(n_folds - 1)].extend(unit);
        }
        folds.iter_mut().for_each(|fold| fold.sort_unstable());
        ensure!(
            folds.iter().all(|fold| !fold.is_empty()),
            "--folds {n_folds}: the documents are too unequal, so that a fold is empty: give fewer folds, or change or \
             omit --by"
        );
        Ok(Self { entries, folds, cleaning: cleaning.clone() })
    }

    /// Writes the trees of the folds and all of them.
    fn write(&self, folder: &Folder) -> anyhow::Result<()> {
        for (number, fold) in self.folds.iter().enumerate() {
            let trees = fold.iter().map(|&at| &self.entries[at].tree);
            write_trees(&folder.file(&format!("{}.mrg", name(number))), trees)?;
        }
        write_trees(&folder.file("gold.mrg"), self.entries.iter().map(|entry| &entry.tree))?;
        Ok(())
    }

    /// Writes the parses of all folds in the order of the treebank, and scores them.
    fn pool(
        &self,
        seeds: &[u64],
        finished: &[Finished<'_>],
        folder: &Folder,
    ) -> anyhow::Result<Vec<Pooled>> {
        let mut pooled = Vec::new();
        for &seed in seeds {
            let cells: Vec<&Cell> =
                finished.iter().map(|(cell, _)| *cell).filter(|cell| cell.seed == seed).collect();
            if cells.len() < self.folds.len() {
                continue;
            }
            let [gold_tags, own_tags] =
                [GOLD_TAGS, OWN_TAGS].map(|tags| self.pool_parses(&cells, tags, folder, seed));
            pooled.push(Pooled { seed, gold_tags: gold_tags?, own_tags: own_tags? });
        }
        Ok(pooled)
    }

    fn pool_parses(
        &self,
        cells: &[&Cell],
        tags: &str,
        folder: &Folder,
        seed: u64,
    ) -> anyhow::Result<Option<Evaluation>> {
        let mut parses = vec![Tree::default(); self.entries.len()];
        for (cell, fold) in cells.iter().zip(&self.folds) {
            let path = folder.parses_with(cell, tags);
            if !path.exists() {
                return Ok(None);
            }
            let (trees, _) = Treebank::read(&[path], &ReadOptions::default())?;
            for (&at, tree) in fold.iter().zip(trees.trees) {
                parses[at] = tree;
            }
        }
        let path = folder.file(&format!("parsed.{tags}.{seed}.mrg"));
        write_trees(&path, parses.iter())?;
        let mut evaluation = Evaluation::new(Params::default(), None);
        evaluation.gold_tags = tags == OWN_TAGS;
        for (entry, parse) in self.entries.iter().zip(&parses) {
            if let Some(gold) = self.cleaning.strip(entry.tree.clone()) {
                evaluation.add(&gold, parse);
            }
        }
        Ok(Some(evaluation))
    }
}

/// The scores of all sentences, with a seed.
struct Pooled {
    seed: u64,
    gold_tags: Option<Evaluation>,
    own_tags: Option<Evaluation>,
}

fn write_trees<'t>(path: &Path, mut trees: impl Iterator<Item = &'t Tree>) -> crate::Result<()> {
    output::write(path, |mut out| trees.try_for_each(|tree| penn::write_line(tree, &mut out)))
}

/// Whether a file has the trees of a fold that there is no longer, or parses that have not been pooled now.
fn is_of_other_run(file: &str, bank: &Bank, pooled: &[Pooled]) -> bool {
    let Some(stem) = file.strip_suffix(".mrg") else { return false };
    let may_be_ours = stem.starts_with("fold-") || stem.starts_with("parsed.");
    let is_fold = (0..bank.folds.len()).any(|fold| stem == name(fold));
    let is_pooled = pooled.iter().any(|Pooled { seed, gold_tags, own_tags }| {
        let is_of = |tags: &str| stem == format!("parsed.{tags}.{seed}");
        gold_tags.is_some() && is_of(GOLD_TAGS) || own_tags.is_some() && is_of(OWN_TAGS)
    });
    may_be_ours && !is_fold && !is_pooled
}

/// The name of a fold, from its number from 0.
fn name(fold: usize) -> String {
    format!("fold-{:02}", fold + 1)
}

/// The experiment with a treebank for each fold.
fn experiment(
    args: &CrossvalArgs,
    folder: &Folder,
    needs_dev: bool,
    (cleaning, set): (Vec<String>, Vec<String>),
) -> Experiment {
    let n_folds = usize::from(args.folds);
    let file = |fold: usize| folder.file(&format!("{}.mrg", name(fold)));
    let treebank = |test: usize| {
        let dev = needs_dev.then_some((test + 1) % n_folds);
        let is_train = |fold: &usize| *fold != test && Some(*fold) != dev;
        TreebankEntry {
            name: name(test),
            train: (0..n_folds).filter(is_train).map(file).collect(),
            dev: dev.into_iter().map(file).collect(),
            test: vec![file(test)],
            profile: args.treebank.profile.name().map(str::to_owned),
            heads: None,
            set: cleaning.clone(),
        }
    };
    Experiment {
        description: String::new(),
        percent: vec![100.0],
        seeds: args.seeds.clone(),
        parsers: vec![ParserEntry { preset: args.preset.clone(), set, ..ParserEntry::default() }],
        settings: Vec::new(),
        treebanks: (0..n_folds).map(treebank).collect(),
    }
}

/// The scores in the columns of the table.
fn columns(gold_tags: Option<[f64; 2]>, own_tags: Option<[f64; 3]>) -> Vec<Option<f64>> {
    let gold_tags = gold_tags.map_or([None; 2], |scores| scores.map(Some));
    let own_tags = own_tags.map_or([None; 3], |scores| scores.map(Some));
    [&gold_tags[..], &own_tags[..]].concat()
}

fn table(finished: &[Finished<'_>], bank: &Bank, pooled: &[Pooled]) -> String {
    let mut text =
        "fold\tseed\ttrain\ttest\tf1\texact\town_tagging\town_f1\town_exact\n".to_owned();
    let mut rows = Vec::new();
    for (cell, outcome) in finished {
        let scores = &outcome.scores;
        let TagScores { f1, exact, .. } = scores.gold_tags;
        let own = scores.own_tags.as_ref().map(|own| [own.tagging, own.f1, own.exact]);
        let row = columns(Some([f1, exact]), own);
        let number = (0..bank.folds.len()).find(|&fold| name(fold) == cell.treebank.name);
        let test = number.map_or(0, |fold| bank.folds[fold].len());
        let (fold, seed, trees) = (&cell.treebank.name, cell.seed, scores.trees);
        write_row(&mut text, &format!("{fold}\t{seed}\t{trees}\t{test}"), &row);
        rows.push(row);
    }
    if rows.len() > 1 {
        let [means, deviations]: [Vec<Option<f64>>; 2] =
            [0, 1].map(|at| (0..5).map(|column| Some(moments(&rows, column)?[at])).collect());
        write_row(&mut text, "mean\t\t\t", &means);
        write_row(&mut text, "deviation\t\t\t", &deviations);
    }
    for Pooled { seed, gold_tags, own_tags } in pooled {
        let gold = gold_tags.as_ref().map(|gold| [gold.all.f1(), gold.all.exact()]);
        let own = own_tags.as_ref().map(|own| [own.all.tagging(), own.all.f1(), own.all.exact()]);
        let trees = bank.entries.len();
        write_row(&mut text, &format!("pooled\t{seed}\t\t{trees}"), &columns(gold, own));
    }
    text
}

/// The mean and the standard deviation (of a sample) of a column; `None` if values are missing.
fn moments(rows: &[Vec<Option<f64>>], column: usize) -> Option<[f64; 2]> {
    let values = rows.iter().map(|row| row[column]).collect::<Option<Vec<f64>>>()?;
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some([mean, (squares / (n - 1.0)).sqrt()])
}

fn write_row(text: &mut String, head: &str, values: &[Option<f64>]) {
    text.push_str(head);
    for value in values {
        text.push('\t');
        if let Some(value) = value {
            // Writing to memory does not fail.
            let _ = write!(text, "{value:.2}");
        }
    }
    text.push('\n');
}
