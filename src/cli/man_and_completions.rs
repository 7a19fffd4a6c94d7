//! `srparse completions` and `srparse man`, generated from the same definition as the help.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;

/// Print a shell completion script.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Shell to complete for.
    shell: Shell,
}

/// Print the manual page.
///
/// Prints one page for the program and one for each command, in roff.
#[derive(Debug, clap::Args)]
pub struct ManArgs {}

/// Runs `srparse completions`.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "srparse", &mut script);
    io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `srparse man`: one page for the program, then one for each command.
///
/// # Errors
/// When standard output cannot be written.
pub fn man(_args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut out = Vec::new();
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut out)?;
    for sub in command.get_subcommands() {
        let name: &'static str = Box::leak(format!("srparse-{}", sub.get_name()).into_boxed_str());
        clap_mangen::Man::new(sub.clone().name(name)).render(&mut out)?;
    }
    io::stdout().write_all(&out)?;
    Ok(ExitCode::SUCCESS)
}
