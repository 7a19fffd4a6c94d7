//! Sentence boundaries.

use super::abbreviations::is_initial;
use super::language::LanguageRules;
use super::line::is_enumerator;
use super::marks;
use super::piece::{Abbreviation, Piece, Role};
use super::tokenizer::Tokenizer;

/// Maximum number of tokens in a sentence, which ends there at the latest.
pub const MAX_TOKENS: usize = 1000;

/// The most words in a name before a reporting verb: `"Why?" Dr. Ann Reed asked`.
const LONGEST_NAME: usize = 3;

/// Marks that begin no sentence.
const INNER: [char; 6] = [',', ';', ':', '\u{60c}', '\u{3001}', '\u{ff0c}'];

/// The sentence that has not ended yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) pieces: Vec<Piece>,
    cut: Option<Cut>,
    /// Where sentences end, as numbers of tokens.
    ends: Vec<usize>,
    /// Whether they do whatever follows; otherwise they stand in a quotation with which the sentence may go on.
    ends_are_final: bool,
    /// The open brackets and quotation marks, in languages where a sentence may go on after a quotation.
    open: Vec<char>,
    /// Whether the last end holds only if no reporting clause follows: `"Why?" Ann asked`, `—¿Qué? —dijo`.
    awaits_report: bool,
    in_quotes: bool,
    is_english: bool,
    rules: &'static LanguageRules,
}

/// A possible end of the sentence; what follows decides.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// The token that may end it.
    mark: usize,
    /// The number of its tokens, with closing brackets and quotation marks.
    end: usize,
    /// The number of brackets and quotation marks that are still open.
    depth: usize,
}

impl Pending {
    /// No sentence yet.
    pub(super) fn new(tokenizer: &Tokenizer) -> Self {
        let is_english = tokenizer.settings().tokenization.is_penn();
        let rules = tokenizer.rules();
        Self {
            pieces: Vec::new(),
            cut: None,
            ends: Vec::new(),
            ends_are_final: false,
            open: Vec::new(),
            awaits_report: false,
            in_quotes: false,
            is_english,
            rules,
        }
    }

    /// Adds the next piece of a text. Returns the number of tokens of the sentence that has ended, if one has:
    /// before the piece or with it.
    pub(super) fn add(&mut self, mut piece: Piece, text: &str) -> Option<usize> {
        piece.role = match &text[piece.start..piece.end] {
            _ if piece.role == Role::Quote => self.side(piece, text),
            mark @ ("\u{201c}" | "\u{ab}" | "\u{bb}") => self.side_of(mark, piece, text),
            _ => piece.role,
        };
        self.end_quotation(piece, text);
        self.end_before_report(piece, text);
        let closes = match piece.role {
            Role::Closing => true,
            Role::Emoticon => !self.is_on_new_line(piece, text),
            _ => false,
        };
        if let Some(cut) = &mut self.cut {
            let is_next = cut.end == self.pieces.len();
            let is_glued = self.pieces.last().is_some_and(|last| last.end == piece.start);
            if closes && is_next {
                cut.end += 1;
                cut.depth = depth_after(&self.open, first(piece, text));
            } else if piece.role != Role::Opening && !(is_next && is_more(piece.role, is_glued)) {
                let cut = *cut;
                self.cut = None;
                if let Some(end) = self.decide(cut, piece, text) {
                    self.ends.push(end);
                    self.awaits_report = cut.depth == 0 && self.may_be_reported(cut, piece, text);
                    self.ends_are_final |= cut.depth == 0 && !self.awaits_report;
                }
            }
        }
        self.pieces.push(piece);
        match piece.role {
            Role::Opening if !self.rules.after_quotations.is_empty() => {
                let mark = first(piece, text);
                self.open.extend(marks::is_pair(mark, mark).then_some(mark));
            }
            Role::Closing => self.open.truncate(depth_after(&self.open, first(piece, text))),
            role if may_end(role) => {
                let end = self.pieces.len();
                self.cut = Some(Cut { mark: end - 1, end, depth: self.open.len() });
            }
            _ => {}
        }
        if self.pieces.len() >= MAX_TOKENS {
            self.end_at_limit();
        }
        self.next_end()
    }

    /// Whether a line ends between the last piece and the next.
    fn is_on_new_line(&self, next: Piece, text: &str) -> bool {
        self.pieces.last().is_some_and(|last| text[last.end..next.start].contains('\n'))
    }

    /// Ends sentences in a quotation that has too many tokens, or a sentence that has.
    fn end_at_limit(&mut self) {
        self.open.clear();
        if self.ends.is_empty() {
            self.end();
        }
        self.ends_are_final = true;
    }

