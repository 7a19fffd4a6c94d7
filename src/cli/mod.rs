//! The commands: arguments and glue, one file each.
//!
//! Results go to standard output, messages and progress to standard error. Exit status: 0 on success,
//! 1 if the answer is negative, 2 on an error. A reader that closes the pipe early is not an error.

#[macro_use]
mod message;

pub mod ablate;
mod aligned_trees;
mod by_tags;
mod changed_models;
pub mod chart;
mod closed_streams;
pub mod compare;
pub mod complexity;
pub mod crossval;
pub mod diff;
pub mod eval;
pub mod experiment;
pub mod find;
pub mod info;
mod inputs;
mod interrupts;
mod lint_notes;
mod listed;
pub mod man_and_completions;
pub mod mean;
mod mistakes;
pub mod models;
mod notes;
mod options;
pub mod oracle;
mod out;
mod page;
pub mod parse;
mod pipe;
mod progress;
mod reading_bar;
pub mod report;
mod resume;
mod sentences;
#[cfg(feature = "serve")]
pub mod serve;
mod speed;
pub mod split;
mod stream;
pub mod tag;
pub mod train;
pub mod tree;
mod tree_input;
mod unseen;
mod untokenized;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;

use crate::neural::inference::InstructionSet;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Train and run linear-time shift-reduce constituency parsers.
///
/// Try it: echo "Dogs bark. Don't they?" | srparse parse --input text
#[derive(Debug, Parser)]
#[command(name = "srparse", version, max_term_width = 100)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands. Their help comes from their arguments; a doc comment here would hide it.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)]
pub enum Command {
    Train(train::TrainArgs),
    Mean(mean::MeanArgs),
    Parse(parse::ParseArgs),
    Tag(tag::TagArgs),
    #[cfg(feature = "serve")]
    Serve(serve::ServeArgs),
    Eval(eval::EvalArgs),
    Compare(compare::CompareArgs),
    Diff(diff::DiffArgs),
    Report(report::ReportArgs),
    Experiment(experiment::ExperimentArgs),
    Split(split::SplitArgs),
    Crossval(crossval::CrossvalArgs),
    Ablate(ablate::AblateArgs),
    Oracle(oracle::OracleArgs),
    Tree(tree::TreeArgs),
    Find(find::FindArgs),
    Complexity(complexity::ComplexityArgs),
    Info(info::InfoArgs),
    Models(models::ModelsArgs),
    Chart(chart::ChartArgs),
    Completions(man_and_completions::CompletionsArgs),
    Man(man_and_completions::ManArgs),
}

impl Cli {
    /// Reads the arguments of the program; exits if they ask for help or are wrong.
    pub fn of_arguments() -> Self {
        Self::try_of(std::env::args_os()).unwrap_or_else(|shown| {
            let status = match shown.print() {
                Err(error) if !shown.use_stderr() => {
                    status_of(&anyhow::Error::from(error).context("standard output")).into()
                }
                _ => shown.exit_code(),
            };
            std::process::exit(status)
        })
    }

    /// Reads arguments, the name of the program first.
    ///
    /// # Errors
    /// When they ask for help or are wrong: with what is to be printed, and the exit status.
    pub fn try_of(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = Self::program().try_get_matches_from(arguments);
        Self::from_arg_matches(&matches.map_err(mistakes::with_suggestion)?)
    }

    /// The command line with all its help. The list of settings in the help of `train` is generated only when it
    /// is shown, because that takes three times as long as starting to parse.
    fn program() -> clap::Command {
        Self::command().mut_subcommand("train", |train| train.defer(train::with_settings))
    }
}

/// Runs the program, which has the process to itself.
pub fn main() -> ExitCode {
    changed_models::explain();
    let cli = Cli::of_arguments();
    match InstructionSet::wanted() {
        Ok(_) => run(&cli),
        Err(error) => {
            say!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs a command and returns the exit status.
pub fn run(cli: &Cli) -> ExitCode {
    let result = match &cli.command {
        Command::Train(args) => train::run(args),
        Command::Mean(args) => mean::run(args),
        Command::Parse(args) => parse::run(args),
        Command::Tag(args) => tag::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Report(args) => report::run(args),
        Command::Experiment(args) => experiment::run(args),
        Command::Split(args) => split::run(args),
        Command::Crossval(args) => crossval::run(args),
        Command::Ablate(args) => ablate::run(args),
        Command::Oracle(args) => oracle::run(args),
        Command::Tree(args) => tree::run(args),
        Command::Find(args) => find::run(args),
        Command::Complexity(args) => complexity::run(args),
        Command::Info(args) => info::run(args),
        Command::Models(args) => models::run(args),
        Command::Chart(args) => chart::run(args),
        Command::Completions(args) => man_and_completions::completions(args),
        Command::Man(args) => man_and_completions::man(args),
    };
    result.unwrap_or_else(|error| status_of(&error).into())
}

/// Prints an error; returns the exit status.
fn status_of(error: &anyhow::Error) -> u8 {
    if is_broken_pipe(error) {
        return 0;
    }
    say!("error: {}", described(error));
    2
}

/// Returns the message of an error and its causes, without repeating a cause that is in the message.
fn described(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Returns whether the reader of standard output has closed the pipe.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &std::io::Error| error.kind() == ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(broken))
}
