//! Treebanks: from bytes to trees and back.
//!
//! Promises:
//! 1. No input makes a reader panic. Text that cannot be read is an error with the file, line and column,
//!    both counted from 1 and columns in characters; for a tree, also the line on which it began.
//! 2. Readers stream: memory grows with the longest tree or line, not with the file, and a tree or sentence
//!    is returned as soon as its last byte has arrived.
//! 3. Nothing is lost silently: what is skipped is counted and reported with file and line.
//! 4. Words and tags are not changed. The only exception is an escaped bracket in Penn brackets: `\(` is
//!    read as `-LRB-`.
//! 5. What a writer writes, the reader of the same format reads; if no word needed escaping, the result is
//!    the same tree.
//! 6. Only ASCII white space separates words, except in raw text; no-break and thin spaces are parts of words.
//! 7. The depth of trees is limited only by memory: nothing recurses.

pub mod alpino_xml;
pub mod clean;
pub mod conllu;
pub mod embeddings;
mod encoded;
mod expand;
pub mod export;
pub mod genia_xml;
mod graph;
pub mod ids;
mod input;
mod input_format;
mod item;
pub mod json;
mod line_reader;
pub mod lint;
pub mod partition;
pub mod penn;
mod raw_text;
mod reattach;
mod recognize;
pub(crate) mod sentence_id;
pub mod sentences;
pub mod tagged;
mod text_window;
pub mod tiger_xml;
mod tree_reader;
mod xml;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

pub use clean::{CleanedSentence, Cleaning, reattach};
pub use expand::{Inputs, expand};
pub use input::{ByteCounter, Encoding, Input};
pub use item::{Item, JsonOrigin, Missing, Origin, RawText, Reason, TreeOrigin};
pub use line_reader::LineReader;
pub use sentence_id::SentenceId;
pub use sentences::{InputFormat, Sentences};
pub use tree_reader::{FormatReader, TreeFacts};

use crate::error::{Error, InputKind, Place, Result, counted};
use crate::parallel;
use crate::tree::Tree;
use tree_reader::TreeReader;

/// How to read treebanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The encoding of the files.
    pub encoding: Encoding,
    /// Whether to skip malformed trees instead of stopping at the first.
    pub skip_bad_trees: bool,
}

/// How many of the skipped trees a report lists.
const NAMED: usize = 3;

/// How many trees, or sentences of raw text, were read and skipped; displayed as `read 18951 trees, skipped 2 (reasons)`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// How many were read.
    pub read: u64,
    /// How many malformed trees, or pieces of text outside of trees, were skipped.
    pub skipped: u64,
    /// Where and why, for the first few.
    pub reasons: Vec<String>,
    /// How many nodes with crossing branches were made continuous.
    pub discontinuous: u64,
    /// How many lemmas after words were left out: `(tag word lemma)` and `(tag word (lemma x))`.
    pub lemmas: u64,
    /// Files and links that were not read, each with its reason: a file is read once, by whatever paths it is reached,
    /// and links to folders are not followed.
    pub left_out: Vec<String>,
    /// Whether they are sentences of raw text.
    is_of_text: bool,
}

impl ReadReport {
    /// A report on sentences of raw text.
    #[cfg(feature = "cli")]
    pub(crate) fn of_sentences() -> Self {
        Self { is_of_text: true, ..Self::default() }
    }

    /// Counts a tree or sentence that is skipped.
    pub(crate) fn skip(&mut self, why: &Error) {
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
        let unit = if self.is_of_text { "sentence" } else { "tree" };
        write!(f, "read {}, skipped {}", counted(self.read, unit), self.skipped)?;
        if !self.reasons.is_empty() {
            write!(f, " ({}", self.reasons.join("; "))?;
            match self.skipped - self.reasons.len() as u64 {
                0 => f.write_str(")")?,
                more => write!(f, "; and {more} more)")?,
            }
        }
        if self.lemmas > 0 {
            let was = if self.lemmas == 1 { "was" } else { "were" };
            write!(f, "; {} after words {was} left out", counted(self.lemmas, "lemma"))?;
        }
        match self.discontinuous {
            0 => Ok(()),
            1 => f.write_str("; one discontinuous node was made continuous"),
            n => write!(f, "; {n} discontinuous nodes were made continuous"),
        }
    }
}

/// Iterates over the trees of several inputs, in Penn brackets, NEGRA export, TIGER-XML, Alpino XML or GENIA XML; the
/// format is recognized by the beginning of each input.
///
/// Without [`ReadOptions::skip_bad_trees`], iteration ends with the first error.
pub struct Trees {
    inputs: std::vec::IntoIter<Input>,
    reader: Option<TreeReader>,
    options: ReadOptions,
    report: ReadReport,
    counter: ByteCounter,
    ended: bool,
}

impl Trees {
    /// Returns the trees of files, folders and patterns; see [`expand`].
    ///
    /// # Errors
    /// When a path does not exist.
    pub fn open(paths: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        let Inputs { found, left_out } = expand(paths)?;
        let mut trees = Self::new(found, options);
        trees.report.left_out = left_out;
        Ok(trees)
    }

    /// Returns the trees of the inputs, which are opened one at a time.
    pub fn new(inputs: Vec<Input>, options: &ReadOptions) -> Self {
        Self {
            inputs: inputs.into_iter(),
            reader: None,
            options: *options,
            report: ReadReport::default(),
            counter: ByteCounter::default(),
            ended: false,
        }
    }