    /// Decides whether the sentence goes on after a quotation that has just closed, where `next` follows.
    fn end_quotation(&mut self, next: Piece, text: &str) {
        let has_closed = self.open.is_empty()
            && self.pieces.last().is_some_and(|last| last.role == Role::Closing);
        if has_closed && self.rules.after_quotations.contains(&text[next.start..next.end]) {
            self.ends.clear();
        }
        self.ends_are_final = has_closed && !self.ends.is_empty();
    }

    /// Whether `next` may begin a reporting clause after a quotation that ends with a question or exclamation mark: in English a
    /// name before a verb, in other languages a dash before a word in lower case.
    fn may_be_reported(&self, cut: Cut, next: Piece, text: &str) -> bool {
        if self.pieces[cut.mark].role != Role::Exclamation {
            return false;
        }
        if !self.is_english {
            return is_dash(next, text);
        }
        let last = self.pieces[cut.end - 1];
        let is_quoted =
            cut.end > cut.mark + 1 && marks::may_close_quotation(&text[last.start..last.end]);
        // `The sign said "Why?"` has a verb already.
        let opens_quotation = |piece: &Piece| {
            piece.role == Role::Opening && marks::is_pair(first(*piece, text), first(last, text))
        };
        let mut before = self.pieces.iter().take(cut.mark).skip(1);
        is_quoted && self.is_name(next, text) && !before.any(opens_quotation)
    }

    /// Decides whether an end that a reporting clause may undo holds, where `next` follows.
    fn end_before_report(&mut self, next: Piece, text: &str) {
        let Some(&end) = self.ends.last().filter(|_| self.awaits_report) else { return };
        let after_dash = self.pieces.last().is_some_and(|&last| is_dash(last, text));
        let word = &text[next.start..next.end];
        if after_dash && word.starts_with(char::is_lowercase)
            || !after_dash && self.rules.reporting.contains(word)
        {
            self.ends.pop();
            self.awaits_report = false;
        } else if after_dash || !self.is_name(next, text) || self.pieces.len() - end >= LONGEST_NAME
        {
            self.ends_are_final = true;
            self.awaits_report = false;
        }
    }

    /// Whether a word is `I`, or capitalized and none that often begins sentences.
    fn is_name(&self, piece: Piece, text: &str) -> bool {
        let word = &text[piece.start..piece.end];
        word == "I" || word.starts_with(char::is_uppercase) && !self.rules.begins_sentences(word)
    }

    /// The number of tokens of the next sentence that has ended.
    pub(super) fn next_end(&self) -> Option<usize> {
        self.ends.first().copied().filter(|_| self.ends_are_final)
    }

    /// Takes the first tokens: a sentence that has ended.
    pub(super) fn take(&mut self, length: usize) {
        self.pieces.drain(..length);
        self.ends.retain_mut(|end| {
            *end -= length.min(*end);
            *end > 0
        });
        self.ends_are_final &= !self.ends.is_empty();
        self.cut = self.cut.and_then(|cut| {
            let mark = cut.mark.checked_sub(length)?;
            Some(Cut { mark, end: cut.end - length, ..cut })
        });
    }

    /// Ends the sentence here, and those in an open quotation before it.
    fn end(&mut self) {
        self.cut = None;
        self.awaits_report = false;
        if self.ends.last().copied().unwrap_or(0) < self.pieces.len() {
            self.ends.push(self.pieces.len());
        }
        self.ends_are_final = !self.ends.is_empty();
    }

    /// Ends the paragraph; returns the number of tokens of its next sentence, if there is one.
    pub(super) fn end_paragraph(&mut self) -> Option<usize> {
        self.in_quotes = false;
        self.open.clear();
        if let Some(cut) = self.cut.filter(|cut| cut.end == self.pieces.len()) {
            self.separate_period(cut.mark);
        }
        self.end();
        self.next_end()
    }

    /// Ends the line; returns the number of tokens of the next sentence if one ends with the line whatever follows.
    pub(super) fn end_line(&mut self, text: &str) -> Option<usize> {
        let is_last = |cut: &Cut| cut.depth == 0 && cut.end == self.pieces.len();
        let cut = self.cut.filter(is_last)?;
        let is_certain = match self.pieces[cut.mark].role {
            Role::Period => !self.is_list_number(cut, None, text),
            Role::Exclamation => cut.mark + 1 == cut.end,
            _ => false,
        };
        if is_certain {
            self.end();
        }
        self.next_end()
    }

