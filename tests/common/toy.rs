//! A toy grammar: treebanks of any size that a parser can learn without a mistake.
//!
//! Where a prepositional phrase goes depends on its preposition alone, so words must be looked at, but
//! nothing is ambiguous.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use srparse::tree::heads::HeadRules;
use srparse::tree::{Tree, TreeBuilder};

use super::rng;

const NOUNS: [&str; 8] = ["cat", "dog", "bird", "roof", "garden", "letter", "song", "boat"];
const ADJECTIVES: [&str; 4] = ["old", "red", "small", "quiet"];
const VERBS: [&str; 5] = ["sees", "likes", "writes", "hears", "paints"];
const PRONOUNS: [&str; 3] = ["she", "he", "it"];

/// `n` head-marked sentences of the toy grammar.
pub fn treebank(n: usize, seed: u64) -> Vec<Tree> {
    let mut rng = rng(seed);
    let heads = HeadRules::named("collins-modified").unwrap();
    let mut trees = Vec::with_capacity(n);
    for _ in 0..n {
        let mut toy = Toy { builder: TreeBuilder::new(), rng: &mut rng };
        toy.top();
        let mut tree = toy.builder.finish();
        heads.apply(&mut tree);
        trees.push(tree);
    }
    trees
}

/// `n` of them of at most twelve words.
pub fn short_sentences(n: usize) -> Vec<Tree> {
    let mut trees = treebank(8 * n, 1);
    trees.retain(|tree| tree.tokens().len() <= 12);
    trees.truncate(n);
    assert_eq!(trees.len(), n);
    trees
}

struct Toy<'a> {
    builder: TreeBuilder,
    rng: &'a mut ChaCha8Rng,
}

impl Toy<'_> {
    fn word(&mut self, words: &[&str], tag: &str) {
        let word = *words.choose(self.rng).unwrap();
        self.builder.token(word, tag);
    }

    fn top(&mut self) {
        self.builder.open("TOP");
        self.builder.open("S");
        self.noun_phrase(2);
        self.verb_phrase(1);
        self.builder.token(".", ".");
        self.builder.close();
        self.builder.close();
    }

    fn noun_phrase(&mut self, depth: u32) {
        let choice = self.rng.random_range(0..10);
        if choice == 0 {
            self.builder.open("NP");
            self.word(&PRONOUNS, "PRP");
            return self.builder.close();
        }
        let with_phrase = depth > 0 && choice > 7;
        if with_phrase {
            self.builder.open("NP");
        }
        self.builder.open("NP");
        self.builder.token("the", "DT");
        for _ in 0..self.rng.random_range(0..3) {
            self.word(&ADJECTIVES, "JJ");
        }
        self.word(&NOUNS, "NN");
        self.builder.close();
        if with_phrase {
            self.phrase("of", depth - 1);
            self.builder.close();
        }
    }

    fn phrase(&mut self, preposition: &str, depth: u32) {
        self.builder.open("PP");
        self.builder.token(preposition, "IN");
        self.noun_phrase(depth);
        self.builder.close();
    }

    fn verb_phrase(&mut self, depth: u32) {
        self.builder.open("VP");
        match self.rng.random_range(0..4) {
            0 => self.builder.token("sleeps", "VBZ"),
            1 => {
                self.word(&VERBS, "VBZ");
                self.noun_phrase(depth);
                self.phrase("with", depth);
            }
            2 if depth > 0 => {
                // A unary chain: the clause has no words of its own.
                self.builder.token("says", "VBZ");
                self.builder.open("SBAR");
                self.builder.open("S");
                self.noun_phrase(0);
                self.verb_phrase(depth - 1);
                self.builder.close();
                self.builder.close();
            }
            _ => {
                self.word(&VERBS, "VBZ");
                self.noun_phrase(depth);
            }
        }
        self.builder.close();
    }
}
