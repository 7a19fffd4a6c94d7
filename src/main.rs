//! The `srparse` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    srparse::cli::run(&srparse::cli::Cli::of_arguments())
}
