//! A text as sentences whose words have the places that CoreNLP gives them.

use std::collections::VecDeque;
use std::ops::Range;

use crate::text::{Layout, Splitter, TextSentence, Tokenizer, form_of_word};
use crate::tree::Token;

/// Where sentences end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sentences {
    /// Where the splitter finds an end.
    Found,
    /// There, and at every end of a line.
    FoundInLines,
    /// At the end of each line only.
    Lines,
    /// The text is one sentence.
    One,
}

/// A sentence.
pub(super) struct Sentence {
    /// Its position in the text.
    pub(super) index: usize,
    pub(super) tokens: Vec<Token>,
    pub(super) places: Vec<Place>,
}

/// The place of a token in the text. Offsets count from 0, ends are exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) original: String,
    /// In UTF-16 code units, as strings of Java and JavaScript count.
    pub(super) units: (u64, u64),
    /// In code points.
    pub(super) points: (u64, u64),
    /// The white space before and after.
    pub(super) before: String,
    pub(super) after: String,
}

/// The sentences of a text, found as they are taken.
pub(super) struct Document {
    text: String,
    sentences: Sentences,
    /// Whether words are what stands between white space.
    is_tokenized: bool,
    tokenizer: Tokenizer,
    splitter: Splitter,
    /// How much of the text has been given to the splitter.
    read_bytes: usize,
    read_points: u64,
    ended: bool,
    found: VecDeque<TextSentence>,
    /// Where the last token ended.
    last: Position,
    index: usize,
}

/// A position in the text.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    byte: usize,
    points: u64,
    units: u64,
}

impl Position {
    /// The position after so many code points in all.
    fn at(mut self, text: &str, points: u64) -> Self {
        let mut characters = text[self.byte..].chars();
        while self.points < points {
            let Some(c) = characters.next() else { break };
            self.byte += c.len_utf8();
            self.units += c.len_utf16() as u64;
            self.points += 1;
        }
        self
    }
}

impl Document {
    pub(super) fn new(
        text: String,
        sentences: Sentences,
        is_tokenized: bool,
        tokenizer: Tokenizer,
    ) -> Self {
        Self {
            text,
            sentences,
            is_tokenized,
            splitter: Splitter::new(tokenizer.clone()),
            tokenizer,
            read_bytes: 0,
            read_points: 0,
            ended: false,
            found: VecDeque::new(),
            last: Position::default(),
            index: 0,
        }
    }

    /// The next sentence, with offsets in code points.
    fn next_sentence(&mut self) -> Option<TextSentence> {
        loop {
            if let Some(sentence) = self.found.pop_front() {
                return Some(sentence);
            }
            if let Some(sentence) = self.splitter.next_sentence() {
                return Some(sentence);
            }
            if self.ended {
                return None;
            }
            self.read_more();
        }
    }

    /// Reads the next line, or the whole text if it is one sentence.
    fn read_more(&mut self) {
        let rest = &self.text[self.read_bytes..];
        let line = match self.sentences {
            Sentences::One => rest,
            _ => rest.split_inclusive('\n').next().unwrap_or_default(),
        };
        let (before, is_one) = (self.read_points, self.is_one());
        self.ended = line.is_empty();
        if self.is_tokenized {
            self.found.extend(words(line, before, is_one, &self.tokenizer));
        } else if is_one {
            let sentence = self.tokenizer.one_sentence(line);
            self.found.extend(sentence.map(|sentence| sentence.after(before)));
        } else {
            self.splitter.add_line(line);
        }
        if !self.is_tokenized && (self.ended || self.sentences == Sentences::FoundInLines) {
            self.splitter.end_paragraph();
        }
        self.read_points += line.chars().count() as u64;
        self.read_bytes += line.len();
    }

    fn is_one(&self) -> bool {
        matches!(self.sentences, Sentences::One | Sentences::Lines)
    }

    fn places(&mut self, layout: &Layout) -> Vec<Place> {
        let text = &self.text;
        let mut places = Vec::with_capacity(layout.spans.len());
        for &Range { start, end } in &layout.spans {
            let start = self.last.at(text, start);
            let end = start.at(text, end);
            let before = &text[self.last.byte..start.byte];
            let after = &text[end.byte..];
            let after = &after[..after.len() - after.trim_start().len()];
            self.last = end;
            places.push(Place {
                original: text[start.byte..end.byte].to_owned(),
                units: (start.units, end.units),
                points: (start.points, end.points),
                before: before.to_owned(),
                after: after.to_owned(),
            });
        }
        places
    }
}

impl Iterator for Document {
    type Item = Sentence;

    fn next(&mut self) -> Option<Sentence> {
        let TextSentence { tokens, layout } = self.next_sentence()?;
        let places = self.places(&layout);
        self.index += 1;
        Some(Sentence { index: self.index - 1, tokens, places })
    }
}

