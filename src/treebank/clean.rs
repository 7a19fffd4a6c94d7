//! Cleaning: converts the trees of a treebank to the trees that a parser is trained on.
//!
//! Each step is a field of [`Cleaning`]; the default is the usual preprocessing. There are two stages:
//!
//! 1. [`Cleaning::strip`] removes what a treebank contains besides words, tags and labels: metadata, empty
//!    elements marked by their words, lemmas, indices. It is applied once, to trees as they are in a file;
//!    sentences to parse contain nothing of that kind. By default nothing is stripped.
//! 2. [`Cleaning::apply`] and [`Cleaning::apply_tokens`] convert trees and sentences to what the parser sees, in
//!    the order of the fields, except that the root comes last. Turian and Melamed (2005, table 3) use all of
//!    these steps.
//!
//! [`reattach`] puts the tokens that the second stage removed from a sentence back into its parse.

mod labels;
mod pattern;
mod rewrite;
mod rules;
mod settings;
mod strip;

use compact_str::{CompactString, ToCompactString};

use super::penn::is_space;
use crate::tree::{Child, TRACE, Token, Tree};

pub use super::reattach::reattach;
use super::reattach::{Edges, attach};
pub use rules::TreeRules;
pub use settings::{Cleaning, Functions, Relabel, RootPolicy, Separator};

/// A cleaned sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanedSentence {
    /// The tokens that remain.
    pub tokens: Vec<Token>,
    /// Their positions in the original sentence, from 0, ascending.
    pub positions: Vec<u32>,
}

impl Cleaning {
    /// Cleans a tree. Heads of nodes whose children change are dropped.
    pub fn apply(&self, mut tree: Tree) -> Tree {
        self.relabel(&mut tree);
        let positions = self.remaining(tree.tokens());
        if positions.len() < tree.tokens().len() || self.changes_shape(&tree) {
            tree = self.rewrite(tree, &positions, true);
        }
        // After the root has its shape, which limits how far punctuation is raised.
        if self.raise_punctuation {
            tree = self.raise(tree);
            let all: Vec<u32> = (0..tree.tokens().len() as u32).collect();
            tree = self.rewrite(tree, &all, true);
        }
        if self.lowercase {
            tree.tokens_mut().iter_mut().for_each(|token| lowercase(&mut token.word));
        }
        tree
    }

    /// Cleans a sentence without a tree: removes the tokens that [`Cleaning::apply`] would remove.
    pub fn apply_tokens(&self, tokens: &[Token]) -> CleanedSentence {
        let positions = self.remaining(tokens);
        let mut tokens: Vec<Token> =
            positions.iter().map(|&position| tokens[position as usize].clone()).collect();
        if self.lowercase {
            tokens.iter_mut().for_each(|token| lowercase(&mut token.word));
        }
        CleanedSentence { tokens, positions }
    }

    /// Whether [`Cleaning::apply`] leaves words of these.
    pub fn leaves_words(&self, tokens: &[Token]) -> bool {
        !self.remaining(tokens).is_empty()
    }

    fn is_punctuation(&self, tag: &str) -> bool {
        self.punctuation.split(is_space).any(|punctuation| punctuation == tag && !tag.is_empty())
    }

    fn drops_empty(&self) -> bool {
        !self.drop.is_empty()
            || !self.traces.is_empty()
            || self.quotes
            || self.outermost_punctuation
    }

    fn remaining(&self, tokens: &[Token]) -> Vec<u32> {
        let stays = |token: &Token| {
            !self.is_trace(&token.tag) && !(self.quotes && (token.tag == "``" || token.tag == "''"))
        };
        let mut positions: Vec<u32> =
            (0u32..).zip(tokens).filter(|(_, token)| stays(token)).map(|(i, _)| i).collect();
        if self.outermost_punctuation {
            let is_word = |&i: &u32| !self.is_punctuation(&tokens[i as usize].tag);
            positions.truncate(positions.iter().rposition(is_word).map_or(0, |last| last + 1));
            positions.drain(..positions.iter().position(is_word).unwrap_or(0));
        }
        positions
    }

    /// Raises punctuation: removes it and reattaches it as high as possible.
    fn raise(&self, tree: Tree) -> Tree {
        let words: Vec<u32> = (0u32..)
            .zip(tree.tokens())
            .filter(|(_, token)| !self.is_punctuation(&token.tag))
            .map(|(position, _)| position)
            .collect();
        if words.is_empty() || words.len() == tree.tokens().len() {
            return tree;
        }
        let tokens = tree.tokens().to_vec();
        let emptying = Self { traces: vec![TRACE.to_owned()], ..Self::none() };
        // A root with a single child is only a label above the sentence, not its highest node.
        let edges = match tree.root().map(|root| tree.children(root)) {
            Some([Child::Node(_)]) => Edges::BelowRoot,
            _ => Edges::Root,
        };
        attach(&emptying.rewrite(tree, &words, false), &words, &tokens, edges)
    }
}

/// Lowercases a word, except for escaped brackets.
fn lowercase(word: &mut CompactString) {
    if !strip::is_escape(word) && word.chars().any(char::is_uppercase) {
        *word = word.to_lowercase().to_compact_string();
    }
}

#[cfg(test)]
mod tests;
