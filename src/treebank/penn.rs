//! Penn brackets: `(TOP (S (NP (NNS dogs)) (VP (VBP bark))))`.
//!
//! What is read:
//! - Trees may share a line or spread over many. A root without a label is fine, and `(())`, `( )` and
//!   `()` are trees without tokens.
//! - Words and labels end at a bracket or at ASCII white space; no-break and thin spaces belong to
//!   words. A bracket after a backslash belongs to the word and is read as its escape: `\(` is
//!   `-LRB-`.
//! - `(NP )` is a node that spans no token.
//! - Lines of markup between trees (`<DOC>`, `<S ID=1>`) are skipped, up to the first bracket after the tag.
//!
//! A tree that is never closed is detected where the next one certainly begins: at an unlabelled root, or
//! at a line that starts with `(TOP`, `(ROOT`, `(S1` or `(VROOT`.

use std::io::{self, Read};

use compact_str::CompactString;

use super::input::Encoding;
use super::text_window::{More, TextWindow};
use crate::error::{Error, Place, Result};
use crate::tree::{Tree, TreeBuilder};

mod faults;
mod lemmas;
mod margin;
mod skip;
mod write;

pub use crate::escapes::unescape;
pub(super) use faults::excerpt;
use margin::Margin;
pub(super) use skip::COMMENTS;
pub use write::{escape, write_brackets, write_line, write_pretty, write_subtree};

/// Reads trees from one stream, each as soon as its last bracket is there.
///
/// After a malformed tree, [`PennReader::read`] continues with the next tree: after the point where the
/// brackets balance again, or at the next line that starts with a bracket, whichever comes first.
#[derive(Debug)]
pub struct PennReader<R> {
    text: TextWindow<R>,
    name: String,
    encoding: Encoding,
    builder: TreeBuilder,
    began: u64,
    recover: Recover,
    word: Word,
    failure: Option<io::Error>,
    lenient: bool,
    margin: Margin,
    /// The indentation of the tree, if it begins a line.
    indentation: Option<u64>,
    /// Whether a tree so far had several lines.
    spans_lines: bool,
    /// The line on which the last tree ended.
    ended: u64,
    is_stray: bool,
    /// How many bytes have been looked through in vain for ends of trees since the last whole one.
    looked: usize,
    /// Whether brackets at the margin are known to belong to the tree, and to a whole tree so far.
    is_flush_left: bool,
    was_flush_left: bool,
    /// Whether lemmas follow words in this file.
    lemmas: Lemmas,
    /// How many lemmas were left out of whole trees.
    n_lemmas: u64,
    /// How many were left out of this tree.
    new_lemmas: u64,
}

/// The text to skip before the next tree.
#[derive(Debug, Clone, Copy)]
enum Recover {
    Nothing,
    Line,
    Closers,
    Brackets(usize),
}

/// The next bracket or word. One byte, to fit into a register; the reader stores the range of a word.
#[derive(Debug, Clone, Copy)]
enum Lexeme {
    Open,
    Close,
    /// A word or label.
    Word,
    /// Bytes that are not text.
    Bad,
    End,
    /// The stream failed; the reader stores the error.
    Failed,
}

/// A word or label as a range of the window.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    start: usize,
    end: usize,
    /// Whether it contains an escaped bracket.
    escaped: bool,
}

/// Whether a file has a lemma after each word, as in `(tag word lemma)`, which its first tree decides.
#[derive(Debug)]
enum Lemmas {
    /// No word has been read.
    Unknown,
    /// So far every word of the first tree has a lemma, unless these are mistakes, of which this is the first; with how
    /// many words there are.
    Perhaps(Place, String, usize),
    /// It has.
    Yes,
    /// It has not.
    No,
}

/// The position of the reader in a tree.
#[derive(Debug)]
enum Inside {
    /// After an opening bracket.
    Bracket,
    /// After a label.
    Label(CompactString),
    /// After the word of a token.
    Word,
    /// After the lemma of a token.
    Lemma,
    /// After a child.
    Child,
}

/// Reads one tree in brackets.
///
/// ```
/// let tree: srparse::Tree = "(TOP (NP (DT the) (NN dog)))".parse()?;
/// assert_eq!(tree.to_string(), "(TOP (NP (DT the) (NN dog)))");
/// # Ok::<(), srparse::Error>(())
/// ```
impl std::str::FromStr for Tree {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut reader = PennReader::new(text.as_bytes(), "<text>", Encoding::Utf8);
        let none =
            || Error::syntax(Place::new("<text>", 1, 0), "no tree: expected one in brackets");
        let tree = reader.read()?.ok_or_else(none)?;
        if reader.read()?.is_some() {
            let place = Place::new("<text>", reader.began(), 0);
            return Err(Error::syntax(place, "a second tree: expected one"));
        }
        Ok(tree)
    }
}