/// The words between white space, as one sentence or up to each word that ends one.
fn words(line: &str, before: u64, is_one: bool, tokenizer: &Tokenizer) -> Vec<TextSentence> {
    let mut sentences = Vec::new();
    let (mut tokens, mut spans) = (Vec::new(), Vec::new());
    let (mut points, mut byte) = (before, 0);
    let mut end = |tokens: &mut Vec<Token>, spans: &mut Vec<Range<u64>>| {
        let (tokens, spans) = (std::mem::take(tokens), std::mem::take(spans));
        if !tokens.is_empty() {
            let layout = Layout { text: String::new(), spans, space_after: true };
            sentences.push(TextSentence { tokens, layout });
        }
    };
    for word in line.split(char::is_whitespace) {
        let length = word.chars().count() as u64;
        if length > 0 {
            tokens.push(Token::untagged(form_of_word(word, tokenizer.settings())));
            spans.push(points..points + length);
        }
        byte += word.len();
        let space = line[byte..].chars().next();
        byte += space.map_or(0, char::len_utf8);
        points += length + u64::from(space.is_some());
        if !is_one && ENDS.contains(&word) {
            end(&mut tokens, &mut spans);
        }
    }
    end(&mut tokens, &mut spans);
    sentences
}

/// The words after which a sentence ends, if the words are given.
const ENDS: [&str; 6] = [".", "?", "!", "。", "？", "！"];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, sentences: Sentences, is_tokenized: bool) -> Vec<Sentence> {
        Document::new(text.to_owned(), sentences, is_tokenized, Tokenizer::default()).collect()
    }

    fn shown(text: &str, sentences: Sentences, is_tokenized: bool) -> String {
        let sentences = read(text, sentences, is_tokenized);
        let words = |sentence: &Sentence| {
            sentence.tokens.iter().map(|token| token.word.to_string()).collect::<Vec<_>>().join(" ")
        };
        sentences.iter().map(words).collect::<Vec<_>>().join(" / ")
    }

    #[test]
    fn sentences_end_where_the_client_says() {
        let text = "We sing. You\ndance (well).\n\nThey do.";
        assert_eq!(
            shown(text, Sentences::Found, false),
            "We sing . / You dance -LRB- well -RRB- . / They do ."
        );
        assert_eq!(
            shown(text, Sentences::FoundInLines, false),
            "We sing . / You / dance -LRB- well -RRB- . / They do ."
        );
        assert_eq!(
            shown(text, Sentences::Lines, false),
            "We sing. You / dance -LRB- well -RRB- . / They do .".replace("sing.", "sing .")
        );
        assert!(!shown(text, Sentences::One, false).contains('/'));
        let text = "a b. ( c . d\n ! e";
        assert_eq!(shown(text, Sentences::Found, true), "a b. -LRB- c . / d / ! / e");
        assert_eq!(shown(text, Sentences::Lines, true), "a b. -LRB- c . d / ! e");
        assert_eq!(shown(text, Sentences::One, true), "a b. -LRB- c . d ! e");
    }

    #[test]
    fn offsets_count_utf_16_units_and_code_points() {
        let found = read(" 😀 \u{e9}t\u{e9}.\n  x", Sentences::Lines, false);
        let units: Vec<_> = found.iter().flat_map(|s| &s.places).map(|p| p.units).collect();
        let points: Vec<_> = found.iter().flat_map(|s| &s.places).map(|p| p.points).collect();
        assert_eq!(units, [(1, 3), (4, 7), (7, 8), (11, 12)]);
        assert_eq!(points, [(1, 2), (3, 6), (6, 7), (10, 11)]);
        let place = &found[0].places[2];
        assert_eq!((&*place.before, &*place.after), ("", "\n  "));
        assert_eq!((&*found[1].places[0].before, &*found[0].places[0].before), ("\n  ", " "));
    }

    proptest! {
        #[test]
        fn the_text_is_between_and_in_the_words(
            text in "(\\PC|[ \n.!\u{2028}\u{85}😀()]){0,60}", mode in 0..4usize, is_tokenized: bool,
        ) {
            let modes =
                [Sentences::Found, Sentences::FoundInLines, Sentences::Lines, Sentences::One];
            let mut whole = String::new();
            for place in read(&text, modes[mode], is_tokenized).into_iter().flat_map(|s| s.places) {
                whole.push_str(&place.before);
                prop_assert_eq!(whole.encode_utf16().count() as u64, place.units.0);
                whole.push_str(&place.original);
                prop_assert_eq!(whole.encode_utf16().count() as u64, place.units.1);
                prop_assert_eq!(whole.chars().count() as u64, place.points.1);
            }
            prop_assert_eq!(whole.trim_end(), text.trim_end());
        }
    }
}
