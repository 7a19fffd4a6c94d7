//! Raw text: from characters to sentences of words.
//!
//! A [`Splitter`] takes a text line by line and returns its sentences. Below it, `chunk` splits a run of
//! characters without white space into pieces, by the rules of [`TextSettings`], and `boundary` decides where
//! a sentence ends.
//!
//! 1. Every text is split, and no character is lost: tokens are in order, do not overlap, and only white
//!    space (in the sense of Unicode) lies between them.
//! 2. Offsets count characters (Unicode scalar values) from the beginning of the input.
//! 3. A blank line ends a sentence, so does the end of a mail header or of an item of a list, and no sentence has more
//!    than [`MAX_TOKENS`] tokens: memory grows with the longest line only.
//! 4. A sentence is returned as soon as its end is certain: at the latest with the blank line or the end of
//!    the input that follows it.

mod abbreviations;
mod boundary;
mod chunk;
mod compounds;
mod contractions;
mod corrections;
mod forms;
mod language;
mod line;
mod marks;
mod penn;
mod piece;
mod script;
mod segmenter;
mod settings;
#[cfg(feature = "train")]
mod spacing;
mod splitter;
mod tokenizer;
mod web;

#[doc(hidden)]
pub use boundary::MAX_TOKENS;
#[cfg(feature = "serve")]
pub(crate) use forms::form_of_word;
pub use language::Language;
pub(crate) use segmenter::Segmenter;
pub use settings::{Compounds, Punctuation, TextSettings, Tokenization};
#[doc(hidden)]
pub use splitter::Splitter;
pub(crate) use splitter::remove_given_tags;
pub use splitter::{Layout, TextSentence};
pub use tokenizer::Tokenizer;

#[cfg(test)]
mod tests;