impl<R: Read> PennReader<R> {
    /// Returns a reader of a stream; messages call it `name`.
    pub fn new(reader: R, name: impl Into<String>, encoding: Encoding) -> Self {
        Self {
            text: TextWindow::new(reader, encoding),
            name: name.into(),
            encoding,
            builder: TreeBuilder::new(),
            began: 0,
            recover: Recover::Nothing,
            word: Word::default(),
            failure: None,
            lenient: false,
            margin: Margin::Unknown,
            indentation: None,
            spans_lines: false,
            ended: 0,
            is_stray: false,
            is_flush_left: false,
            was_flush_left: false,
            looked: 0,
            lemmas: Lemmas::Unknown,
            n_lemmas: 0,
            new_lemmas: 0,
        }
    }

    /// Prepares for a file with malformed trees, of which each is to be one error. A bracket that begins a line, indented
    /// no more than the tree is, begins a new tree unless the tree goes on: with it, all brackets balance before several
    /// other trees could have begun. What follows the last bracket of a tree belongs to it if its brackets do not balance;
    /// see [`PennReader::is_stray`].
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// Returns the line on which the last tree began.
    pub fn began(&self) -> u64 {
        self.began
    }

    /// Returns how many lemmas after words were left out: those of `(tag word lemma)` and `(tag word (lemma x))`.
    pub fn lemmas(&self) -> u64 {
        self.n_lemmas
    }

    /// Returns whether the last error concerns no tree of its own: surplus brackets and words after a tree.
    pub fn is_stray(&self) -> bool {
        self.is_stray
    }

    /// Returns the name used in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the next tree; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Tree`] for a malformed tree, [`Error::Syntax`] for text outside of trees (reading can continue
    /// after both), [`Error::Io`] when the stream fails.
    pub fn read(&mut self) -> Result<Option<Tree>> {
        self.builder.clear();
        self.skip_after_error()?;
        if !self.find_tree()? {
            return Ok(None);
        }
        self.began = self.text.line();
        self.begins_at(self.text.pos - 1);
        self.forget_lemmas();
        self.read_tree()?;
        (self.ended, self.looked) = (self.text.line(), 0);
        self.was_flush_left |= self.is_flush_left;
        self.check_lemmas()?;
        self.n_lemmas += self.new_lemmas;
        self.spans_lines |= self.ended > self.began;
        Ok(Some(self.builder.finish()))
    }

    /// Moves past the next opening bracket; returns false at the end.
    fn find_tree(&mut self) -> Result<bool> {
        self.is_stray = false;
        loop {
            match self.lexeme() {
                Lexeme::Failed => return Err(self.failed()),
                Lexeme::End => return Ok(false),
                Lexeme::Open if self.lenient && self.is_rest_of_tree()? => {
                    return Err(self.rest_of_tree());
                }
                Lexeme::Open => return Ok(true),
                Lexeme::Bad => return Err(self.bad_bytes_outside()),
                Lexeme::Close => return Err(self.unmatched()),
                Lexeme::Word => self.skip_between_trees()?,
            }
        }
    }

    /// Reads a tree after its first bracket.
    fn read_tree(&mut self) -> Result<()> {
        let mut inside = Inside::Bracket;
        loop {
            inside = match (self.lexeme(), inside) {
                (Lexeme::Word, Inside::Bracket) => Inside::Label(self.form()),
                (Lexeme::Word, Inside::Label(label)) => {
                    if self.word.escaped {
                        self.end_at_backslash()?;
                    }
                    let word = self.form();
                    self.builder.token(word, label);
                    Inside::Word
                }
                (Lexeme::Word, Inside::Word) => {
                    self.lemma()?;
                    Inside::Lemma
                }
                (Lexeme::Word, Inside::Lemma) => return Err(self.two_words()),
                (Lexeme::Word, Inside::Child) => return Err(self.word_among_children()),
                (Lexeme::Open, Inside::Word) if self.skip_lemma()? => Inside::Lemma,
                (Lexeme::Open, inside) => self.open(inside)?,
                (Lexeme::Close, inside) => {
                    if matches!(inside, Inside::Word) {
                        self.no_lemma()?;
                    }
                    self.close(inside)?;
                    if self.builder.depth() == 0 {
                        return Ok(());
                    }
                    Inside::Child
                }
                (Lexeme::Failed, _) => return Err(self.failed()),
                (Lexeme::Bad, inside) => return Err(self.bad_bytes(&inside)),
                (Lexeme::End, inside) => {
                    return Err(self.unclosed(&inside, "the text ends"));
                }
            };
        }
    }

