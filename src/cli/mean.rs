//! `srparse mean`: the mean of networks.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::inputs::note_report;
use super::options::{EncodingArg, INPUT, ThreadsArg, Verbosity};
use super::out::refuse_input;
use crate::model::{Model, file};
use crate::output;
use crate::train::mean::Mean;
use crate::train::session::dev_line;
use crate::treebank::Treebank;

/// Average the parameters of several networks.
///
/// The mean of networks that were trained further from the same one (`srparse train --init`), with different seeds or
/// trees, is often better than any of them, and as fast and small (Wortsman et al. 2022). Words, tags, labels and
/// settings are those of the first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse mean first.srm second.srm third.srm --model mean.srm
  srparse mean first.srm second.srm --dev dev.mrg --model mean.srm")]
pub struct MeanArgs {
    /// Model files, or names of models, see `srparse models`; at least two.
    #[arg(value_name = "NAME|FILE", num_args = 2.., required = true)]
    models: Vec<PathBuf>,
    /// Model file to write.
    #[arg(short = 'o', long, value_name = "FILE")]
    model: PathBuf,
    /// Development trees, whose scores the model is to report.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = INPUT)]
    dev: Vec<PathBuf>,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    verbosity: Verbosity,
    #[command(flatten, next_help_heading = INPUT)]
    encoding: EncodingArg,
}

/// Runs the command.
///
/// # Errors
/// When a model or the development trees cannot be read, the models do not fit together, or the mean cannot be written.
pub fn run(args: &MeanArgs) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    refuse_input("--model", &args.model, args.models.iter().chain(&args.dev))?;
    output::check(&args.model).context("--model")?;
    let dev = match &args.dev[..] {
        [] => Treebank::default(),
        paths => read(args, paths)?,
    };
    let (first, others) = args.models.split_first().context("no model is given")?;
    let mut mean = Mean::of(Model::open(first)?).with_context(|| first.display().to_string())?;
    for path in others {
        mean.add(&Model::open(path)?).with_context(|| path.display().to_string())?;
    }
    let mean = mean.finish(&dev)?;
    file::write(&mean, &args.model)?;
    if !args.verbosity.quiet {
        let scores = mean.header.dev.map_or(String::new(), |dev| format!(": {}", dev_line(&dev)));
        say!("wrote {}{scores}", args.model.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the development trees.
fn read(args: &MeanArgs, paths: &[PathBuf]) -> anyhow::Result<Treebank> {
    let (dev, report) = Treebank::read(paths, &args.encoding.options())?;
    note_report(&report, args.verbosity.quiet);
    anyhow::ensure!(
        !dev.trees.is_empty(),
        "--dev {}: no trees: check that this is a treebank file",
        paths[0].display()
    );
    Ok(dev)
}
