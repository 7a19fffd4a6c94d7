//! `srparse experiment`: trains and scores parsers for every combination of presets, settings, treebanks and shares of
//! the training trees.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::chart::{self, Style};
use super::options::{INPUT, ThreadsArg, Verbosity};
use super::out::{note_leftovers, print, refuse_folder_of_inputs};
use crate::experiment::{Cell, Experiment, Finished, Folder, Outcome, tables};
use crate::observer::{Event, Observer};
use crate::{output, parallel};

/// Train and score parsers for every combination of presets, settings, treebanks and shares of the training trees.
///
/// FILE lists presets, settings, treebanks, shares and seeds (docs/formats.md); their combinations are the cells of a
/// table. In each cell a parser is trained on one thread, and parses the development trees with gold and
/// with predicted tags. The results are in the output folder as soon as a cell is finished; the same command resumes
/// after an interruption, and runs only cells that are new or changed.
///
/// Writes scores.tsv, costs.tsv and, if there are several shares, the learning curve to the folder, and prints the
/// scores. Exit status: 0 on success; 1 if a cell failed; 2 on an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  srparse experiment -o results --data data docs/experiments/sample.toml")]
pub struct ExperimentArgs {
    /// File of the experiment, in TOML.
    file: PathBuf,
    /// Folder for the results.
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    /// Folder that the treebanks of FILE are in; the current folder if omitted.
    #[arg(long, value_name = "FOLDER", help_heading = INPUT)]
    data: Option<PathBuf>,
    /// Run only cells with TEXT in their name, such as fast.craft.100.1; may be repeated.
    #[arg(long, value_name = "TEXT", num_args = 1)]
    only: Vec<String>,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// Runs the command.
///
/// # Errors
/// When the file of the experiment is malformed, or the folder cannot be written.
pub fn run(args: &ExperimentArgs) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    let experiment = Experiment::open(&args.file)?;
    let cells = experiment.cells(args.data.as_deref().unwrap_or(Path::new("")));
    let is_wanted = |cell: &Cell| {
        args.only.is_empty() || args.only.iter().any(|text| cell.name().contains(text.as_str()))
    };
    anyhow::ensure!(
        cells.iter().any(is_wanted),
        "--only: no cell has such a name: the first is {}",
        cells.first().map(Cell::name).unwrap_or_default()
    );
    let files = |cell: &'_ Cell| {
        cell.treebank.train.iter().chain(&cell.treebank.dev).cloned().collect::<Vec<_>>()
    };
    let mut inputs: BTreeSet<PathBuf> = cells.iter().flat_map(files).collect();
    inputs.insert(args.file.clone());
    refuse_folder_of_inputs("--out", &args.out, &inputs)?;
    let folder = Folder::create(&args.out)?;
    let runs = Runs::new(&cells, &folder, args.verbosity.quiet);
    let status = runs.run(is_wanted)?;
    let finished = runs.finished();
    print(&tables::scores(&finished))?;
    let has_curve = tables::learning_curve(&finished).is_some();
    let is_of_other_run = |file: &str| !has_curve && LEARNING_CURVE.contains(&file);
    note_leftovers(&args.out, is_of_other_run, args.verbosity.quiet);
    Ok(status)
}

/// The runs of an experiment.
pub(super) struct Runs<'a> {
    folder: &'a Folder,
    /// The cells, each with its fingerprint.
    cells: Vec<(&'a Cell, crate::Result<String>)>,
    /// Held while tables are written.
    tables: Mutex<()>,
    quiet: bool,
}

impl<'a> Runs<'a> {
    pub(super) fn new(cells: &'a [Cell], folder: &'a Folder, quiet: bool) -> Self {
        let cells = cells.iter().map(|cell| (cell, cell.fingerprint())).collect();
        Self { folder, cells, tables: Mutex::new(()), quiet }
    }

