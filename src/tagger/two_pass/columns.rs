//! The features of the two passes, as columns.

use serde::{Deserialize, Serialize};

use crate::feature::{Column, ColumnKind};
use crate::symbols::{NOTHING, Symbols};
use crate::tree::Token;

/// Longer words count as words of this length, in characters.
const LONGEST: usize = 10;
/// Dots between the parts of foreign names in Chinese text.
const NAME_DOTS: &str = "·•‧∙・．";
/// Numerals besides those that Unicode calls numeric.
const NUMERALS: &str = "〇零一二三四五六七八九十百千万萬亿億两兩";
/// Characters after the number of a year, month or day.
const DATE_ENDS: &str = "年月日号號";
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// Common Chinese family names of one character, simplified and traditional.
const FAMILY_NAMES: &str = "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭\
                            程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎閻余潘杜戴夏钟鍾汪田任姜范方石姚\
                            谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万萬段雷钱錢汤湯尹黎易常武乔喬贺賀\
                            赖賴龚龔文";

/// The columns of the first pass; words and tags are named by their distance from the token.
const FIRST: [&str; 17] = [
    "word-2", "word-1", "word", "word+1", "word+2", "tag-2", "tag-1", "length", "number", "dot",
    "family", "western", "date", "first", "last", "last2", "last3",
];
/// The additional columns of the second pass: tags of the first pass.
const SECOND: [&str; 3] = ["pass1", "pass1+1", "pass1+2"];
/// The number of columns that are words.
const WORDS: usize = 5;
/// The number of columns of the word itself.
const OWN: usize = 10;

/// The columns of the first or of the second pass.
pub fn columns(second: bool) -> Vec<Column> {
    let more = if second { &SECOND[..] } else { &[] };
    let column = |(at, name): (usize, &&str)| Column {
        name: (*name).to_owned(),
        kind: ColumnKind::Nominal,
        lexical: at < WORDS,
    };
    FIRST.iter().chain(more).enumerate().map(column).collect()
}

/// The value of a tag.
pub(super) fn tag_value(tag: u16) -> u32 {
    u32::from(tag) + 2
}

/// Symbol tables of words, their affixes, and tags.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Numbers {
    words: Symbols,
    ends: Symbols,
    pub(super) tags: Symbols,
}

/// An encoded word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Encoded {
    word: u32,
    own: [u32; OWN],
}

impl Numbers {
    /// The tables of the tokens; without `affixes` no affix has a number of its own.
    pub(super) fn of(sentences: &[&[Token]], affixes: bool) -> Self {
        let mut numbers = Self::default();
        for token in sentences.iter().copied().flatten() {
            numbers.words.intern(&token.word);
            numbers.tags.intern(&token.tag);
            if affixes {
                for end in ends(&token.word) {
                    numbers.ends.intern(end);
                }
            }
        }
        numbers
    }

    /// Encodes the words of a sentence into `out` (emptied first).
    pub(super) fn encode(&self, tokens: &[Token], out: &mut Vec<Encoded>) {
        out.clear();
        out.extend(tokens.iter().map(|token| {
            let [length, number, dot, family, western, date] = kinds(&token.word);
            let [first, last, last2, last3] = ends(&token.word).map(|end| self.ends.value(end));
            Encoded {
                word: self.words.value(&token.word),
                own: [length, number, dot, family, western, date, first, last, last2, last3],
            }
        }));
    }
}

/// Writes the row of a token. `before` are the values of the two previous tags, the latest first.
/// `first_pass`, for the second pass, are the tags of the first pass from this token on.
pub(super) fn write_row(
    sentence: &[Encoded],
    at: usize,
    before: [u32; 2],
    first_pass: Option<&[u16]>,
    values: &mut Vec<u32>,
) {
    values.clear();
    for place in 0..WORDS {
        let word = (at + place).checked_sub(WORDS / 2).and_then(|at| sentence.get(at));
        values.push(word.map_or(NOTHING, |word| word.word));
    }
    values.extend([before[1], before[0]]);
    values.extend(sentence[at].own);
    if let Some(tags) = first_pass {
        let tag = |ahead| tags.get(ahead).map_or(NOTHING, |&tag| tag_value(tag));
        values.extend((0..SECOND.len()).map(tag));
    }
}

