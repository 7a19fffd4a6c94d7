//! The error type of the library: what is wrong, where, and how to fix it.

use std::fmt;
use std::path::{Path, PathBuf};

/// The result of an operation that can fail because of user input.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything a user can get wrong, one variant per kind of error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text file or line that cannot be parsed: treebanks, tagged input, head rules, templates,
    /// parameters.
    #[error("{at}: {problem}")]
    Syntax {
        /// The place.
        at: Place,
        /// The problem and how to fix it.
        problem: String,
    },
    /// A malformed tree, with the place where the tree began.
    #[error("{at}: {problem} (the tree began on line {began})")]
    Tree {
        /// The place where reading stopped.
        at: Place,
        /// The line (from 1) of the tree's first bracket.
        began: u64,
        /// The problem and how to fix it.
        problem: String,
    },
    /// An input in another format than the expected one.
    #[error("{input}: this looks like {found}: choose another input format")]
    OtherInput {
        /// The name of the input.
        input: String,
        /// The format that it looks like.
        found: InputKind,
    },
    /// An input in a format without trees where trees are expected.
    #[error("{input}: this looks like {found}, from which trees are not read: {}", with_trees(*found))]
    NoTrees {
        /// The name of the input.
        input: String,
        /// The format that it looks like.
        found: InputKind,
    },
    /// A file that cannot be opened, read or written.
    #[error("{}: {}", path.display(), with_advice(cause))]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system. It is not a `source`, because it is part of the message.
        cause: std::io::Error,
    },
    /// An invalid preset key or `--set` value.
    #[error("{key}: {problem}")]
    Config {
        /// The key as the user wrote it.
        key: String,
        /// The problem and how to fix it.
        problem: String,
    },
    /// A model file, or a pretrained encoder, that cannot be used.
    #[error("{}: {problem}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The problem and how to fix it.
        problem: String,
    },
    /// A tree, or a treebank, that the transition system cannot build.
    #[error("{0}")]
    Unfit(String),
    /// A model whose parts do not match, or are damaged.
    #[error("the model is damaged or was written by another version: {0}")]
    Corrupt(String),
    /// Training was stopped before there was a model.
    #[error("training was stopped before there was a model")]
    Stopped,
}

impl Error {
    /// Wraps a system error with the file it concerns.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().to_path_buf(), cause: source }
    }

    /// A syntax error at a place.
    pub fn syntax(at: Place, problem: impl Into<String>) -> Self {
        Self::Syntax { at, problem: problem.into() }
    }

    /// A model whose parts do not match.
    pub fn corrupt(problem: impl Into<String>) -> Self {
        Self::Corrupt(problem.into())
    }

    /// An invalid configuration value.
    pub fn config(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Config { key: key.into(), problem: problem.into() }
    }

    /// The same error, with the key of a configuration value prefixed by `path`.
    #[must_use]
    pub(crate) fn under(self, path: &str) -> Self {
        match self {
            Self::Config { key, problem } => Self::config(format!("{path}.{key}"), problem),
            other => other,
        }
    }
}

/// The format that an input looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputKind {
    /// A model file.
    Model,
    /// Trees in brackets.
    Trees,
    /// A treebank in export format or XML.
    Treebank,
    /// CoNLL-U.
    Conllu,
    /// Raw text.
    Text,
    /// Words without tags.
    Tokens,
    /// Words with tags.
    Tagged,
    /// An object of JSON on each line.
    Json,
}

impl InputKind {
    /// The value of `--input` that reads the format; for a model file, which no value reads, that of raw text.
    #[must_use]
    pub fn format(self) -> &'static str {
        match self {
            Self::Trees | Self::Treebank => "penn",
            Self::Conllu => "conllu",
            Self::Text | Self::Model => "text",
            Self::Tokens => "tokens",
            Self::Tagged => "tagged",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "a model file",
            Self::Trees => "trees in brackets",
            Self::Treebank => "a treebank in export format or XML",
            Self::Conllu => "CoNLL-U",
            Self::Text => "raw text",
            Self::Tokens => "words without tags",
            Self::Tagged => "word/TAG",
            Self::Json => "JSON lines",
        })
    }
}

/// How to come by trees where an input has none.
fn with_trees(found: InputKind) -> &'static str {
    match found {
        InputKind::Model => {
            "give a treebank, or parse sentences with it first: srparse parse --model FILE"
        }
        _ => "give a treebank, or parse its sentences first: srparse parse --input conllu",
    }
}

/// The error of the operating system, with advice for common kinds.
fn with_advice(source: &std::io::Error) -> String {
    let advice = match source.kind() {
        std::io::ErrorKind::NotFound => ": check the name and the folder it is looked for in",
        std::io::ErrorKind::PermissionDenied => {
            ": ask for the right to use it, or choose another place"
        }
        std::io::ErrorKind::IsADirectory => ": name a file in it",
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            ": make room, or choose another place"
        }
        std::io::ErrorKind::InvalidData => ": save it as UTF-8",
        _ => "",
    };
    format!("{source}{advice}")
}

/// A position in a text: file, line and column, both counted from 1; columns count characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it; `<stdin>` for standard input.
    pub path: String,
    /// Line, from 1.
    pub line: u64,
    /// Column in characters, from 1; 0 when only the line is meant.
    pub column: u64,
}

impl Place {
    /// A place in a file.
    pub fn new(path: impl Into<String>, line: u64, column: u64) -> Self {
        Self { path: path.into(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.column == 0 {
            write!(f, "{}:{}", self.path, self.line)
        } else {
            write!(f, "{}:{}:{}", self.path, self.line, self.column)
        }
    }
}

/// ``did you mean `epochs`? `` with the known name nearest to `given`, or nothing if none is near.
#[doc(hidden)]
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(given, known).map(|name| format!("did you mean `{name}`? ")).unwrap_or_default()
}

/// How a message about an unknown name ends: with [`did_you_mean`], then, after `introduction`, all known names.
pub(crate) fn choices<'a>(
    given: &str,
    introduction: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let hint = did_you_mean(given, known.iter().copied());
    format!("{hint}{introduction} {}", known.join(", "))
}

/// A number of things, for a message: `1 tree`, `2 trees`.
#[doc(hidden)]
pub fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The known name nearest to `given`: at an edit distance of at most a third of its length, rounded up.
fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = known.into_iter().map(|name| (strsim::levenshtein(given, name), name)).min()?;
    (best.0 <= given.chars().count().div_ceil(3)).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_a_slip_and_refuses_a_stranger() {
        assert_eq!(nearest("epoks", ["epochs", "seed"]), Some("epochs"));
        assert_eq!(nearest("zzzzzz", ["epochs", "seed"]), None);
        assert_eq!(nearest("fats", ["fast", "root"]), Some("fast"));
        assert_eq!(nearest("foo", ["root", "fast"]), None);
    }

    #[test]
    fn a_place_prints_as_editors_expect() {
        assert_eq!(Place::new("a.mrg", 3, 7).to_string(), "a.mrg:3:7");
        assert_eq!(Place::new("a.mrg", 3, 0).to_string(), "a.mrg:3");
    }
}
