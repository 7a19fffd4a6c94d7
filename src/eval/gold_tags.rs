//! Scoring test trees with the tags of the gold trees.
//!
//! Words are deleted by their tags, so a tagging error can change which words count, and EVALB excludes
//! sentences whose numbers of words differ. With gold tags, tagging does not affect the score of a parse.

use crate::eval::params::Params;
use crate::tree::{TRACE, Token, Tree};

/// A test tree with the tags of the gold tree, and the number of its own correct tags.
#[derive(Debug, Clone)]
pub(crate) struct Retagged {
    pub(crate) test: Tree,
    /// Counted words that had the correct tag.
    pub(crate) correct: u32,
}

/// Gives the words of the test tree the tags of the gold tree, in order; `None` if the numbers of words,
/// without traces, differ.
pub(crate) fn retag(gold: &Tree, test: &Tree, params: &Params) -> Option<Retagged> {
    let n_words = |tree: &Tree| tree.tokens().iter().filter(is_word).count();
    if n_words(gold) != n_words(test) {
        return None;
    }
    let mut test = test.clone();
    let mut correct = 0;
    let words = test.tokens_mut().iter_mut().filter(|token| token.tag != TRACE);
    for (gold, test) in gold.tokens().iter().filter(is_word).zip(words) {
        let right = params.labels_match(&gold.tag, &test.tag);
        correct += u32::from(right && !params.deletes(&gold.tag));
        test.tag.clone_from(&gold.tag);
    }
    Some(Retagged { test, correct })
}

fn is_word(token: &&Token) -> bool {
    token.tag != TRACE
}
