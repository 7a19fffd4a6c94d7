//! `srparse train`: trains a model on treebank files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::inputs::note_left_out;
use super::interrupts::{INTERRUPTED, Interrupts};
use super::lint_notes;
use super::listed;
use super::options::{INPUT, ThreadsArg, TreebankArgs, Verbosity};
use super::out::{refuse_file_as_folder, refuse_input};
use super::progress::ProgressLog;
use crate::Error;
use crate::model::{Model, file};
use crate::observer::Observer;
use crate::output;
use crate::parser::stored_preset;
use crate::preset::schema::settings_help;
use crate::preset::{DEFAULT, MethodChoice, Preset, TaggerChoice};
use crate::train::Trainer;
use crate::tree::Tree;
use crate::treebank::lint::Lint;
use crate::treebank::{Treebank, Trees};

const EXAMPLES: &str = "Examples:
  srparse train --train data/sample/train.mrg --dev data/sample/dev.mrg --model sample.srm
  srparse train --tagger --train data/sample/train.mrg --model tagger.srm
  srparse train --treebank ptb --train data/sample/train.mrg --model ptb.srm";

/// Train a parser with its part-of-speech tagger, or a tagger alone.
///
/// Treebanks are in Penn brackets, export format or XML. With --dev, the parser is scored on the development set after every
/// epoch, and the best epoch is stored; where a preset adds the weights of several models (learner.models),
/// only their sum is scored. Ctrl-C or SIGTERM stops training and writes the best model
/// so far; the exit status is then 130.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct TrainArgs {
    /// Training trees: files (may be .gz), folders, or quoted globs.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true, help_heading = INPUT)]
    train: Vec<PathBuf>,
    /// Development trees, to select the best epoch and report its scores.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = INPUT)]
    dev: Vec<PathBuf>,
    /// Model file to write.
    #[arg(short = 'o', long, value_name = "FILE")]
    model: PathBuf,
    /// What to train: a preset listed by `srparse info`, or a preset file; `fast` by default, with --init that of the
    /// model.
    #[arg(value_parser = listed::presets(), hide_possible_values = true, long, value_name = "NAME|FILE")]
    preset: Option<String>,
    /// Change a setting of the preset, such as learner.epochs=5; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    verbosity: Verbosity,
    /// Train only the part-of-speech tagger, for `srparse tag`.
    #[arg(long, conflicts_with = "jackknife", help_heading = TAGGING)]
    tagger: bool,
    /// Train no tagger: the parser takes tagged sentences only.
    #[arg(long, conflicts_with_all = ["tagger", "jackknife"], help_heading = TAGGING)]
    no_tagger: bool,
    /// Train the parser on tags predicted by N-fold jackknifing, or by the tagger of the --init model, instead of those
    /// of the treebank.
    #[arg(long, value_name = "N", help_heading = TAGGING)]
    jackknife: Option<u32>,
    /// Save finished components (of split learners and ensembles) or every epoch (of perceptrons and networks) in this
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
    /// Take parts from these models, trained by the same command: the classifiers of other --labels, or the
    /// networks of an ensemble, each trained alone (learner.models=1) with another --seed.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = LONG_RUNS)]
    merge: Vec<PathBuf>,
    /// The folder of a pretrained encoder in the layout of Hugging Face (config.json, model.safetensors, and
    /// tokenizer.json or vocab.txt), for presets with one, such as `pretrained`. Supported are BERT, DistilBERT, ELECTRA,
    /// RoBERTa and XLM-R.
    #[arg(long, value_name = "FOLDER", help_heading = INPUT)]
    encoder: Option<PathBuf>,
    /// Continue from this model, a network of the same layers or a perceptron with the same features: its words, tags and
    /// labels stay known, and those of the training trees are added. Without --preset, the settings are those of the model,
    /// except that the number of epochs of a network depends on the number of trees.
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["encoder", "tagger"], help_heading = INPUT)]
    init: Option<PathBuf>,
    /// Trees parsed by another parser; each epoch uses a random share of them. For learners with epochs.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = INPUT)]
    silver: Vec<PathBuf>,
    /// The probability that an epoch uses a silver tree.
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = share, requires = "silver", help_heading = INPUT)]
    silver_share: f64,
    /// Learn from these models too: their probabilities of actions, averaged, have the weight
    /// learner.teacher_weight in the loss. They must be trained on the same trees with the same transition
    /// system; for networks.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = INPUT)]
    teacher: Vec<PathBuf>,
    #[command(flatten)]
    treebank: TreebankArgs,
}

