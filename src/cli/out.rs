//! The output of a command: standard output, or a file that is either complete or absent.

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::PathBuf;

use anyhow::Context;

use crate::output::OutputFile;

/// The option that names the output file.
#[derive(Debug, Default, clap::Args)]
pub(super) struct OutArg {
    /// Write the output to this file, once it is complete, instead of standard output.
    #[arg(short = 'o', long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl OutArg {
    /// Opens the output.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn open(&self) -> crate::Result<Out> {
        self.out
            .as_deref()
            .map_or(Ok(Out::stdout()), |path| OutputFile::create(path).map(Out::File))
    }

    /// Whether the output appears on the terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.out.is_none() && io::stdout().is_terminal()
    }
}

/// An open output.
pub(super) enum Out {
    Stdout(BufWriter<StdoutLock<'static>>),
    File(OutputFile),
}

impl Out {
    fn stdout() -> Self {
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
            Self::Stdout(mut out) => out.flush().context("standard output"),
            Self::File(file) => Ok(file.finish()?),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(out) => out.flush(),
        }
    }
}
