//! Treebanks divided into parts: by share, by document, by list.

use std::collections::HashMap;
use std::path::PathBuf;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::{ReadOptions, ReadReport, Trees};
use crate::error::Result;
use crate::tree::Tree;

/// A tree of a treebank, and where it is from.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The tree, as read, without its ID.
    pub tree: Tree,
    /// Its file.
    pub file: String,
    /// Its ID.
    pub id: Option<String>,
    /// Whether its ID, if any, is among the brackets of the file.
    pub id_in_brackets: bool,
}

/// The trees that stay together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Each tree stands alone.
    #[default]
    Tree,
    /// A file is a document.
    File,
    /// Trees whose IDs differ only in their [`SentenceNumber`] are a document.
    Id,
}

/// Which number of an ID is that of the sentence in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentenceNumber {
    /// The first.
    First,
    /// The last.
    Last,
}

impl SentenceNumber {
    /// That of a treebank: the last number; but the first, if there are several documents without it, which change less than half
    /// as often from tree to tree.
    pub fn of(entries: &[Entry]) -> Self {
        let changes = |number: Self| {
            let ids = entries.iter().filter_map(|entry| entry.id.as_deref());
            let mut documents: Vec<String> = ids.map(|id| number.document(id)).collect();
            documents.dedup();
            documents.len()
        };
        // With one document alone, nothing could be split.
        let (first, last) = (changes(Self::First), changes(Self::Last));
        if first > 1 && 2 * first < last { Self::First } else { Self::Last }
    }

    /// The document of an ID: what stands around the number.
    pub fn document(self, id: &str) -> String {
        let is_digit = |c: char| c.is_ascii_digit();
        let (start, end) = match self {
            Self::First => {
                let start = id.find(is_digit).unwrap_or(id.len());
                (start, id.len() - id[start..].trim_start_matches(is_digit).len())
            }
            Self::Last => {
                let end = id.rfind(is_digit).map_or(id.len(), |at| at + 1);
                (id[..end].trim_end_matches(is_digit).len(), end)
            }
        };
        format!("{}{}", &id[..start], &id[end..])
    }
}

/// Reads a treebank with the files and IDs of its trees.
///
/// # Errors
/// When a path does not exist, a file cannot be read, or a tree is malformed and malformed trees are not skipped.
pub fn read(paths: &[PathBuf], options: &ReadOptions) -> Result<(Vec<Entry>, ReadReport)> {
    let mut trees = Trees::open(paths, options)?;
    let mut entries = Vec::new();
    while let Some(tree) = trees.next().transpose()? {
        let file = trees.place().map(|place| place.path).unwrap_or_default();
        let (id, id_in_brackets) = (trees.id().map(str::to_owned), trees.has_ids_in_brackets());
        entries.push(Entry { tree, file, id, id_in_brackets });
    }
    Ok((entries, trees.report().clone()))
}

/// Groups trees, by position, into the units that stay together, each in the order of its first tree. Trees without an ID
/// have the document of the tree before.
pub fn units(entries: &[Entry], unit: Unit) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    let sentence = SentenceNumber::of(entries);
    let mut known = HashMap::new();
    let mut last = String::new();
    for (at, entry) in entries.iter().enumerate() {
        let key = match unit {
            Unit::Tree => {
                units.push(vec![at]);
                continue;
            }
            Unit::File => entry.file.clone(),
            Unit::Id => {
                let id = entry.id.as_deref();
                id.map_or_else(|| last.clone(), |id| sentence.document(id))
            }
        };
        last.clone_from(&key);
        let number = *known.entry(key).or_insert_with(|| {
            units.push(Vec::new());
            units.len() - 1
        });
        units[number].push(at);
    }
    units
}

/// Puts units in a random order.
pub fn shuffle(units: &mut [Vec<usize>], seed: u64) {
    units.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
}