const TAGGING: &str = "Tagging options";
const LONG_RUNS: &str = "Options for long training runs";

/// Adds all settings to the long help.
pub(super) fn with_settings(command: clap::Command) -> clap::Command {
    command.after_long_help(format!("{EXAMPLES}\n\n{}", settings_help()))
}

/// Runs the command.
///
/// # Errors
/// When the preset, a treebank or the path of the model is invalid, or training fails.
pub fn run(args: &TrainArgs) -> anyhow::Result<ExitCode> {
    args.threads.apply(&args.verbosity);
    let interrupts = Interrupts::catch(args.verbosity.quiet);
    let trainer = trainer(args)?;
    check_options(args, &trainer)?;
    check_outputs(args)?;
    let trainer = with_models(args, trainer)?;
    let clean = trainer.preset().clean.clone();
    let mut lint = Lint::new(&clean);
    let look = |tree: &Tree, trees: &Trees| {
        if let Some(at) = trees.place() {
            lint.add(tree, &at);
        }
    };
    let train = read(args, &args.train, "train", look)?;
    if !args.verbosity.quiet {
        lint_notes::print(&lint.findings(), &args.treebank.profile);
    }
    let dev = read_dev(args, &train, trainer.preset())?;
    let start = Instant::now();
    let log = ProgressLog::new(args.verbosity.quiet, args.curve.as_deref(), &interrupts);
    let mut trainer = trainer.seed(args.seed).observe(&log);
    let silver = match &args.silver[..] {
        [] => None,
        paths => Some(read(args, paths, "silver", |_, _| {})?),
    };
    if let Some(silver) = &silver {
        trainer = trainer.silver(silver, args.silver_share);
    }
    if let Some(folder) = &args.checkpoint {
        trainer = trainer.checkpoint(folder);
    }
    interrupts.training_begins();
    let trained = trainer.train(&train, &dev);
    log.finish_bar();
    let model = match trained {
        Err(Error::Stopped) => return Ok(stopped(args)),
        trained => trained?,
    };
    if args.model.exists() && !args.model.is_file() {
        // A pipe may wait for its reader for ever.
        interrupts.training_ended();
    }
    write_model(&model, &args.model, &interrupts)?;
    let is_stopped = log.is_stopped();
    if !args.verbosity.quiet || is_stopped {
        let bytes = std::fs::metadata(&args.model).map(|data| data.len()).unwrap_or_default();
        let (seconds, megabytes) = (start.elapsed().as_secs_f64(), bytes as f64 / 1e6);
        let early = if is_stopped { ", stopped early" } else { "" };
        say!("wrote {} ({megabytes:.1} MB) after {seconds:.1} s{early}", args.model.display());
    }
    log.finish_curve()?;
    Ok(if is_stopped { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Prints that no model was written; returns the exit status.
fn stopped(args: &TrainArgs) -> ExitCode {
    let kept = args.checkpoint.as_ref().map_or(String::new(), |folder| {
        format!("; the same command resumes from what is finished in {}", folder.display())
    });
    say!("{}: nothing was written{kept}", Error::Stopped);
    ExitCode::from(INTERRUPTED)
}

/// Fails now rather than after training when an output cannot be written, or is another output or an input.
fn check_outputs(args: &TrainArgs) -> anyhow::Result<()> {
    let TrainArgs { train, dev, merge, teacher, silver, .. } = args;
    let preset = args.preset.as_ref().map(PathBuf::from);
    let outputs = [
        ("--model", Some(&args.model)),
        ("--curve", args.curve.as_ref()),
        ("--checkpoint", args.checkpoint.as_ref()),
    ];
    let outputs: Vec<_> =
        outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?))).collect();
    for (at, &(option, path)) in outputs.iter().enumerate() {
        for &(other, other_path) in &outputs[..at] {
            anyhow::ensure!(
                output::resolved(path) != output::resolved(other_path),
                "{option} {}: this is also {other}: name another file",
                path.display()
            );
        }
        if option == "--checkpoint" {
            refuse_file_as_folder(option, path)?;
            continue;
        }
        let inputs = [train, dev, merge, teacher, silver].into_iter().flatten();
        refuse_input(option, path, inputs.chain(&preset).chain(&args.init))?;
        output::check(path).context(option)?;
    }
    Ok(())
}