    /// Counts the bytes that are read by this counter.
    #[must_use]
    pub fn counted_by(self, counter: ByteCounter) -> Self {
        Self { counter, ..self }
    }

    /// Returns how many trees have been read and skipped so far.
    pub fn report(&self) -> &ReadReport {
        &self.report
    }

    /// Returns the line on which the last tree began, for messages about it.
    pub fn place(&self) -> Option<Place> {
        let reader = self.reader.as_ref()?;
        Some(Place::new(reader.name(), reader.facts().began, 0))
    }

    /// Returns the ID of the last tree, if it has one; it is no part of the tree.
    pub fn id(&self) -> Option<&str> {
        self.reader.as_ref()?.facts().id.as_deref()
    }

    /// Returns whether the last tree is from a file with IDs among the brackets, `( (S …) (ID x))`.
    pub fn has_ids_in_brackets(&self) -> bool {
        self.reader.as_ref().is_some_and(|reader| reader.facts().ids_in_brackets)
    }

    /// Opens an input. One in a format without trees is an error, unless what cannot be read is skipped.
    fn reader_of(&self, input: &Input) -> Result<TreeReader> {
        let (name, encoding) = (input.name(), self.options.encoding);
        let stream = input.open_counted(&self.counter)?;
        if self.options.skip_bad_trees {
            return Ok(TreeReader::new(stream, name, encoding).lenient());
        }
        let (start, stream) = recognize::peek(stream).map_err(|error| Error::io(&name, error))?;
        match recognize::kind(&start) {
            Some(found @ (InputKind::Model | InputKind::Conllu)) => {
                Err(Error::NoTrees { input: name, found })
            }
            _ => Ok(TreeReader::new(stream, name, encoding)),
        }
    }

    fn advance(&mut self) -> Result<Option<Tree>> {
        loop {
            let Some(reader) = &mut self.reader else {
                let Some(input) = self.inputs.next() else { return Ok(None) };
                self.reader = Some(self.reader_of(&input)?);
                continue;
            };
            let &TreeFacts { discontinuous, lemmas, .. } = reader.facts();
            match reader.read() {
                Ok(Some(tree)) => {
                    self.report.read += 1;
                    self.report.discontinuous += reader.facts().discontinuous - discontinuous;
                    self.report.lemmas += reader.facts().lemmas - lemmas;
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
/// When a path does not exist, a file cannot be read, or a tree is malformed and malformed trees are not
/// skipped.
pub fn read_all(paths: &[PathBuf], options: &ReadOptions) -> Result<(Vec<Tree>, ReadReport)> {
    let mut trees = Trees::open(paths, options)?;
    let all = trees.by_ref().collect::<Result<_>>()?;
    Ok((all, trees.report))
}

/// Trees with the names of their files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Treebank {
    /// File names, without folders.
    pub files: Vec<String>,
    /// The trees, as read, without their IDs.
    pub trees: Vec<Tree>,
}

impl Treebank {
    /// Reads a treebank in UTF-8: a file (`.gz` too), a folder or a pattern.
    ///
    /// # Errors
    /// When there is no such file, or a tree is malformed; the error names file, line and column.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        Self::read(&[path.into()], &ReadOptions::default()).map(|(treebank, _)| treebank)
    }

    /// Reads files, folders and patterns.
    ///
    /// # Errors
    /// When a path does not exist, a file cannot be read, or a tree is malformed and malformed trees are
    /// not skipped.
    pub fn read(paths: &[PathBuf], options: &ReadOptions) -> Result<(Self, ReadReport)> {
        Self::read_and_visit(paths, options, |_, _| {})
    }

    /// Reads files, folders and patterns, and calls a visitor with each tree; [`Trees::place`] is where it
    /// begins.
    ///
    /// # Errors
    /// As [`Treebank::read`].
    #[doc(hidden)]
    pub fn read_and_visit(
        paths: &[PathBuf],
        options: &ReadOptions,
        mut visit: impl FnMut(&Tree, &Trees),
    ) -> Result<(Self, ReadReport)> {
        let Inputs { found, left_out } = expand(paths)?;
        let without_folder = |name: &str| {
            let file = Path::new(name).file_name();
            file.map_or_else(|| name.into(), |name| name.to_string_lossy().into())
        };
        let files = found.iter().map(|input| without_folder(&input.name())).collect();
        let mut reader = Trees::new(found, options);
        let mut trees = Vec::new();
        while let Some(tree) = reader.next().transpose()? {
            visit(&tree, &reader);
            trees.push(tree);
        }
        let report = ReadReport { left_out, ..reader.report };
        Ok((Self { files, trees }, report))
    }

    /// Returns the treebank as [`Cleaning::strip`] leaves it: trees that lose all their words are left out.
    #[doc(hidden)]
    pub fn stripped(&self, cleaning: &Cleaning) -> Cow<'_, Self> {
        if !cleaning.strips() {
            return Cow::Borrowed(self);
        }
        let stripped = parallel::map(&self.trees, |tree| cleaning.strip(tree.clone()));
        let trees = stripped.into_iter().flatten().collect();
        Cow::Owned(Self { files: self.files.clone(), trees })
    }
}

impl From<Vec<Tree>> for Treebank {
    fn from(trees: Vec<Tree>) -> Self {
        Self { files: Vec::new(), trees }
    }
}
