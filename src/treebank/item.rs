//! One item of the input: a sentence with its origin, a blank line, or what cannot be read.

use std::io::{self, Write};
use std::sync::Arc;

use super::conllu::{self, Source};
use super::sentence_id::SentenceId;
use crate::error::Place;
use crate::text::Layout;
use crate::tree::dependencies::dependencies;
use crate::tree::{Token, Tree};

/// One item of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A sentence of one or more tokens, with what the input contains besides words and tags.
    Sentence(Vec<Token>, Origin),
    /// A place of a sentence that has no words to parse.
    Missing(Missing),
    /// Surplus text after a tree, which has an item already.
    Stray {
        /// Where.
        at: Place,
        /// The problem and how to fix it.
        problem: String,
    },
}

/// A sentence without words to parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Why it has none.
    pub reason: Reason,
    /// What the input contains besides words and tags.
    pub origin: Origin,
}

/// Why a sentence has no words to parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is a blank line, a sentence without words, or a tree that cleaning leaves none.
    Blank,
    /// It is a tree without words, or with traces alone.
    NoWords,
    /// It cannot be read.
    Bad {
        /// Where.
        at: Place,
        /// The problem and how to fix it.
        problem: String,
    },
}

impl Missing {
    /// Why it cannot be read; `None` if it can.
    pub fn problem(&self) -> Option<String> {
        match &self.reason {
            Reason::Bad { at, problem } => Some(format!("{at}: {problem}")),
            Reason::Blank | Reason::NoWords => None,
        }
    }

    /// Returns it in CoNLL-U: its comments, `# unreadable` or `# no words`, and a blank line. From CoNLL-U, where comments
    /// alone are a sentence, what has no words comes back as it was.
    pub fn conllu(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // Writing to memory does not fail.
        let _ = self.write_conllu(&mut out);
        out
    }

    fn write_conllu(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let is_bad = matches!(self.reason, Reason::Bad { .. });
        match &self.origin {
            Origin::Conllu(source) if is_bad => source.write_comments(out)?,
            Origin::Conllu(source) => return source.write_tagged(&[], out),
            origin => origin.write_comments(out)?,
        }
        if is_bad {
            return out.write_all(b"# unreadable\n\n");
        }
        conllu::write_tokens(&[], None, out)
    }
}

impl Item {
    /// A blank line.
    pub const BLANK: Self = Self::Missing(Missing { reason: Reason::Blank, origin: Origin::Plain });

    /// What cannot be read, of which nothing else is known.
    pub fn bad(at: Place, problem: impl Into<String>) -> Self {
        let reason = Reason::Bad { at, problem: problem.into() };
        Self::Missing(Missing { reason, origin: Origin::Plain })
    }
}

/// The source of a sentence, which CoNLL-U output preserves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A format that has words and tags only.
    Plain,
    /// Raw text.
    Text(Box<RawText>),
    /// A JSON object.
    Json(Box<JsonOrigin>),
    /// CoNLL-U, with all its lines.
    Conllu(Box<Source>),
    /// A treebank.
    Tree(Box<TreeOrigin>),
}

/// The parts of a tree besides words and tags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeOrigin {
    /// The tree, if it is kept.
    pub tree: Option<Tree>,
    /// The ID, a string, if IDs are kept.
    pub id: Option<SentenceId>,
}

/// A sentence of raw text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawText {
    /// The place of each word.
    pub layout: Layout,
    /// The name of the file; `None` for standard input.
    pub file: Option<Arc<str>>,
    /// Whether it is the first sentence of its input.
    pub begins_input: bool,
}

/// The fields of a JSON object besides words and tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonOrigin {
    /// The value of `id`.
    pub id: Option<SentenceId>,
    /// The place of each word in `text`, if the words are not given.
    pub layout: Option<Layout>,
}

impl Origin {
    /// Returns the place of each word in raw text.
    pub fn layout(&self) -> Option<&Layout> {
        match self {
            Self::Text(text) => Some(&text.layout),
            Self::Json(object) => object.layout.as_ref(),
            Self::Plain | Self::Conllu(_) | Self::Tree(_) => None,
        }
    }

    /// Returns the name of the file that has the raw text.
    pub fn file(&self) -> Option<&str> {
        if let Self::Text(text) = self { text.file.as_deref() } else { None }
    }

    /// Returns the value of `id` in JSON, or an ID that was kept.
    pub fn id(&self) -> Option<&SentenceId> {
        match self {
            Self::Json(object) => object.id.as_ref(),
            Self::Tree(origin) => origin.id.as_ref(),
            Self::Conllu(source) => source.id(),
            Self::Plain | Self::Text(_) => None,
        }
    }

    /// Writes comments of CoNLL-U: `# newdoc` before the first sentence of a file of raw text, and `# sent_id` with the
    /// ID of JSON or of a tree.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_comments(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Text(text) if text.begins_input => match &text.file {
                Some(file) => writeln!(out, "# newdoc id = {}", conllu::on_one_line(file)),
                None => Ok(()),
            },
            Self::Json(_) | Self::Tree(_) => match self.id() {
                Some(id) => {
                    writeln!(out, "# sent_id = {}", conllu::on_one_line(id.as_str()))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Writes a parse with its dependencies in CoNLL-U: [`Source::write_parsed`] or [`conllu::write_sentence`].
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_parse(&self, tree: &Tree, out: &mut impl Write) -> io::Result<()> {
        let (heads, relations): (Vec<u32>, Vec<_>) =
            dependencies(tree).into_iter().map(|found| (found.head, found.label)).unzip();
        match self {
            Self::Conllu(source) => source.write_parsed(tree, &heads, &relations, out),
            _ => conllu::write_sentence(tree, &heads, &relations, self.layout(), out),
        }
    }

    /// Writes tagged words in CoNLL-U: [`Source::write_tagged`] or [`conllu::write_tokens`].
    ///
    /// # Errors
    /// When writing fails.
    pub fn write_tokens(&self, tokens: &[Token], out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Conllu(source) => source.write_tagged(tokens, out),
            _ => conllu::write_tokens(tokens, self.layout(), out),
        }
    }
}
