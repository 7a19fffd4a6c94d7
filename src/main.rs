//! The `srparse` command.

use std::process::ExitCode;

use clap::Parser;
use srparse::cli::eval::{EvalArgs, run};

/// Linear-time shift-reduce constituency parsing.
#[derive(Debug, Parser)]
#[command(name = "srparse", version)]
enum Cli {
    Eval(EvalArgs),
}

fn main() -> ExitCode {
    let Cli::Eval(args) = Cli::parse();
    run(&args).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}
