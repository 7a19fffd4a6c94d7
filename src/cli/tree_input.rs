//! Runs a command over the trees of treebanks: one result per tree, in order, on any number of threads, each written as
//! soon as it is known if the input is no file.

use std::io::{self, Write};
use std::path::PathBuf;

use super::in_order::{self, Sink, Work};
use super::inputs::inputs;
use super::options::{TreebankArgs, Verbosity, note_stdin};
use super::out::{Out, OutArg};
use super::reading_bar::ReadingBar;
use crate::tree::Tree;
use crate::treebank::{ByteCounter, Input, Trees};

/// An open treebank, with its progress bar.
pub(super) struct TreeInput {
    pub(super) trees: Trees,
    pub(super) bar: ReadingBar,
    /// Whether all inputs are files.
    is_stored: bool,
}

impl TreeInput {
    /// Opens files, folders and patterns. There is no bar if the command writes to the terminal meanwhile.
    ///
    /// # Errors
    /// When one does not exist.
    pub(super) fn open(
        files: &[PathBuf],
        treebank: &TreebankArgs,
        verbosity: &Verbosity,
        out: Option<&OutArg>,
    ) -> anyhow::Result<Self> {
        note_stdin(files, verbosity.quiet);
        let (inputs, counter) = (inputs(files, verbosity.quiet)?, ByteCounter::default());
        let is_shown = !verbosity.quiet && !out.is_some_and(OutArg::is_terminal);
        let bar = ReadingBar::of_inputs(is_shown, &inputs, counter.clone(), "trees");
        let is_stored =
            inputs.iter().all(|input| matches!(input, Input::File(path) if path.is_file()));
        let trees = Trees::new(inputs, &treebank.options()).counted_by(counter);
        Ok(Self { trees, bar, is_stored })
    }
}

/// Processes one tree, given its number from 1: writes what is printed into the bytes, empty at first.
pub(super) type TreeProcessor<'f> = &'f (dyn Fn(u64, Tree, &mut Vec<u8>) -> bool + Sync);

/// Takes the next tree to process from the input, with its number.
pub(super) type TreeSelector<'f> =
    &'f mut (dyn FnMut(&mut Trees) -> Option<crate::Result<(u64, Tree)>> + Send);

/// A result, and whether the processor returned true.
#[derive(Default)]
struct Rendered {
    bytes: Vec<u8>,
    is_done: bool,
}

struct Writer<'o> {
    out: &'o mut Out,
    bar: ReadingBar,
    flushes_each: bool,
    undone: u64,
}

impl Sink<Rendered> for Writer<'_> {
    fn write(&mut self, result: &mut Rendered) -> io::Result<bool> {
        self.bar.add(1);
        self.undone += u64::from(!result.is_done);
        self.out.write_all(&result.bytes)?;
        Ok(true)
    }

    fn flushes_each(&self) -> bool {
        self.flushes_each
    }

    fn out(&mut self) -> &mut Out {
        self.out
    }
}

/// Processes the trees that `select` yields from the input; returns the number of trees for which the processor returned
/// false, and the input.
///
/// # Errors
/// When a tree cannot be read, or a result cannot be written.
pub(super) fn run(
    input: TreeInput,
    select: TreeSelector<'_>,
    process: TreeProcessor<'_>,
    out: &mut Out,
    threads: usize,
) -> anyhow::Result<(u64, Trees)> {
    let TreeInput { mut trees, bar, is_stored } = input;
    let make = || -> in_order::Processor<'_, (u64, Tree), Rendered> {
        Box::new(|(number, tree), result| {
            result.bytes.clear();
            result.is_done = process(number, tree, &mut result.bytes);
        })
    };
    let work = Work { words: |(_, tree): &(u64, Tree)| tree.tokens().len(), make: &make };
    let mut sink = Writer { out, bar, flushes_each: !is_stored, undone: 0 };
    in_order::run(&work, &mut std::iter::from_fn(|| select(&mut trees)), &mut sink, threads)?;
    Ok((sink.undone, trees))
}
