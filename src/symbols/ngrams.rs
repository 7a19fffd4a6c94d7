//! Character n-grams of words, as hashes.

/// The most characters of an n-gram.
const LONGEST: usize = 5;

/// Appends the hashes of a whole word and of its n-grams of 2 to 5 characters, with a mark at each end of the word.
pub(super) fn hash_ngrams(word: &str, out: &mut Vec<u32>) {
    let marked = || std::iter::once('<').chain(word.chars()).chain(['>']);
    out.push(finish(marked().fold(SEED, add) ^ 1));
    let characters: Vec<char> = marked().collect();
    for first in 0..characters.len() {
        let mut hash = SEED;
        for (at, &character) in characters[first..].iter().take(LONGEST).enumerate() {
            hash = add(hash, character);
            if at > 0 {
                out.push(finish(hash));
            }
        }
    }
}

/// The hash of no characters.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

fn add(hash: u64, character: char) -> u64 {
    (hash ^ u64::from(character)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
}

fn finish(hash: u64) -> u32 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::Lists;

    #[test]
    fn words_share_the_ngrams_that_they_share() {
        let mut ngrams = Lists::default();
        for word in ["cats", "cat", "tac"] {
            ngrams.push(|out| hash_ngrams(word, out));
        }
        ngrams.push(|_| ());
        // Of `<cat>`: itself, 4 of two characters, 3 of three, 2 of four, 1 of five.
        assert_eq!(ngrams.of(1).len(), 11);
        let shared = |a: usize, b: usize| {
            ngrams.of(a).iter().filter(|hash| ngrams.of(b).contains(hash)).count()
        };
        // `<c`, `ca`, `at`, `<ca`, `cat`, `<cat`; nothing backwards.
        assert_eq!(shared(1, 0), 6);
        assert_eq!(shared(1, 2), 0);
        assert!(ngrams.of(3).is_empty() && ngrams.of(9).is_empty());
        ngrams.clear();
        ngrams.push(|out| hash_ngrams("", out));
        assert_eq!(ngrams.of(0).len(), 2);
    }
}
