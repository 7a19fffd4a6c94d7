//! `srparse info`: the content of a model file, and what is built in.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use super::out::OutArg;
use super::{listed, speed};
use crate::feature::Templates;
use crate::model::{Header, Model, TaggerSummary, TaggingScores, TrainingSummary, embedded};
use crate::parser::stored_preset;
use crate::preset::schema::kinds;
use crate::preset::{About, Preset, TreebankProfile};
use crate::tree::heads::HeadRules;

/// Describe a model, or list what is built in.
///
/// Prints what the model was trained on, its scores on the development set, its actions, sections and preset.
/// Without a model file, describes the embedded English model and lists the built-in presets, treebank profiles,
/// feature template files, head rules and learners.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse info
  srparse info english-fast --speed
  srparse info --preset fast > my.toml")]
pub struct InfoArgs {
    /// Model file, or the name of a model, see `srparse models`; `english` is described if none is given.
    #[arg(value_name = "NAME|FILE")]
    model: Option<PathBuf>,
    /// List all actions of the model.
    #[arg(long)]
    actions: bool,
    /// Measure how fast the model parses on this machine: five seconds on one thread, invented sentences of 20 words or more.
    #[arg(long, conflicts_with_all = ["actions", "preset", "treebank"])]
    speed: bool,
    /// Print a preset, as a starting point for your own.
    #[arg(value_parser = listed::presets(), hide_possible_values = true, long, value_name = "NAME|FILE", conflicts_with = "model")]
    preset: Option<String>,
    #[command(flatten)]
    out: OutArg,
    /// Print a treebank profile, with its comments.
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["model", "preset"])]
    treebank: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When the model cannot be loaded.
pub fn run(args: &InfoArgs) -> anyhow::Result<ExitCode> {
    let mut out = args.out.open(&args.model)?;
    write_info(args, &mut out)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn write_info(args: &InfoArgs, out: &mut impl Write) -> anyhow::Result<()> {
    if let Some(name) = &args.preset {
        write!(out, "{}", Preset::load(name, &[])?.to_toml())?;
        return Ok(());
    }
    if let Some(name) = &args.treebank {
        write!(out, "{}", TreebankProfile::load(name)?.text)?;
        return Ok(());
    }
    let name = args.model.as_deref().unwrap_or(embedded::DEFAULT.as_ref());
    let model = Model::open(name)?;
    let preset = stored_preset(&model, &[]).with_context(|| name.display().to_string())?;
    writeln!(out, "{}", name.display())?;
    if args.speed {
        return speed::measure(&model, out);
    }
    describe(&model, &preset, args.actions, out)?;
    if args.model.is_none() {
        writeln!(out, "\nPresets")?;
        for name in Preset::names() {
            writeln!(out, "  {name:<28} {}", Preset::load(name, &[])?.description)?;
        }
        writeln!(out, "\nTreebank profiles")?;
        for name in TreebankProfile::names() {
            writeln!(out, "  {name:<28} {}", TreebankProfile::load(name)?.description)?;
        }
        let list = |names: Vec<&str>| names.join(", ");
        writeln!(out, "\nFeature templates\n  {}", list(Templates::names().collect()))?;
        writeln!(out, "\nHead rules\n  {}", list(HeadRules::names().collect()))?;
        let learners = kinds("learner");
        writeln!(
            out,
            "\nLearners (see `srparse train --help` for their settings)\n  {}",
            list(learners)
        )?;
    }
    Ok(())
}

fn describe_tagger(tagger: &TaggerSummary, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "  tagger with {} tags and {} distinct words", tagger.tags, tagger.words)?;
    let scores = |name: &str, scores: &TaggingScores| {
        let TaggingScores { files, accuracy, unseen } = scores;
        let files = files.join(", ");
        format!("  {name} {files}: tagging accuracy {accuracy:.2} %, on unseen words {unseen:.2} %")
    };
    if let Some(jackknifed) = &tagger.jackknifed {
        writeln!(out, "{}", scores("jackknifed", jackknifed))?;
    }
    if let Some(dev) = &tagger.dev {
        writeln!(out, "{}", scores("dev", dev))?;
    }
    Ok(())
}

fn describe_licence(about: &About, out: &mut impl Write) -> io::Result<()> {
    if !about.licence.is_empty() {
        writeln!(out, "  licence {}", about.licence)?;
    }
    about.sources.iter().try_for_each(|source| writeln!(out, "  source: {source}"))
}

fn describe_training(header: &Header, out: &mut impl Write) -> io::Result<()> {
    let training = &header.training;
    writeln!(out, "  written by srparse {}, seed {}", header.tool_version, header.seed)?;
    writeln!(
        out,
        "  trained on {}: {} trees, {} words, {} decisions; {} trees left out",
        training.files.join(", "),
        training.trees,
        training.words,
        training.decisions,
        training.skipped.len()
    )?;
    if !training.labels.is_empty() {
        writeln!(
            out,
            "  trained for the labels {} only: to be merged with other models",
            training.labels.join(", ")
        )?;
    }
    for (step, training) in training.history().enumerate() {
        let continued = (step > 0).then_some(("continued from", training));
        let averaged = training.mean_with.iter().map(|training| ("averaged with", training));
        for (how, TrainingSummary { files, trees, .. }) in continued.into_iter().chain(averaged) {
            let files = files.join(", ");
            writeln!(out, "  {how} a model that was trained on {files}: {trees} trees")?;
        }
    }
    if training.epoch > 0 {
        writeln!(out, "  best epoch {}", training.epoch)?;
    }
    match &header.dev {
        Some(dev) => writeln!(
            out,
            "  dev {}: F1 {:.2}, exact match {:.2}",
            dev.files.join(", "),
            dev.f1,
            dev.exact
        )?,
        None if header.actions.is_empty() => {}
        None => writeln!(out, "  no dev scores")?,
    }
    Ok(())
}

fn describe(
    model: &Model,
    preset: &Preset,
    actions: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let header = &model.header;
    describe_training(header, out)?;
    describe_licence(&preset.about, out)?;
    if let Some(tagger) = &header.tagger {
        describe_tagger(tagger, out)?;
    } else if preset.learner.predicts_tags() {
        writeln!(out, "  predicts tags without a tagger")?;
    }
    if let Some(number) = preset.learner.multiply_adds() {
        writeln!(out, "  {:.2} million multiply-adds for each word", number as f64 / 1e6)?;
    }
    match header.actions.len() {
        0 => writeln!(out, "  no parser")?,
        n => writeln!(out, "  {n} actions")?,
    }
    if actions {
        for action in &header.actions {
            writeln!(out, "    {action}")?;
        }
    }
    writeln!(out, "\nSections")?;
    for section in &model.sections.0 {
        writeln!(
            out,
            "  {:<20} {:<4} {:>12} bytes",
            section.name,
            section.element,
            section.bytes.len()
        )?;
    }
    writeln!(out, "\nPreset")?;
    for line in preset.to_toml().lines() {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}
