//! The `srparse` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    srparse::cli::main()
}