/// The first character, and the last one, two and three characters.
fn ends(word: &str) -> [&str; 4] {
    let first = word.char_indices().nth(1).map_or(word, |(at, _)| &word[..at]);
    let last = |n: usize| word.char_indices().rev().nth(n - 1).map_or(word, |(at, _)| &word[at..]);
    [first, last(1), last(2), last(3)]
}

fn is_number(character: char) -> bool {
    character.is_numeric() || NUMERALS.contains(character)
}

fn is_western(character: char) -> bool {
    character.is_ascii_alphabetic() || ('Ａ'..='ｚ').contains(&character)
}

/// 0 if no character satisfies `is`, 1 if some do, 2 if all do.
fn share(word: &str, is: impl Fn(char) -> bool) -> u32 {
    match (word.chars().any(&is), word.chars().all(&is)) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    }
}

/// Length, and whether there are numerals, the dot of a foreign name, a Chinese family name, Latin letters,
/// a date.
fn kinds(word: &str) -> [u32; 6] {
    let length = word.chars().take(LONGEST).count();
    let dot = word.chars().any(|character| NAME_DOTS.contains(character));
    let named = (2..=4).contains(&length) && word.starts_with(|c| FAMILY_NAMES.contains(c));
    [
        length as u32,
        share(word, is_number),
        u32::from(dot),
        u32::from(named),
        share(word, is_western),
        u32::from(is_date(word)),
    ]
}

/// A numeral before a character for year, month or day; numerals joined by strokes; the name of a month.
fn is_date(word: &str) -> bool {
    let mut rest = word.chars();
    let numbered = |text: &str| !text.is_empty() && text.chars().all(is_number);
    let ended = rest.next_back().is_some_and(|c| DATE_ENDS.contains(c)) && numbered(rest.as_str());
    let joined = ['/', '-', '.']
        .iter()
        .any(|&stroke| word.matches(stroke).count() == 2 && word.split(stroke).all(numbered));
    ended || joined || MONTHS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_words_are_told_apart() {
        assert_eq!(kinds("2006年"), [5, 1, 0, 0, 0, 1]);
        assert_eq!(kinds("三月"), [2, 1, 0, 0, 0, 1]);
        assert_eq!(kinds("王小明"), [3, 0, 0, 1, 0, 0]);
        assert_eq!(kinds("约翰·史密斯"), [6, 0, 1, 0, 0, 0]);
        assert_eq!(kinds("IBM"), [3, 0, 0, 0, 2, 0]);
        assert_eq!(kinds("12/3/2006"), [9, 1, 0, 0, 0, 1]);
        assert_eq!(kinds("March"), [5, 0, 0, 0, 2, 1]);
        assert_eq!(kinds("年"), [1, 0, 0, 0, 0, 0]);
        assert_eq!(kinds(""), [0; 6]);
    }

    #[test]
    fn a_row_has_a_value_for_every_column() {
        let tokens = [Token::new("a", "X"), Token::new("bc", "Y")];
        let numbers = Numbers::of(&[&tokens], true);
        let (mut encoded, mut row) = (Vec::new(), Vec::new());
        numbers.encode(&tokens, &mut encoded);
        write_row(&encoded, 1, [2, 0], None, &mut row);
        assert_eq!(row.len(), columns(false).len());
        assert_eq!(row[..7], [0, 2, 3, 0, 0, 0, 2]);
        write_row(&encoded, 0, [0, 0], Some(&[0, 1]), &mut row);
        assert_eq!(row.len(), columns(true).len());
        assert_eq!(row[17..], [2, 3, 0]);
        assert_eq!(ends("bc"), ["b", "c", "bc", "bc"]);
    }
}
