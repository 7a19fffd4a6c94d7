//! The trees of treebanks, for commands: one result per tree, in order, on any number of threads, each written as soon as
//! it is known if the input is no file.

use std::io::Write;
use std::path::PathBuf;

use super::inputs::inputs;
use super::options::{TreebankArgs, Verbosity, note_stdin};
use super::out::{Out, OutArg};
use super::pipe::{Pipe, Processor};
use super::reading_bar::ReadingBar;
use crate::Place;
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

/// A tree of the input.
pub(super) struct InputTree {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Where it began.
    pub(super) at: Option<Place>,
    /// Its ID, if the command needs it.
    pub(super) id: Option<String>,
    pub(super) tree: Tree,
}

/// Processes one tree: writes what is printed into the bytes, empty at first. An error ends the command.
pub(super) type TreeProcessor<'f> =
    &'f (dyn Fn(InputTree, &mut Vec<u8>) -> crate::Result<bool> + Sync);

/// Takes the next tree to process from the input.
pub(super) type TreeSelector<'f> =
    &'f mut (dyn FnMut(&mut Trees) -> Option<crate::Result<InputTree>> + Send);

impl TreeInput {
    /// Processes the trees that `select` yields; returns the number of trees for which the processor returned false, and
    /// the input.
    ///
    /// # Errors
    /// When a tree cannot be read or processed, or a result cannot be written.
    pub(super) fn run(
        mut self,
        select: TreeSelector<'_>,
        process: TreeProcessor<'_>,
        out: &mut Out,
        threads: usize,
    ) -> anyhow::Result<(u64, Trees)> {
        let make = || -> Processor<'_, InputTree, (crate::Result<bool>, Vec<u8>)> {
            Box::new(|tree| {
                let mut bytes = Vec::new();
                (process(tree, &mut bytes), bytes)
            })
        };
        let words = |input: &InputTree| input.tree.tokens().len();
        let pipe = Pipe { words, make: &make, threads, flushes_each: !self.is_stored };
        let mut undone = 0;
        let (trees, bar) = (&mut self.trees, &mut self.bar);
        pipe.run(&mut std::iter::from_fn(|| select(trees)), out, &mut |out, (is_done, bytes)| {
            bar.add(1);
            undone += u64::from(!is_done?);
            out.write_all(&bytes)?;
            Ok(true)
        })?;
        Ok((undone, self.trees))
    }
}
