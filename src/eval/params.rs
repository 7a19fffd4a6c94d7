//! Evaluation parameters: EVALB's `.prm` files, read strictly.
//!
//! A file has one `KEY VALUE` per line, and comment lines that begin with `#`. EVALB only warns about unknown
//! keys; here an unknown key, a missing value or a superfluous word is an error with its place, because an
//! ignored parameter silently changes scores.

use std::path::Path;

use compact_str::CompactString;

use crate::built_in::PARAMETERS;
use crate::error::{Error, Place, Result, choices, counted};
use crate::text_file;

/// The labels to delete, those that count as equal, and the limits.
///
/// ```
/// use srparse::eval::Params;
/// let params = Params::parse("DELETE_LABEL TOP\nEQ_LABEL ADVP PRT\n", "mine.prm")?;
/// assert!(params.deletes("TOP") && params.labels_match("PRT", "ADVP"));
/// # Ok::<(), srparse::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// EVALB's debugging level, which has no effect here.
    pub debug: u32,
    /// EVALB stops at the second error past this number.
    pub max_error: u64,
    /// The maximum length of the sentences in the second summary.
    pub cutoff: u32,
    /// Whether labels are compared, or only spans.
    pub labeled: bool,
    /// Tags whose words are deleted, and labels whose brackets are deleted.
    pub delete: Vec<CompactString>,
    /// Tags whose words do not count for the length of a sentence.
    pub delete_for_length: Vec<CompactString>,
    /// Tags under which a deleted quote may be restored when the numbers of words differ.
    pub quote: Vec<CompactString>,
    /// Pairs of labels and tags that match each other.
    pub equal_labels: Vec<(CompactString, CompactString)>,
    /// Pairs of words that match each other.
    pub equal_words: Vec<(CompactString, CompactString)>,
}

/// All keys.
const KEYS: [&str; 9] = [
    "DEBUG",
    "MAX_ERROR",
    "CUTOFF_LEN",
    "LABELED",
    "DELETE_LABEL",
    "DELETE_LABEL_FOR_LENGTH",
    "QUOTE_LABEL",
    "EQ_LABEL",
    "EQ_WORD",
];

/// Keys of disco-dop's extended format, which would change scores if they were ignored.
const FOREIGN: [&str; 6] = ["DISC_ONLY", "DELETE_ROOT_PRETERMS", "DELETE_WORD", "LA", "TED", "DEP"];

impl Default for Params {
    /// Collins' parameters.
    fn default() -> Self {
        Self::named("collins").expect("collins.prm is built in and read by a test")
    }
}

impl Params {
    /// Returns EVALB's defaults before it reads a file: nothing is deleted, nothing is equal.
    pub fn bare() -> Self {
        Self {
            debug: 0,
            max_error: 10,
            cutoff: 40,
            labeled: true,
            delete: Vec::new(),
            delete_for_length: Vec::new(),
            quote: Vec::new(),
            equal_labels: Vec::new(),
            equal_words: Vec::new(),
        }
    }

    /// Describes in one line what is counted, to make scores of different programs comparable.
    pub fn counted(&self) -> String {
        let mut text = self.counted_brackets();
        for (a, b) in &self.equal_words {
            text += &format!("; {a} = {b}");
        }
        text + "; excluding sentences whose words differ"
    }

    /// Describes in one line which brackets are counted, whatever the words of their sentences.
    pub(crate) fn counted_brackets(&self) -> String {
        let mut text = if self.labeled {
            "constituents by span and label (up to the first - or =)".to_owned()
        } else {
            "constituents by span".to_owned()
        };
        if !self.delete.is_empty() {
            text += &format!("; excluding {}", self.delete.join(" "));
        }
        for (a, b) in &self.equal_labels {
            text += &format!("; {a} = {b}");
        }
        text
    }

