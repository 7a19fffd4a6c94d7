//! The output of a command: standard output, or a file that is either complete or absent.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;
use same_file::Handle;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::closed_streams::stdout_was_closed;
use super::resume::{self, Causes, Done, Part};
use crate::output::{OutputFile, resolved};
use crate::treebank::{Input, expand};

/// The option that names the output file.
#[derive(Debug, Default, clap::Args)]
pub(super) struct OutArg {
    /// Write the output to this file, once it is complete, instead of standard output; compressed if the name ends in
    /// .gz.
    #[arg(short = 'o', long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl OutArg {
    /// Opens the output of a command that reads `inputs`.
    ///
    /// # Errors
    /// When the file cannot be written, or is one of the inputs.
    pub(super) fn open<'p>(
        &self,
        inputs: impl IntoIterator<Item = &'p PathBuf>,
    ) -> anyhow::Result<Out> {
        let Some(path) = self.file() else {
            refuse_redirection(inputs)?;
            return Ok(Out::stdout());
        };
        refuse_input("--out", path, inputs)?;
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("gz") => {
                let file = OutputFile::create(path)?;
                Ok(Out::Gzip(GzEncoder::new(file, Compression::default())))
            }
            Some("bz2" | "xz" | "zst") => anyhow::bail!(
                "--out {}: only gzip is written: choose a name that ends in .gz, or omit --out and pipe the output to \
                 the program that compresses it",
                path.display()
            ),
            _ => Ok(Out::File(OutputFile::create(path)?)),
        }
    }

    /// Opens an output that a later run can go on with, or that an earlier one has begun: then with what it had done.
    ///
    /// # Errors
    /// When no plain file is named, it is one of the inputs, or as [`Part::open`].
    pub(super) fn resume<T: Default + Serialize + DeserializeOwned>(
        &self,
        inputs: &[&PathBuf],
        causes: Causes,
    ) -> anyhow::Result<(Out, Option<Done<T>>)> {
        let Some(path) = self.file() else {
            anyhow::bail!("--resume needs a file to go on with: add --out FILE");
        };
        refuse_input("--out", path, inputs.iter().copied())?;
        let is_compressed = path.extension().is_some_and(|ending| {
            ["gz", "bz2", "xz", "zst"]
                .iter()
                .any(|compressed| ending.eq_ignore_ascii_case(compressed))
        });
        anyhow::ensure!(
            !is_compressed,
            "--out {}: --resume writes plain files: choose a name without this ending, and compress the file once it is \
             complete",
            path.display()
        );
        for beside in resume::beside(&resolved(path)) {
            refuse_named("--out", &beside, inputs.iter().copied(), 0)?;
        }
        let (part, done) = Part::open(path, causes)?;
        Ok((Out::Part(Box::new(part)), done))
    }

    /// Whether the output appears on the terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.file().is_none() && io::stdout().is_terminal()
    }

    /// The file; `-` is standard output.
    fn file(&self) -> Option<&PathBuf> {
        self.out.as_ref().filter(|path| path.as_os_str() != "-")
    }
}

/// Refuses standard output that is redirected to one of the inputs: it would be read again as it grows.
fn refuse_redirection<'p>(inputs: impl IntoIterator<Item = &'p PathBuf>) -> anyhow::Result<()> {
    let is_file = |handle: &Handle| handle.as_file().metadata().is_ok_and(|found| found.is_file());
    let Some(output) = Handle::stdout().ok().filter(is_file) else { return Ok(()) };
    // Each alone: one that does not exist, such as the name of a model, hides no other.
    let files = |input: &'p PathBuf| expand(std::slice::from_ref(input)).unwrap_or_default().found;
    for file in inputs.into_iter().flat_map(files).chain([Input::Stdin]) {
        let opened = match &file {
            Input::File(path) if path.is_file() => Handle::from_path(path),
            Input::Stdin => Handle::stdin(),
            Input::File(_) => continue,
        };
        anyhow::ensure!(
            opened.map_or(true, |opened| opened != output),
            "{}: standard output goes to this input: write to another file",
            file.name()
        );
    }
    Ok(())
}

/// Refuses an output folder that is a file, or would be in one.
pub(super) fn refuse_file_as_folder(option: &str, folder: &Path) -> anyhow::Result<()> {
    let existing = folder.ancestors().find(|path| path.symlink_metadata().is_ok());
    match existing.filter(|path| !path.is_dir()) {
        None => Ok(()),
        Some(file) => anyhow::bail!(
            "{option} {}: {} is not a folder: name a folder",
            folder.display(),
            file.display()
        ),
    }
}

/// Refuses an output folder that is a file, has inputs in it, or is in one: files, folders or patterns.
pub(super) fn refuse_folder_of_inputs<'p>(
    option: &str,
    folder: &Path,
    inputs: impl IntoIterator<Item = &'p PathBuf>,
) -> anyhow::Result<()> {
    refuse_file_as_folder(option, folder)?;
    let path = resolved(folder);
    for input in inputs {
        let files = expand(std::slice::from_ref(input)).unwrap_or_default().found;
        let is_inside =
            |file: &Input| matches!(file, Input::File(file) if resolved(file).starts_with(&path));
        let is_around = input.is_dir() && path.starts_with(resolved(input));
        anyhow::ensure!(
            !is_around && !files.iter().any(is_inside),
            "{option} {}: the input {} must not be in this folder, nor the folder in it: name another folder",
            folder.display(),
            input.display()
        );
    }
    Ok(())
}

