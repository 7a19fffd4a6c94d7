//! Sentences from lines of text.

use std::borrow::Cow;
use std::ops::Range;

use super::boundary::Pending;
use super::chunk;
use super::forms::form;
use super::line::LineKind;
use super::piece::{Piece, Role};
use super::segmenter::Marks;
use super::tokenizer::Tokenizer;
use crate::tree::{Token, remove_tags};

/// The original text of a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// Its characters, from the first of its first token to the last of its last.
    pub text: String,
    /// The characters of each token: its first and the one after its last, counted from 0 at the beginning of the input.
    pub spans: Vec<Range<u64>>,
    /// Whether white space or the end of the text follows the sentence.
    pub space_after: bool,
}

impl Layout {
    /// The tokens as they occur in the text.
    pub fn surfaces(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.text.as_str();
        let mut at = self.spans.first().map_or(0, |span| span.start);
        self.spans.iter().map(move |span| {
            rest = skip(rest, span.start - at);
            let after = skip(rest, span.end - span.start);
            let surface = &rest[..rest.len() - after.len()];
            (rest, at) = (after, span.end);
            surface
        })
    }

    /// Whether white space or the end of the text follows a token.
    pub fn space_after(&self, token: usize) -> bool {
        match (self.spans.get(token), self.spans.get(token + 1)) {
            (Some(this), Some(next)) => this.end < next.start,
            _ => self.space_after,
        }
    }
}

/// Removes the tags that the input has; those that the splitter of raw text gives stay.
pub(crate) fn remove_given_tags(tokens: &mut [Token], layout: Option<&Layout>) {
    if layout.is_none() {
        remove_tags(tokens);
    }
}

/// The text after some characters.
fn skip(text: &str, characters: u64) -> &str {
    text.char_indices().nth(characters as usize).map_or("", |(at, _)| &text[at..])
}

/// A sentence of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSentence {
    /// Its words, written as in a tree: `(` is `-LRB-`. They have no tags, except straight quotation marks if the model
    /// knows ` `` ` and `''`, and emoji and emoticons if it knows `NFP`.
    pub tokens: Vec<Token>,
    /// Their original text and offsets.
    pub layout: Layout,
}

impl TextSentence {
    /// The same sentence after `characters` more characters.
    #[must_use]
    pub(crate) fn after(mut self, characters: u64) -> Self {
        for Range { start, end } in &mut self.layout.spans {
            *start += characters;
            *end += characters;
        }
        self
    }
}

/// Splits a text into sentences, line by line.
///
/// ```
/// use srparse::text::{Splitter, TextSettings};
///
/// let mut splitter = Splitter::new(TextSettings::default());
/// splitter.add_line("Dr. Reed can't sing (yet). She\n");
/// let sentence = splitter.next_sentence().unwrap();
/// let words: Vec<&str> = sentence.tokens.iter().map(|token| token.word.as_str()).collect();
/// assert_eq!(words, ["Dr.", "Reed", "ca", "n't", "sing", "-LRB-", "yet", "-RRB-", "."]);
/// assert_eq!(sentence.layout.text, "Dr. Reed can't sing (yet).");
/// assert_eq!(sentence.layout.spans[3], 11..14);
/// assert!(splitter.next_sentence().is_none());
/// splitter.end_paragraph();
/// assert_eq!(splitter.next_sentence().unwrap().layout.text, "She");
/// ```
#[derive(Debug)]
pub struct Splitter {
    tokenizer: Tokenizer,
    /// The text that has not been returned, and before it the rest of its first line.
    text: String,
    /// The length of the text that has been split into pieces.
    split: usize,
    /// The length of the text that has been returned, in bytes and in characters of the input.
    returned: usize,
    characters: u64,
    /// The pieces of a run of characters without white space, and how many of them have been added to the
    /// sentence.
    pieces: Vec<Piece>,
    next: usize,
    sentence: Pending,
    /// The number of characters skipped after the text.
    skipped: u64,
    paragraph_ended: bool,
    line: LineKind,
    /// Whether the sentence ends before the last line.
    ends_before_line: bool,
}

impl Splitter {
    /// A splitter at the beginning of an input.
    pub fn new(tokenizer: impl Into<Tokenizer>) -> Self {
        let tokenizer = tokenizer.into();
        Self {
            sentence: Pending::new(&tokenizer),
            tokenizer,
            text: String::new(),
            split: 0,
            returned: 0,
            characters: 0,
            pieces: Vec::new(),
            next: 0,
            skipped: 0,
            paragraph_ended: false,
            line: LineKind::Blank,
            ends_before_line: false,
        }
    }

    /// Adds a line with its line feed, when [`Self::next_sentence`] has returned `None`. A line of white space
    /// ends the paragraph.
    pub fn add_line(&mut self, line: &str) {
        self.forget_returned();
        let kind = LineKind::after(self.line, line);
        self.ends_before_line = self.line.ends_before(kind, line);
        self.paragraph_ended |= kind == LineKind::Blank;
        self.line = kind;
        self.text.push_str(line);
    }

