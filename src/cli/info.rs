//! `srparse info`: what is inside a model file.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::feature::Templates;
use crate::model::{Model, TaggerSummary, TaggingScores, file};
use crate::preset::{LearnerChoice, Preset, load::stored_preset};
use crate::tree::heads::HeadRules;

/// Say what is inside a model file.
///
/// Tells training data, scores, actions, sizes and preset. Without a file, tells them of the embedded
/// English model, and lists the presets, template files and head rules that are part of the program.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse info
  srparse info --preset fast > my.toml")]
pub struct InfoArgs {
    /// The model file.
    model: Option<PathBuf>,
    /// List every action of the model.
    #[arg(long)]
    actions: bool,
    /// Print a preset as text, to start one of your own.
    #[arg(long, value_name = "NAME", conflicts_with = "model")]
    preset: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When the model is refused.
pub fn run(args: &InfoArgs) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    if let Some(name) = &args.preset {
        write!(out, "{}", Preset::load(name, &[])?.to_toml())?;
        return Ok(ExitCode::SUCCESS);
    }
    let model = match &args.model {
        Some(path) => file::read(path)?,
        None => Model::embedded()?,
    };
    let name =
        args.model.as_ref().map_or("embedded English model".into(), |path| path.to_string_lossy());
    writeln!(out, "{name}")?;
    describe(&model, args.actions, &mut out).context("writing to standard output")?;
    if args.model.is_none() {
        writeln!(out, "\nPresets")?;
        for name in Preset::names() {
            writeln!(out, "  {name:<28} {}", Preset::load(name, &[])?.description)?;
        }
        let list = |names: Vec<&str>| names.join(", ");
        writeln!(out, "\nTemplate files\n  {}", list(Templates::names().collect()))?;
        writeln!(out, "\nHead rules\n  {}", list(HeadRules::names().collect()))?;
        let learners = LearnerChoice::ALL.iter().map(|(kind, _)| *kind).collect();
        writeln!(
            out,
            "\nLearners (`srparse train --help` explains their settings)\n  {}",
            list(learners)
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe_tagger(tagger: &TaggerSummary, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "  tagger of {} tags, trained on {} words", tagger.tags, tagger.words)?;
    let scores = |name: &str, scores: &TaggingScores| {
        let TaggingScores { files, accuracy, unseen } = scores;
        let files = files.join(", ");
        format!("  {name} {files}: tags {accuracy:.2} % right, of unseen words {unseen:.2} %")
    };
    if let Some(jackknifed) = &tagger.jackknifed {
        writeln!(out, "{}", scores("jackknifed", jackknifed))?;
    }
    if let Some(dev) = &tagger.dev {
        writeln!(out, "{}", scores("dev", dev))?;
    }
    Ok(())
}

fn describe(model: &Model, actions: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let header = &model.header;
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
        writeln!(out, "  labels {} only: a part to be merged", training.labels.join(", "))?;
    }
    if training.epoch > 0 {
        writeln!(out, "  weights of epoch {}", training.epoch)?;
    }
    match &header.dev {
        Some(dev) => writeln!(
            out,
            "  dev {}: F1 {:.2}, exact {:.2}",
            dev.files.join(", "),
            dev.f1,
            dev.exact
        )?,
        None if header.actions.is_empty() => {}
        None => writeln!(out, "  no dev scores")?,
    }
    if let Some(tagger) = &header.tagger {
        describe_tagger(tagger, out)?;
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
    for line in stored_preset(model, &[])?.to_toml().lines() {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}
