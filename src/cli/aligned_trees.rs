//! The gold trees and the trees of parsers, read side by side: one tree for each sentence from every file.

use std::path::Path;

use anyhow::bail;

use super::inputs::inputs;
use super::options::{ScoringArgs, note_terminal};
use super::reading_bar::ReadingBar;
use crate::error::Place;
use crate::eval::Evaluation;
use crate::tree::{OTHER_ROOTS, Tree};
use crate::treebank::{ByteCounter, Cleaning, ReadOptions, Trees};

/// One file, with counts of the root labels in it that are treated as `TOP`.
struct Side {
    name: &'static str,
    trees: Trees,
    /// The cleaning that strips trees; those without words afterwards are left out.
    strip: Cleaning,
    read: u64,
    left_out: u64,
    roots: [u64; OTHER_ROOTS.len()],
}

impl Side {
    fn next(&mut self) -> anyhow::Result<Option<Tree>> {
        let tree = loop {
            let Some(tree) = self.trees.next().transpose()? else {
                return Ok(None);
            };
            match self.strip.strip(tree) {
                Some(tree) => break tree,
                None => self.left_out += 1,
            }
        };
        self.read += 1;
        // `(())` stands for a missing parse: its root is not counted.
        let root = tree.root().filter(|_| !tree.tokens().is_empty());
        let root = root.map(|root| tree.node(root).label.as_str());
        if let Some(known) = OTHER_ROOTS.iter().position(|&other| Some(other) == root) {
            self.roots[known] += 1;
        }
        Ok(Some(tree))
    }

    fn report_roots(&self) {
        let met: Vec<String> = (OTHER_ROOTS.iter().zip(self.roots))
            .filter(|&(_, count)| count > 0)
            .map(|(root, count)| {
                let root = if root.is_empty() { "(no label)" } else { root };
                format!("{count} {root}")
            })
            .collect();
        if !met.is_empty() {
            say!("{}: roots treated as TOP: {}", self.name, met.join(", "));
        }
    }
}

/// The gold trees and those of parsers.
pub(super) struct AlignedTrees {
    sides: Vec<Side>,
    quiet: bool,
    /// The progress bar, until the end of the files.
    bar: Option<ReadingBar>,
}

impl AlignedTrees {
    /// Opens files by name and path, the gold trees first.
    ///
    /// # Errors
    /// When one cannot be opened, or two are standard input.
    pub(super) fn open(
        named: &[(&'static str, &Path)],
        options: &ReadOptions,
        quiet: bool,
    ) -> anyhow::Result<Self> {
        refuse_two_stdins(named)?;
        if !quiet && named.iter().any(|(_, path)| is_stdin(path)) {
            note_terminal();
        }
        let (mut all, counter) = (Vec::new(), ByteCounter::default());
        let mut sides = Vec::with_capacity(named.len());
        for &(name, path) in named {
            let inputs = inputs(&[path.to_path_buf()], quiet)?;
            let trees = Trees::new(inputs.clone(), options).counted_by(counter.clone());
            all.extend(inputs);
            let (strip, roots) = (Cleaning::none(), [0; OTHER_ROOTS.len()]);
            sides.push(Side { name, trees, strip, read: 0, left_out: 0, roots });
        }
        let bar = ReadingBar::of_inputs(!quiet, &all, counter, "sentences");
        Ok(Self { sides, quiet, bar: Some(bar) })
    }

    /// Strips the gold trees; see [`Cleaning::strip`].
    #[must_use]
    pub(super) fn strip_gold(mut self, cleaning: Cleaning) -> Self {
        self.sides[0].strip = cleaning;
        self
    }

    /// Returns the trees of the next sentence, one of each file in their order; `None` at the end.
    ///
    /// # Errors
    /// When a tree is malformed, or the numbers of trees differ.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<Vec<Tree>>> {
        let mut trees = Vec::with_capacity(self.sides.len());
        for side in &mut self.sides {
            trees.extend(side.next()?);
        }
        if trees.len() == self.sides.len() {
            self.bar.iter_mut().for_each(|bar| bar.add(1));
            return Ok(Some(trees));
        }
        self.bar = None;
        if trees.is_empty() { Ok(None) } else { Err(self.other_numbers()?) }
    }

    /// Returns how many sentences have been read.
    pub(super) fn read(&self) -> u64 {
        self.sides[0].read
    }

    /// Returns where the last tree of a side began.
    pub(super) fn place(&self, side: usize) -> Option<Place> {
        self.sides[side].trees.place()
    }

    /// Prints how many trees were read from each file, unless `--quiet` is given.
    pub(super) fn report(&self) {
        if self.quiet {
            return;
        }
        for side in &self.sides {
            say!("{}: {}", side.name, side.trees.report());
            if side.left_out > 0 {
                say!("{}: trees left out because they have no words: {}", side.name, side.left_out);
            }
            side.report_roots();
        }
    }

    /// Warns, unless `--quiet` is given, if most trees of a parser have other words than gold; there is an evaluation of
    /// each parser, in the order of the files. With its own tags, other words may be left out as punctuation.
    pub(super) fn warn_of_other_words<'e>(
        &self,
        evaluations: impl IntoIterator<Item = &'e Evaluation>,
        scoring: &ScoringArgs,
    ) {
        let other: Vec<String> = (self.sides[1..].iter().zip(evaluations))
            .map(|(side, evaluation)| (side.name, evaluation.all.errors, evaluation.all.sentences))
            .filter(|&(_, errors, sentences)| 2 * errors > sentences)
            .map(|(name, errors, sentences)| format!("{errors} of {sentences} {name} trees"))
            .collect();
        if !other.is_empty() && !self.quiet && !scoring.own_tags {
            say!(
                "WARNING: the words of {} differ from gold, so the scores mean little: give parses of the same sentences in \
                 the same order; clean the gold trees like the parser's training trees, with --treebank or --set; for \
                 parses of raw text use `srparse eval --align`",
                other.join(" and ")
            );
        }
    }

    /// Returns the error for files with different numbers of trees, which it reads to the end to count.
    fn other_numbers(&mut self) -> anyhow::Result<anyhow::Error> {
        for side in &mut self.sides {
            while side.next()?.is_some() {}
        }
        let gold = self.sides[0].read;
        let Some(other) = self.sides.iter().find(|side| side.read != gold) else {
            return Ok(anyhow::anyhow!("the files have different numbers of trees"));
        };
        let (read, name) = (other.read, other.name);
        Ok(anyhow::anyhow!(
            "{gold} gold trees but {read} {name} trees, so tree {} has no counterpart: every file needs one \
             tree per sentence, (()) if there is no parse",
            gold.min(read) + 1
        ))
    }
}

/// Refuses two treebanks that are both standard input.
///
/// # Errors
/// When there are two, with their names.
pub(super) fn refuse_two_stdins(named: &[(&'static str, &Path)]) -> anyhow::Result<()> {
    let stdins = named.iter().filter(|(_, path)| is_stdin(path));
    let names: Vec<String> = stdins.map(|(name, _)| name.to_uppercase()).collect();
    if names.len() > 1 {
        let all = if names.len() == 2 { "both" } else { "all" };
        bail!(
            "{} are {all} -: only one of them can be read from standard input",
            names.join(" and ")
        );
    }
    Ok(())
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns the error for a gold file without trees.
pub(super) fn no_trees(path: &Path) -> anyhow::Error {
    anyhow::anyhow!("{}: no trees to score: check that this is a treebank file", path.display())
}
