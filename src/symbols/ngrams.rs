//! Character n-grams of words, as hashes.

/// The most characters of an n-gram.
const LONGEST: usize = 5;

/// The n-grams of a row of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ngrams {
    hashes: Vec<u32>,
    /// Where those of each word end.
    ends: Vec<usize>,
}

impl Ngrams {
    /// Forgets all words.
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.ends.clear();
    }

    /// Adds a word; without n-grams for `None`.
    pub fn push(&mut self, word: Option<&str>) {
        if let Some(word) = word {
            hash_ngrams(word, &mut self.hashes);
        }
        self.ends.push(self.hashes.len());
    }

    /// The hashes of the whole word and of its n-grams of 2 to 5 characters, with a mark at each end of the word.
    pub fn of(&self, word: usize) -> &[u32] {
        let start = word.checked_sub(1).and_then(|before| self.ends.get(before).copied());
        let end = self.ends.get(word).copied().unwrap_or(0);
        self.hashes.get(start.unwrap_or(0)..end).unwrap_or_default()
    }
}

fn hash_ngrams(word: &str, out: &mut Vec<u32>) {
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

    #[test]
    fn words_share_the_ngrams_that_they_share() {
        let mut ngrams = Ngrams::default();
        for word in ["cats", "cat", "tac"] {
            ngrams.push(Some(word));
        }
        ngrams.push(None);
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
        ngrams.push(Some(""));
        assert_eq!(ngrams.of(0).len(), 2);
    }
}
