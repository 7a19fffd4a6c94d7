//! Known marks in place of unknown ones: brackets that a treebank writes otherwise, marks that it has in another width, and
//! quotation marks that it does not have.

use crate::escapes::{QUOTATION_MARKS, other_bracket, other_width};

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
    /// Reads the next word; returns what may stand for it if it is an unknown quotation mark.
    pub(super) fn read(&mut self, word: &str) -> &'static [&'static str] {
        if word.starts_with(char::is_alphanumeric) || !QUOTATION_MARKS.contains(&word) {
            return &[];
        }
        self.is_open = !self.is_open;
        if self.is_open { &OPENING } else { &CLOSING }
    }
}

/// The first known one of what may stand for an unknown word: its other form as a bracket or of another width, or `marks`.
pub(super) fn find(word: &str, marks: &[&str], known: impl Fn(&str) -> Option<u32>) -> Option<u32> {
    let width = other_width(word);
    let forms = other_bracket(word).into_iter().chain(width.as_deref());
    forms.chain(marks.iter().copied()).find_map(known)
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
        assert_eq!(taken("ja ！ ?", "ja ! ？ ＊"), "ja ！ ? ?");
    }
}
