//! Words that look as if nobody had split punctuation and contractions off them.

use crate::tree::Token;
use crate::treebank::Item;

/// How many words are looked at before the input is judged; a shorter one is judged at its end.
const WORDS: u64 = 200;

/// How many of them may look so: one in this many.
const ONE_IN: u64 = 25;

/// Counts words until the input can be judged.
#[derive(Debug, Default)]
pub(super) struct UntokenizedCheck {
    words: u64,
    unsplit: u64,
    judged: bool,
}

impl UntokenizedCheck {
    /// Looks at the next item, or at the end of the input; returns whether the input looks untokenized, once.
    pub(super) fn see(&mut self, item: Option<&Item>) -> bool {
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

/// The words that look unsplit. A final period counts at the end of a sentence only: others may be those of
/// abbreviations.
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
        check.see(Some(&Item::Sentence(tokens, Origin::Plain))) || check.see(None)
    }

    #[test]
    fn text_is_noticed_and_tokens_are_not() {
        assert!(judged("The dogs, which barked, weren't hers."));
        assert!(judged("A dog (brown) barked."));
        assert!(!judged("The dogs , which barked , were n't Dr. Reed 's ."));
        assert!(!judged("He left at 5 p.m. etc. approx. , No. 5 , Fig. 3 , O'Neill"));
    }

    #[test]
    fn it_is_said_once() {
        let item = Item::Sentence(vec![Token::untagged("dogs,")], Origin::Plain);
        let mut check = UntokenizedCheck::default();
        let said = (0..500).filter(|_| check.see(Some(&item))).count();
        assert_eq!((said, check.see(None)), (1, false));
    }
}