    /// Decides whether the sentence ends at a cut where `next` follows; returns its number of tokens.
    fn decide(&mut self, cut: Cut, next: Piece, text: &str) -> Option<usize> {
        let next = &text[next.start..next.end];
        let is_between_numbers = || {
            let is_unit = |unit| self.rules.units.contains(unit);
            cut.end == cut.mark + 1
                && next.starts_with(char::is_numeric)
                && self.unit_before(cut.mark, text).is_some_and(is_unit)
        };
        if self.is_list_number(cut, Some(next), text) || is_between_numbers() {
            if self.pieces[cut.mark].role == Role::Period {
                self.join_period(cut.mark);
            }
            return None;
        }
        let mark = self.pieces[cut.mark];
        let role = mark.role;
        let is_bracketed = self.pieces.len() > cut.end;
        let is_quoted = cut.end > cut.mark + 1 && self.rules.after_quotations.contains(next);
        if has_letter(mark, next, self.rules) || is_quoted || next.starts_with(INNER) {
            return None;
        }
        if self.ends_before_any(cut, text) && next.starts_with(char::is_alphabetic)
            || ends(role, is_bracketed, next, self.rules)
        {
            return Some(cut.end + self.separate_period(cut.mark));
        }
        if cut.end == cut.mark + 1 && self.is_unknown_abbreviation(cut.mark, text) {
            self.join_period(cut.mark);
        }
        None
    }

    /// The word before a period, if they are adjacent.
    fn word_before<'t>(&self, period: usize, text: &'t str) -> Option<&'t str> {
        let (word, period) = (self.pieces.get(period.checked_sub(1)?)?, self.pieces[period]);
        let is_glued = period.role == Role::Period && word.end == period.start;
        is_glued.then(|| &text[word.start..word.end])
    }

    /// Whether the sentence so far is only the number of a list item: `1.`, `2.1.`; or a letter, `a.`, and a capitalized word
    /// is the next.
    fn is_list_number(&self, cut: Cut, next: Option<&str>, text: &str) -> bool {
        let is_number = |word: &str| {
            word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        let may_be_letter = next.is_none_or(|next| next.starts_with(char::is_uppercase));
        let is_letter = |word: &str| may_be_letter && is_enumerator(word);
        let first = &text[self.pieces[0].start..self.pieces[0].end];
        match (cut.mark, cut.end) {
            // `b.` is an abbreviation too.
            (0, 1) => first.strip_suffix('.').is_some_and(is_letter),
            (1, 2) => {
                self.word_before(1, text).is_some_and(|word| is_number(word) || is_letter(word))
            }
            _ => false,
        }
    }

    /// Whether a sentence ends at a cut before a lower-case word too, as in chats: after a question or exclamation
    /// mark, or a period after a word that is no abbreviation, with neither brackets nor quotation marks. In English
    /// alone: which words other languages abbreviate is known less well.
    fn ends_before_any(&self, cut: Cut, text: &str) -> bool {
        let is_whole = |word: &str| {
            self.rules.short_words.contains(word)
                || word.len() >= 4
                    && word.bytes().all(|byte| byte.is_ascii_lowercase())
                    && word.contains(['a', 'e', 'i', 'o', 'u', 'y'])
        };
        let is_final = match self.pieces[cut.mark].role {
            Role::Exclamation => true,
            // One of several periods with spaces between them stands for dots.
            Role::Period => match self.word_before(cut.mark, text) {
                Some(word) => is_whole(word),
                None => cut.mark > 0 && self.pieces[cut.mark - 1].role == Role::Word,
            },
            _ => false,
        };
        self.is_english && cut.end == cut.mark + 1 && is_final
    }

    /// Whether a period before a lower-case word belongs to the word before it, which looks like an
    /// abbreviation or is a unit after a number.
    fn is_unknown_abbreviation(&self, period: usize, text: &str) -> bool {
        let is_short = |word: &str| {
            let is_consonant = |c: char| c.is_ascii_lowercase() && !"aeiouy".contains(c);
            word.len() <= 5 && word.chars().all(is_consonant)
        };
        let is_unit =
            |unit| self.rules.units.contains(unit) || self.rules.small_units.contains(unit);
        self.word_before(period, text).is_some_and(is_short)
            || self.unit_before(period, text).is_some_and(is_unit)
    }

    /// The letters of the word before a period that follow a number: `6 ft.`, `6ft.`.
    fn unit_before<'t>(&self, period: usize, text: &'t str) -> Option<&'t str> {
        let word = self.word_before(period, text)?;
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let before = period.checked_sub(2).map(|at| self.pieces[at]);
        let is_number = |piece: Piece| text[..piece.end].ends_with(char::is_numeric);
        (unit.len() < word.len() || before.is_some_and(is_number)).then_some(unit)
    }

    /// Joins a period with the word before it.
    fn join_period(&mut self, at: usize) {
        let period = self.pieces.remove(at);
        self.pieces[at - 1].end = period.end;
    }

    /// Makes the period of an abbreviation a token of its own if it should be one at the end of a sentence;
    /// returns the number of new tokens.
    fn separate_period(&mut self, at: usize) -> usize {
        let piece = self.pieces[at];
        if matches!(piece.role, Role::Abbreviation(Abbreviation::Initial | Abbreviation::Numbered))
        {
            let start = piece.end - 1;
            self.pieces[at] = Piece { end: start, role: Role::Word, ..piece };
            self.pieces.insert(at + 1, Piece { start, role: Role::Period, ..piece });
            return 1;
        }
        0
    }

    /// Whether a quotation mark that closes in some languages and opens in others opens or closes: `„Ja“`, `“Yes”`, `»Ja«`,
    /// `«Oui»`.
    fn side_of(&self, mark: &str, piece: Piece, text: &str) -> Role {
        let before = self.pieces.last().filter(|before| before.end == piece.start);
        let is_after_word = before.is_some_and(|before| before.role != Role::Opening);
        let is_before_word = text[piece.end..].starts_with(char::is_alphanumeric);
        match mark {
            "\u{bb}" if is_before_word && !is_after_word => Role::Opening,
            "\u{201c}" | "\u{ab}" if is_after_word && !is_before_word => Role::Closing,
            _ => piece.role,
        }
    }

    /// Whether a straight quotation mark opens or closes.
    fn side(&mut self, mark: Piece, text: &str) -> Role {
        let before = self.pieces.last().filter(|before| before.end == mark.start);
        let after = text[mark.end..].chars().next().filter(|c| !c.is_whitespace());
        let is_single = text[mark.start..].starts_with('\'');
        let opens = match (before, after) {
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (Some(before), Some(_)) if before.role == Role::Opening => true,
            // An apostrophe looks like a single one, so they are not counted.
            (Some(_), Some(next)) if is_single => next.is_alphanumeric(),
            _ => !self.in_quotes,
        };
        if !is_single {
            self.in_quotes = opens;
        }
        if opens { Role::Opening } else { Role::Closing }
    }
}

