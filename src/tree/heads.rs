//! Head rules: which child of a constituent carries its head word.
//!
//! Rules are data. The built-in tables are text files in `data/heads` (see [`HeadRules::names`]); your own
//! tables are files in the same format:
//!
//! ```text
//! # A comment: `#` begins one only at the start of a line, because it is also a tag.
//! @default left
//! @punctuation , : . `` '' -LRB- -RRB-
//! @coordination CC CONJP
//! NP|NX rightdis NN NNP NNPS NNS NX POS JJR
//! NP|NX left     NP
//! VP    left     TO VBD VBN MD VBZ VB VBG VBP VP
//! FRAG  right
//! ```
//!
//! A line has one clause for one label, or for several separated by `|`; the clauses of a label are tried
//! in the order of their lines. `left` tries the categories in order and selects the leftmost child of the
//! first category that any child has; `right` selects the rightmost. `leftdis` and `rightdis` select the
//! first, or last, child that has any of the categories. If no clause finds a child, or if a clause lists
//! no category, the head is the first child (`left`, `leftdis`) or the last that is not punctuation.
//!
//! One `*` in a name matches any characters: `V*` matches every label that begins with V. `*` alone as a
//! category matches every child that is not punctuation, `*` alone as a label every label without its own
//! line. Function tags are removed before labels are compared (`NP-SBJ=2` is `NP`, `-LRB-` stays), and a root
//! without a label is looked up as `TOP`.
//!
//! `@coordination` names conjunctions and switches on the correction of Collins (1999, p. 240): if the
//! child before the head is a conjunction, the conjunct before the conjunction becomes the head.

mod reader;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use compact_str::CompactString;
use rustc_hash::FxHashMap;

use super::{TOP, Tree};
use crate::built_in::HEADS;
use crate::error::{Error, Result, choices};
use crate::text_file;
#[doc(hidden)]
pub use table::HeadTable;

/// A head-rule table.
///
/// ```
/// use srparse::tree::heads::HeadRules;
/// let rules = HeadRules::named("collins").unwrap();
/// assert_eq!(rules.head_of("VP", &["MD", "VP"]), 0);
/// assert_eq!(rules.head_of("NP", &["NP", "POS", "NN"]), 2);
/// ```
#[derive(Debug, Clone)]
pub struct HeadRules {
    name: String,
    text: String,
    default: Side,
    punctuation: Names,
    coordination: Names,
    /// From a label to its index in `rules`.
    labels: Names,
    /// For each label the clauses to try, as indices into `clauses`.
    rules: Vec<Vec<usize>>,
    clauses: Vec<Clause>,
}

/// One line of a table.
#[derive(Debug, Clone)]
struct Clause {
    side: Side,
    /// Whether to select the outermost child of any category, instead of trying the categories by priority.
    any: bool,
    /// From a category to its priority, 0 being the highest.
    categories: Names,
}

/// The side of the children from which they are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Names and patterns with a `*`, each with its position in the list that it was given in.
#[derive(Debug, Clone, Default)]
struct Names {
    exact: FxHashMap<CompactString, usize>,
    patterns: Vec<Pattern>,
}

/// A name with one `*`.
#[derive(Debug, Clone)]
struct Pattern {
    before: CompactString,
    after: CompactString,
    position: usize,
}

impl Names {
    /// Adds a name at a position; returns false if it was there already.
    fn insert(&mut self, name: &str, position: usize) -> bool {
        let Some((before, after)) = name.split_once('*') else {
            let before = self.exact.len();
            self.exact.entry(name.into()).or_insert(position);
            return self.exact.len() > before;
        };
        if self.patterns.iter().any(|p| p.before == before && p.after == after) {
            return false;
        }
        self.patterns.push(Pattern { before: before.into(), after: after.into(), position });
        true
    }

    /// The position of a name written exactly like this, `*` included.
    fn position(&self, name: &str) -> Option<usize> {
        let Some((before, after)) = name.split_once('*') else {
            return self.exact.get(name).copied();
        };
        let same = |p: &&Pattern| p.before == before && p.after == after;
        self.patterns.iter().find(same).map(|p| p.position)
    }

