//! Descriptions of labels, and the labels of trees as numbers with what the descriptions say of them.

use compact_str::CompactString;
use fancy_regex::Regex;
use rustc_hash::FxHashMap;

use crate::error::{Error, Result};

/// How many characters of a label a message has.
const MAX_SHOWN: usize = 40;

/// The number of a description in its pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TestId(pub(super) u32);

/// A description of labels.
#[derive(Debug, Clone)]
pub(super) struct LabelTest {
    pub(super) kind: TestKind,
    /// Whether it is about basic categories: `@`.
    pub(super) is_basic: bool,
    /// Whether it describes all other labels: `!`.
    pub(super) is_negated: bool,
}

/// The labels that a description without marks is about.
#[derive(Debug, Clone)]
pub(super) enum TestKind {
    /// All: `__`.
    Any,
    /// Some: `NP|NX`.
    Names(Vec<CompactString>),
    /// Those in which an expression is found: `/^NP/`.
    Regex(Box<Regex>),
}

impl LabelTest {
    /// The part of a label that the description is about.
    pub(super) fn part<'l>(&self, label: &'l str) -> &'l str {
        if self.is_basic { basic_category(label) } else { label }
    }

    /// Whether a label is described.
    ///
    /// # Errors
    /// When the expression takes too many steps on this label.
    pub(super) fn passes(&self, label: &str) -> Result<bool> {
        let part = self.part(label);
        let is_found = match &self.kind {
            TestKind::Any => true,
            TestKind::Names(names) => names.iter().any(|name| name == part),
            TestKind::Regex(regex) => regex.is_match(part).map_err(|_| {
                let part: String = part.chars().take(MAX_SHOWN).collect();
                let problem =
                    format!("takes too many steps on `{part}`: make the expression simpler");
                Error::config(format!("/{}/", regex.as_str()), problem)
            })?,
        };
        Ok(is_found != self.is_negated)
    }
}

/// The basic category of a label: what stands before the first `-`, `=`, `|`, `#`, `^`, `~`, `_` or `[`, unless the label
/// begins with it; `-LRB-` and `-NONE-` are whole.
///
/// ```
/// use srparse::find::basic_category;
/// assert_eq!(basic_category("NP-SBJ=2"), "NP");
/// assert_eq!(basic_category("-NONE-"), "-NONE-");
/// ```
pub fn basic_category(label: &str) -> &str {
    const MARKS: [u8; 8] = *b"-=|#^~_[";
    let bytes = label.as_bytes();
    let mut opening = bytes.first().filter(|first| MARKS.contains(first));
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        if !MARKS.contains(byte) {
            continue;
        }
        if at > 1 && opening == Some(byte) {
            opening = None;
        } else {
            return &label[..at];
        }
    }
    label
}

/// The most labels that are kept: the words of any sentence are few.
const MAX_LABELS: usize = 1 << 18;

/// The labels of trees as numbers, each with the tests that it passes.
#[derive(Debug)]
pub(super) struct Labels {
    tests: Vec<LabelTest>,
    numbers: FxHashMap<CompactString, u32>,
    texts: Vec<CompactString>,
    /// For each label the tests that it passes, as `words` words of bits.
    passed: Vec<u64>,
    words: usize,
    /// A test that could not be decided.
    fault: Option<Error>,
}

impl Labels {
    pub(super) fn new(tests: &[LabelTest]) -> Self {
        Self {
            words: tests.len().div_ceil(64).max(1),
            tests: tests.to_vec(),
            numbers: FxHashMap::default(),
            texts: Vec::new(),
            passed: Vec::new(),
            fault: None,
        }
    }

    /// Prepares for the next tree: forgets labels if there are too many.
    pub(super) fn begin_tree(&mut self) {
        if self.texts.len() > MAX_LABELS {
            self.numbers.clear();
            self.texts.clear();
            self.passed.clear();
        }
    }

    /// The error of a test that could not be decided since the last call.
    pub(super) fn take_fault(&mut self) -> Option<Error> {
        self.fault.take()
    }

    /// The number of a label.
    pub(super) fn number(&mut self, label: &str) -> u32 {
        if let Some(&number) = self.numbers.get(label) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.numbers.insert(label.into(), number);
        self.texts.push(label.into());
        let first = self.passed.len();
        self.passed.resize(first + self.words, 0);
        for (at, test) in self.tests.iter().enumerate() {
            match test.passes(label) {
                Ok(passes) => self.passed[first + at / 64] |= u64::from(passes) << (at % 64),
                Err(error) => self.fault = Some(error),
            }
        }
        number
    }

    /// Which of the first 64 tests a label passes.
    pub(super) fn tests(&self, label: u32) -> u64 {
        self.passed[label as usize * self.words]
    }

    /// Whether a label passes a test.
    pub(super) fn passes(&self, TestId(test): TestId, label: u32) -> bool {
        let word = self.passed[label as usize * self.words + test as usize / 64];
        word >> (test % 64) & 1 == 1
    }

    /// The text of a label.
    pub(super) fn text(&self, label: u32) -> &str {
        &self.texts[label as usize]
    }

    /// One of the tests.
    pub(super) fn test(&self, TestId(test): TestId) -> &LabelTest {
        &self.tests[test as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_categories_are_those_of_corenlp() {
        let labels = [
            ("NP", "NP"),
            ("NP-SBJ-1", "NP"),
            ("NP=2", "NP"),
            ("NP|X", "NP"),
            ("NP^S", "NP"),
            ("NP[a]", "NP"),
            ("NP:X", "NP:X"),
            ("NP+X", "NP+X"),
            ("-LRB-", "-LRB-"),
            ("-NONE-", "-NONE-"),
            ("-", "-"),
            ("--", "-"),
            ("--NP", "-"),
            ("=NP", "=NP"),
            ("-A=B", "-A"),
            ("-NP--", "-NP-"),
            ("-NP-A", "-NP-A"),
            ("NP-", "NP"),
            ("", ""),
            ("É-x", "É"),
        ];
        for (label, basic) in labels {
            assert_eq!(basic_category(label), basic, "{label}");
        }
    }
}
