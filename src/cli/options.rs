//! Options that several commands share.

use crate::parallel;
use crate::treebank::{Encoding, ReadOptions};

/// Heading of the options on what is read, and how.
pub(super) const INPUT: &str = "Input options";
/// Heading of the options on what is written, and how.
pub(super) const OUTPUT: &str = "Output options";
/// Heading of the options that decide what is scored.
pub(super) const SCORING: &str = "Scoring options";

/// How treebank files are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = INPUT)]
pub(super) struct TreebankArgs {
    #[command(flatten)]
    encoding: EncodingArg,
    /// Skip malformed trees instead of stopping at the first; skipped trees are counted and reported.
    #[arg(long)]
    skip_bad_trees: bool,
}

impl TreebankArgs {
    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions { encoding: self.encoding.encoding, skip_bad_trees: self.skip_bad_trees }
    }
}

/// The encoding of text files.
#[derive(Debug, clap::Args)]
pub(super) struct EncodingArg {
    /// Character encoding of the input: utf-8, gb18030 or latin-1.
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(super) encoding: Encoding,
}

/// The number of threads of commands that use all cores by default.
#[derive(Debug, clap::Args)]
pub(super) struct ThreadsArg {
    /// Number of threads; 0 uses all cores. The result does not depend on it.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

impl ThreadsArg {
    /// Sets the number of threads for all parallel work of the process.
    pub(super) fn apply(&self) {
        parallel::set_threads(self.threads);
    }
}