    /// Handles an opening bracket inside a tree.
    fn open(&mut self, inside: Inside) -> Result<Inside> {
        if self.is_at_margin(self.text.pos - 1) {
            self.check_margin(&inside)?;
        }
        match inside {
            Inside::Child => {}
            Inside::Label(label) => self.builder.open(label),
            Inside::Bracket if self.builder.depth() == 0 => self.builder.open(""),
            Inside::Bracket => return Err(self.no_label(2)),
            Inside::Word | Inside::Lemma => return Err(self.word_with_children()),
        }
        Ok(Inside::Bracket)
    }

    /// Handles a closing bracket.
    fn close(&mut self, inside: Inside) -> Result<()> {
        match inside {
            Inside::Word | Inside::Lemma => {}
            Inside::Child => self.builder.close(),
            Inside::Label(label) => {
                self.builder.open(label);
                self.builder.close();
            }
            Inside::Bracket if self.builder.depth() == 0 => {
                self.builder.open("");
                self.builder.close();
            }
            // The inner pair of `(())`, which conventionally marks a sentence without a parse.
            Inside::Bracket
                if self.builder.depth() == 1
                    && self.builder.pending_children() == 0
                    && self.builder.label().is_some_and(|label| label.is_empty()) => {}
            Inside::Bracket => return Err(self.no_label(0)),
        }
        Ok(())
    }

    /// Copies the word, with escaped brackets replaced by `-LRB-` and `-RRB-`.
    #[inline]
    fn form(&self) -> CompactString {
        let text = &self.text.window()[self.word.start..self.word.end];
        if self.word.escaped {
            text.replace("\\(", "-LRB-").replace("\\)", "-RRB-").into()
        } else {
            text.into()
        }
    }

    /// Returns the next bracket or word.
    #[inline]
    fn lexeme(&mut self) -> Lexeme {
        loop {
            let bytes = self.text.window().as_bytes();
            let mut pos = self.text.pos;
            while let Some(&byte) = bytes.get(pos)
                && CLASS[usize::from(byte)] == SPACE
            {
                pos += 1;
            }
            let Some(&byte) = bytes.get(pos) else {
                self.text.pos = pos;
                match self.refill(pos) {
                    None => continue,
                    Some(instead) => return instead,
                }
            };
            self.text.pos = pos + 1;
            match byte {
                b'\n' => self.text.newline(pos + 1),
                b'(' => return Lexeme::Open,
                b')' => return Lexeme::Close,
                _ => return self.lex_word(pos),
            }
        }
    }

    /// Reads the word that begins at `start`.
    #[inline]
    fn lex_word(&mut self, mut start: usize) -> Lexeme {
        let mut pos = start + 1;
        let mut escaped = false;
        loop {
            let bytes = self.text.window().as_bytes();
            while let Some(&byte) = bytes.get(pos)
                && CLASS[usize::from(byte)] == WORD
            {
                pos += 1;
            }
            match bytes.get(pos) {
                Some(b'(' | b')') if bytes[pos - 1] == b'\\' => {
                    escaped = true;
                    pos += 1;
                }
                Some(_) => break,
                None => {
                    self.text.pos = start;
                    let refilled = self.refill(start);
                    pos -= start;
                    start = 0;
                    match refilled {
                        None => {}
                        Some(Lexeme::End) => break,
                        Some(instead) => return instead,
                    }
                }
            }
        }
        self.text.pos = pos;
        self.word = Word { start, end: pos, escaped };
        Lexeme::Word
    }

    /// Adds text to the window; returns what there is instead if there is none.
    #[cold]
    fn refill(&mut self, keep: usize) -> Option<Lexeme> {
        match self.text.more(keep) {
            Ok(More::Text) => None,
            Ok(More::End) => Some(Lexeme::End),
            Ok(More::Bad) => Some(Lexeme::Bad),
            Err(failure) => {
                self.failure = Some(failure);
                Some(Lexeme::Failed)
            }
        }
    }

    fn failed(&mut self) -> Error {
        let failure = self.failure.take().unwrap_or_else(|| io::ErrorKind::Other.into());
        self.text.failure(&self.name, failure)
    }

    fn more(&mut self, keep: usize) -> Result<More> {
        let more = self.text.more(keep);
        more.map_err(|failure| self.text.failure(&self.name, failure))
    }
}

const WORD: u8 = 0;
const SPACE: u8 = 1;
const STOP: u8 = 2;

/// The class of each byte. A line feed is a stop rather than a space, so that lines are counted off the fast path.
const CLASS: [u8; 256] = {
    let mut class = [WORD; 256];
    class[b' ' as usize] = SPACE;
    class[b'\t' as usize] = SPACE;
    class[b'\r' as usize] = SPACE;
    class[0x0b] = SPACE;
    class[0x0c] = SPACE;
    class[b'\n' as usize] = STOP;
    class[b'(' as usize] = STOP;
    class[b')' as usize] = STOP;
    class
};

/// Returns whether a character separates words: ASCII white space, including the vertical tab.
pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}
