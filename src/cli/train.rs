//! `srparse train`: trains a model on treebank files.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use super::lint_notes;
use super::options::{INPUT, ThreadsArg, TreebankArgs};
use super::progress::ProgressLog;
use crate::model::file;
use crate::observer::Observer;
use crate::preset::schema::settings_help;
use crate::preset::{DEFAULT, Preset};
use crate::trainer::Trainer;
use crate::tree::Tree;
use crate::treebank::lint::Lint;
use crate::treebank::{Treebank, Trees};

const EXAMPLES: &str = "Examples:
  srparse train --train data/sample/train.mrg --dev data/sample/dev.mrg --model sample.srm
  srparse train --tagger --train data/sample/train.mrg --model tagger.srm
  srparse train --treebank ptb --train data/sample/train.mrg --model ptb.srm";

/// Train a parser or a part-of-speech tagger on a treebank.
///
/// Treebanks are in Penn bracket format. With --dev, the parser is scored on the development set after every
/// epoch, and the best epoch is stored; where a preset adds the weights of several models (learner.models),
/// only their sum is scored. Ctrl-C stops training and writes the best model so far.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", settings_help()))]
pub struct TrainArgs {
    /// Training trees: files (may be .gz), folders, or quoted patterns.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true, help_heading = INPUT)]
    train: Vec<PathBuf>,
    /// Development trees, to select the best epoch and report its scores.
    #[arg(long, value_name = "PATH", num_args = 1.., help_heading = INPUT)]
    dev: Vec<PathBuf>,
    #[command(flatten)]
    treebank: TreebankArgs,
    /// Model file to write.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// What to train: a preset listed by `srparse info`, or a preset file.
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT)]
    preset: String,
    /// Change a setting of the preset, such as learner.epochs=5; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Print only errors.
    #[arg(short, long)]
    quiet: bool,
    /// Train only the preset's part-of-speech tagger, for `srparse tag`.
    #[arg(long, conflicts_with = "jackknife", help_heading = TAGGING)]
    tagger: bool,
    /// Train the parser on tags predicted by N-fold jackknifing, and store a tagger in the model: the preset's,
    /// or the default one.
    #[arg(long, value_name = "N", help_heading = TAGGING)]
    jackknife: Option<u32>,
    /// Save finished components (of split learners and ensembles) or every epoch (of neural networks) in this
    /// folder; the same command resumes from there.
    #[arg(long, value_name = "FOLDER", help_heading = LONG_RUNS)]
    checkpoint: Option<PathBuf>,
    /// Write the learning curve to this file after every epoch: training accuracy and F1 on the development
    /// trees, in percent. `srparse chart` draws it.
    #[arg(long, value_name = "FILE", help_heading = LONG_RUNS)]
    curve: Option<PathBuf>,
    /// Train only the classifiers of these labels, to share the work among machines; for learners with one
    /// classifier per label (boosting).
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',', help_heading = LONG_RUNS)]
    labels: Vec<String>,
    /// Take the classifiers of other labels from these models, trained by the same command with other
    /// --labels.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = LONG_RUNS)]
    merge: Vec<PathBuf>,
}

const TAGGING: &str = "Tagging options";
const LONG_RUNS: &str = "Options for long training runs";

/// Runs the command.
///
/// # Errors
/// When the preset, a treebank or the path of the model is invalid, or training fails.
pub fn run(args: &TrainArgs) -> anyhow::Result<ExitCode> {
    args.threads.apply();
    let trainer = Trainer::with_preset(preset(args)?)?;
    check_options(args, trainer.preset())?;
    // Fail now rather than after training.
    let folder = args.model.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        anyhow::bail!("{}: no such folder: create it first", folder.display());
    }
    let clean = trainer.preset().clean.clone();
    let mut lint = Lint::new(&clean);
    let look = |tree: &Tree, trees: &Trees| {
        if let Some(at) = trees.place() {
            lint.add(tree, &at);
        }
    };
    let train = read(args, &args.train, "train", look)?;
    if !args.quiet {
        lint_notes::print(&lint.findings(), &args.treebank.profile);
    }
    let dev = match &args.dev[..] {
        [] => Treebank::default(),
        paths => read(args, paths, "dev", |_, _| {})?,
    };
    let interrupts = catch_interrupts();
    let start = Instant::now();
    let log = ProgressLog::new(args.quiet, args.curve.as_deref(), interrupts)?;
    let merge =
        args.merge.iter().map(|path| file::read(path)).collect::<crate::Result<Vec<_>>>()?;
    let mut trainer =
        trainer.seed(args.seed).observe(&log).labels(args.labels.clone()).merge(merge);
    if let Some(folder) = &args.checkpoint {
        trainer = trainer.checkpoint(folder);
    }
    let model = trainer.train(&train, &dev)?;
    log.finish_bar();
    file::write(&model, &args.model)?;
    if !args.quiet {
        let bytes = std::fs::metadata(&args.model).map(|data| data.len()).unwrap_or_default();
        let (seconds, megabytes) = (start.elapsed().as_secs_f64(), bytes as f64 / 1e6);
        let early = if log.is_stopped() { ", stopped early" } else { "" };
        eprintln!("wrote {} ({megabytes:.1} MB) after {seconds:.1} s{early}", args.model.display());
    }
    log.finish_curve()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the preset with the changes of the options.
fn preset(args: &TrainArgs) -> crate::Result<Preset> {
    let mut preset = args.treebank.profile.preset(&args.preset, &args.set)?;
    preset.only_tagger |= args.tagger;
    preset.jackknife = args.jackknife.unwrap_or(preset.jackknife);
    if args.tagger || args.jackknife.is_some() {
        preset.tagger.get_or_insert_default();
    }
    Ok(preset)
}

/// Rejects options that have no effect on this learner.
fn check_options(args: &TrainArgs, preset: &Preset) -> anyhow::Result<()> {
    let Preset { learner, only_tagger, .. } = preset;
    anyhow::ensure!(
        args.curve.is_none() || (learner.has_epochs() && !only_tagger),
        "--curve: this learner has no epochs, so there is no learning curve: omit the option"
    );
    anyhow::ensure!(
        args.checkpoint.is_none() || (learner.has_checkpoints() && !only_tagger),
        "--checkpoint: taggers and perceptrons have no checkpoints: omit the option; Ctrl-C writes the best \
         model so far"
    );
    Ok(())
}

fn read(
    args: &TrainArgs,
    paths: &[PathBuf],
    what: &str,
    visit: impl FnMut(&Tree, &Trees),
) -> anyhow::Result<Treebank> {
    let (treebank, report) = Treebank::read_and_visit(paths, &args.treebank.options(), visit)?;
    if !args.quiet || report.skipped > 0 {
        eprintln!("{what}: {report}");
    }
    anyhow::ensure!(
        !treebank.trees.is_empty(),
        "--{what} {}: no trees: check that this is a treebank file",
        paths[0].display()
    );
    Ok(treebank)
}

/// Counts how often Ctrl-C is pressed; the second time ends the program at once.
fn catch_interrupts() -> Arc<AtomicU32> {
    let interrupts = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&interrupts);
    // Without a handler, Ctrl-C simply ends the program.
    let _ = ctrlc::set_handler(move || {
        if seen.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(130);
        }
        eprintln!(
            "\nstopping: the best model so far will be written (press Ctrl-C again to quit at once)"
        );
    });
    interrupts
}
