//! Unlabelled dependency accuracy (UAS) of constituency trees.
//!
//! The same head rules convert both trees to dependencies, so attachment is measured rather than the choice of
//! rules. Unlike in bracket scoring, no sentence is excluded: if the test tree is empty or has different words,
//! all words of the sentence count as wrong. Traces are not words.

use std::ops::AddAssign;

use crate::eval::params::Params;
use crate::eval::percent::percent;
use crate::tree::heads::HeadRules;
use crate::tree::{Child, Tree};

/// The tags of punctuation in the Penn Treebank and the Chinese Treebank.
pub const PUNCTUATION: [&str; 6] = ["``", "''", ",", ".", ":", "PU"];

/// The head of the root word.
const NO_HEAD: u32 = u32::MAX;

/// Counts of words with the correct head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attachments {
    /// All words.
    pub words: u64,
    /// Words with the correct head.
    pub correct: u64,
    /// Words that are not punctuation.
    pub words_no_punctuation: u64,
    /// Words that are not punctuation, with the correct head.
    pub correct_no_punctuation: u64,
}

impl Attachments {
    /// Returns the unlabelled attachment score in percent, including punctuation.
    pub fn uas(&self) -> f64 {
        percent(self.correct, self.words)
    }

    /// Returns the unlabelled attachment score in percent, excluding punctuation as dependents.
    pub fn uas_no_punctuation(&self) -> f64 {
        percent(self.correct_no_punctuation, self.words_no_punctuation)
    }

    fn add(&mut self, tag: &str, correct: bool) {
        self.words += 1;
        self.correct += u64::from(correct);
        if !PUNCTUATION.contains(&tag) {
            self.words_no_punctuation += 1;
            self.correct_no_punctuation += u64::from(correct);
        }
    }
}

impl AddAssign for Attachments {
    fn add_assign(&mut self, other: Self) {
        self.words += other.words;
        self.correct += other.correct;
        self.words_no_punctuation += other.words_no_punctuation;
        self.correct_no_punctuation += other.correct_no_punctuation;
    }
}

/// Compares the heads of all words of a gold and a test tree.
pub fn attachments(gold: &Tree, test: &Tree, rules: &HeadRules, params: &Params) -> Attachments {
    let (gold_words, test_words) = (words(gold, params), words(test, params));
    let comparable = gold_words.len() == test_words.len()
        && gold_words.iter().zip(&test_words).all(|(&g, &t)| {
            let (gold, test) = (&gold.tokens()[g as usize], &test.tokens()[t as usize]);
            params.words_match(&gold.word, &test.word)
        });
    let mut counts = Attachments::default();
    if !comparable {
        for &word in &gold_words {
            counts.add(&gold.tokens()[word as usize].tag, false);
        }
        return counts;
    }
    let gold_heads = heads(gold, &gold_words, rules);
    let test_heads = heads(test, &test_words, rules);
    for ((&word, gold_head), test_head) in gold_words.iter().zip(gold_heads).zip(test_heads) {
        counts.add(&gold.tokens()[word as usize].tag, gold_head == test_head);
    }
    counts
}

/// Returns the positions of the tokens that are not traces.
fn words(tree: &Tree, params: &Params) -> Vec<u32> {
    (0..)
        .zip(tree.tokens())
        .filter(|(_, token)| !params.deletes_for_length(&token.tag))
        .map(|(position, _)| position)
        .collect()
}

/// Returns the head of each of `words`, as an index into `words`. Head rules see only children with a word.
fn heads(tree: &Tree, words: &[u32], rules: &HeadRules) -> Vec<u32> {
    let mut number = vec![None; tree.tokens().len()];
    for (index, &word) in (0u32..).zip(words) {
        number[word as usize] = Some(index);
    }
    let mut heads = vec![NO_HEAD; words.len()];
    let mut of_node: Vec<Option<u32>> = Vec::with_capacity(tree.nodes().len());
    let (mut inside, mut labels) = (Vec::new(), Vec::new());
    for id in tree.ids() {
        inside.clear();
        labels.clear();
        for &child in tree.children(id) {
            let head = match child {
                Child::Node(node) => of_node[node.index()],
                Child::Token(position) => number[position as usize],
            };
            if let Some(head) = head {
                inside.push(head);
                labels.push(tree.child_label(child).as_str());
            }
        }
        let head = inside.get(rules.head_of(&tree.node(id).label, &labels)).copied();
        for &dependent in inside.iter().filter(|&&dependent| Some(dependent) != head) {
            heads[dependent as usize] = head.unwrap_or(NO_HEAD);
        }
        of_node.push(head);
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::Encoding;
    use crate::treebank::penn::PennReader;

    fn tree(text: &str) -> Tree {
        PennReader::new(text.as_bytes(), "x", Encoding::Utf8).read().unwrap().unwrap()
    }

    /// All words, right ones; words that are not punctuation, right ones.
    fn compare(gold: &str, test: &str) -> (u64, u64, u64, u64) {
        let rules = HeadRules::named("collins").unwrap();
        let found = attachments(&tree(gold), &tree(test), &rules, &Params::default());
        (found.words, found.correct, found.words_no_punctuation, found.correct_no_punctuation)
    }

    const GOLD: &str = "(TOP (S (NP (NNS dogs)) (VP (VBP chase) (NP (NNS cats)) \
                        (PP (IN in) (NP (NNS parks)))) (. .)))";

    #[test]
    fn other_attachments_are_wrong_and_other_labels_are_not() {
        assert_eq!(compare(GOLD, GOLD), (6, 6, 5, 5));
        // `in` hangs from `cats`, nothing else changes.
        let low = "(S1 (S (NP (NNS dogs)) (VP (VBP chase) (NP (NP (NNS cats)) \
                   (PP (IN in) (NP (NNS parks))))) (. .)))";
        assert_eq!(compare(GOLD, low), (6, 5, 5, 4));
        let labels = GOLD.replace("(S ", "(SINV ");
        assert_eq!(compare(GOLD, &labels), (6, 6, 5, 5));
    }

    #[test]
    fn punctuation_is_left_out_by_its_gold_tag() {
        let tagged = GOLD.replace("(. .)", "(NN .)");
        let (.., words, correct) = compare(GOLD, &tagged);
        assert_eq!((words, correct), (5, 5));
    }

    #[test]
    fn traces_are_not_words_and_never_heads() {
        let traces = "(TOP (S (NP-SBJ (NNS dogs)) (VP (VBP chase) (NP (-NONE- *T*-1)) (NP (NNS cats)) \
                      (PP (IN in) (NP (NNS parks) (NP (-NONE- *))))) (. .)))";
        assert_eq!(compare(traces, GOLD), (6, 6, 5, 5));
    }

    #[test]
    fn words_of_a_sentence_without_a_parse_are_wrong() {
        assert_eq!(compare(GOLD, "(())"), (6, 0, 5, 0));
        assert_eq!(compare(GOLD, &GOLD.replace("dogs", "cows")), (6, 0, 5, 0));
    }
}
