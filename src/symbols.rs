//! Symbol tables, which map strings to small integers, and encoded sentences.
//!
//! All layers above treebanks work on integers; strings are looked up again only when a tree is built. As
//! feature values, 0 means *nothing there* and 1 means *unknown*, so a feature distinguishes a missing node
//! from an unseen word.

mod case;
mod lists;
mod marks;
mod ngrams;
mod stand_ins;

use std::fmt;
use std::sync::Arc;

use compact_str::CompactString;
use rustc_hash::FxHashMap;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::pieces::PieceTokenizer;
use crate::tree::Token;
pub use case::{CASES, Case};
pub use lists::Lists;
pub use marks::Mark;
use marks::OpenPairs;
use ngrams::hash_ngrams;
use stand_ins::Quotations;

/// The feature value of "nothing there".
pub const NOTHING: u32 = 0;
/// The feature value of an unseen string.
pub const UNKNOWN: u32 = 1;
/// The first feature value of a known string.
pub const FIRST: u32 = 2;

/// A constituent label: an index into a [`Symbols`] table of labels, from 0, without reserved values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u16);

/// A table of distinct strings, numbered in order of arrival.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(into = "Vec<CompactString>")]
pub struct Symbols {
    names: Vec<CompactString>,
    index: FxHashMap<CompactString, u32>,
}

impl Symbols {
    /// The position of a string, added at the end if new.
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(&position) = self.index.get(name) {
            return position;
        }
        let position = self.names.len() as u32;
        self.names.push(name.into());
        self.index.insert(name.into(), position);
        position
    }

    /// The position of a string.
    pub fn position(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    /// The string at a position.
    pub fn name(&self, position: u32) -> Option<&str> {
        self.names.get(position as usize).map(CompactString::as_str)
    }

    /// All strings in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(CompactString::as_str)
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The feature value of a string: [`UNKNOWN`] if unseen, never [`NOTHING`].
    pub fn value(&self, name: &str) -> u32 {
        self.position(name).map_or(UNKNOWN, |position| position + FIRST)
    }

    /// The string with a feature value; `None` for reserved values.
    pub fn of_value(&self, value: u32) -> Option<&str> {
        self.name(value.checked_sub(FIRST)?)
    }
}

/// Reads a list of different names.
impl<'de> Deserialize<'de> for Symbols {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Symbols;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of names")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Symbols, A::Error> {
                let mut symbols = Symbols::default();
                while let Some(name) = names.next_element::<CompactString>()? {
                    let n = symbols.len();
                    if (symbols.intern(&name) as usize) < n {
                        return Err(A::Error::custom("a name twice"));
                    }
                }
                Ok(symbols)
            }
        }
        deserializer.deserialize_seq(Names)
    }
}

impl From<Symbols> for Vec<CompactString> {
    fn from(symbols: Symbols) -> Self {
        symbols.names
    }
}

/// Parts of a word form, as feature values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Form {
    /// The last two characters.
    pub suffix2: u32,
    /// The last three characters.
    pub suffix3: u32,
    /// The shape: runs of upper case, lower case, digits and other characters.
    pub shape: u32,
    /// Its role as punctuation.
    pub mark: Mark,
    /// Its capital letters.
    pub case: Case,
    /// The number of characters, at most 3.
    pub characters: u8,
}

/// Counts of punctuation before a position of a sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    /// Punctuation marks.
    pub marks: u32,
    /// Commas.
    pub commas: u32,
    /// Opening marks that have not been closed.
    pub open: u32,
}

/// An encoded sentence: what transition systems and features see of the input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentence {
    /// Word values.
    pub words: Vec<u32>,
    /// Tag values.
    pub tags: Vec<u32>,
    /// Values of parts of the word forms.
    pub forms: Vec<Form>,
    /// The character n-grams of unknown words; none for known ones.
    pub ngrams: Lists,
    /// The pieces of words, if the vocabulary has a tokenizer.
    pub pieces: Lists,
    /// The pieces that mark the start and the end of a text.
    pub piece_marks: [u32; 2],
    /// For each token the length of its word in characters, at most 3, if its tag begins with N or V (as
    /// those of nouns and verbs do in the Penn, Chinese and Sinica treebanks), else 0.
    pub rhythms: Vec<u8>,
    /// The counts before each token and before the end; features take differences of them.
    pub before: Vec<Before>,
}

/// Whether a tag or label is nominal or verbal, by its first letter.
pub fn is_nominal_or_verbal(name: &str) -> bool {
    name.starts_with(['N', 'V'])
}

impl Sentence {
    /// The counts before a position; zero if they were not computed.
    pub fn before(&self, position: u32) -> Before {
        self.before.get(position as usize).copied().unwrap_or_default()
    }

