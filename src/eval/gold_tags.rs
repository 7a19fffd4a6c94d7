//! Scoring with the tags of the gold tree on both sides.
//!
//! Words are deleted by their tags, so a wrong tag can change which words count, and EVALB leaves out
//! sentences with other numbers of words. With gold tags, parses are compared and not taggings.

use crate::eval::params::Params;
use crate::tree::{Token, Tree};

/// The tag of tokens that are not words.
const TRACE: &str = "-NONE-";

/// A test tree with the tags of the gold tree, and how well it was tagged itself.
#[derive(Debug, Clone)]
pub(crate) struct Retagged {
    pub(crate) test: Tree,
    /// Words that count and had the right tag.
    pub(crate) correct: u32,
}

/// Gives the words of the test tree the tags of the gold tree, in order; `None` when there are not as
/// many, traces not counted.
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