    /// Returns the names of the built-in parameter sets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PARAMETERS.names()
    }

    /// Returns a built-in parameter set by its name.
    pub fn named(name: &str) -> Option<Self> {
        let text = PARAMETERS.text(name)?;
        Some(Self::parse(text, name).expect("the built-in parameters are read by a test"))
    }

    /// Returns the built-in parameter set of this name, or else reads the file with this path.
    ///
    /// # Errors
    /// When there is neither, or the file is invalid.
    pub fn load(name: &str) -> Result<Self> {
        if let Some(params) = Self::named(name) {
            return Ok(params);
        }
        let path = Path::new(name);
        if path.extension().is_none() && !path.exists() {
            let choices = choices(name, "choose one of", Self::names());
            let problem = format!(
                "no parameter set and no file has this name: {choices}, or give a .prm file"
            );
            return Err(Error::config(name, problem));
        }
        Self::parse(&text_file::read(path)?, name)
    }

    /// Parses the text of a parameter file; errors name it `path`.
    ///
    /// # Errors
    /// [`Error::Syntax`] at the first line that is not a known key with valid values.
    pub fn parse(text: &str, path: &str) -> Result<Self> {
        let mut params = Self::bare();
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            if line.trim_ascii().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = Words { line, at: 0, column: 1 };
            let (key_column, key) = words.next().expect("the line is not blank");
            let values: Vec<(usize, &str)> = words.collect();
            let end = line.trim_end().chars().count() + 1;
            params.set(key, &values, end).map_err(|(column, problem)| {
                let column = if column == 0 { key_column } else { column };
                Error::syntax(Place::new(path, number, column as u64), problem)
            })?;
        }
        Ok(params)
    }

    /// Applies one line; an error is a column (0 for that of the key) and a message.
    fn set(
        &mut self,
        key: &str,
        values: &[(usize, &str)],
        end: usize,
    ) -> Result<(), (usize, String)> {
        let wanted = match key {
            "EQ_LABEL" | "EQ_WORD" => 2,
            _ if KEYS.contains(&key) => 1,
            _ => return Err((0, unknown(key))),
        };
        if values.len() < wanted {
            let (what, given) = (if wanted == 1 { "a value" } else { "two values" }, values.len());
            return Err((end, format!("{key} needs {what} on the same line, found {given}")));
        }
        if let Some(&(column, extra)) = values.get(wanted) {
            let problem = format!(
                "unexpected `{extra}`: {key} takes {}; write one label or pair per line, \
                 and comments on separate lines",
                counted(wanted as u64, "value")
            );
            return Err((column, problem));
        }
        let first = CompactString::from(values[0].1);
        match key {
            "DEBUG" => self.debug = number(key, values[0])?,
            "MAX_ERROR" => self.max_error = number(key, values[0])?,
            "CUTOFF_LEN" => self.cutoff = number(key, values[0])?,
            "LABELED" => match number::<u32>(key, values[0])? {
                0 => self.labeled = false,
                1 => self.labeled = true,
                _ => {
                    return Err((
                        values[0].0,
                        "LABELED must be 1 (labels are compared) or 0".to_owned(),
                    ));
                }
            },
            "DELETE_LABEL" => self.delete.push(first),
            "DELETE_LABEL_FOR_LENGTH" => self.delete_for_length.push(first),
            "QUOTE_LABEL" => self.quote.push(first),
            "EQ_LABEL" => self.equal_labels.push((first, values[1].1.into())),
            _ => self.equal_words.push((first, values[1].1.into())),
        }
        Ok(())
    }

    /// Returns whether words with this tag are deleted.
    pub fn deletes(&self, tag: &str) -> bool {
        self.delete.iter().any(|known| known.as_str() == tag)
    }

    /// Returns whether brackets with this label are deleted; unlike for tags, equivalent labels are deleted too.
    pub fn deletes_bracket(&self, label: &str) -> bool {
        self.delete.iter().any(|known| self.labels_match(label, known))
    }

    /// Returns whether words with this tag do not count for the length of a sentence.
    pub fn deletes_for_length(&self, tag: &str) -> bool {
        self.delete_for_length.iter().any(|known| known.as_str() == tag)
    }

    /// Returns whether this token may be a quote on one side and something else on the other.
    pub fn may_be_quote(&self, tag: &str, word: &str) -> bool {
        matches!(word, "'" | "\"" | "/") && self.quote.iter().any(|known| known.as_str() == tag)
    }

    /// Returns whether two labels or tags are equivalent; the relation is symmetric, not transitive.
    pub fn labels_match(&self, a: &str, b: &str) -> bool {
        a == b || paired(&self.equal_labels, a, b) || same_in_brackets(a, b)
    }

    /// Returns whether two words are equivalent.
    pub fn words_match(&self, a: &str, b: &str) -> bool {
        a == b || paired(&self.equal_words, a, b) || same_in_brackets(a, b)
    }
}

/// Whether two different texts are written alike in files of brackets, where `(` is `-LRB-`: other formats have both.
fn same_in_brackets(a: &str, b: &str) -> bool {
    let written = |text: &str| text.replace('(', "-LRB-").replace(')', "-RRB-");
    [a, b].iter().any(|text| text.contains(['(', ')'])) && written(a) == written(b)
}

fn paired(pairs: &[(CompactString, CompactString)], a: &str, b: &str) -> bool {
    pairs.iter().any(|(x, y)| (x == a && y == b) || (x == b && y == a))
}

