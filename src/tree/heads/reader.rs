//! The reader of head-rule tables; the format is described at [`super`].

use super::{Clause, HeadRules, Names, Side, basic};
use crate::error::{Error, Place, Result, choices};

const SETTINGS: [&str; 3] = ["@default", "@punctuation", "@coordination"];
const DIRECTIONS: [&str; 4] = ["left", "right", "leftdis", "rightdis"];

/// The maximum number of clauses in a table.
const MAX_CLAUSES: usize = 10_000;
/// The maximum number of names with a `*` in a list, which are tried one after the other.
const MAX_PATTERNS: usize = 1_000;

/// A word of a line with its column.
type Word<'a> = (u64, &'a str);

/// Reads a table.
pub(super) fn parse(text: &str, name: &str) -> Result<HeadRules> {
    let rules = HeadRules {
        name: name.to_owned(),
        text: text.to_owned(),
        default: Side::Left,
        punctuation: Names::default(),
        coordination: Names::default(),
        labels: Names::default(),
        rules: Vec::new(),
        clauses: Vec::new(),
    };
    let mut reader = Reader { rules, default: None, line: 0 };
    // A byte-order mark is not part of the first word.
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        reader.line = number as u64 + 1;
        let words = words(line);
        match words.first() {
            Some((_, word)) if word.starts_with('#') => {}
            Some((_, word)) if word.starts_with('@') => reader.setting(&words)?,
            Some(_) => reader.clause(&words)?,
            None => {}
        }
    }
    if reader.rules.rules.is_empty() {
        reader.line += 1;
        return Err(reader.error(0, "there are no rules; write one, for instance `* left`"));
    }
    Ok(reader.rules)
}

/// The words of a line. Only ASCII white space separates them.
fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut column = 1;
    for word in line.split(|c: char| c.is_ascii_whitespace()) {
        if !word.is_empty() {
            words.push((column, word));
        }
        column += word.chars().count() as u64 + 1;
    }
    words
}

/// The table so far and the line being read.
struct Reader {
    rules: HeadRules,
    /// The line of `@default`, which may be given once.
    default: Option<u64>,
    line: u64,
}

impl Reader {
    fn error(&self, column: u64, problem: impl Into<String>) -> Error {
        Error::syntax(Place::new(self.rules.name.as_str(), self.line, column), problem)
    }

