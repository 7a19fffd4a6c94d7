//! Words with their tags.

use compact_str::CompactString;

/// The tag of empty elements, such as traces, which are not words.
pub const TRACE: &str = "-NONE-";

/// A word and its part-of-speech tag, as read: nothing unescaped, nothing stripped.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Token {
    /// The word form.
    pub word: CompactString,
    /// The part-of-speech tag.
    pub tag: CompactString,
}

impl Token {
    /// A word without a tag.
    pub fn untagged(word: impl Into<CompactString>) -> Self {
        Self::new(word, "")
    }

    /// A token of a word and a tag.
    pub fn new(word: impl Into<CompactString>, tag: impl Into<CompactString>) -> Self {
        Self { word: word.into(), tag: tag.into() }
    }
}

/// Removes the tags of all tokens except traces.
pub fn remove_tags(tokens: &mut [Token]) {
    tokens.iter_mut().filter(|token| token.tag != TRACE).for_each(|token| token.tag.clear());
}
