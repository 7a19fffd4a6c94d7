//! Splits a part of a line into pieces.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::contractions::APOSTROPHES;
use super::forms::is_invisible;
use super::language::LanguageRules;
use super::piece::{Abbreviation, Piece, Role};
use super::segmenter::Segmenter;
use super::settings::{Compounds, TextSettings};
use super::tokenizer::Tokenizer;
use super::{abbreviations, compounds, contractions, corrections, marks, penn, web};

/// Splits `text[range]` and adds its pieces; without learned word boundaries it has no white space.
pub(super) fn split(
    text: &str,
    range: Range<usize>,
    tokenizer: &Tokenizer,
    pieces: &mut Vec<Piece>,
) {
    match tokenizer.segmenter() {
        Some(segmenter) => split_line(text, range, segmenter, tokenizer, pieces),
        None => split_run(text, range, tokenizer, pieces),
    }
}

/// Splits a run of characters without white space by rules.
fn split_run(text: &str, range: Range<usize>, tokenizer: &Tokenizer, pieces: &mut Vec<Piece>) {
    let (settings, rules) = (tokenizer.settings(), tokenizer.rules());
    let offset = range.start;
    let (before, text) = (&text[..offset], &text[range]);
    let mut chunk = Chunk { text, before, offset, settings, rules, pieces };
    if chunk.is_penn() && text.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        chunk.push_word(0, text.len());
    } else {
        chunk.split();
    }
}

/// Splits a line where words end by what was learned; addresses and emoticons are not split.
fn split_line(
    text: &str,
    range: Range<usize>,
    segmenter: &Segmenter,
    tokenizer: &Tokenizer,
    pieces: &mut Vec<Piece>,
) {
    let (offset, line, rules) = (range.start, &text[range], tokenizer.rules());
    let mut ends = Vec::new();
    segmenter.ends(line, tokenizer.straightens(), &mut ends);
    corrections::correct(line, rules, |word| segmenter.knows(word), &mut ends);
    let mut whole: Vec<Range<usize>> = web::addresses(line).chain(marks::emoticons(line)).collect();
    if !whole.is_empty() {
        whole.sort_unstable_by_key(|word| word.start);
        ends.extend(whole.iter().flat_map(|word| [word.start, word.end]));
        ends.sort_unstable();
        ends.dedup();
    }
    segmenter.correct_joined(line, tokenizer.straightens(), &mut ends);
    let mut whole = whole.into_iter().peekable();
    let (mut start, before) = (0, pieces.len());
    let mut push = |from: usize, to: usize| {
        let is_between = |c: char| c.is_whitespace() || is_invisible(c);
        let from = to - line[from..to].trim_start_matches(is_between).len();
        let word = line[from..to].trim_end_matches(is_between);
        if !word.is_empty() {
            let start = offset + from;
            pieces.push(Piece { start, end: start + word.len(), role: role(word, rules) });
        }
    };
    for end in ends {
        while let Some(word) = whole.next_if(|word| word.start < end) {
            push(start, start.max(word.start));
            push(start.max(word.start), word.end);
            start = word.end;
        }
        push(start.min(end), end);
        start = start.max(end);
    }
    let only = line.split_whitespace().next().filter(|_| pieces.len() == before);
    if let Some(word) = only {
        let start = offset + line.len() - line.trim_start().len();
        pieces.push(Piece { start, end: start + word.len(), role: Role::Word });
    }
}

/// The role of a learned word.
fn role(word: &str, rules: &LanguageRules) -> Role {
    match word.strip_suffix('.') {
        _ if !word.starts_with(char::is_alphanumeric) => match marks::mark(word) {
            (length, role) if length == word.len() => role,
            _ => Role::Word,
        },
        Some(before) => abbreviations::role(before, rules).unwrap_or({
            // Learned: `5 km.`, but not a number.
            let has_letters = before.starts_with(char::is_alphabetic);
            if has_letters { Role::Abbreviation(Abbreviation::Closed) } else { Role::Word }
        }),
        None => Role::Word,
    }
}

/// The longest capitalized word to which a period before it belongs, in bytes: `.Net`.
const LONGEST_CAPITALIZED: usize = 3;