/// Notes files in an output folder that this run has not written, unless `quiet`: those of an earlier run look like its
/// results. `may_mislead` tells by the name.
pub(super) fn note_leftovers(folder: &Path, may_mislead: impl Fn(&str) -> bool, quiet: bool) {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = files.filter(|file| file.path().is_file()).map(|file| file.file_name());
    let mut names: Vec<String> =
        names.filter_map(|name| name.into_string().ok()).filter(|name| may_mislead(name)).collect();
    names.sort_unstable();
    if !names.is_empty() && !quiet {
        say!(
            "note: {} also has files that this run did not write: {}",
            folder.display(),
            names.join(", ")
        );
    }
}

/// Refuses an output that is one of the inputs: files, folders or patterns; or that the command line names elsewhere
/// too, such as a table or a preset.
pub(super) fn refuse_input<'p>(
    option: &str,
    output: &Path,
    inputs: impl IntoIterator<Item = &'p PathBuf>,
) -> anyhow::Result<()> {
    refuse_named(option, output, inputs, 1)
}

/// Refuses an output that is one of the inputs, or that the command line names more than `most` times.
fn refuse_named<'p>(
    option: &str,
    output: &Path,
    inputs: impl IntoIterator<Item = &'p PathBuf>,
    most: usize,
) -> anyhow::Result<()> {
    let path = resolved(output);
    if !path.is_file() {
        return Ok(());
    }
    for input in inputs {
        // Inputs that are missing are found when they are read.
        let files = expand(std::slice::from_ref(input)).unwrap_or_default().found;
        let is_output = |file: &Input| matches!(file, Input::File(file) if resolved(file) == path);
        anyhow::ensure!(
            !files.iter().any(is_output),
            "{option} {}: this file is also an input: name another one",
            output.display()
        );
    }
    let is_output = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        // `-oFILE`, `--heads=FILE`, `--set features.templates=FILE`.
        let joined = argument.strip_prefix("-o").unwrap_or_default();
        let value = argument.rsplit_once('=').map_or("", |(_, value)| value);
        let is_path = |name: &&str| !name.is_empty() && resolved(Path::new(name)) == path;
        [&*argument, joined, value].iter().any(is_path)
    };
    anyhow::ensure!(
        std::env::args_os().skip(1).filter(is_output).count() <= most,
        "{option} {}: the command line names this file{}, so it is also an input: name another one",
        output.display(),
        if most > 0 { " twice" } else { "" }
    );
    Ok(())
}

/// An open output.
pub(super) enum Out {
    /// Standard output, which was closed before the program began.
    Closed,
    Stdout(BufWriter<StdoutLock<'static>>),
    File(OutputFile),
    /// A compressed file.
    Gzip(GzEncoder<OutputFile>),
    /// A file that a later run can go on with.
    Part(Box<Part>),
}

/// The error of a write to standard output, with its name.
fn of_stdout(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

/// The error of a write to a file, with its name.
pub(super) fn of_file(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), crate::Error::io(path, error).to_string())
}

impl Out {
    /// Standard output.
    pub(super) fn stdout() -> Self {
        if stdout_was_closed() {
            return Self::Closed;
        }
        Self::Stdout(BufWriter::with_capacity(1 << 16, io::stdout().lock()))
    }

    /// Stops writing: what was written to standard output stays, a file is not created.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) fn abandon(&mut self) -> io::Result<()> {
        std::mem::replace(self, Self::stdout()).flush()
    }

    /// Completes the output. Only now does a file get its name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Closed => Ok(()),
            Self::Stdout(mut out) => Ok(out.flush().map_err(|error| of_stdout(&error))?),
            Self::Part(part) => part.finish(),
            Self::File(file) => Ok(file.finish()?),
            Self::Gzip(file) => Ok(file.finish().context("--out")?.finish()?),
        }
    }
}

/// Prints a text to standard output.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = Out::stdout();
    out.write_all(text.as_bytes())?;
    out.finish()
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Closed if bytes.is_empty() => Ok(0),
            Self::Closed => Err(io::Error::other(
                "standard output is closed: name a file with --out, or write to a pipe",
            )),
            Self::Stdout(out) => out.write(bytes).map_err(|error| of_stdout(&error)),
            Self::Part(part) => part.write(bytes),
            Self::File(out) => out.write(bytes).map_err(|error| of_file(out.name(), error)),
            Self::Gzip(out) => {
                out.write(bytes).map_err(|error| of_file(out.get_ref().name(), error))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Closed => Ok(()),
            Self::Stdout(out) => out.flush().map_err(|error| of_stdout(&error)),
            Self::Part(part) => part.flush(),
            Self::File(out) => out.flush().map_err(|error| of_file(out.name(), error)),
            // Flushing in the middle spoils the compression, and nobody sees an incomplete file.
            Self::Gzip(_) => Ok(()),
        }
    }
}