    /// The sentence with unknown tags.
    pub fn untagged(&self) -> Self {
        Self { tags: vec![UNKNOWN; self.len()], ..self.clone() }
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// The words, tags and parts of words that a model knows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "StoredVocabulary", into = "StoredVocabulary")]
pub struct Vocabulary {
    words: Symbols,
    tags: Symbols,
    parts: Symbols,
    forms: Vec<Form>,
    /// The tokenizer of an encoder that reads pieces of words. It is stored apart.
    pieces: Option<Arc<PieceTokenizer>>,
}

/// The number of distinct feature values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VocabularySizes {
    /// Of words.
    pub words: usize,
    /// Of tags.
    pub tags: usize,
    /// Of parts of word forms.
    pub parts: usize,
}

#[derive(Serialize, Deserialize)]
struct StoredVocabulary {
    words: Symbols,
    tags: Symbols,
    parts: Symbols,
}

impl From<StoredVocabulary> for Vocabulary {
    fn from(stored: StoredVocabulary) -> Self {
        let StoredVocabulary { words, tags, parts } = stored;
        let forms = words.names().map(|word| form_of(word, |part| parts.value(part))).collect();
        Self { words, tags, parts, forms, pieces: None }
    }
}

impl From<Vocabulary> for StoredVocabulary {
    fn from(vocabulary: Vocabulary) -> Self {
        Self { words: vocabulary.words, tags: vocabulary.tags, parts: vocabulary.parts }
    }
}

impl Vocabulary {
    /// The vocabulary of training sentences: words seen at least `minimum` times, every tag, and the
    /// parts of all words.
    pub fn of<'a>(sentences: impl IntoIterator<Item = &'a [Token]>, minimum: u32) -> Self {
        Self::default().with_sentences(sentences, minimum)
    }

    /// The same vocabulary with that of more training sentences. What it has keeps its value, and a word that it has
    /// stays known however rare it is.
    #[must_use]
    pub fn with_sentences<'a>(
        self,
        sentences: impl IntoIterator<Item = &'a [Token]>,
        minimum: u32,
    ) -> Self {
        let Self { mut words, mut tags, mut parts, pieces, .. } = self;
        let mut counts: Vec<u32> = Vec::new();
        let mut seen = Symbols::default();
        for token in sentences.into_iter().flatten() {
            let position = seen.intern(&token.word) as usize;
            counts.resize(seen.len(), 0);
            counts[position] += 1;
            tags.intern(&token.tag);
        }
        for (word, &count) in seen.names().zip(&counts) {
            form_of(word, |part| parts.intern(part));
            if count >= minimum {
                words.intern(word);
            }
        }
        Self { pieces, ..StoredVocabulary { words, tags, parts }.into() }
    }

    /// The same vocabulary with the first `n` words only.
    #[must_use]
    pub fn with_first_words(self, n: usize) -> Self {
        let mut words = Symbols::default();
        self.words.names().take(n).for_each(|word| _ = words.intern(word));
        let Self { tags, parts, pieces, .. } = self;
        Self { pieces, ..StoredVocabulary { words, tags, parts }.into() }
    }

    /// Adds words that no training sentence has, with the next values.
    pub fn add_words<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        for word in words {
            if self.words.intern(word) as usize == self.forms.len() {
                self.forms.push(form_of(word, |part| self.parts.value(part)));
            }
        }
    }

    /// Encodes a sentence.
    pub fn encode(&self, tokens: &[Token]) -> Sentence {
        let mut sentence = Sentence::default();
        self.encode_into(tokens, &mut sentence);
        sentence
    }

    /// Encodes a sentence into existing memory.
    pub fn encode_into(&self, tokens: &[Token], out: &mut Sentence) {
        out.words.clear();
        out.tags.clear();
        out.forms.clear();
        out.ngrams.clear();
        out.pieces.clear();
        out.rhythms.clear();
        out.before.clear();
        if let Some(tokenizer) = &self.pieces {
            out.piece_marks = [tokenizer.first_piece(), tokenizer.last_piece()];
        }
        let (mut before, mut pairs) = (Before::default(), OpenPairs::default());
        let mut quotations = Quotations::default();
        out.before.push(before);
        for token in tokens {
            let marks = quotations.read(&token.word);
            let position = |word: &str| self.words.position(word);
            let word =
                position(&token.word).or_else(|| stand_ins::find(&token.word, marks, position));
            out.words.push(word.map_or(UNKNOWN, |position| position + FIRST));
            out.tags.push(self.tags.value(&token.tag));
            let form = match word {
                Some(position) => self.forms[position as usize],
                None => form_of(&token.word, |part| self.parts.value(part)),
            };
            out.forms.push(form);
            out.ngrams.push(|out| {
                if word.is_none() {
                    hash_ngrams(&token.word, out);
                }
            });
            if let Some(tokenizer) = &self.pieces {
                out.pieces.push(|out| tokenizer.pieces(&token.word, out));
            }
            out.rhythms.push(if is_nominal_or_verbal(&token.tag) { form.characters } else { 0 });
            pairs.read(form.mark);
            before.marks += u32::from(form.mark.is_punctuation);
            before.commas += u32::from(form.mark.is_comma);
            before.open = pairs.total;
            out.before.push(before);
        }
    }

    /// Sets the tokenizer of an encoder that reads pieces of words.
    pub fn set_pieces(&mut self, tokenizer: Arc<PieceTokenizer>) {
        self.pieces = Some(tokenizer);
    }

    /// The tokenizer of an encoder that reads pieces of words.
    pub fn pieces(&self) -> Option<&PieceTokenizer> {
        self.pieces.as_deref()
    }

    /// The known words.
    pub fn words(&self) -> &Symbols {
        &self.words
    }

    /// The n-grams of all words, by feature value.
    pub fn ngrams(&self) -> Lists {
        let mut ngrams = Lists::default();
        (0..FIRST).for_each(|_| ngrams.push(|_| ()));
        self.words.names().for_each(|word| ngrams.push(|out| hash_ngrams(word, out)));
        ngrams
    }

    /// The known tags.
    pub fn tags(&self) -> &Symbols {
        &self.tags
    }

    /// The known parts of words.
    pub fn parts(&self) -> &Symbols {
        &self.parts
    }

    /// The numbers of feature values, including [`NOTHING`] and [`UNKNOWN`].
    pub fn sizes(&self) -> VocabularySizes {
        let size = |symbols: &Symbols| symbols.len() + FIRST as usize;
        VocabularySizes {
            words: size(&self.words),
            tags: size(&self.tags),
            parts: size(&self.parts),
        }
    }
}

