//! `srparse models`: the models that can be used by their names.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use super::out::OutArg;
use crate::model::{Header, Model, embedded, installed};
use crate::parser::stored_preset;

/// List the models that can be used by their names.
///
/// Prints the embedded and the installed models with their sizes, F1 on development trees, licences and training data, and the
/// folders that are searched for files NAME.srm: those of the variable SRPARSE_MODELS, `models` beside the program, and
/// srparse/models in the user's data folder. `srparse info NAME` says more about a model.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse models
  SRPARSE_MODELS=models srparse models --json")]
pub struct ModelsArgs {
    /// Print a JSON object for each model.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    out: OutArg,
}

/// A model that has a name.
#[derive(Serialize)]
struct Listing {
    name: String,
    /// Its file, if it is not embedded.
    file: Option<PathBuf>,
    bytes: u64,
    description: String,
    licence: String,
    sources: Vec<String>,
    trees: u64,
    words: u64,
    /// F1 on its development trees.
    dev_f1: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// When the output cannot be written. An installed model that cannot be read is an error after the others are listed.
pub fn run(args: &ModelsArgs) -> anyhow::Result<ExitCode> {
    let mut out = args.out.open([])?;
    let (mut listings, mut n_unreadable) = (Vec::new(), 0);
    for name in embedded::NAMES {
        if let Some(bytes) = embedded::bytes(Path::new(name)) {
            listings.push(listing(name, None, bytes.len() as u64)?);
        }
    }
    for (name, file) in installed::all() {
        if !embedded::is_embedded(Path::new(&name)) {
            let bytes = file.metadata().map_or(0, |data| data.len());
            match listing(&name, Some(file), bytes) {
                Ok(listing) => listings.push(listing),
                Err(error) => {
                    say!("error: {error}");
                    n_unreadable += 1;
                }
            }
        }
    }
    if args.json {
        for listing in &listings {
            writeln!(out, "{}", serde_json::to_string(listing)?)?;
        }
    } else {
        write_table(&listings, &mut out)?;
    }
    out.finish()?;
    Ok(ExitCode::from(if n_unreadable > 0 { 2 } else { 0 }))
}

fn listing(name: &str, file: Option<PathBuf>, bytes: u64) -> anyhow::Result<Listing> {
    let model = Model::open(file.as_deref().unwrap_or(Path::new(name)))?;
    let preset = stored_preset(&model, &[])?;
    let Header { training, dev, .. } = model.header;
    Ok(Listing {
        name: name.to_owned(),
        file,
        bytes,
        description: preset.description,
        licence: preset.about.licence,
        sources: preset.about.sources,
        trees: training.trees,
        words: training.words,
        dev_f1: dev.map(|dev| dev.f1),
    })
}

fn write_table(listings: &[Listing], out: &mut impl Write) -> anyhow::Result<()> {
    let name_width = listings.iter().map(|listing| listing.name.len()).max().unwrap_or(0).max(5);
    writeln!(out, "{:<name_width$}    MB  dev F1  training data; licence", "model")?;
    for Listing { name, bytes, dev_f1, trees, licence, sources, .. } in listings {
        let f1 = dev_f1.map_or_else(|| "-".to_owned(), |f1| format!("{f1:.2}"));
        let megabytes = *bytes as f64 / 1e6;
        let sources =
            if sources.is_empty() { String::new() } else { format!(": {}", sources.join("; ")) };
        let licence = if licence.is_empty() { String::new() } else { format!("; {licence}") };
        writeln!(
            out,
            "{name:<name_width$}  {megabytes:>4.1}  {f1:>6}  {trees} trees{sources}{licence}"
        )?;
    }
    writeln!(out, "\nFolders that are searched for NAME.srm")?;
    for folder in installed::folders() {
        let state = if folder.is_dir() { "" } else { " (there is no such folder)" };
        writeln!(out, "  {}{state}", folder.display())?;
    }
    Ok(())
}
