//! Treebanks: from bytes to trees and back.
//!
//! Promises:
//! 1. No input, whatever its bytes, makes a reader panic. What does not read is an error that names
//!    file, line and column, counted from 1 in characters, and for a tree the line it began on.
//! 2. Readers stream: memory grows with the longest tree or line, never with the file; a tree or
//!    sentence is handed out as soon as its last byte is there.
//! 3. Nothing is lost in silence: what is skipped is counted, and named with file and line.
//! 4. Words and tags are kept as they stand in the file. Only an escaped bracket changes its spelling,
//!    and only in brackets: `\(` is `-LRB-`.
//! 5. What a writer writes, the reader of the same format reads, and to the same tree, if no word
//!    needed escaping.
//! 6. Only ASCII white space separates words; no-break and thin spaces are parts of words.
//! 7. Trees may be as deep as memory allows; nothing here recurses.

pub mod clean;
pub mod conllu;
pub mod embeddings;
mod input;
pub mod json;
mod line_reader;
pub mod penn;
mod reattach;
pub mod sentences;
pub mod tagged;
mod text_window;

use std::fmt;
use std::io::Read;
use std::path::PathBuf;

pub use clean::{CleanedSentence, CleanedTree, Cleaning, reattach};
pub use input::{Encoding, Input, expand};
pub use line_reader::LineReader;
pub use sentences::{InputFormat, Item, Sentences};

use crate::error::{Error, Place, Result};
use crate::tree::Tree;
use penn::PennReader;

/// How to read treebanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The encoding of the files.
    pub encoding: Encoding,
    /// Whether to go on after a bad tree instead of giving up.
    pub skip_bad_trees: bool,
}

/// How many of the skipped trees a report names.
const NAMED: usize = 3;

/// What reading kept and what it skipped; prints as `read 18951 trees, skipped 2 (why)`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// How many trees were read.
    pub read: u64,
    /// How many pieces of text were skipped because they are not trees.
    pub skipped: u64,
    /// Where and why, for the first few.
    pub reasons: Vec<String>,
}

impl ReadReport {
    fn skip(&mut self, why: &Error) {
        self.skipped += 1;
        if self.reasons.len() < NAMED {
            self.reasons.push(match why {
                Error::Tree { at, began, problem } => format!("{}:{began}: {problem}", at.path),
                Error::Syntax { at, problem } => format!("{}:{}: {problem}", at.path, at.line),
                other => other.to_string(),
            });
        }
    }
}

impl fmt::Display for ReadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.read == 1 { "" } else { "s" };
        write!(f, "read {} tree{plural}, skipped {}", self.read, self.skipped)?;
        if self.reasons.is_empty() {
            return Ok(());
        }
        write!(f, " ({}", self.reasons.join("; "))?;
        match self.skipped - self.reasons.len() as u64 {
            0 => f.write_str(")"),
            more => write!(f, "; and {more} more)"),
        }
    }
}

/// The trees of several inputs, one after the other.
///
/// Without [`ReadOptions::skip_bad_trees`], the first error is the last item.
pub struct Trees {
    inputs: std::vec::IntoIter<Input>,
    reader: Option<PennReader<Box<dyn Read + Send>>>,
    options: ReadOptions,
    report: ReadReport,
    ended: bool,
}

impl Trees {
    /// The trees in files, folders and patterns; see [`expand`].
    ///
    /// # Errors
    /// When a path leads nowhere.
    pub fn open(paths: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        Ok(Self::new(expand(paths)?, options))
    }

    /// The trees in some inputs, which are opened one at a time.
    pub fn new(inputs: Vec<Input>, options: &ReadOptions) -> Self {
        Self {
            inputs: inputs.into_iter(),
            reader: None,
            options: *options,
            report: ReadReport::default(),
            ended: false,
        }
    }

    /// What has been read and skipped so far.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// The first line of the last tree, for messages about it.
    pub fn place(&self) -> Option<Place> {
        let reader = self.reader.as_ref()?;
        Some(Place::new(reader.name(), reader.began(), 0))
    }

    fn advance(&mut self) -> Result<Option<Tree>> {
        loop {
            let Some(reader) = &mut self.reader else {
                let Some(input) = self.inputs.next() else { return Ok(None) };
                let reader = PennReader::new(input.open()?, input.name(), self.options.encoding);
                self.reader =
                    Some(if self.options.skip_bad_trees { reader.lenient() } else { reader });
                continue;
            };
            match reader.read() {
                Ok(Some(tree)) => {
                    self.report.read += 1;
                    return Ok(Some(tree));
                }
                Ok(None) => self.reader = None,
                Err(why @ (Error::Tree { .. } | Error::Syntax { .. }))
                    if self.options.skip_bad_trees =>
                {
                    self.report.skip(&why);
                }
                Err(why) => return Err(why),
            }
        }
    }
}

impl Iterator for Trees {
    type Item = Result<Tree>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Reads all trees of files, folders and patterns into memory.
///
/// # Errors
/// When a path leads nowhere, a file does not read, or a tree is bad and bad trees are not skipped.
pub fn read_all(paths: &[PathBuf], options: &ReadOptions) -> Result<(Vec<Tree>, ReadReport)> {
    let mut trees = Trees::open(paths, options)?;
    let mut all = Vec::new();
    for tree in &mut trees {
        all.push(tree?);
    }
    Ok((all, trees.report))
}
