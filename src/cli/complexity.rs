//! `srparse complexity`: measures of syntactic complexity, a row for each file.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::{Map, Value};

use super::in_order::Sink;
use super::options::{OUTPUT, Verbosity, threads};
use super::out::{Out, OutArg};
use super::sentences::{SentenceArgs, SentenceProcessor};
use crate::find::complexity::{Complexity, Counts, MEASURES, UNITS};

/// Measure the syntactic complexity of texts.
///
/// Counts words (W), sentences (S), verb phrases (VP), clauses (C), T-units (T), dependent clauses (DC), complex T-units
/// (CT), coordinate phrases (CP) and complex nominals (CN), and gives the fourteen ratios of L2SCA (Lu 2010): a row for
/// each file, of raw text (--text) or of trees in the style of the Penn Treebank without traces.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse complexity --clean data/sample/*.mrg
  echo 'When it rains, the dog barks.' | srparse complexity --output json --text")]
pub struct ComplexityArgs {
    /// Files (may be .gz), folders, quoted patterns of names, or - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// Number of threads; 0 uses all cores. The output does not depend on it.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1)]
    threads: usize,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    verbosity: Verbosity,
    #[command(flatten)]
    source: SentenceArgs,
    /// Format of the table.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = OUTPUT)]
    output: TableOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum TableOutput {
    /// Columns separated by tabs, with a line of names.
    #[default]
    Tsv,
    /// One JSON object per line.
    Json,
}

/// Runs the command.
///
/// # Errors
/// When an input cannot be read, or the output cannot be written.
pub fn run(args: &ComplexityArgs) -> anyhow::Result<ExitCode> {
    let complexity = Complexity::l2sca()?;
    let mut table = Table { args, out: args.out.open(&args.files)?, row: None, is_failed: false };
    if args.output == TableOutput::Tsv {
        let names = UNITS.into_iter().chain(MEASURES.iter().map(|(name, _)| *name));
        writeln!(table.out, "file\t{}", names.collect::<Vec<_>>().join("\t"))?;
    }
    let make = || -> SentenceProcessor<'_, Counted> {
        let mut counter = complexity.counter();
        Box::new(move |sentence, counted| {
            let counts = sentence.and_then(|one| Ok((counter.count(&one.tree)?, one.file)));
            *counted = Counted(Some(counts));
        })
    };
    let threads = threads(args.threads, args.verbosity.quiet);
    let is_shown = !args.out.is_terminal();
    args.source.run(&args.files, &make, &mut table, (threads, is_shown, &args.verbosity))?;
    table.finish()
}

/// The counts of a sentence, and its file.
#[derive(Default)]
struct Counted(Option<crate::Result<(Counts, Arc<str>)>>);

/// Adds up the sentences of each file.
struct Table<'a> {
    args: &'a ComplexityArgs,
    out: Out,
    row: Option<(Arc<str>, Counts)>,
    is_failed: bool,
}

impl Table<'_> {
    /// Writes the row of the last file.
    fn end_row(&mut self) -> io::Result<()> {
        let Some((file, counts)) = self.row.take() else { return Ok(()) };
        if self.args.output == TableOutput::Tsv {
            write!(self.out, "{file}")?;
            for (_, count) in counts.units() {
                write!(self.out, "\t{count}")?;
            }
            for (_, ratio) in counts.measures() {
                write!(self.out, "\t{ratio:.4}")?;
            }
            return writeln!(self.out);
        }
        let mut row = Map::new();
        row.insert("file".to_owned(), Value::from(&*file));
        row.extend(counts.units().map(|(name, count)| (name.to_owned(), Value::from(count))));
        row.extend(counts.measures().map(|(name, ratio)| (name.to_owned(), Value::from(ratio))));
        serde_json::to_writer(&mut self.out, &row)?;
        writeln!(self.out)
    }

    fn finish(mut self) -> anyhow::Result<ExitCode> {
        if self.is_failed {
            self.out.abandon()?;
            return Ok(ExitCode::from(2));
        }
        self.end_row()?;
        self.out.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Sink<Counted> for Table<'_> {
    fn write(&mut self, counted: &mut Counted) -> io::Result<bool> {
        let (counts, file) = match counted.0.take() {
            Some(Ok(counted)) => counted,
            Some(Err(error)) => {
                say!("error: {error}");
                self.is_failed = true;
                return Ok(false);
            }
            None => return Ok(true),
        };
        if self.row.as_ref().is_some_and(|(other, _)| *other != file) {
            self.end_row()?;
        }
        self.row.get_or_insert_with(|| (file, Counts::default())).1.add(&counts);
        Ok(true)
    }

    fn flushes_each(&self) -> bool {
        false
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}
