//! `srparse completions` and `srparse man`, generated from the same definition as the help.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::Cli;
use super::out::OutArg;
use crate::error::did_you_mean;

/// Print a shell completion script.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  srparse completions bash > srparse.bash")]
pub struct CompletionsArgs {
    /// Shell to complete for.
    shell: Shell,
    #[command(flatten)]
    out: OutArg,
}

/// Print the manual page of the program or of a command, in roff.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse man > srparse.1
  srparse man train > srparse-train.1")]
pub struct ManArgs {
    /// Command to describe; the program if omitted.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    #[command(flatten)]
    out: OutArg,
}

/// Runs `srparse completions`.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::program(), "srparse", &mut script);
    let mut out = args.out.open([])?;
    out.write_all(&script)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `srparse man`.
///
/// # Errors
/// When there is no such command, or standard output cannot be written.
pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut program = Cli::program().disable_help_subcommand(true);
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => program.find_subcommand(name).cloned().with_context(|| {
            let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
            let hint = did_you_mean(name, commands.iter().copied());
            format!("no such command: `{name}`: {hint}commands are {}", commands.join(", "))
        })?,
    };
    let mut out = args.out.open([])?;
    out.write_all(&page(command)?)?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the page of a command.
fn page(mut command: Command) -> io::Result<Vec<u8>> {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let is_program = command.has_subcommands();
    let help = command.get_after_long_help().or(command.get_after_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.override_usage(usage))
        .source(concat!("srparse ", env!("CARGO_PKG_VERSION")))
        .manual("srparse manual");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut roff = Roff::new();
    after_help(&help, &mut roff);
    if is_program {
        man.render_subcommands_section(&mut page)?;
        roff.control("SH", ["EXIT STATUS"]);
        roff.text([roman(
            "0 on success, 1 if the answer is negative, 2 on an error, 130 if training was interrupted before \
             anything was learned.",
        )]);
    } else {
        roff.control("SH", ["SEE ALSO"]);
        roff.text([bold("srparse"), roman("(1)")]);
    }
    roff.to_writer(&mut page)?;
    Ok(page)
}

/// Adds the text after the options in the help: a section for each heading, with its lines unchanged.
fn after_help(help: &str, roff: &mut Roff) {
    let mut is_open = false;
    for line in help.lines() {
        let heading = line.strip_suffix(':').filter(|line| !line.starts_with(' '));
        if let Some(heading) = heading {
            if is_open {
                roff.control("fi", []);
            }
            is_open = true;
            let (title, note) = heading.split_once(" (").unwrap_or((heading, ""));
            let title = if title == "Example" { "EXAMPLES" } else { &title.to_uppercase() };
            roff.control("SH", [title]);
            if !note.is_empty() {
                roff.text([roman(note.trim_end_matches(')'))]);
            }
            roff.control("nf", []);
        } else {
            roff.text([roman(line)]);
        }
    }
    if is_open {
        roff.control("fi", []);
    }
}
