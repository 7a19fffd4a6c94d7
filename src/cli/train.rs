//! `srparse train`: from treebank files to a model file.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use super::progress::ProgressLog;
use super::set_threads;
use crate::classifier::Setting;
use crate::model::file;
use crate::observer::Observer;
use crate::preset::fit::{TreeSet, Watch, fit};
use crate::preset::plan::Plan;
use crate::preset::{DEFAULT, LearnerChoice, Preset, TaggerChoice};
use crate::treebank::{Encoding, ReadOptions, expand, read_all};

const EXAMPLES: &str = "Examples:
  srparse train --train data/sample/train.mrg --dev data/sample/dev.mrg --model sample.srm
  srparse train --tagger --train data/sample/train.mrg --model tagger.srm";

/// Every learner and every tagger with its settings.
fn settings_help() -> String {
    let mut text =
        "Learners and their settings ([learner] in a preset, or --set learner.KEY=VALUE):"
            .to_owned();
    for (kind, settings) in LearnerChoice::ALL {
        kind_help(kind, settings, |key| LearnerChoice::default_of(kind, key), &mut text);
    }
    text.push_str(
        "\n\nTaggers and their settings ([tagger] in a preset, or --set tagger.KEY=VALUE):",
    );
    for (kind, settings) in TaggerChoice::ALL {
        kind_help(kind, settings, |key| TaggerChoice::default_of(kind, key), &mut text);
    }
    text
}

/// Adds the settings of one kind: key, what it does, range, default.
fn kind_help(
    kind: &str,
    settings: &[Setting],
    default_of: impl Fn(&str) -> Option<String>,
    text: &mut String,
) {
    text.push_str(&format!("\n\n  kind = \"{kind}\""));
    for Setting { key, range, help } in settings {
        let default = default_of(key).map(|value| format!(", default {value}")).unwrap_or_default();
        text.push_str(&format!("\n    {key}: {help}\n      {range}{default}"));
    }
}

/// Train a parser, or a part-of-speech tagger, on treebank files.
///
/// Trees are Penn brackets: files (.gz too), folders, or quoted patterns. With --dev, every epoch is
/// scored and the best one kept; where a preset adds up several models (learner.models), the sum is scored
/// after the last. Ctrl-C ends training and keeps the best model so far.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", settings_help()))]
pub struct TrainArgs {
    /// Training trees.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    train: Vec<PathBuf>,
    /// Development trees: scored after every epoch, or after the last if several models are added up.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    dev: Vec<PathBuf>,
    /// The model file to write.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// What to train: the name of a preset (`srparse info` lists them) or a file.
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT)]
    preset: String,
    /// Train the preset's part-of-speech tagger alone, for `srparse tag`.
    #[arg(long, conflicts_with = "jackknife")]
    tagger: bool,
    /// Train the parser on predicted tags: each of N parts is tagged by a tagger of the others. The preset's
    /// tagger, or the default one, is stored in the model.
    #[arg(long, value_name = "N")]
    jackknife: Option<u32>,
    /// Change a value of the preset, such as learner.epochs=5; may be given again.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads; 0 for one on each core. The model is the same for any number.
    #[arg(short = 'j', long = "threads", value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Encoding of the treebank files: utf-8, gb18030 or latin-1.
    #[arg(long, value_name = "NAME", default_value = "utf-8")]
    encoding: Encoding,
    /// Leave out trees that do not read instead of stopping at the first.
    #[arg(long)]
    skip_bad_trees: bool,
    /// A folder where learners with parts (split, ensembles) keep the finished ones, and networks what they are
    /// after every epoch; the same command goes on from there after it was stopped.
    #[arg(long, value_name = "FOLDER")]
    checkpoint: Option<PathBuf>,
    /// A table that is written after every epoch of learners that have epochs: how many decisions were right, and F1
    /// on the development trees, in percent. `srparse chart` draws it.
    #[arg(long, value_name = "FILE")]
    curve: Option<PathBuf>,
    /// Train the classifiers of these labels only, where each label has one of its own (boosting): several
    /// machines can share the work.
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    labels: Vec<String>,
    /// Models of other labels from the same command with other --labels: their part is not trained again.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    merge: Vec<PathBuf>,
    /// Say nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// When the preset, a treebank or the model file is not usable.
pub fn run(args: &TrainArgs) -> anyhow::Result<ExitCode> {
    set_threads(args.threads);
    let plan = Plan::new(preset(args)?)?;
    check_options(args, &plan)?;
    // Better to fail now than after training.
    let folder = args.model.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        anyhow::bail!("{}: no such folder: make it first", folder.display());
    }
    let train = read(args, &args.train, "train")?;
    let dev = if args.dev.is_empty() { TreeSet::default() } else { read(args, &args.dev, "dev")? };
    let interrupts = catch_interrupts();
    let start = Instant::now();
    let log = ProgressLog::new(args.quiet, args.curve.as_deref(), interrupts)?;
    let merge =
        args.merge.iter().map(|path| file::read(path)).collect::<crate::Result<Vec<_>>>()?;
    let watch = Watch {
        observer: &log,
        checkpoint: args.checkpoint.as_deref(),
        labels: &args.labels,
        merge: &merge,
    };
    let model = fit(&plan, &train, &dev, args.seed, &watch)?;
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

/// The preset with what the options change.
fn preset(args: &TrainArgs) -> crate::Result<Preset> {
    let mut preset = Preset::load(&args.preset, &args.set)?;
    preset.only_tagger |= args.tagger;
    preset.jackknife = args.jackknife.unwrap_or(preset.jackknife);
    if args.tagger || args.jackknife.is_some() {
        preset.tagger.get_or_insert_default();
    }
    Ok(preset)
}

/// Refuses options that this learner has no use for.
fn check_options(args: &TrainArgs, plan: &Plan) -> anyhow::Result<()> {
    let Preset { learner, only_tagger, .. } = &plan.preset;
    anyhow::ensure!(
        args.curve.is_none() || (learner.learns_while_parsing() && !only_tagger),
        "--curve: this learner has no epochs to write of: leave the option out"
    );
    let is_kept = !learner.learns_while_parsing() || matches!(learner, LearnerChoice::Neural(_));
    anyhow::ensure!(
        args.checkpoint.is_none() || (is_kept && !only_tagger),
        "--checkpoint: nothing of a tagger or a perceptron in training is kept: leave the option out; after \
         Ctrl-C the best model so far is written"
    );
    Ok(())
}

fn read(args: &TrainArgs, paths: &[PathBuf], what: &str) -> anyhow::Result<TreeSet> {
    let options = ReadOptions { encoding: args.encoding, skip_bad_trees: args.skip_bad_trees };
    let (trees, report) = read_all(paths, &options)?;
    let names: Vec<String> = expand(paths)?.iter().map(|input| input.name()).collect();
    if !args.quiet || report.skipped > 0 {
        eprintln!("{what}: {report}");
    }
    anyhow::ensure!(!trees.is_empty(), "--{what} {}: no trees", paths[0].display());
    let short = |name: String| {
        PathBuf::from(&name).file_name().map_or(name, |name| name.to_string_lossy().into())
    };
    Ok(TreeSet { files: names.into_iter().map(short).collect(), trees })
}

/// Counts Ctrl-C; the second one ends the program at once.
fn catch_interrupts() -> Arc<AtomicU32> {
    let interrupts = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&interrupts);
    // Without a handler Ctrl-C just ends the program.
    let _ = ctrlc::set_handler(move || {
        if seen.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(130);
        }
        eprintln!("\nstopping; the best model so far will be written (again to quit at once)");
    });
    interrupts
}
