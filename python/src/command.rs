//! The `srparse` command.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;
use srparse::cli::{self, Cli};

/// Runs the command with arguments, the name of the program first; returns its exit status.
#[pyfunction(name = "_run")]
pub(crate) fn run(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| match Cli::try_of(arguments) {
        Ok(cli) => status(cli::run(&cli)),
        Err(help) => {
            // There is nowhere else to say that standard output is closed.
            let _ = help.print();
            u8::try_from(help.exit_code()).unwrap_or(2)
        }
    })
}

/// The number of an exit status, which the standard library does not tell.
fn status(code: ExitCode) -> u8 {
    (0..u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(u8::MAX)
}