/// Parses a whole number; an error carries the column.
fn number<N: std::str::FromStr>(
    key: &str,
    (column, value): (usize, &str),
) -> Result<N, (usize, String)> {
    value
        .parse()
        .map_err(|_| (column, format!("{key} must be a whole number from 0, not `{value}`")))
}

fn unknown(key: &str) -> String {
    if FOREIGN.contains(&key) {
        return format!(
            "{key} is a key of disco-dop, which scores discontinuous trees; only EVALB's keys are supported: \
             remove the line, or use disco-dop"
        );
    }
    format!("unknown key `{key}`: {}", choices(key, "the keys are", KEYS))
}

/// The words of a line with their columns, in characters from 1.
struct Words<'a> {
    line: &'a str,
    /// The place that is reached, in bytes, and its column.
    at: usize,
    column: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.line[self.at..];
        let space = rest.find(|c: char| !c.is_ascii_whitespace())?;
        let word = &rest[space..];
        let word = &word[..word.find(|c: char| c.is_ascii_whitespace()).unwrap_or(word.len())];
        let column = self.column + space;
        self.at += space + word.len();
        self.column = column + word.chars().count();
        Some((column, word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Params::parse(text, "x.prm").unwrap_err().to_string()
    }

    #[test]
    fn every_embedded_set_reads_and_collins_is_the_default() {
        for name in Params::names() {
            assert!(Params::named(name).is_some(), "{name}");
        }
        let params = Params::default();
        assert_eq!((params.max_error, params.cutoff, params.labeled), (10, 40, true));
        assert_eq!(params.delete, ["TOP", "-NONE-", ",", ":", "``", "''", "."]);
        assert_eq!(params.delete_for_length, ["-NONE-"]);
        assert!(params.quote.is_empty() && params.labels_match("PRT", "ADVP"));
    }

    #[test]
    fn comments_and_blank_lines_are_skipped_but_a_hash_can_be_a_label() {
        let params = Params::parse("# TOP\n\n  \nDELETE_LABEL #\r\n", "x.prm").unwrap();
        assert_eq!(params.delete, ["#"]);
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place_and_the_nearest_key() {
        let text = "DEBUG 0\n DELETE_LABLE TOP\n";
        let problem =
            "x.prm:2:2: unknown key `DELETE_LABLE`: did you mean `DELETE_LABEL`? the keys are ";
        assert!(refusal(text).starts_with(problem), "{}", refusal(text));
    }

    #[test]
    fn keys_of_disco_dop_are_refused_by_name() {
        assert!(refusal("DISC_ONLY 1").starts_with("x.prm:1:1: DISC_ONLY is a key of disco-dop"));
    }

    #[test]
    fn missing_and_superfluous_values_are_refused() {
        assert!(refusal("EQ_LABEL ADVP ").starts_with("x.prm:1:14: EQ_LABEL needs two values"));
        assert!(refusal("DELETE_LABEL").starts_with("x.prm:1:13: DELETE_LABEL needs a value"));
        assert!(refusal("DELETE_LABEL , . :").starts_with("x.prm:1:16: unexpected `.`"));
        assert!(
            refusal("CUTOFF_LEN forty")
                .starts_with("x.prm:1:12: CUTOFF_LEN must be a whole number")
        );
        assert!(refusal("LABELED 2").starts_with("x.prm:1:9: LABELED must be 1"));
    }

    #[test]
    fn a_mistyped_set_is_distinguished_from_a_missing_file() {
        let message = Params::load("colins").unwrap_err().to_string();
        assert!(message.contains("did you mean `collins`?"), "{message}");
        assert!(matches!(Params::load("missing.prm"), Err(Error::Io { .. })));
    }

    #[test]
    fn words_are_compared_in_sentences_but_not_in_brackets() {
        let params = Params::parse("DELETE_LABEL .\nEQ_LABEL A B\nEQ_WORD x y", "x.prm").unwrap();
        let brackets =
            "constituents by span and label (up to the first - or =); excluding .; A = B";
        assert_eq!(params.counted_brackets(), brackets);
        let counted = format!("{brackets}; x = y; excluding sentences whose words differ");
        assert_eq!(params.counted(), counted);
    }

    #[test]
    fn equivalence_is_symmetric_and_not_transitive() {
        let params = Params::parse("EQ_LABEL A B\nEQ_LABEL B C\nEQ_WORD x y", "x.prm").unwrap();
        assert!(params.labels_match("B", "A") && params.labels_match("C", "B"));
        assert!(!params.labels_match("A", "C"));
        assert!(params.words_match("y", "x") && !params.words_match("A", "B"));
    }
}
