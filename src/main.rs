//! The `srparse` command.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    srparse::cli::run(&srparse::cli::Cli::parse())
}