    /// Runs the cells that are not finished; returns the exit status: 1 if one failed.
    ///
    /// # Errors
    /// When the tables cannot be written.
    pub(super) fn run(&self, is_wanted: impl Fn(&Cell) -> bool) -> anyhow::Result<ExitCode> {
        let wanted = || self.cells.iter().filter(|(cell, _)| is_wanted(cell));
        let open: Vec<&Cell> = wanted()
            .filter(|(cell, fingerprint)| {
                self.outcome(cell, fingerprint).is_none() || !self.folder.has_its_parses(cell)
            })
            .map(|(cell, _)| *cell)
            .collect();
        let (total, done) = (wanted().count(), AtomicUsize::new(wanted().count() - open.len()));
        if !self.quiet {
            say!("{total} cells, {} of them finished before", total - open.len());
        }
        let threads = parallel::threads();
        let is_alone = threads.min(open.len()) == 1;
        let failed = AtomicUsize::new(0);
        parallel::try_on_own_threads(threads, &open, |cell| {
            let name = cell.name();
            let observer = Notes { name: &name, quiet: self.quiet };
            let result = cell.run(self.folder, is_alone, &observer);
            let number = 1 + done.fetch_add(1, Ordering::Relaxed);
            match &result {
                Ok(outcome) if !self.quiet => {
                    say!("[{number}/{total}] {name}: {}", summary(outcome));
                }
                Ok(_) => {}
                Err(error) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    say!("[{number}/{total}] {name}: failed: {error}");
                }
            }
            self.write_tables()
        })?;
        self.write_tables()?;
        let failed = failed.into_inner();
        if failed == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        say!("{failed} of {total} cells failed; the same command runs them again");
        Ok(ExitCode::FAILURE)
    }

    /// The finished cells, in the order of the experiment.
    pub(super) fn finished(&self) -> Vec<Finished<'a>> {
        let outcome =
            |(cell, fingerprint): &(&'a Cell, _)| Some((*cell, self.outcome(cell, fingerprint)?));
        self.cells.iter().filter_map(outcome).collect()
    }

    fn outcome(&self, cell: &Cell, fingerprint: &crate::Result<String>) -> Option<Outcome> {
        self.folder.outcome(cell, fingerprint.as_ref().ok()?)
    }

    fn write_tables(&self) -> anyhow::Result<()> {
        let _held = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let finished = self.finished();
        let write = |name: &str, text: String| write_text(&self.folder.file(name), &text);
        write("scores.tsv", tables::scores(&finished))?;
        write("costs.tsv", tables::costs(&finished))?;
        if let Some(curve) = tables::learning_curve(&finished) {
            let style = Style { log_x: true, ..Style::default() };
            let [svg, tsv] = LEARNING_CURVE;
            write(svg, chart::of_text("learning-curve", &curve, &style)?)?;
            write(tsv, curve)?;
        }
        Ok(())
    }
}

/// The files of the learning curve.
const LEARNING_CURVE: [&str; 2] = ["learning-curve.svg", "learning-curve.tsv"];

/// Writes a file whole or not at all.
pub(super) fn write_text(path: &Path, text: &str) -> anyhow::Result<()> {
    Ok(output::write(path, |out| out.write_all(text.as_bytes()))?)
}

fn summary(Outcome { scores, costs, .. }: &Outcome) -> String {
    let mut text = format!("F1 {:.2}", scores.gold_tags.f1);
    if let Some(own) = &scores.own_tags {
        text += &format!(", {:.2} with own tags", own.f1);
    }
    if let Some(seconds) = costs.train_cpu_s {
        text += &format!("; trained on {} trees in {seconds:.0} s of CPU time", scores.trees);
    }
    text
}

/// Prints the notes of training with the name of the cell.
struct Notes<'a> {
    name: &'a str,
    quiet: bool,
}

impl Observer for Notes<'_> {
    fn event(&self, event: Event<'_>) {
        if let (Event::Note(text), false) = (event, self.quiet) {
            say!("{}: note: {text}", self.name);
        }
    }
}
