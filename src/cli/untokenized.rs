//! Words that look as if nobody had split punctuation and contractions off them.

use crate::tree::Token;
use crate::treebank::sentences::Item;

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
        if let Some(Item::Sentence(tokens)) = item {
            self.words += tokens.len() as u64;
            self.unsplit += tokens.iter().filter(|token| looks_unsplit(token)).count() as u64;
        }
        self.judged = item.is_none() || self.words >= WORDS;
        self.judged && self.unsplit > 0 && self.unsplit * ONE_IN >= self.words
    }
}

/// Whether a word ends with a mark after letters, or has a contraction in it.
fn looks_unsplit(Token { word, .. }: &Token) -> bool {
    let without_mark = word.trim_end_matches([',', ';', ':', '.', '?', '!', ')', '"']);
    let has_mark = without_mark.len() < word.len()
        && without_mark.chars().count() > 1
        && without_mark.chars().all(char::is_alphabetic);
    // An abbreviation has its period rightly; most are short or capitalised.
    let may_be_abbreviation = word.ends_with('.')
        && (without_mark.len() <= 4 || without_mark.starts_with(char::is_uppercase));
    let has_contraction = ["n't", "n\u{2019}t", "'s", "\u{2019}s", "'re", "'ll", "'ve"]
        .iter()
        .any(|clitic| word.len() > clitic.len() && word.ends_with(clitic));
    has_mark && !may_be_abbreviation || has_contraction
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(text: &str) -> bool {
        let tokens = text.split(' ').map(Token::untagged).collect();
        let mut check = UntokenizedCheck::default();
        check.see(Some(&Item::Sentence(tokens))) || check.see(None)
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
        let item = Item::Sentence(vec![Token::untagged("dogs,")]);
        let mut check = UntokenizedCheck::default();
        let said = (0..500).filter(|_| check.see(Some(&item))).count();
        assert_eq!((said, check.see(None)), (1, false));
    }
}