    /// The position of the name itself, else of the first pattern that matches it.
    fn most_exact(&self, name: &str) -> Option<usize> {
        self.exact.get(name).copied().or_else(|| self.fitting(name))
    }

    /// Whether the name is listed or matches a pattern.
    fn contain(&self, name: &str) -> bool {
        self.most_exact(name).is_some()
    }

    /// The position of the first pattern that matches the name.
    fn fitting(&self, name: &str) -> Option<usize> {
        self.patterns.iter().find(|p| p.fits(name)).map(|p| p.position)
    }
}

impl Pattern {
    fn fits(&self, name: &str) -> bool {
        name.strip_prefix(self.before.as_str())
            .is_some_and(|rest| rest.ends_with(self.after.as_str()))
    }

    /// Whether this is `*` alone.
    fn is_wildcard(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

impl HeadRules {
    /// Parses the text of a table; messages call it `name`.
    ///
    /// ```
    /// use srparse::tree::heads::HeadRules;
    /// let rules = HeadRules::parse("NP right NN NNS\n", "mine.heads").unwrap();
    /// assert_eq!(rules.head_of("NP", &["DT", "NN", "PP"]), 1);
    /// let error = HeadRules::parse("NP rigth NN\n", "mine.heads").unwrap_err();
    /// assert!(error.to_string().starts_with("mine.heads:1:4: "));
    /// ```
    ///
    /// # Errors
    /// When a line is not a comment, setting or clause, or can never have an effect.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        reader::parse(text, name)
    }

    /// Reads a table from a file.
    ///
    /// # Errors
    /// When the file cannot be read, is not UTF-8, or is not a table.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::parse(&text_file::read(path)?, &path.display().to_string())
    }

    /// Returns a built-in table; see [`HeadRules::names`].
    ///
    /// # Errors
    /// When there is no table of that name.
    pub fn named(name: &str) -> Result<Self> {
        let text = HEADS.text(name).ok_or_else(|| {
            let choices = choices(name, "built in are", Self::names());
            Error::config("heads", format!("no table `{name}`: {choices}; or give a file"))
        })?;
        Self::parse(text, name)
    }

    /// Returns the built-in table if `name` is one of [`HeadRules::names`], else reads the file of that path.
    ///
    /// # Errors
    /// When it is neither, or the file cannot be read or is not a table.
    pub fn load(name: &str) -> Result<Self> {
        let path = Path::new(name);
        // A bare word is more likely a slip in the name of a table than a file that is missing.
        if Self::names().any(|known| known == name) || path.extension().is_none() && !path.exists()
        {
            return Self::named(name);
        }
        Self::read(path)
    }

    /// The names of the built-in tables.
    pub fn names() -> impl Iterator<Item = &'static str> {
        HEADS.names()
    }

    /// The name the table was read under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the table, which [`HeadRules::parse`] can read again.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of clauses.
    pub(crate) fn n_clauses(&self) -> usize {
        self.clauses.len()
    }

    /// Whether there is a rule for a label.
    pub fn covers(&self, label: &str) -> bool {
        self.rule(label).is_some()
    }

    /// Marks the head child of every node that has children; returns the labels without a rule. A node with a
    /// single child needs no rule.
    #[doc(hidden)]
    pub fn apply(&self, tree: &mut Tree) -> Uncovered {
        let mut uncovered = Uncovered::default();
        for id in tree.ids() {
            let children = tree.children(id);
            let label = &tree.node(id).label;
            let head = match children.len() {
                0 => None,
                1 => Some(0),
                n => {
                    let rule = self.rule(label);
                    if rule.is_none() {
                        uncovered.add(basic(label), 1);
                    }
                    Some(self.find(rule, n, |i| basic(tree.child_label(children[i]))) as u32)
                }
            };
            tree.nodes_mut()[id.index()].head = head;
        }
        uncovered
    }

    /// The position of the head among children given by their labels; 0 without children.
    pub fn head_of(&self, label: &str, children: &[&str]) -> usize {
        match children.len() {
            0 | 1 => 0,
            n => self.find(self.rule(label), n, |i| basic(children[i])),
        }
    }

    /// The clauses for a label, if it has a rule.
    fn rule(&self, label: &str) -> Option<&[usize]> {
        let label = if label.is_empty() { TOP } else { basic(label) };
        self.labels.most_exact(label).map(|rule| self.rules[rule].as_slice())
    }

    /// The head among `n` > 0 children with the basic labels `label(0)`, `label(1)`, …
    fn find<'a>(
        &self,
        rule: Option<&[usize]>,
        n: usize,
        label: impl Fn(usize) -> &'a str,
    ) -> usize {
        let label = &label;
        let clauses = rule.unwrap_or_default().iter().map(|&clause| {
            let clause = &self.clauses[clause];
            (clause.side, clause.any, move |i: usize| self.priority(clause, label(i)))
        });
        let is_conjunction = |i: usize| self.coordination.contain(label(i));
        choose(n, self.default, clauses, |i| self.is_punctuation(label(i)), is_conjunction)
    }

    /// The priority of a child's label in a clause; the bare `*` does not match punctuation.
    fn priority(&self, clause: &Clause, label: &str) -> Option<u32> {
        let exact = clause.categories.exact.get(label).copied();
        let takes =
            |p: &&Pattern| p.fits(label) && !(p.is_wildcard() && self.is_punctuation(label));
        let pattern = clause.categories.patterns.iter().find(takes).map(|p| p.position);
        exact.into_iter().chain(pattern).min().map(|position| position as u32)
    }

    fn is_punctuation(&self, label: &str) -> bool {
        self.punctuation.contain(label)
    }
}