/// Divides units among parts with these shares, which are together at most 100, in percent: each goes to the part that has
/// the most trees to gain, so that every part is spread over the treebank. Returns for each unit its part; `None` if it is
/// left over.
pub fn divide(units: &[Vec<usize>], shares: &[f64]) -> Vec<Option<usize>> {
    let rest = (100.0 - shares.iter().sum::<f64>()).max(0.0);
    let shares: Vec<f64> = shares.iter().copied().chain([rest]).collect();
    let mut given = vec![0.0; shares.len()];
    let mut total = 0.0;
    let mut parts = Vec::with_capacity(units.len());
    for unit in units {
        total += unit.len() as f64;
        let lack = |part: usize| shares[part] * total / 100.0 - given[part];
        // Ties go to the first part; a part without a share gets nothing.
        let mut best = 0;
        for part in 1..shares.len() {
            if shares[part] > 0.0 && (shares[best] <= 0.0 || lack(part) > lack(best) + 1e-9) {
                best = part;
            }
        }
        given[best] += unit.len() as f64;
        parts.push((best + 1 < shares.len()).then_some(best));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_document_differ_in_a_number() {
        for (id, without_first, without_last) in [
            ("a.12", "a.", "a."),
            ("SAMPLE,2.5", "SAMPLE,.5", "SAMPLE,2."),
            ("42.s0", ".s0", "42.s"),
            ("359_a-1905;JP", "_a-1905;JP", "359_a-;JP"),
            ("x", "x", "x"),
            ("7", "", ""),
            ("a1b", "ab", "ab"),
        ] {
            assert_eq!(SentenceNumber::First.document(id), without_first, "{id}");
            assert_eq!(SentenceNumber::Last.document(id), without_last, "{id}");
        }
    }

    #[test]
    fn the_number_of_the_sentence_leaves_few_documents_in_a_row() {
        let entry = |id: String| {
            let (tree, file) = (Tree::default(), String::new());
            Entry { tree, file, id: Some(id), id_in_brackets: true }
        };
        let entries = |name: fn(usize, usize) -> String| -> Vec<Entry> {
            (1..=3).flat_map(|of| (1..=40).map(move |n| entry(name(of, n)))).collect()
        };
        let years = entries(|of, n| format!("{n}_a-190{of};JP"));
        assert_eq!(SentenceNumber::of(&years), SentenceNumber::First);
        let sizes = |units: &[Vec<usize>]| units.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(&units(&years, Unit::Id)), [40; 3]);
        // Numbered documents of many sentences: without the first number, there would be fewer different ones.
        let pages = entries(|of, n| format!("w_{}.{}", 10 * of + n / 4, n % 4));
        assert_eq!(SentenceNumber::of(&pages), SentenceNumber::Last);
        // Documents of one sentence.
        let short = entries(|of, n| format!("t{}.1", 40 * of + n));
        assert_eq!(SentenceNumber::of(&short), SentenceNumber::Last);
        // One number, and none.
        for ids in [entries(|of, n| format!("{n}_{}", ["a", "b", "c"][of - 1])), Vec::new()] {
            assert_eq!(SentenceNumber::of(&ids), SentenceNumber::Last);
        }
    }

    #[test]
    fn parts_have_their_shares_and_are_spread() {
        let units: Vec<Vec<usize>> = (0..100).map(|at| vec![at]).collect();
        let parts = divide(&units, &[80.0, 10.0, 10.0]);
        let count = |part| parts.iter().filter(|&&of| of == Some(part)).count();
        assert_eq!([count(0), count(1), count(2)], [80, 10, 10]);
        for tenth in parts.chunks(20) {
            assert_eq!(tenth.iter().filter(|&&of| of == Some(1)).count(), 2);
        }
        let fifths = divide(&units[..7], &[20.0; 5]);
        assert_eq!(fifths, [0, 1, 2, 3, 4, 0, 1].map(Some));
        let some = divide(&units, &[25.0]);
        assert_eq!(some.iter().flatten().count(), 25);
        // Documents of unequal sizes.
        let sizes = [50, 1, 1, 1, 40, 7];
        let units: Vec<Vec<usize>> = sizes.iter().map(|&size| vec![0; size]).collect();
        assert_eq!(divide(&units, &[50.0, 50.0]), [0, 1, 1, 1, 1, 1].map(Some));
    }
}