    /// Skips an unreadable line of `characters` characters, when [`Self::next_sentence`] has returned `None`. It
    /// ends the paragraph.
    pub fn skip_line(&mut self, characters: u64) {
        self.end_paragraph();
        self.skipped += characters;
    }

    /// Ends the paragraph, as a blank line and the end of the input do.
    pub fn end_paragraph(&mut self) {
        self.paragraph_ended = true;
        self.line = LineKind::Blank;
    }

    /// The next sentence; `None` if its end has not been reached.
    pub fn next_sentence(&mut self) -> Option<TextSentence> {
        if let Some(length) = self.sentence.next_end() {
            return Some(self.take(length));
        }
        if std::mem::take(&mut self.ends_before_line)
            && let Some(length) = self.sentence.end_paragraph()
        {
            return Some(self.take(length));
        }
        while self.next < self.pieces.len() || self.split_chunk() {
            let piece = self.pieces[self.next];
            self.next += 1;
            if let Some(length) = self.sentence.add(piece, &self.text) {
                return Some(self.take(length));
            }
        }
        let length = if self.paragraph_ended {
            self.sentence.end_paragraph()
        } else {
            self.sentence.end_line(&self.text)
        };
        self.paragraph_ended &= length.is_some();
        length.map(|length| self.take(length))
    }

    /// Splits the next run of characters without white space, or the rest of the line if word boundaries are learned;
    /// returns false at the end of the text.
    fn split_chunk(&mut self) -> bool {
        self.pieces.clear();
        self.next = 0;
        let rest = self.text[self.split..].trim_start();
        let start = self.text.len() - rest.len();
        let ends = |c: char| match self.tokenizer.segmenter() {
            Some(_) => c == '\n',
            None => c.is_whitespace(),
        };
        let end = start + rest.find(ends).unwrap_or(rest.len());
        self.split = end;
        if start < end {
            chunk::split(&self.text, start..end, &self.tokenizer, &mut self.pieces);
        }
        start < end
    }

    /// Removes what has been returned from the text.
    fn forget_returned(&mut self) {
        let end = self.sentence.pieces.first().map_or(self.split, |first| first.start);
        self.characters +=
            count(&self.text[self.returned..end]) + std::mem::take(&mut self.skipped);
        self.text.drain(..end);
        self.split -= end;
        self.returned = 0;
        for piece in &mut self.sentence.pieces {
            piece.start -= end;
            piece.end -= end;
        }
    }

    /// Takes a sentence of `length` tokens.
    fn take(&mut self, length: usize) -> TextSentence {
        let pieces = &self.sentence.pieces[..length];
        let (text, punctuation) = (&self.text, self.tokenizer.settings().punctuation);
        let marks = self.tokenizer.marks();
        let start = pieces.first().map_or(self.returned, |first| first.start);
        let (mut at, mut characters) = (self.returned, self.characters);
        let mut position = |to: usize| {
            characters += count(&text[at..to]);
            at = to;
            characters
        };
        let mut tokens = Vec::with_capacity(length);
        let mut spans = Vec::with_capacity(length);
        for (at, piece) in pieces.iter().enumerate() {
            spans.push(position(piece.start)..position(piece.end));
            let straightens = self.tokenizer.straightens();
            let surface = &text[piece.start..piece.end];
            let form = form(surface, piece.role, punctuation, straightens);
            let is_word = |other: &&Piece| {
                other.role == Role::Word
                    && text[other.start..other.end].contains(char::is_alphabetic)
            };
            let around =
                [at.checked_sub(1), Some(at + 1)].map(|at| pieces.get(at?).filter(is_word));
            let tag = self.tokenizer.tag(surface, piece.role);
            let has_letters = surface.contains(char::is_alphabetic);
            let glue = marks.glue.filter(|_| has_letters);
            tokens.push(Token::new(marked(form, piece, around, Marks { glue, ..marks }), tag));
        }
        let layout = Layout {
            text: text[start.min(at)..at].to_owned(),
            spans,
            space_after: !text[at..].starts_with(|c: char| !c.is_whitespace()),
        };
        (self.returned, self.characters) = (at, characters);
        self.sentence.take(length);
        TextSentence { tokens, layout }
    }
}

/// The form of a token in a treebank that marks words which the text writes otherwise, between two words.
fn marked<'t>(
    form: Cow<'t, str>,
    piece: &Piece,
    [before, after]: [Option<&Piece>; 2],
    marks: Marks,
) -> Cow<'t, str> {
    let mut form = form;
    if let Some(join) = marks.join
        && form.contains(char::is_whitespace)
    {
        form = Cow::Owned(form.split_whitespace().collect::<Vec<_>>().join(&join.to_string()));
    }
    let Some(glue) = marks.glue else { return form };
    if before.is_some_and(|before| before.end == piece.start) {
        form = Cow::Owned(format!("{glue}{form}"));
    }
    if after.is_some_and(|after| after.start == piece.end) {
        form.to_mut().push(glue);
    }
    form
}

/// The number of characters.
fn count(text: &str) -> u64 {
    text.chars().count() as u64
}