/// The parts of a word, each mapped to a value by `number`.
fn form_of(word: &str, mut number: impl FnMut(&str) -> u32) -> Form {
    let mut suffix = |n: usize| {
        let start = word.char_indices().rev().nth(n - 1).map_or(0, |(at, _)| at);
        let mut part = CompactString::const_new("-");
        part.push_str(&word[start..]);
        number(&part)
    };
    let (suffix2, suffix3) = (suffix(2), suffix(3));
    let characters = word.chars().take(3).count() as u8;
    let (shape, mark, case) = (number(&shape_of(word)), Mark::of(word), Case::of(word));
    Form { suffix2, suffix3, shape, mark, case, characters }
}

/// The shape of a word: `X` upper case, `x` other letters, `9` digits, other ASCII characters as they
/// are, `?` the rest; each run of one class is written once, up to eight runs.
fn shape_of(word: &str) -> CompactString {
    let mut shape = CompactString::default();
    let mut last = '\0';
    for character in word.chars() {
        let class = match character {
            c if c.is_uppercase() => 'X',
            c if c.is_alphabetic() => 'x',
            c if c.is_numeric() => '9',
            c if c.is_ascii() => c,
            _ => '?',
        };
        if class != last {
            shape.push(class);
            last = class;
            if shape.len() == 8 {
                break;
            }
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_stored_as_a_list_of_different_names() {
        let mut symbols = Symbols::default();
        for name in ["b", "a"] {
            symbols.intern(name);
        }
        let text = serde_json::to_string(&symbols).unwrap();
        assert_eq!(text, r#"["b","a"]"#);
        let again: Symbols = serde_json::from_str(&text).unwrap();
        assert_eq!(again.position("a"), Some(1));
        for wrong in [r#"["b","b"]"#, r#"["b","a","b"]"#, r#"["b",1]"#, "3"] {
            assert!(serde_json::from_str::<Symbols>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn unseen_words_and_rare_words_are_unknown_but_keep_their_form() {
        let tokens = [
            Token::new("running", "VBG"),
            Token::new("Running", "VBG"),
            Token::new("running", "NN"),
        ];
        let vocabulary = Vocabulary::of([&tokens[..]], 2);
        let sentence = vocabulary.encode(&tokens);
        assert_eq!(sentence.words, [FIRST, UNKNOWN, FIRST]);
        assert_eq!(sentence.forms[0].suffix3, sentence.forms[1].suffix3);
        assert_ne!(sentence.forms[0].shape, sentence.forms[1].shape);
    }

    #[test]
    fn sums_and_rhythms_follow_the_tokens() {
        let tokens = [
            Token::new("「", "PU"),
            Token::new("馬", "NN"),
            Token::new("，", "PU"),
            Token::new("說明書", "NN"),
            Token::new("看得清楚", "VV"),
            Token::new("」", "PU"),
        ];
        // Known words and unknown ones go different ways.
        for vocabulary in [Vocabulary::default(), Vocabulary::of([&tokens[..]], 1)] {
            let sentence = vocabulary.encode(&tokens);
            assert_eq!(sentence.rhythms, [0, 1, 0, 3, 3, 0]);
            let marks: Vec<u32> = sentence.before.iter().map(|before| before.marks).collect();
            assert_eq!(marks, [0, 1, 1, 2, 2, 2, 3]);
            let commas: Vec<u32> = sentence.before.iter().map(|before| before.commas).collect();
            assert_eq!(commas, [0, 0, 0, 1, 1, 1, 1]);
            let open: Vec<u32> = sentence.before.iter().map(|before| before.open).collect();
            assert_eq!(open, [0, 1, 1, 1, 1, 1, 0]);
        }
    }

    #[test]
    fn shapes_collapse_runs() {
        assert_eq!(shape_of("BMP-2a"), "X-9x");
        assert_eq!(shape_of(""), "");
    }
}