/// Whether a period belongs to the word after it, at the beginning of `rest`. Before a common first word or a longer
/// capitalized word, it ends a sentence, and the space is in the wrong place: `He left .Then it rained`.
fn is_name(rest: &str, rules: &LanguageRules) -> bool {
    let word = &rest[..rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())];
    // Domains have two letters: `.it`, `.in`.
    let is_first =
        rules.begins_sentences(word) || word.len() != 2 && rules.begins_sentences_in_any_case(word);
    let is_capitalized = word.chars().skip(1).all(char::is_lowercase);
    let is_common = || rules.short_words.contains(&word.to_lowercase());
    let is_name = word.starts_with(char::is_lowercase)
        || word.starts_with(char::is_uppercase)
            && (!is_capitalized || word.len() <= LONGEST_CAPITALIZED && !is_common());
    is_name && !is_first
}

/// What may stand before a dollar sign: `US$`.
const COUNTRIES: [&str; 9] = ["A", "AU", "C", "CA", "HK", "NT", "NZ", "S", "US"];

/// How far before a word a single quotation mark is looked for, in bytes.
const LONGEST_QUOTATION: usize = 500;

struct Chunk<'a> {
    text: &'a str,
    /// The text before the run.
    before: &'a str,
    /// The offset of the run in the whole text.
    offset: usize,
    settings: TextSettings,
    rules: &'static LanguageRules,
    pieces: &'a mut Vec<Piece>,
}

