//! A check for words from which punctuation and contractions have not been split off.

use crate::tree::Token;
use crate::treebank::Item;

/// The number of words after which the input is judged; a shorter input is judged at its end.
const WORDS: u64 = 200;

/// Input looks untokenized if at least one word in this many looks unsplit.
const ONE_IN: u64 = 25;

/// Counts words until the input can be judged.
#[derive(Debug, Default)]
pub(super) struct UntokenizedCheck {
    words: u64,
    unsplit: u64,
    judged: bool,
}

impl UntokenizedCheck {
    /// Examines the next item, or the end of the input; returns true once if the input looks untokenized.
    pub(super) fn add(&mut self, item: Option<&Item>) -> bool {
        if self.judged {
            return false;
        }
        if let Some(Item::Sentence(tokens, _)) = item {
            self.words += tokens.len() as u64;
            self.unsplit += unsplit(tokens) as u64;
        }
        self.judged = item.is_none() || self.words >= WORDS;
        self.judged && self.unsplit > 0 && self.unsplit * ONE_IN >= self.words
    }
}

/// The number of words that look unsplit. A final period counts only at the end of a sentence: others may
/// belong to abbreviations.
fn unsplit(tokens: &[Token]) -> usize {
    let inside = tokens.iter().filter(|token| looks_unsplit(&token.word)).count();
    let last = tokens.last().and_then(|token| token.word.strip_suffix('.'));
    inside + usize::from(last.is_some_and(|word| word.len() > 4 && is_alphabetic(word)))
}

/// Whether a word of letters ends with a mark, or with a contraction.
fn looks_unsplit(word: &str) -> bool {
    let letters = word.trim_end_matches([',', ';', ':', '?', '!', ')', '"']);
    let contraction = |clitic: &&str| word.len() > clitic.len() && word.ends_with(*clitic);
    letters.len() < word.len() && letters.len() > 1 && is_alphabetic(letters)
        || ["n't", "n\u{2019}t", "'s", "\u{2019}s", "'re", "'ll", "'ve"].iter().any(contraction)
}

fn is_alphabetic(word: &str) -> bool {
    word.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::Origin;

    fn judged(text: &str) -> bool {
        let tokens = text.split(' ').map(Token::untagged).collect();
        let mut check = UntokenizedCheck::default();
        check.add(Some(&Item::Sentence(tokens, Origin::Plain))) || check.add(None)
    }

    #[test]
    fn text_is_noticed_and_tokens_are_not() {
        assert!(judged("The dogs, which barked, weren't hers."));
        assert!(judged("A dog (brown) barked."));
        assert!(!judged("The dogs , which barked , were n't Dr. Reed 's ."));
        assert!(!judged("He left at 5 p.m. etc. approx. , No. 5 , Fig. 3 , O'Neill"));
    }

    #[test]
    fn it_is_noted_once() {
        let item = Item::Sentence(vec![Token::untagged("dogs,")], Origin::Plain);
        let mut check = UntokenizedCheck::default();
        let notes = (0..500).filter(|_| check.add(Some(&item))).count();
        assert_eq!((notes, check.add(None)), (1, false));
    }
}
