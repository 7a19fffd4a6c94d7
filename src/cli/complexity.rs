//! `srparse complexity`: measures of syntactic complexity, a row for each file.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::{Map, Value};

use super::options::OUTPUT;
use super::out::Out;
use super::sentences::{SentenceArgs, SentenceProcessor};
use crate::error::counted;
use crate::find::complexity::{Complexity, Counts, MEASURES, UNITS};

/// Measure the syntactic complexity of texts.
///
/// Counts words (W), sentences (S), verb phrases (VP), clauses (C), T-units (T), dependent clauses (DC), complex T-units
/// (CT), coordinate phrases (CP) and complex nominals (CN), and gives the fourteen ratios of L2SCA (Lu 2010): a row for
/// each file, of raw text (--text) or of trees in the style of the Penn Treebank without traces.
#[derive(Debug, clap::Args)]
#[command(mut_arg("treebank", |arg| arg.conflicts_with("text")))]
#[command(after_help = "Examples:
  srparse complexity --clean data/sample/*.mrg
  echo 'When it rains, the dog barks.' | srparse complexity --output json --text")]
pub struct ComplexityArgs {
    /// Files (may be .gz), folders, quoted globs, or - for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
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
    let mut out = args.source.out.open(&args.files)?;
    if args.output == TableOutput::Tsv {
        let names = UNITS.into_iter().chain(MEASURES.iter().map(|(name, _)| *name));
        writeln!(out, "file\t{}", names.collect::<Vec<_>>().join("\t"))?;
    }
    let make = || -> SentenceProcessor<'_, crate::Result<(Counts, Arc<str>)>> {
        let mut counter = complexity.counter();
        Box::new(move |sentence| sentence.and_then(|one| Ok((counter.count(&one.tree)?, one.file))))
    };
    // The file that is read, and what has been counted in it, and in all.
    let mut row: Option<(Arc<str>, Counts)> = None;
    let mut all = Counts::default();
    let mut take = |out: &mut Out, counted: crate::Result<(Counts, Arc<str>)>| {
        let (counts, file) = counted?;
        all.add(&counts);
        if let Some((last, counts)) = row.take_if(|(last, _)| *last != file) {
            write_row(&last, &counts, args.output, out)?;
        }
        row.get_or_insert_with(|| (file, Counts::default())).1.add(&counts);
        Ok(true)
    };
    args.source.run(&args.files, &make, (&mut out, &mut take))?;
    if let Some((file, counts)) = row {
        write_row(&file, &counts, args.output, &mut out)?;
    }
    out.finish()?;
    let trees = all.of("S");
    if trees > 0 && all.of("C") == 0 && !args.source.verbosity.quiet {
        say!(
            "note: no clause was found in {}: there are fragments alone, or not the labels and tags of the Penn Treebank (S, VP, VBZ …)",
            counted(trees, "tree")
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the row of a file.
fn write_row(file: &str, counts: &Counts, output: TableOutput, out: &mut Out) -> io::Result<()> {
    if output == TableOutput::Tsv {
        write!(out, "{file}")?;
        for (_, count) in counts.units() {
            write!(out, "\t{count}")?;
        }
        for (_, ratio) in counts.measures() {
            write!(out, "\t{ratio:.4}")?;
        }
        return writeln!(out);
    }
    let mut row = Map::new();
    row.insert("file".to_owned(), Value::from(file));
    row.extend(counts.units().map(|(name, count)| (name.to_owned(), Value::from(count))));
    row.extend(counts.measures().map(|(name, ratio)| (name.to_owned(), Value::from(ratio))));
    serde_json::to_writer(&mut *out, &row)?;
    writeln!(out)
}
