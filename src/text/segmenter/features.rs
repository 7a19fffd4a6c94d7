//! The features of the decision between two characters.

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::super::forms::is_invisible;
use super::super::script::is_unspaced;

/// The number of characters on each side.
const WINDOW: usize = 3;
/// The longest sequences of characters.
const LONGEST: usize = 4;
/// The longest words that are looked up, in characters.
const LONGEST_WORD: usize = 12;
/// Words of this many characters and longer ones have the same features together with their class.
const LONG: u32 = 6;

/// The characters of a line, after a window of line ends and before another. A letter with its accents is one character, as
/// is a sequence that is shown as one emoji; so is white space between two words. Invisible characters after others are left out.
#[derive(Debug)]
pub(super) struct Text {
    /// The characters, with digits as one and without case.
    characters: Vec<u32>,
    types: Vec<u8>,
    offsets: Vec<usize>,
    /// For each character, where the run of characters without white space around it begins and ends.
    runs: Vec<(u32, u32)>,
}

/// The types of characters.
mod kind {
    pub(super) const EDGE: u8 = 0;
    pub(super) const SPACE: u8 = 1;
    pub(super) const DIGIT: u8 = 2;
    pub(super) const UPPER: u8 = 3;
    pub(super) const LETTER: u8 = 4;
    pub(super) const HAN: u8 = 5;
    pub(super) const HIRAGANA: u8 = 6;
    pub(super) const KATAKANA: u8 = 7;
    pub(super) const UNSPACED: u8 = 8;
    pub(super) const MARK: u8 = 9;
}

fn kind(c: char) -> u8 {
    match c {
        c if c.is_whitespace() => kind::SPACE,
        '\u{3041}'..='\u{309f}' => kind::HIRAGANA,
        '\u{30a0}'..='\u{30ff}' => kind::KATAKANA,
        '\u{3400}'..='\u{9fff}' => kind::HAN,
        c if is_unspaced(c) => kind::UNSPACED,
        c if c.is_numeric() => kind::DIGIT,
        c if c.is_uppercase() => kind::UPPER,
        c if c.is_alphabetic() => kind::LETTER,
        _ => kind::MARK,
    }
}

/// The ASCII form of a full-width character.
fn ascii_form(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// A letter with its accents, as one character if there is one.
fn composed(grapheme: &str) -> Option<char> {
    let mut characters = grapheme.chars();
    let first = characters.next()?;
    if characters.as_str().is_empty() { Some(first) } else { grapheme.nfc().next() }
}

impl Text {
    pub(super) fn new(line: &str, straightens: bool) -> Self {
        let n = line.len() + 2 * WINDOW;
        let mut text = Self {
            characters: Vec::with_capacity(n),
            types: Vec::with_capacity(n),
            offsets: Vec::with_capacity(n),
            runs: Vec::new(),
        };
        (0..WINDOW).for_each(|_| text.push(0, kind::EDGE, 0));
        for (offset, grapheme) in line.grapheme_indices(true) {
            // White space with a mark on it is white space and a word.
            if grapheme.contains(char::is_whitespace) {
                let parts = grapheme.char_indices();
                parts.for_each(|(at, c)| text.add(c, offset + at, straightens));
            } else if let Some(c) = composed(grapheme) {
                text.add(c, offset, straightens);
            }
        }
        (0..WINDOW).for_each(|_| text.push(0, kind::EDGE, line.len()));
        text.find_runs();
        text
    }

    fn add(&mut self, c: char, offset: usize, straightens: bool) {
        let c = ascii_form(c);
        let kind = kind(c);
        let before = self.types[self.types.len() - 1];
        if kind == kind::SPACE && before == kind::SPACE || is_invisible(c) && before > kind::SPACE {
            return;
        }
        let code = match kind {
            kind::SPACE => u32::from(' '),
            kind::DIGIT => u32::from('0'),
            _ if c == '\u{2019}' && straightens => u32::from('\''),
            _ => u32::from(c.to_lowercase().next().unwrap_or(c)),
        };
        self.push(code, kind, offset);
    }

    fn push(&mut self, code: u32, kind: u8, offset: usize) {
        self.characters.push(code);
        self.types.push(kind);
        self.offsets.push(offset);
    }

    fn find_runs(&mut self) {
        self.runs.resize(self.types.len(), (0, 0));
        let mut start = 0;
        while start < self.types.len() {
            let is_run = |&kind: &u8| kind > kind::SPACE;
            let length = self.types[start..].iter().take_while(|kind| is_run(kind)).count().max(1);
            self.runs[start..start + length].fill((start as u32, (start + length) as u32));
            start += length;
        }
    }

    /// The places where a word may end: all but the beginning of the line.
    pub(super) fn places(&self) -> std::ops::RangeInclusive<usize> {
        WINDOW + 1..=self.types.len() - WINDOW
    }

    /// The byte offset of a place.
    pub(super) fn offset(&self, place: usize) -> usize {
        self.offsets[place]
    }

    /// Whether the weights decide if a word ends at a place.
    pub(super) fn is_candidate(&self, place: usize, candidates: Candidates) -> bool {
        let [before, after] = [self.types[place - 1], self.types[place]];
        match after {
            kind::EDGE => false,
            kind::SPACE => {
                candidates.at_spaces && before > kind::SPACE && self.types[place + 1] > kind::SPACE
            }
            _ => before > kind::SPACE && !(candidates.unspaced && is_one_word(before, after)),
        }
    }

    /// Whether a word ends at a place that is no candidate: before white space, or at the end of the line.
    pub(super) fn is_word_end(&self, place: usize) -> bool {
        self.types[place - 1] > kind::SPACE && self.types[place] <= kind::SPACE
    }
}

/// Where the weights decide if a word ends: between two characters of a run, and more or less than that.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidates {
    /// At the white space between two runs too.
    pub(super) at_spaces: bool,
    /// The script has no spaces between words; then words and numbers of other scripts are whole.
    pub(super) unspaced: bool,
}