/// Writes the model. If that fails, writes it where temporary files go, so that it is not lost; if the disk is full,
/// tries again for a minute, in which somebody may make room.
fn write_model(model: &Model, path: &Path, interrupts: &Interrupts) -> anyhow::Result<()> {
    let Err(mut error) = file::write(model, path) else { return Ok(()) };
    let rescued = rescue(model);
    let place = rescued
        .as_ref()
        .map_or(String::new(), |rescued| format!("; the model is in {} now", rescued.display()));
    for seconds in PAUSES {
        if !is_full(&error) || interrupts.is_stopped() {
            break;
        }
        say!("{error}{place}; trying again in {seconds} s");
        interrupts.wait(Duration::from_secs(seconds));
        match file::write(model, path) {
            Ok(()) => {
                let _ = rescued.map(std::fs::remove_file);
                return Ok(());
            }
            Err(again) => error = again,
        }
    }
    anyhow::bail!("{error}{place}")
}

/// The pauses between attempts to write a model to a full disk.
const PAUSES: [u64; 6] = [1, 2, 4, 8, 16, 32];

fn is_full(error: &Error) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error, Error::Io { cause, .. } if [StorageFull, QuotaExceeded].contains(&cause.kind()))
}

/// Writes the model where temporary files go; returns the path, if that was possible.
fn rescue(model: &Model) -> Option<PathBuf> {
    let file = tempfile::Builder::new().prefix("srparse-").suffix(".srm").tempfile().ok()?;
    let (mut out, path) = file.keep().ok()?;
    if file::write_to(model, &mut out).is_ok() {
        return Some(path);
    }
    let _ = std::fs::remove_file(path);
    None
}

/// Opens the models of an option.
fn models(option: &str, paths: &[PathBuf]) -> anyhow::Result<Vec<Model>> {
    let open = |path: &PathBuf| {
        let model = Model::open(path)?;
        stored_preset(&model, &[]).with_context(|| format!("{option} {}", path.display()))?;
        Ok(model)
    };
    paths.iter().map(open).collect()
}

/// Returns the trainer with the other models that it takes, if they are such as it can take.
fn with_models<'a>(args: &TrainArgs, trainer: Trainer<'a>) -> anyhow::Result<Trainer<'a>> {
    let trainer = trainer
        .labels(args.labels.clone())
        .merge(models("--merge", &args.merge)?)
        .teachers(models("--teacher", &args.teacher)?);
    trainer.check_parts()?;
    Ok(trainer)
}

/// Returns a trainer by the preset with the changes of the options.
fn trainer<'a>(args: &TrainArgs) -> anyhow::Result<Trainer<'a>> {
    let profile = &args.treebank.profile;
    let named = |name: &str| profile.preset(name, &args.set);
    let Some(path) = &args.init else {
        let preset = named(args.preset.as_deref().unwrap_or(DEFAULT))?;
        return Ok(Trainer::with_preset(with_options(args, preset)?)?);
    };
    let init = || format!("--init {}", path.display());
    let model = Model::open(path).context("--init")?;
    let preset = match &args.preset {
        Some(name) => named(name)?,
        None => {
            profile.changed(Trainer::preset_to_continue(&model).with_context(init)?, &args.set)?
        }
    };
    let trainer = Trainer::continuing(model, with_options(args, preset)?);
    trainer.with_context(init)
}

