//! A token before it is assigned to a sentence.

/// A token: its bytes in the text, and its role at sentence boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) role: Role,
}

/// The role of a token at sentence boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// No role: a word, a comma, an abbreviation that never ends a sentence.
    Word,
    /// A full stop.
    Period,
    /// A question or exclamation mark.
    Exclamation,
    /// Three dots, or two or more.
    Ellipsis,
    /// An opening bracket or quotation mark.
    Opening,
    /// A closing bracket or quotation mark.
    Closing,
    /// An emoji or emoticon, which closes a sentence too, but not from the next line.
    Emoticon,
    /// A straight quotation mark, which may be either.
    Quote,
    /// An abbreviation with its period, which may be a full stop as well.
    Abbreviation(Abbreviation),
}

/// When the period of an abbreviation ends the sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Abbreviation {
    /// If a common first word follows; the token keeps it (`Inc.`, `U.S.`).
    Closed,
    /// If a common first word follows; then it is a token of its own (`J.`).
    Initial,
    /// Unless a number follows; then it is a token of its own (`No.`).
    Numbered,
}
