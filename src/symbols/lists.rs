//! A list of numbers for each word of a row of words.

/// Lists of numbers, such as the hashes of the n-grams of a word, or the pieces of a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    numbers: Vec<u32>,
    /// Where the list of each word ends.
    ends: Vec<usize>,
}

impl Lists {
    /// Forgets all words.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.ends.clear();
    }

    /// Adds a word; `write` appends its numbers.
    pub fn push(&mut self, write: impl FnOnce(&mut Vec<u32>)) {
        write(&mut self.numbers);
        self.ends.push(self.numbers.len());
    }

    /// The numbers of a word; none beyond the last word.
    pub fn of(&self, word: usize) -> &[u32] {
        let start = word.checked_sub(1).and_then(|before| self.ends.get(before).copied());
        let end = self.ends.get(word).copied().unwrap_or(0);
        self.numbers.get(start.unwrap_or(0)..end).unwrap_or_default()
    }
}
