//! One item of the input: a sentence with its origin, a blank line, or what cannot be read.

use std::io::{self, Write};

use super::conllu::{self, Source};
use crate::error::Place;
use crate::text::Layout;
use crate::tree::dependencies::dependencies;
use crate::tree::{Token, Tree};

/// One item of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A sentence of one or more tokens, with what the input contains besides words and tags.
    Sentence(Vec<Token>, Origin),
    /// A blank line, a CoNLL-U sentence without words, or a tree that cleaning leaves none.
    Blank,
    /// A tree without words, or with traces alone.
    NoWords,
    /// A line, sentence or tree that cannot be read.
    Bad {
        /// Where.
        at: Place,
        /// What is wrong and how to fix it.
        problem: String,
    },
    /// Surplus text after a tree, which has an item already.
    Stray {
        /// Where.
        at: Place,
        /// What is wrong and how to fix it.
        problem: String,
    },
}

/// The source of a sentence, which CoNLL-U output preserves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A format that has words and tags only.
    Plain,
    /// Raw text, with the place of each word.
    Text(Box<Layout>),
    /// CoNLL-U, with all its lines.
    Conllu(Box<Source>),
    /// A treebank, with the tree.
    Tree(Box<Tree>),
}

impl Origin {
    /// Returns the place of each word in raw text.
    pub fn layout(&self) -> Option<&Layout> {
        if let Self::Text(layout) = self { Some(layout) } else { None }
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
