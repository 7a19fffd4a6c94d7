//! Hashes of words, as the lexicon and the features of a word use them.

use crate::hash::{finish, mix};

pub(super) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash of a word, byte for byte; never 0. A bracket and its escape have the same hash.
pub(super) fn word_hash(word: &str) -> u64 {
    finish(plain(word).bytes().fold(START, step))
}

/// The word with brackets escaped, as in treebanks.
pub(super) fn plain(word: &str) -> &str {
    match word {
        "(" => "-LRB-",
        ")" => "-RRB-",
        "{" => "-LCB-",
        "}" => "-RCB-",
        word => word,
    }
}

fn step(hash: u64, byte: u8) -> u64 {
    mix::<5>(hash, u64::from(byte))
}

pub(super) fn step_char(hash: u64, character: char) -> u64 {
    mix::<5>(hash, u64::from(u32::from(character)))
}