/// Whether two characters of these types stand in one word where the script has no spaces between words.
fn is_one_word(before: u8, after: u8) -> bool {
    let is_letter = |kind| matches!(kind, kind::UPPER | kind::LETTER);
    is_letter(before) && is_letter(after) || before == kind::DIGIT && after == kind::DIGIT
}

/// The words of a treebank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexicon<'w> {
    /// Their hashes, in ascending order.
    pub(super) words: &'w [u32],
    /// The class of each word; empty where the script has spaces between words.
    pub(super) classes: &'w [u8],
}

impl Lexicon<'_> {
    /// The class of a word, counted from 1, or 0 where words have none; `None` for an unknown word.
    fn class(self, word: u32) -> Option<u32> {
        let at = self.words.binary_search(&word).ok()?;
        Some(self.classes.get(at).map_or(0, |&class| u32::from(class) + 1))
    }
}

/// A known word: its length in characters, and its class; both are 0 if there is none.
#[derive(Debug, Clone, Copy, Default)]
struct KnownWord {
    length: u32,
    class: u32,
}

/// Hashed features of the places of a text.
pub(super) struct Features<'t> {
    text: &'t Text,
    lexicon: Lexicon<'t>,
    shift: u32,
    found: Vec<usize>,
}

impl<'t> Features<'t> {
    /// `n` is a power of two: the number of different features.
    pub(super) fn new(text: &'t Text, lexicon: Lexicon<'t>, n: usize) -> Self {
        let shift = 32 - n.trailing_zeros().min(31);
        Self { text, lexicon, shift, found: Vec::with_capacity(64) }
    }

    fn add(&mut self, hash: u32) {
        self.found.push((hash >> self.shift) as usize);
    }

    /// The features of a place; each is below the number of different features.
    pub(super) fn at(&mut self, place: usize) -> &[usize] {
        self.found.clear();
        self.add(mix(0, 1));
        self.sequences(place);
        self.words_around(place);
        &self.found
    }

    fn sequences(&mut self, place: usize) {
        let text = self.text;
        let window = place - WINDOW..place + WINDOW;
        for start in window.clone() {
            let name = 16 * (start + WINDOW - place) as u32;
            let (mut characters, mut types) = (mix(2, name), mix(3, name));
            for end in start..window.end.min(start + LONGEST) {
                characters = mix(characters, text.characters[end]);
                types = mix(types, u32::from(text.types[end]));
                self.add(characters);
                self.add(types);
            }
        }
    }