/// Returns the preset with the changes of the options.
fn with_options(args: &TrainArgs, mut preset: Preset) -> crate::Result<Preset> {
    if let Some(folder) = &args.encoder {
        let encoder = preset.learner.encoder_mut().ok_or_else(|| {
            let problem = "the preset has no pretrained encoder: give one that has, such as \
                           --preset pretrained, or omit the option";
            crate::Error::config("encoder", problem)
        })?;
        encoder.path = folder.display().to_string();
    }
    preset.only_tagger |= args.tagger;
    preset.jackknife = args.jackknife.unwrap_or(preset.jackknife);
    if args.no_tagger {
        preset.tagger = TaggerChoice::None;
    }
    Ok(preset)
}

/// Rejects options that have no effect on this learner.
fn check_options(args: &TrainArgs, trainer: &Trainer<'_>) -> anyhow::Result<()> {
    let Preset { learner, only_tagger, .. } = trainer.preset();
    anyhow::ensure!(
        args.curve.is_none() || (learner.has_epochs() && !only_tagger),
        "--curve: this learner has no epochs, so there is no learning curve: omit the option"
    );
    anyhow::ensure!(
        args.checkpoint.is_none() || (trainer.has_checkpoints() && !only_tagger),
        "--checkpoint: this learner is trained in one piece, of which nothing could be kept: omit the option"
    );
    anyhow::ensure!(
        !args.no_tagger || !learner.predicts_tags(),
        "--no-tagger: this network predicts tags itself, without a tagger: omit the option, or train a new network with \
         learner.network.untagged=0 for a parser of tagged sentences only"
    );
    anyhow::ensure!(
        !only_tagger || (args.silver.is_empty() && args.teacher.is_empty()),
        "--silver, --teacher: a tagger alone is trained, which learns from neither: omit the option"
    );
    anyhow::ensure!(
        args.silver.is_empty() || learner.has_epochs(),
        "--silver: an epoch uses a share of the silver trees, but this learner has no epochs: add them to --train"
    );
    anyhow::ensure!(
        args.teacher.is_empty() || matches!(learner, MethodChoice::Neural(_)),
        "--teacher: only networks learn from other models: use a preset with learner.kind = \"neural\", such as \
         `accurate`, or give the teacher's parses with --silver"
    );
    Ok(trainer.check_encoder()?)
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Reads the development trees, if there are any, and warns of those of another treebank.
fn read_dev(args: &TrainArgs, train: &Treebank, preset: &Preset) -> anyhow::Result<Treebank> {
    if args.dev.is_empty() {
        return Ok(Treebank::default());
    }
    let dev = read(args, &args.dev, "dev", |_, _| {})?;
    if !args.verbosity.quiet {
        lint_notes::warn_of_other_treebank(&train.trees, &dev.trees, preset);
    }
    Ok(dev)
}

fn read(
    args: &TrainArgs,
    paths: &[PathBuf],
    what: &str,
    visit: impl FnMut(&Tree, &Trees),
) -> anyhow::Result<Treebank> {
    let (treebank, report) = Treebank::read_and_visit(paths, &args.treebank.options(), visit)?;
    note_left_out(&report.left_out, args.verbosity.quiet);
    if !args.verbosity.quiet || report.skipped > 0 {
        say!("{what}: {report}");
    }
    anyhow::ensure!(
        !treebank.trees.is_empty(),
        "--{what} {}: no trees: check that this is a treebank file",
        paths[0].display()
    );
    Ok(treebank)
}
