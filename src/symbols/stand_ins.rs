//! Known marks in place of unknown ones: brackets that a treebank writes otherwise, and quotation marks that it does not have.

use crate::escapes::other_bracket;

const QUOTATION_MARKS: [&str; 11] = ["\"", "``", "''", "“", "”", "„", "‟", "«", "»", "＂", "〝"];
/// What stands for an unknown quotation mark: another one, or else a bracket. The first known one is taken.
const OPENING: [&str; 7] = ["\"", "``", "“", "„", "«", "(", "-LRB-"];
const CLOSING: [&str; 7] = ["\"", "''", "”", "“", "»", ")", "-RRB-"];

/// The quotation marks of a sentence that have been read. Which side one is on differs by language („so“, “so”, «so», »so«),
/// so every second one closes.
#[derive(Debug, Default)]
pub(super) struct Quotations {
    is_open: bool,
}

impl Quotations {
    /// Reads the next word; returns the words that may stand for it if it is unknown.
    pub(super) fn read(&mut self, word: &str) -> impl Iterator<Item = &'static str> + use<> {
        let is_quotation =
            !word.starts_with(char::is_alphanumeric) && QUOTATION_MARKS.contains(&word);
        let marks = match (is_quotation, self.is_open) {
            (false, _) => &[][..],
            (true, false) => &OPENING,
            (true, true) => &CLOSING,
        };
        self.is_open ^= is_quotation;
        other_bracket(word).into_iter().chain(marks.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::{UNKNOWN, Vocabulary};
    use crate::tree::Token;

    fn tokens(words: &str) -> Vec<Token> {
        words.split(' ').map(|word| Token::new(word, "X")).collect()
    }

    /// The words of a vocabulary that those of a sentence are taken for.
    fn taken(known: &str, words: &str) -> String {
        let known = tokens(known);
        let vocabulary = Vocabulary::of([&known[..]], 1);
        let sentence = vocabulary.encode(&tokens(words));
        let taken = |word: &u32| match *word {
            UNKNOWN => "?",
            value => vocabulary.words().name(value - crate::symbols::FIRST).unwrap(),
        };
        sentence.words.iter().map(taken).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn unknown_marks_are_taken_for_known_ones() {
        assert_eq!(taken("-LRB- ja", "( ja )"), "-LRB- ja ?");
        assert_eq!(taken("\" ja", "„ ja “ « ja » \""), "\" ja \" \" ja \" \"");
        assert_eq!(taken("`` '' ja", "» ja « “"), "`` ja '' ``");
        assert_eq!(taken("( ) ja", "„ ja “ nei"), "( ja ) ?");
        assert_eq!(taken("ja « »", "« ja »"), "« ja »");
        assert_eq!(taken("ja nei", "“ ja ”"), "? ja ?");
    }
}