    /// Words that end, begin, or stand at the place, and the parts of the run on both sides of it.
    fn words_around(&mut self, place: usize) {
        let text = self.text;
        let (start, left_end) = (text.runs[place - 1].0 as usize, place);
        let right_start = place + usize::from(text.types[place] == kind::SPACE);
        let end = text.runs[right_start].1 as usize;
        let before = self.longest_before(start, left_end);
        let after = self.longest_after(right_start, end);
        let is_left = before.length > 0 && before.length as usize == left_end - start;
        let is_right = after.length > 0 && right_start + after.length as usize == end;
        self.add(mix(mix(4, before.length), u32::from(is_left)));
        self.add(mix(mix(5, after.length), u32::from(is_right)));
        self.add(mix(
            mix(mix(6, before.length.min(4)), after.length.min(4)),
            u32::from(is_left) * 2 + u32::from(is_right),
        ));
        let across = self.longest_across(start, place, end);
        self.add(mix(7, across.length));
        if left_end - start <= LONGEST_WORD {
            self.add(mix(8, self.hash(start, left_end)));
        }
        if end.saturating_sub(right_start) <= LONGEST_WORD && end > right_start {
            self.add(mix(9, self.hash(right_start, end)));
        }
        if !self.lexicon.classes.is_empty() {
            let second = [
                self.longest_before(start, left_end - before.length.max(1) as usize),
                self.longest_after(right_start + after.length.max(1) as usize, end),
            ];
            self.classes_around(place, [before, across, after], second);
        }
    }

    /// The classes of the longest words that end, stand, and begin at the place, and of the words before and after them.
    fn classes_around(
        &mut self,
        place: usize,
        [before, across, after]: [KnownWord; 3],
        [second_before, second_after]: [KnownWord; 2],
    ) {
        let [left, right] = [before.length.min(LONG), after.length.min(LONG)];
        let [left_char, right_char] = [place - 1, place].map(|at| self.text.characters[at]);
        let features = [
            [left, before.class, 0],
            [right, after.class, 0],
            [before.class, after.class, 0],
            [across.length, across.class, 0],
            [across.length, left, right],
            [across.class, before.class, after.class],
            [second_before.class, before.class, after.class],
            [before.class, after.class, second_after.class],
            [before.class, right_char, 0],
            [after.class, left_char, 0],
        ];
        for (name, [a, b, c]) in (10..).zip(features) {
            self.add(mix(mix(mix(name, a), b), c));
        }
    }

    fn hash(&self, start: usize, end: usize) -> u32 {
        self.text.characters[start..end].iter().fold(WORD, |hash, &c| mix(hash, c))
    }

    /// The longest known word that ends at `end`.
    fn longest_before(&self, start: usize, end: usize) -> KnownWord {
        let from = start.max(end.saturating_sub(LONGEST_WORD));
        let known = |from| {
            let class = self.lexicon.class(self.hash(from, end))?;
            Some(KnownWord { length: (end - from) as u32, class })
        };
        (from..end).find_map(known).unwrap_or_default()
    }

    /// The longest known word that begins at `start`.
    fn longest_after(&self, start: usize, end: usize) -> KnownWord {
        let mut longest = KnownWord::default();
        let mut hash = WORD;
        for to in start..end.min(start + LONGEST_WORD) {
            hash = mix(hash, self.text.characters[to]);
            if let Some(class) = self.lexicon.class(hash) {
                longest = KnownWord { length: (to + 1 - start) as u32, class };
            }
        }
        longest
    }

    /// The longest known word with the place inside.
    fn longest_across(&self, start: usize, place: usize, end: usize) -> KnownWord {
        let mut longest = KnownWord::default();
        for from in start.max(place.saturating_sub(LONGEST_WORD - 1))..place {
            let mut hash = self.hash(from, place);
            for to in place..end.min(from + LONGEST_WORD) {
                hash = mix(hash, self.text.characters[to]);
                let length = (to + 1 - from) as u32;
                if length > longest.length
                    && let Some(class) = self.lexicon.class(hash)
                {
                    longest = KnownWord { length, class };
                }
            }
        }
        longest
    }
}

/// The hash of an empty word.
const WORD: u32 = 0x9e37_79b9;

/// The hash of a word; curly apostrophes are read as straight ones if `straightens`.
pub(super) fn word_hash(word: &str, straightens: bool) -> u32 {
    let text = Text::new(word, straightens);
    text.characters[WINDOW..text.characters.len() - WINDOW]
        .iter()
        .fold(WORD, |hash, &c| mix(hash, c))
}

fn mix(hash: u32, value: u32) -> u32 {
    let mixed = (hash.rotate_left(5) ^ value).wrapping_mul(0x85eb_ca6b);
    mixed ^ mixed >> 15
}