impl Chunk<'_> {
    fn split(&mut self) {
        let has_address = web::may_hold_address(self.text);
        let mut at = 0;
        while at < self.text.len() {
            let address = if has_address { web::address(&self.text[at..]) } else { None };
            at = match address.or_else(|| self.path(at)) {
                Some(length) => self.push(at, at + length, Role::Word),
                None if self.begins_word(at) => self.word(at),
                None => self.mark(at),
            };
        }
    }

    /// The length of the path of a file that begins here, after white space, or an opening bracket or quotation mark.
    fn path(&self, at: usize) -> Option<usize> {
        let begins = || self.text[..at].trim_end_matches(marks::may_open).is_empty();
        let may_be_path = web::may_be_path(&self.text[at..]);
        if may_be_path && begins() { web::path(&self.text[at..]) } else { None }
    }

    /// Adds a piece; returns its end.
    fn push(&mut self, start: usize, end: usize, role: Role) -> usize {
        self.pieces.push(Piece { start: self.offset + start, end: self.offset + end, role });
        end
    }

    fn is_penn(&self) -> bool {
        self.settings.tokenization.is_penn()
    }

    /// Whether a word begins here: a letter or digit, the sign of a number, a hashtag, a user name or `.NET`.
    fn begins_word(&self, at: usize) -> bool {
        let mut characters = self.text[at..].chars();
        let (Some(first), second) = (characters.next(), characters.next()) else { return false };
        let before = |is: fn(char) -> bool| second.is_some_and(is);
        match first {
            '#' => before(char::is_alphabetic) && characters.take(3).any(char::is_lowercase),
            '@' => before(char::is_alphabetic),
            '.' if before(char::is_alphabetic) => self.begins_name(at),
            '.' | '+' => self.may_begin_number(at) && before(|c| c.is_ascii_digit()),
            '-' if self.settings.compounds == Compounds::Keep => {
                at == 0 && before(|c| c.is_ascii_digit())
            }
            first => first.is_alphanumeric() || first == '_' && before(char::is_alphanumeric),
        }
    }

    /// Whether a point or a plus sign may begin a number here.
    fn may_begin_number(&self, at: usize) -> bool {
        at == 0
            || self.text[..at].ends_with(|c: char| "([{<>=~$\u{a3}\u{20ac}\"\u{201c}".contains(c))
    }

    /// Whether the period here, before a letter, begins a word such as `.NET` or `.gitignore`: after white space, a slash,
    /// or an opening bracket or quotation mark. The dots of `. . .and` begin none.
    fn begins_name(&self, at: usize) -> bool {
        let before = self.text[..at].trim_end_matches(marks::may_open);
        if !before.is_empty() && !before.ends_with('/') {
            return false;
        }
        let is_dots = || {
            let mut last = self.before.chars().rev().filter(|c| !c.is_whitespace());
            last.next() == Some('.') && last.next() == Some('.')
        };
        !(at == 0 && is_dots()) && is_name(&self.text[at + 1..], self.rules)
    }

    /// Takes the word at `start`, with the period after it if that is part of it.
    fn word(&mut self, start: usize) -> usize {
        let sign = usize::from(self.text[start..].starts_with(['#', '@', '.', '-', '+']));
        let end = if self.is_penn() {
            penn::word_end(self.text, start + sign, self.settings.compounds)
        } else {
            self.unicode_word_end(start + sign)
        };
        let after = self.text[end..].strip_prefix('.');
        let after = after.filter(|after| !after.starts_with(['.', '\u{2026}']));
        if let Some(role) = after.and_then(|after| self.abbreviation(start, end, after)) {
            return self.push(start, end + 1, role);
        }
        if self.is_penn()
            && let Some(length) = contractions::cut_short(&self.text[start..], end - start)
            && !self.is_quoted(start)
        {
            return self.push(start, end + length, Role::Word);
        }
        if self.is_penn() { self.push_word(start, end) } else { self.push(start, end, Role::Word) }
    }

    /// Whether a single quotation mark opens in the text shortly before `start`.
    fn is_quoted(&self, start: usize) -> bool {
        let opens = |text: &str| {
            let marks = text.match_indices(['\'', '\u{2018}']);
            let mut marks = marks.filter(|&(at, _)| {
                let is_first = !text[..at].ends_with(char::is_alphanumeric);
                is_first && contractions::clipped(&text[at..], false).is_none()
            });
            marks.next().is_some()
        };
        let far = self.before.len().saturating_sub(LONGEST_QUOTATION);
        opens(&self.before[self.before.floor_char_boundary(far)..]) || opens(&self.text[..start])
    }

    /// The role of a word with the period after it; `None` if the period is no part of it. `after` is what
    /// follows the period.
    fn abbreviation(&self, start: usize, end: usize, after: &str) -> Option<Role> {
        let word = &self.text[start..end];
        let has_clitic = after
            .strip_prefix(APOSTROPHES)
            .is_some_and(|clitic| clitic.starts_with(char::is_alphabetic));
        if (has_clitic || after.starts_with([',', ';', ':', '-', '/']))
            && word.chars().all(|c| c.is_alphabetic() || c == '.')
        {
            return Some(Role::Word);
        }
        // `FVB/N.` ends with no initial, but `J.-P.` does.
        let before = &self.text[..start];
        let follows = before
            .ends_with(|c: char| compounds::is_hyphen(c) || "/+'\u{2013}\u{2032}".contains(c));
        if follows && !before.ends_with(".-") && abbreviations::is_initial(word) {
            return None;
        }
        abbreviations::role(word, self.rules)
    }

    /// Adds an English word, split where contractions are.
    fn push_word(&mut self, start: usize, end: usize) -> usize {
        let first = self.pieces.len();
        let mut rest = end;
        loop {
            let at = start + contractions::last_token(&self.text[start..rest]);
            self.push(at, rest, Role::Word);
            if at == start {
                break;
            }
            rest = at;
        }
        self.pieces[first..].reverse();
        end
    }

    /// Takes a token that begins with neither letter nor digit, or invisible characters, which are one only by themselves.
    fn mark(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let invisible = rest.len() - rest.trim_start_matches(is_invisible).len();
        if invisible > 0 && invisible < self.text.len() {
            return at + invisible;
        }
        if self.is_penn()
            && let Some(length) = contractions::clipped(rest, at > 0)
        {
            return self.push(at, at + length, Role::Word);
        }
        if let Some(digits) = marks::reference(rest) {
            let ends = [at + 1, at + 1 + digits, at + 2 + digits];
            return ends.into_iter().fold(at, |start, end| self.push(start, end, Role::Closing));
        }
        if rest.starts_with('$') && self.is_penn() && self.extends_name_of_dollar(at) {
            return at + 1;
        }
        let (length, role) = marks::mark(rest);
        self.push(at, at + length, role)
    }

    /// Adds the dollar sign at `at` to the word before it, if that names a country: `US$`.
    fn extends_name_of_dollar(&mut self, at: usize) -> bool {
        let end = self.offset + at;
        let before = self.pieces.last_mut().filter(|last| last.end == end);
        let Some(country) = before else { return false };
        let name = country.start.checked_sub(self.offset).map(|start| &self.text[start..at]);
        let is_country = name.is_some_and(|name| COUNTRIES.contains(&name));
        country.end += usize::from(is_country);
        is_country
    }

    /// The end of the word at `start` by the word boundaries of Unicode.
    fn unicode_word_end(&self, start: usize) -> usize {
        let mut end = start;
        loop {
            end += self.text[end..].split_word_bounds().next().map_or(0, str::len);
            end += marks::end_of_name(&self.text[start..end], &self.text[end..]);
            let rest = &self.text[end..];
            let after = rest.strip_prefix(compounds::is_hyphen);
            let joins = self.settings.compounds != Compounds::Split
                && after.is_some_and(|after| after.starts_with(char::is_alphanumeric));
            if !joins {
                return end;
            }
            end += rest.chars().next().map_or(0, char::len_utf8);
        }
    }
}
