//! Syntactic complexity of texts by counts of patterns: the fourteen measures of L2SCA.
//!
//! The patterns are in `data/complexity/l2sca.tsv`, with their source: Xiaofei Lu (2010), "Automatic analysis of syntactic
//! complexity in second language writing", International Journal of Corpus Linguistics 15(4), 474-496, whose table 1
//! defines the measures.

use compact_str::CompactString;

use super::{Pattern, Searcher};
use crate::error::Result;
use crate::tree::heads::HeadRules;
use crate::tree::{Tree, is_root_label};

const PATTERNS: &str = include_str!("../../data/complexity/l2sca.tsv");

/// The head rules of the patterns.
const HEADS: &str = "collins";

/// What is counted: words, sentences, verb phrases, clauses, T-units, dependent clauses, complex T-units, coordinate
/// phrases, complex nominals.
pub const UNITS: [&str; 9] = ["W", "S", "VP", "C", "T", "DC", "CT", "CP", "CN"];

/// The measures: name, and the units of which it is the ratio.
pub const MEASURES: [(&str, [&str; 2]); 14] = [
    ("MLS", ["W", "S"]),
    ("MLT", ["W", "T"]),
    ("MLC", ["W", "C"]),
    ("C/S", ["C", "S"]),
    ("VP/T", ["VP", "T"]),
    ("C/T", ["C", "T"]),
    ("DC/C", ["DC", "C"]),
    ("DC/T", ["DC", "T"]),
    ("T/S", ["T", "S"]),
    ("CT/T", ["CT", "T"]),
    ("CP/T", ["CP", "T"]),
    ("CP/C", ["CP", "C"]),
    ("CN/T", ["CN", "T"]),
    ("CN/C", ["CN", "C"]),
];

/// The counts of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u64; UNITS.len()]);

impl Counts {
    /// The counts in the order of [`UNITS`].
    pub fn units(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        UNITS.into_iter().zip(self.0)
    }

    /// The ratios in the order of [`MEASURES`]; 0 if a unit does not occur.
    pub fn measures(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        MEASURES.iter().map(|(name, [unit, by])| match self.of(by) {
            0 => (*name, 0.0),
            by => (*name, self.of(unit) as f64 / by as f64),
        })
    }

    /// The count of one of [`UNITS`].
    pub fn of(&self, unit: &str) -> u64 {
        UNITS.iter().position(|known| *known == unit).map_or(0, |at| self.0[at])
    }

    /// Adds the counts of another text.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
    }
}

/// The compiled patterns of the units.
#[derive(Debug)]
pub struct Complexity {
    patterns: Vec<(usize, Pattern)>,
    heads: HeadRules,
}

impl Complexity {
    /// Compiles the built-in patterns.
    ///
    /// # Errors
    /// Never: the patterns are tested.
    pub fn l2sca() -> Result<Self> {
        let mut patterns = Vec::new();
        for (line, text) in (1..).zip(PATTERNS.lines()) {
            if let Some((unit, pattern)) = text.split_once('\t').filter(|_| !text.starts_with('#'))
            {
                let at = UNITS.iter().position(|known| *known == unit).unwrap_or_default();
                patterns.push((at, Pattern::parse_at(pattern, "l2sca.tsv", line)?));
            }
        }
        Ok(Self { patterns, heads: HeadRules::named(HEADS)? })
    }

    /// A counter, which each thread needs for itself.
    pub fn counter(&self) -> Counter<'_> {
        let searchers = self.patterns.iter().map(|(unit, pattern)| {
            (*unit, Searcher::new(pattern).with_heads(&self.heads).once(true))
        });
        Counter { searchers: searchers.collect() }
    }
}

/// Counts units in trees.
#[derive(Debug)]
pub struct Counter<'c> {
    searchers: Vec<(usize, Searcher<'c>)>,
}

impl Counter<'_> {
    /// The counts of a tree in the style of the Penn Treebank, whatever its root is called.
    ///
    /// # Errors
    /// When a label is too long for an expression; the built-in patterns have none.
    pub fn count(&mut self, tree: &Tree) -> Result<Counts> {
        let mut counts = Counts::default();
        let Some(root) = tree.root() else { return Ok(counts) };
        counts.0[0] = tree.tokens().iter().filter(|token| is_word(&token.tag)).count() as u64;
        if tree.tokens().is_empty() {
            return Ok(counts);
        }
        let mut tree = tree.clone();
        if is_root_label(&tree.node(root).label) {
            tree.nodes_mut()[root.index()].label = CompactString::const_new("ROOT");
        } else {
            let label = std::mem::replace(
                &mut tree.nodes_mut()[root.index()].label,
                CompactString::const_new("ROOT"),
            );
            tree.insert_below_root(label);
        }
        for node in tree.nodes_mut() {
            let category = super::basic_category(&node.label).len();
            node.label.truncate(category);
        }
        for (unit, searcher) in &mut self.searchers {
            counts.0[*unit] += searcher.count(&tree)?;
        }
        Ok(counts)
    }
}

/// Whether a tag is that of a word: letters, and perhaps a `$` at the end.
fn is_word(tag: &str) -> bool {
    let letters = tag.strip_suffix('$').unwrap_or(tag);
    !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted_in_trees_with_any_root() {
        let text = "(S (SBAR (IN Although) (S (NP (PRP he)) (VP (VBD ran)))) (, ,) (NP (DT the) (JJ fast) (NN train)) \
                    (VP (VBD left) (CC and) (VP (VBD went))) (. .))";
        let complexity = Complexity::l2sca().unwrap();
        let mut counter = complexity.counter();
        let expected = [9, 1, 2, 2, 1, 1, 1, 1, 1];
        for text in [format!("({text})"), format!("(TOP {text})"), text.to_owned()] {
            let counts = counter.count(&text.parse().unwrap()).unwrap();
            assert_eq!(counts.0, expected, "{text}");
        }
        let counts = counter.count(&format!("(ROOT {text})").parse().unwrap()).unwrap();
        let (_, mean_length) = counts.measures().next().unwrap();
        assert!((mean_length - 9.0).abs() < 1e-9);
        assert_eq!(Counts::default().measures().map(|(_, ratio)| ratio).sum::<f64>(), 0.0);
    }
}
