//! Options that several commands share.

use std::fmt::{self, Display, Formatter};
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;

use super::listed;
use crate::eval::Params;
use crate::parallel;
use crate::preset::{DEFAULT, Preset, TreebankProfile};
use crate::tree::heads::HeadRules;
use crate::treebank::{Cleaning, Encoding, ReadOptions};

/// Heading of the input options.
pub(super) const INPUT: &str = "Input options";
/// Heading of the output options.
pub(super) const OUTPUT: &str = "Output options";
/// Heading of the scoring options.
pub(super) const SCORING: &str = "Scoring options";

/// How treebank files are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = INPUT)]
pub(super) struct TreebankArgs {
    #[command(flatten)]
    pub(super) profile: ProfileArg,
    #[command(flatten)]
    encoding: EncodingArg,
    /// Skip malformed trees instead of stopping at the first; skipped trees are counted and reported.
    #[arg(long, alias = "skip-bad-trees")]
    skip_bad: bool,
}

impl TreebankArgs {
    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions { skip_bad_trees: self.skip_bad, ..self.encoding.options() }
    }
}

/// The treebank that the trees are from.
#[derive(Debug, clap::Args)]
pub(super) struct ProfileArg {
    /// Treebank that the (gold) trees are from, which decides how they are cleaned: ctb, greynir, gum, icon, keyaki,
    /// negra, ppche, ptb, spmrl, squoia, or a profile file. `srparse info` describes them.
    #[arg(value_parser = listed::treebanks(), hide_possible_values = true, long, value_name = "NAME|FILE")]
    treebank: Option<String>,
}

impl ProfileArg {
    /// Returns a built-in preset or that of a file, changed by the profile and then by the settings.
    pub(super) fn preset(&self, name: &str, settings: &[String]) -> crate::Result<Preset> {
        self.changed(Preset::load(name, &[])?, settings)
    }

    /// Returns a preset, changed by the profile and then by the settings.
    pub(super) fn changed(&self, preset: Preset, settings: &[String]) -> crate::Result<Preset> {
        let profile = self.treebank.as_deref().map(TreebankProfile::load).transpose()?;
        preset.changed(profile.as_ref(), settings)
    }

    /// The name or the file of the head rules of the profile.
    pub(super) fn heads(&self) -> crate::Result<Option<String>> {
        let profile = self.treebank.as_deref().map(TreebankProfile::load).transpose()?;
        Ok(profile.and_then(|profile| profile.heads))
    }

    /// The name or the file of the profile.
    pub(super) fn name(&self) -> Option<&str> {
        self.treebank.as_deref()
    }

    /// Returns whether a treebank profile is given.
    pub(super) fn is_given(&self) -> bool {
        self.treebank.is_some()
    }

    /// Returns an error if a profile is given in addition to a model, which has its own cleaning.
    pub(super) fn refuse_with_model(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.treebank.is_none(),
            "--treebank has no effect with --model: trees are cleaned as in training: omit the option"
        );
        Ok(())
    }

    /// Returns the cleaning of the default preset, changed by the profile and then by the settings.
    ///
    /// # Errors
    /// When the profile or a setting is invalid, or a setting does not concern the cleaning.
    pub(super) fn cleaning(&self, settings: &[String]) -> anyhow::Result<Cleaning> {
        let other = settings.iter().find(|setting| !setting.starts_with("clean."));
        if let Some(setting) = other {
            anyhow::bail!(
                "--set {setting}: only the cleaning can be changed, such as clean.quotes=true"
            );
        }
        Ok(self.preset(DEFAULT, settings)?.clean)
    }
}

/// A number or a range of numbers, such as 2-40.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Numbers {
    /// Returns whether a number is in the range.
    pub(super) fn contains(self, number: u64) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if 0 < first && first <= last => Ok(Self { first, last }),
            _ => Err("write a number from 1, such as 7, or a range, such as 2-40".to_owned()),
        }
    }
}

impl Display for Numbers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.first < self.last { write!(f, "-{}", self.last) } else { Ok(()) }
    }
}

/// The value of an option that is a number from 1.
pub(super) fn from_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "must be a whole number from 1".to_owned())
}

