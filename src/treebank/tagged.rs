//! Tagged sentences, one per line: `dogs/NNS bark/VBP` or `dogs_NNS bark_VBP`.

use std::borrow::Cow;
use std::io::{self, Write};

use super::penn::{excerpt, is_space};
use super::recognize;
use crate::error::InputKind;
use crate::tree::Token;

/// How a word and its tag are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaggedFormat {
    /// `word/TAG`, split at the last slash.
    Slash,
    /// `word_TAG`, split at the last underscore.
    Underscore,
}

impl TaggedFormat {
    /// What stands between a word and its tag.
    fn separator(self) -> char {
        match self {
            Self::Slash => '/',
            Self::Underscore => '_',
        }
    }
}

/// The problem of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineProblem {
    /// The column in characters, from 1.
    pub column: u64,
    /// The problem and how to fix it.
    pub problem: String,
}

impl LineProblem {
    /// Returns a problem with `part`, which is a slice of `line`.
    pub(super) fn new(line: &str, part: &str, problem: String) -> Self {
        let before = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
        let column = line.get(..before).unwrap_or_default().chars().count() as u64 + 1;
        Self { column, problem }
    }
}

/// Reads the tokens of a line; words are kept byte for byte.
///
/// ```
/// use srparse::treebank::tagged::{TaggedFormat, parse_line};
/// let tokens = parse_line("and\\/or/CC 1/2/CD", TaggedFormat::Slash).unwrap();
/// assert_eq!((tokens[0].word.as_str(), tokens[0].tag.as_str()), ("and\\/or", "CC"));
/// assert_eq!((tokens[1].word.as_str(), tokens[1].tag.as_str()), ("1/2", "CD"));
/// ```
///
/// # Errors
/// When a token has no word or no tag.
pub fn parse_line(line: &str, format: TaggedFormat) -> Result<Vec<Token>, LineProblem> {
    let separator = format.separator();
    let mut tokens = Vec::new();
    for token in line.split(is_space).filter(|token| !token.is_empty()) {
        let fault = match token.rfind(separator) {
            None => "has no tag",
            Some(0) => "has no word",
            Some(at) if at + 1 == token.len() => "has an empty tag",
            Some(at) => {
                tokens.push(Token::new(&token[..at], &token[at + 1..]));
                continue;
            }
        };
        let hint = other_format(line, format).map(|(name, looks)| {
            format!(", or choose the format with --input {name}: the line looks like {looks}")
        });
        let hint = hint.unwrap_or_default();
        let problem = format!("`{}` {fault}: write word{separator}TAG{hint}", excerpt(token));
        return Err(LineProblem::new(line, token, problem));
    }
    Ok(tokens)
}

/// Guesses the format of a line that is not in `format`; returns its name and a description.
fn other_format(line: &str, format: TaggedFormat) -> Option<(&'static str, &'static str)> {
    let mut tokens = line.split(is_space).filter(|token| !token.is_empty());
    let separator = format.separator();
    let (other, joined) = match format {
        TaggedFormat::Slash => ('_', ("underscore", "word_TAG")),
        TaggedFormat::Underscore => ('/', ("tagged", "word/TAG")),
    };
    if line.trim_start().starts_with('(') && line.contains(' ') {
        Some(("penn", "brackets"))
    } else if line.contains('\t') {
        Some(("conllu", "CoNLL-U"))
    } else if tokens.clone().all(|token| token.contains(other)) {
        Some(joined)
    } else {
        let plain = tokens.all(|token| !token.contains(separator));
        plain.then_some(match recognize::untagged(line.as_bytes(), separator) {
            Some(InputKind::Text) => ("text", "raw text"),
            _ => ("tokens", "words without tags"),
        })
    }
}