    /// A line that begins with `@`.
    fn setting(&mut self, words: &[Word<'_>]) -> Result<()> {
        let (column, setting) = words[0];
        match setting {
            "@default" => self.default_side(words),
            "@punctuation" => {
                let mut names = std::mem::take(&mut self.rules.punctuation);
                self.names(&words[1..], &mut names)?;
                self.rules.punctuation = names;
                Ok(())
            }
            "@coordination" => {
                let mut names = std::mem::take(&mut self.rules.coordination);
                self.names(&words[1..], &mut names)?;
                self.rules.coordination = names;
                Ok(())
            }
            _ => Err(self.unknown(column, setting, "setting", &SETTINGS)),
        }
    }

    /// `@default left` or `@default right`.
    fn default_side(&mut self, words: &[Word<'_>]) -> Result<()> {
        if let Some(line) = self.default {
            let problem =
                format!("`@default` was given on line {line} already; remove one of them");
            return Err(self.error(words[0].0, problem));
        }
        self.rules.default = match words {
            [_, (_, "left")] => Side::Left,
            [_, (_, "right")] => Side::Right,
            [_, (_, "left" | "right"), (column, more), ..] => {
                return Err(
                    self.error(*column, format!("`{more}` is one word too many; remove it"))
                );
            }
            [_, (column, word), ..] => {
                return Err(self.unknown(*column, word, "default", &DIRECTIONS[..2]));
            }
            _ => return Err(self.error(words[0].0, "`@default` needs `left` or `right` after it")),
        };
        self.default = Some(self.line);
        Ok(())
    }

    /// A line of labels, direction and categories.
    fn clause(&mut self, words: &[Word<'_>]) -> Result<()> {
        let (column, labels) = words[0];
        let Some(&(at, direction)) = words.get(1) else {
            let problem =
                format!("`{labels}` needs a direction after it: {}", DIRECTIONS.join(", "));
            return Err(self.error(column, problem));
        };
        let (side, any) = match direction {
            "left" => (Side::Left, false),
            "right" => (Side::Right, false),
            "leftdis" => (Side::Left, true),
            "rightdis" => (Side::Right, true),
            _ => return Err(self.unknown(at, direction, "direction", &DIRECTIONS)),
        };
        let mut categories = Names::default();
        self.names(&words[2..], &mut categories)?;
        if words.len() == 2 {
            categories.insert("*", 0);
        }
        if self.rules.clauses.len() == MAX_CLAUSES {
            return Err(self.error(column, format!("more than {MAX_CLAUSES} clauses: remove some")));
        }
        self.rules.clauses.push(Clause { side, any, categories });
        self.attach(column, labels)
    }

    /// Adds the last clause to each of the labels of a line.
    fn attach(&mut self, mut column: u64, labels: &str) -> Result<()> {
        let clause = self.rules.clauses.len() - 1;
        for label in labels.split('|') {
            self.check(column, label)?;
            self.check_patterns(column, &self.rules.labels)?;
            let rule = self.rules.labels.position(label).unwrap_or_else(|| {
                self.rules.labels.insert(label, self.rules.rules.len());
                self.rules.rules.push(Vec::new());
                self.rules.rules.len() - 1
            });
            if let Some(&last) = self.rules.rules[rule].last() {
                if last == clause {
                    let problem = format!("`{label}` occurs twice in this line; remove one");
                    return Err(self.error(column, problem));
                }
                if self.rules.clauses[last].categories.position("*").is_some() {
                    let problem = format!(
                        "this line is never reached: an earlier one for `{label}` takes any child; \
                         put this line before it or remove one of them"
                    );
                    return Err(self.error(column, problem));
                }
            }
            self.rules.rules[rule].push(clause);
            column += label.chars().count() as u64 + 1;
        }
        Ok(())
    }

    /// Adds words to a list of names.
    fn names(&self, words: &[Word<'_>], names: &mut Names) -> Result<()> {
        for &(column, word) in words {
            self.check(column, word)?;
            let position = names.exact.len() + names.patterns.len();
            if !names.insert(word, position) {
                let problem = format!("`{word}` is listed twice; remove one");
                return Err(self.error(column, problem));
            }
            self.check_patterns(column, names)?;
        }
        Ok(())
    }

    fn check_patterns(&self, column: u64, names: &Names) -> Result<()> {
        if names.patterns.len() <= MAX_PATTERNS {
            return Ok(());
        }
        Err(self.error(column, format!("more than {MAX_PATTERNS} names with a `*`: remove some")))
    }

    /// Rejects a name that no label can have.
    fn check(&self, column: u64, name: &str) -> Result<()> {
        if name.is_empty() {
            return Err(self.error(column, "a label is missing next to the `|`; add or remove one"));
        }
        if name.matches('*').count() > 1 {
            let problem = format!("`{name}` has more than one `*`; split it into several names");
            return Err(self.error(column, problem));
        }
        let cut = basic(name);
        if cut != name {
            let problem = format!(
                "`{name}` cannot occur, because labels are compared without function tags; \
                 write `{cut}`"
            );
            return Err(self.error(column, problem));
        }
        Ok(())
    }

    /// An unknown word of one of the closed lists.
    fn unknown(&self, column: u64, word: &str, what: &str, known: &[&'static str]) -> Error {
        let choices = choices(word, "there are", known.iter().copied());
        self.error(column, format!("`{word}` is not a {what}: {choices}"))
    }
}
