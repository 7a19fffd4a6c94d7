//! Treebanks read side by side, one tree a sentence each.

use std::path::Path;

use anyhow::bail;

use crate::error::Place;
use crate::eval::OTHER_ROOTS;
use crate::tree::Tree;
use crate::treebank::{ReadOptions, Trees};

/// A treebank, and the roots met in it that are taken as `TOP`.
struct Side {
    name: &'static str,
    trees: Trees,
    read: u64,
    roots: [u64; OTHER_ROOTS.len()],
}

impl Side {
    fn next(&mut self) -> anyhow::Result<Option<Tree>> {
        let Some(tree) = self.trees.next().transpose()? else {
            return Ok(None);
        };
        self.read += 1;
        // `(())` has no root worth a word: it is no tree at all.
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
                let root = if root.is_empty() { "without label" } else { root };
                format!("{count} {root}")
            })
            .collect();
        if !met.is_empty() {
            eprintln!("{} roots taken as TOP: {}", self.name, met.join(", "));
        }
    }
}

/// The gold treebank and those of `N - 1` systems.
pub(super) struct AlignedTrees<const N: usize> {
    sides: Vec<Side>,
}

impl<const N: usize> AlignedTrees<N> {
    /// Opens treebanks by name and path, the gold one first.
    ///
    /// # Errors
    /// When one cannot be opened, or two are standard input.
    pub(super) fn open(
        named: [(&'static str, &Path); N],
        options: &ReadOptions,
    ) -> anyhow::Result<Self> {
        refuse_two_stdins(&named)?;
        let mut sides = Vec::with_capacity(N);
        for (name, path) in named {
            let trees = Trees::open(&[path.to_path_buf()], options)?;
            sides.push(Side { name, trees, read: 0, roots: [0; OTHER_ROOTS.len()] });
        }
        Ok(Self { sides })
    }

    /// The trees of the next sentence; none at the end.
    ///
    /// # Errors
    /// When a tree does not read, or there are not as many on all sides.
    pub(super) fn next(&mut self) -> anyhow::Result<Option<[Tree; N]>> {
        let mut trees = Vec::with_capacity(N);
        for side in &mut self.sides {
            trees.extend(side.next()?);
        }
        match <[Tree; N]>::try_from(trees) {
            Ok(trees) => Ok(Some(trees)),
            Err(trees) if trees.is_empty() => Ok(None),
            Err(_) => Err(self.other_numbers()?),
        }
    }

    /// How many sentences have been read.
    pub(super) fn read(&self) -> u64 {
        self.sides[0].read
    }

    /// Where the side's latest tree began.
    pub(super) fn place(&self, side: usize) -> Option<Place> {
        self.sides[side].trees.place()
    }

    /// Tells what was read.
    pub(super) fn report(&self) {
        for side in &self.sides {
            eprintln!("{}: {}", side.name, side.trees.report());
            side.report_roots();
        }
    }

    /// The error of treebanks that are not parallel; reads what is left to count it.
    fn other_numbers(&mut self) -> anyhow::Result<anyhow::Error> {
        for side in &mut self.sides {
            while side.next()?.is_some() {}
        }
        let gold = self.sides[0].read;
        let Some(other) = self.sides.iter().find(|side| side.read != gold) else {
            return Ok(anyhow::anyhow!("the treebanks are not parallel"));
        };
        let (read, name) = (other.read, other.name);
        Ok(anyhow::anyhow!(
            "{gold} gold trees but {read} {name} trees: sentence {} has no partner; \
             give all files one tree a sentence, (()) where there is no parse",
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
        bail!("{} are {all} -: only one of them can be standard input", names.join(" and "));
    }
    Ok(())
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The error of a gold treebank without trees.
pub(super) fn no_trees(path: &Path) -> anyhow::Error {
    anyhow::anyhow!("{}: no trees to score: is this the right file?", path.display())
}