fn is_dash(piece: Piece, text: &str) -> bool {
    matches!(&text[piece.start..piece.end], "\u{2013}" | "\u{2014}")
}

/// The first character of a token.
fn first(piece: Piece, text: &str) -> char {
    text[piece.start..].chars().next().unwrap_or_default()
}

/// How many brackets and quotation marks are still open after a closing one. One that closes none of them changes
/// nothing.
fn depth_after(open: &[char], closing: char) -> usize {
    open.iter().rposition(|&opening| marks::is_pair(opening, closing)).unwrap_or(open.len())
}

/// Whether a token of this role may end a sentence.
fn may_end(role: Role) -> bool {
    matches!(role, Role::Period | Role::Exclamation | Role::Ellipsis | Role::Abbreviation(_))
}

/// Whether a token of this role after a final mark is one more final mark: `!?`, `. . .`. `is_glued` is whether no
/// white space is between them.
fn is_more(role: Role, is_glued: bool) -> bool {
    may_end(role) && (is_glued || !matches!(role, Role::Abbreviation(_)))
}

/// Whether an abbreviation of several letters stands before a letter in place of a number: `fig. B`.
fn has_letter(mark: Piece, next: &str, rules: &LanguageRules) -> bool {
    let is_numbered = mark.role == Role::Abbreviation(Abbreviation::Numbered);
    is_numbered && mark.end - mark.start > 2 && is_initial(next) && !rules.begins_sentences(next)
}

/// Whether a token ends a sentence where `next` follows, perhaps after an opening bracket.
fn ends(role: Role, is_bracketed: bool, next: &str, rules: &LanguageRules) -> bool {
    let is_lower = |c: char| c.is_lowercase() || c == '\'' || c == '\u{2019}';
    let is_lowercase = next.trim_end_matches('.').chars().all(is_lower);
    match role {
        Role::Period => is_bracketed || !is_lowercase || rules.begins_sentences(next),
        Role::Exclamation => !is_lowercase,
        Role::Ellipsis => next.starts_with(|c: char| c.is_uppercase() || c.is_numeric()),
        Role::Abbreviation(Abbreviation::Numbered) => {
            !is_lowercase && !next.contains(char::is_numeric)
        }
        Role::Abbreviation(_) => rules.begins_sentences(next),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