/// Prints a note that the command reads from the terminal.
pub(super) fn note_terminal() {
    if io::stdin().is_terminal() {
        say!("reading from the terminal; Ctrl-D ends");
    }
}

/// The same if standard input is among the files, unless `quiet`.
pub(super) fn note_stdin(files: &[PathBuf], quiet: bool) {
    if !quiet && files.iter().any(|file| file.as_os_str() == "-") {
        note_terminal();
    }
}

/// The option to suppress messages.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Verbosity {
    /// Print only errors.
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// The encoding of text files.
#[derive(Debug, clap::Args)]
pub(super) struct EncodingArg {
    /// Character encoding: auto (what XML declares, otherwise utf-8), utf-8, gb18030 or latin-1.
    #[arg(value_parser = listed::encodings(), hide_possible_values = true, long, value_name = "NAME", default_value_t)]
    pub(super) encoding: Encoding,
}

impl EncodingArg {
    /// How trees are read.
    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions { encoding: self.encoding, ..ReadOptions::default() }
    }
}

/// How parse trees are compared with gold trees.
#[derive(Debug, clap::Args)]
pub(super) struct ScoringArgs {
    /// EVALB parameters: collins, new, spmrl, or a .prm file.
    #[arg(value_parser = listed::params(), hide_possible_values = true, long, value_name = "NAME|FILE",
          default_value = "collins", help_heading = SCORING)]
    params: String,
    /// Give parse trees the tags of the gold trees, so that tagging errors do not change which words and
    /// brackets count. Tagging accuracy is still that of the parse trees.
    /// With neither this option nor --own-tags, this is done if more than 1 % of the sentences would be left out otherwise.
    #[arg(long, conflicts_with = "own_tags", help_heading = SCORING)]
    pub(super) gold_tags: bool,
    /// Score parse trees with their own tags, as EVALB does, however many sentences are left out because other words
    /// count as punctuation.
    #[arg(long, help_heading = SCORING)]
    pub(super) own_tags: bool,
    #[command(flatten, next_help_heading = INPUT)]
    profile: ProfileArg,
    /// Change a step of the cleaning of the gold trees, such as clean.lemma_separator=-; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1, help_heading = INPUT)]
    set: Vec<String>,
    #[command(flatten, next_help_heading = INPUT)]
    pub(super) encoding: EncodingArg,
}

impl ScoringArgs {
    /// The name or the file of the evaluation parameters.
    pub(super) fn params_name(&self) -> &str {
        &self.params
    }

    pub(super) fn params(&self) -> anyhow::Result<Params> {
        Params::load(&self.params).context("--params")
    }

    /// The head rules of the treebank profile, if it has any.
    pub(super) fn heads(&self) -> anyhow::Result<Option<HeadRules>> {
        let heads = self.profile.heads()?.filter(|heads| !heads.is_empty());
        heads.map(|heads| HeadRules::load(&heads).context("--treebank")).transpose()
    }

    /// How gold trees are cleaned.
    pub(super) fn cleaning(&self) -> anyhow::Result<Cleaning> {
        self.profile.cleaning(&self.set)
    }
}

/// How many threads a core can have: more only take memory.
const THREADS_PER_CORE: usize = 4;

/// The number of threads for `-j`: 0 means one for each core.
pub(super) fn threads(asked: usize, quiet: bool) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let most = cores * THREADS_PER_CORE;
    if asked > most && !quiet {
        say!(
            "note: -j {asked} is more than {THREADS_PER_CORE} threads for each of {cores} cores: {most} are used"
        );
    }
    if asked == 0 { cores } else { asked.min(most) }
}

/// The number of threads of commands that use all cores by default.
#[derive(Debug, clap::Args)]
pub(super) struct ThreadsArg {
    /// Number of threads; 0 uses all cores. The result does not depend on it.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

impl ThreadsArg {
    /// The number of threads.
    pub(super) fn number(&self, verbosity: &Verbosity) -> usize {
        threads(self.threads, verbosity.quiet)
    }

    /// Sets the number of threads for all parallel work of the process.
    pub(super) fn apply(&self, verbosity: &Verbosity) {
        parallel::set_threads(self.number(verbosity));
    }
}