/// The head among `n` > 0 children. Each clause has its side, whether it selects the outermost child of any category, and
/// the priority of a child in it.
fn choose<P: Fn(usize) -> Option<u32>>(
    n: usize,
    default: Side,
    mut clauses: impl Iterator<Item = (Side, bool, P)>,
    is_punctuation: impl Fn(usize) -> bool,
    is_conjunction: impl Fn(usize) -> bool,
) -> usize {
    let mut last = default;
    let found = clauses.find_map(|(side, any, priority)| {
        last = side;
        let child = |i: usize| if side == Side::Left { i } else { n - 1 - i };
        let mut taken = (0..n).map(child).filter_map(|child| Some((priority(child)?, child)));
        // Among equals the first from the clause's side.
        let best = if any { taken.next() } else { taken.min_by_key(|&(priority, _)| priority) };
        best.map(|(_, child)| child)
    });
    let is_solid = |&i: &usize| !is_punctuation(i);
    let head = found.unwrap_or_else(|| match last {
        Side::Left => (0..n).find(is_solid).unwrap_or(0),
        Side::Right => (0..n).rev().find(is_solid).unwrap_or(n - 1),
    });
    if head < 2 || !is_conjunction(head - 1) {
        return head;
    }
    // The conjunct before the conjunction.
    (0..head - 1).rev().find(is_solid).unwrap_or(head)
}

/// A label without its function tags and indices: cut at the first `-` or `=` after its first character,
/// except for labels such as `-LRB-`, which begin with `-`.
fn basic(label: &str) -> &str {
    if label.starts_with('-') {
        return label;
    }
    // Labels are short: looking at each byte is faster than a general search, and `-` and `=` never
    // occur inside a longer UTF-8 sequence.
    match label.bytes().skip(1).position(|b| b == b'-' || b == b'=') {
        Some(at) => &label[..=at],
        None => label,
    }
}

/// The labels for which [`HeadRules::apply`] found no rule, and how many nodes had each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[doc(hidden)]
pub struct Uncovered {
    labels: BTreeMap<CompactString, u64>,
}

impl Uncovered {
    /// Whether every node had a rule.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The labels in alphabetical order, with their numbers of nodes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.labels.iter().map(|(label, &n)| (label.as_str(), n))
    }

    /// Adds the labels of another tree.
    pub fn merge(&mut self, other: &Self) {
        for (label, n) in other.iter() {
            self.add(label, n);
        }
    }

    fn add(&mut self, label: &str, n: u64) {
        match self.labels.get_mut(label) {
            Some(count) => *count += n,
            None => {
                self.labels.insert(label.into(), n);
            }
        }
    }
}

impl fmt::Display for Uncovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (label, n)) in self.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let label = if label.is_empty() { TOP } else { label };
            write!(f, "{comma}{label} ({n} {})", if n == 1 { "node" } else { "nodes" })?;
        }
        Ok(())
    }
}