/// Writes tokens as a line, with the line feed.
///
/// The line can always be read again: white space in a word and an empty word become `_`; white space in a
/// tag, the separator in a tag, and an empty tag become `-`.
///
/// # Errors
/// When writing fails.
pub fn write_line(tokens: &[Token], format: TaggedFormat, out: &mut impl Write) -> io::Result<()> {
    let separator = format.separator();
    for (position, token) in tokens.iter().enumerate() {
        if position > 0 {
            out.write_all(b" ")?;
        }
        let word = field(&token.word, is_space, "_");
        let tag = token.tag.replace(separator, "-");
        write!(out, "{word}{separator}{}", field(&tag, is_space, "-"))?;
    }
    out.write_all(b"\n")
}

/// A word, a tag or another field as it is written, with `stand_in` in place of each bad character and of an empty text.
pub(super) fn field<'a>(
    text: &'a str,
    is_bad: fn(char) -> bool,
    stand_in: &'a str,
) -> Cow<'a, str> {
    if text.is_empty() {
        Cow::Borrowed(stand_in)
    } else if text.contains(is_bad) {
        Cow::Owned(text.replace(is_bad, stand_in))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str, format: TaggedFormat) -> Vec<(String, String)> {
        let tokens = parse_line(line, format).unwrap();
        tokens.iter().map(|t| (t.word.to_string(), t.tag.to_string())).collect()
    }

    #[test]
    fn the_last_separator_splits() {
        let tokens = words("a//SYM 1\\/2/CD \\\\/NN \\/SYM", TaggedFormat::Slash);
        let expected = [("a/", "SYM"), ("1\\/2", "CD"), ("\\\\", "NN"), ("\\", "SYM")];
        assert_eq!(tokens, expected.map(|(w, t)| (w.to_owned(), t.to_owned())));
        let tokens = words("__SYM a_b_NN", TaggedFormat::Underscore);
        assert_eq!(tokens, [("_", "SYM"), ("a_b", "NN")].map(|(w, t)| (w.into(), t.into())));
    }

    #[test]
    fn the_format_of_a_line_in_another_format_is_suggested() {
        let problem = |line| parse_line(line, TaggedFormat::Slash).unwrap_err().problem;
        assert!(problem("(S (NP (NN a)))").contains("--input penn: the line looks like brackets"));
        assert!(problem("1\ta\t_\tNN").contains("--input conllu"));
        assert!(problem("a_DT dog_NN").contains("--input underscore"));
        assert!(problem("a dog").contains("--input tokens"));
        assert!(problem("A dog barks.").contains("--input text: the line looks like raw text"));
        let slashes = parse_line("a/DT dog/NN", TaggedFormat::Underscore).unwrap_err().problem;
        assert!(slashes.contains("--input tagged"), "{slashes}");
    }

    #[test]
    fn a_token_without_a_tag_is_reported_with_its_place() {
        let problem = parse_line("le/DT  caf\u{e9}/NN dog", TaggedFormat::Slash).unwrap_err();
        assert_eq!(problem.column, 16);
        assert_eq!(problem.problem, "`dog` has no tag: write word/TAG");
        assert!(parse_line("/NN", TaggedFormat::Slash).unwrap_err().problem.contains("no word"));
        assert!(
            parse_line("a_", TaggedFormat::Underscore).unwrap_err().problem.contains("empty tag")
        );
    }

    proptest::proptest! {
        #[test]
        fn any_tokens_are_written_readably(
            pairs in proptest::collection::vec(("[a/_\\\\ \u{e9}]{0,4}", "[A/_\\\\ ]{0,3}"), 0..6),
            underscore: bool,
        ) {
            let format = if underscore { TaggedFormat::Underscore } else { TaggedFormat::Slash };
            let tokens: Vec<_> = pairs.iter().map(|(w, t)| Token::new(w.as_str(), t.as_str())).collect();
            let mut line = Vec::new();
            write_line(&tokens, format, &mut line).unwrap();
            let text = String::from_utf8(line).unwrap();
            let again = parse_line(&text, format).unwrap();
            proptest::prop_assert_eq!(again.len(), tokens.len());
            let mut second = Vec::new();
            write_line(&again, format, &mut second).unwrap();
            proptest::prop_assert_eq!(text, String::from_utf8(second).unwrap());
        }
    }
}
