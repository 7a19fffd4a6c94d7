//! The ensembles of all labels, as they are evaluated in parsing.
//!
//! Few of all tests hold for a row, and most trees are long chains of "no" branches. So the score of every
//! tree is initialized with the leaf that it reaches if no test holds. Only trees in which a test on that
//! path holds are traversed; an index from tests to trees finds them. Confidences are multiples of a unit
//! ([`super::ensemble`]), so their sum does not depend on the order.

use super::design::{Test, sets, values};
use super::ensemble::{Ensemble, LEAF};
use crate::classifier::{Classifier, Evidence, ScoreScale, Scratch};
use crate::feature::{Column, RowRef};
use crate::hash::multiply;
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// The ensembles of all labels.
#[derive(Debug, Clone)]
pub struct Ensembles {
    columns: Vec<Column>,
    /// `None` for a label that was never correct in training or was not trained: its confidence is minus
    /// infinity.
    labels: Vec<Option<Ensemble>>,
    tables: TestTables,
}

/// Scratch memory of one thread.
#[derive(Debug, Clone, Default)]
pub struct ActiveTests {
    /// One bit for each test, set if it holds.
    bits: Vec<u64>,
    /// The tests that hold.
    tests: Vec<u32>,
    /// For each tree, the first node on the all-"no" path whose test holds.
    first: Vec<u32>,
    /// The trees that have such a node.
    trees: Vec<u32>,
}

/// No node, or no test.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Default)]
struct TestTables {
    is_set: Vec<bool>,
    /// A hash table of the tests; a free slot has the number [`NONE`].
    slots: Vec<(Test, u32)>,
    /// For each test, the start of its entries in `places`.
    starts: Vec<u32>,
    /// The trees and nodes that use the test on the all-"no" path.
    places: Vec<(u32, u32)>,
    nodes: Vec<[u32; 2]>,
    /// For each tree its label, and its confidence if no test holds.
    trees: Vec<(u16, f32)>,
    /// For each label its confidence if no test holds.
    base_scores: Vec<f32>,
}

fn hash(test: Test) -> usize {
    let mixed = multiply(test.value) ^ test.column.wrapping_mul(0x85eb_ca6b);
    (mixed ^ (mixed >> 15)) as usize
}

impl TestTables {
    fn new(columns: &[Column], labels: &[Option<Ensemble>]) -> Self {
        let mut tables = Self { is_set: sets(columns), ..Self::default() };
        let all = labels.iter().flatten().flat_map(|ensemble| &ensemble.tests);
        let n: usize = { all }.count();
        tables.slots = vec![(Test::default(), NONE); (2 * n).next_power_of_two().max(2)];
        let mut asked: Vec<Vec<(u32, u32)>> = Vec::new();
        for (label, ensemble) in (0..).zip(labels) {
            let Some(ensemble) = ensemble else {
                tables.base_scores.push(f32::NEG_INFINITY);
                continue;
            };
            tables.base_scores.push(0.0);
            let numbers: Vec<u32> =
                ensemble.tests.iter().map(|&test| tables.insert(test, &mut asked)).collect();
            for nodes in ensemble.all_nodes() {
                tables.add_tree(label, nodes, &numbers, &mut asked);
            }
        }
        tables.starts.push(0);
        for places in asked {
            tables.places.extend(places);
            tables.starts.push(tables.places.len() as u32);
        }
        tables
    }

    /// The number of a test, which is added if new.
    fn insert(&mut self, test: Test, asked: &mut Vec<Vec<(u32, u32)>>) -> u32 {
        let slot = self.slot(test);
        if self.slots[slot].1 == NONE {
            self.slots[slot] = (test, asked.len() as u32);
            asked.push(Vec::new());
        }
        self.slots[slot].1
    }

    /// The slot of a test, or a free one; at least half of the slots are free.
    #[inline]
    fn slot(&self, test: Test) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(test) & mask;
        while self.slots[slot].1 != NONE && self.slots[slot].0 != test {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn add_tree(
        &mut self,
        label: u16,
        nodes: &[[u32; 2]],
        numbers: &[u32],
        asked: &mut [Vec<(u32, u32)>],
    ) {
        let start = self.nodes.len() as u32;
        let tree = self.trees.len() as u32;
        let mut base_scores = None;
        for (at, &[test, next]) in (start..).zip(nodes) {
            if test == LEAF {
                // Nodes after the first leaf are not on the all-"no" path.
                base_scores = base_scores.or(Some(f32::from_bits(next)));
                self.nodes.push([LEAF, next]);
            } else {
                let number = numbers[test as usize];
                if base_scores.is_none() {
                    asked[number as usize].push((tree, at));
                }
                self.nodes.push([number, start + next]);
            }
        }
        let base_scores = base_scores.unwrap_or(0.0);
        self.trees.push((label, base_scores));
        self.base_scores[usize::from(label)] += base_scores;
    }

    /// Finds the tests that hold for a row, and the trees whose scores they change.
    fn find(&self, row: RowRef<'_>, held: &mut ActiveTests) {
        held.bits.clear();
        held.bits.resize(self.starts.len() / 64 + 1, 0);
        held.first.resize(self.trees.len(), NONE);
        held.tests.clear();
        for (column, &is_set) in (0..).zip(&self.is_set) {
            for &value in values(&row, column as usize, is_set) {
                let number = self.slots[self.slot(Test { column, value })].1;
                if number != NONE {
                    held.tests.push(number);
                    held.bits[number as usize / 64] |= 1 << (number % 64);
                }
            }
        }
        held.trees.clear();
        for &test in &held.tests {
            let places =
                self.starts[test as usize] as usize..self.starts[test as usize + 1] as usize;
            for &(tree, node) in &self.places[places] {
                let first = &mut held.first[tree as usize];
                if *first == NONE {
                    held.trees.push(tree);
                }
                *first = node.min(*first);
            }
        }
    }

    /// The confidence of the leaf reached from the "yes" branch of a node.
    fn leaf(&self, node: u32, bits: &[u64]) -> f32 {
        let mut at = self.nodes[node as usize][1];
        loop {
            let [test, next] = self.nodes[at as usize];
            if test == LEAF {
                return f32::from_bits(next);
            }
            let holds = bits[test as usize / 64] >> (test % 64) & 1 == 1;
            at = if holds { next } else { at + 1 };
        }
    }
}

impl Ensembles {
    /// The ensembles of all labels, for rows of the given columns.
    pub fn new(columns: &[Column], labels: Vec<Option<Ensemble>>) -> Self {
        let tables = TestTables::new(columns, &labels);
        Self { columns: columns.to_vec(), labels, tables }
    }

    /// The ensemble of each label; `None` for labels that are never chosen.
    pub fn labels(&self) -> &[Option<Ensemble>] {
        &self.labels
    }

    /// The trees whose splits had to reduce the loss by at least `threshold`: Θ̂ of section 2.1.3.
    #[must_use]
    pub fn truncated(&self, threshold: f64) -> Self {
        let part = |label: &Option<Ensemble>| label.as_ref().map(|all| all.truncated(threshold));
        Self::new(&self.columns, self.labels.iter().map(part).collect())
    }

    /// The number of splits in all trees.
    pub fn n_splits(&self) -> usize {
        self.labels.iter().flatten().map(Ensemble::n_splits).sum()
    }

    /// The largest threshold that some label has reached: all labels have their trees down to it, so they
    /// are comparable there. 0 without labels.
    pub fn reached(&self) -> f64 {
        self.labels.iter().flatten().map(Ensemble::reached).fold(0.0, f64::max)
    }

    /// Whether the labels have reached different thresholds.
    pub fn is_uneven(&self) -> bool {
        self.labels.iter().flatten().any(|ensemble| ensemble.reached() < self.reached())
    }

    /// Thresholds to try on development trees, in decreasing order: the largest threshold of any tree, then
    /// each divided by `ratio`, which is above 1, down to [`Ensembles::reached`].
    pub fn thresholds(&self, ratio: f64) -> Vec<f64> {
        let all = || self.labels.iter().flatten();
        let firsts = all().filter_map(|ensemble| ensemble.growth().next());
        let mut threshold = firsts.map(|first| first.0).fold(0.0, f64::max);
        let last = self.reached();
        let mut thresholds = Vec::new();
        while threshold > last && last > 0.0 {
            thresholds.push(threshold);
            threshold /= ratio;
        }
        thresholds.push(last);
        thresholds
    }

    /// Reads what [`Classifier::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or is not of boosted trees.
    pub fn load(columns: &[Column], sections: &Sections) -> Result<Self> {
        let seen: Array<u8> = sections.get("boost.seen")?;
        if seen.len() > usize::from(u16::MAX) {
            return Err(Error::Corrupt("boosted trees of too many labels".into()));
        }
        let part = |(label, &seen): (usize, &u8)| {
            let part = || Ensemble::load(&sections.part(&format!("label{label}")));
            (seen != 0).then(part).transpose()
        };
        let labels = seen.iter().enumerate().map(part).collect::<Result<Vec<_>>>()?;
        let mut tests = labels.iter().flatten().flat_map(|ensemble| &ensemble.tests);
        if tests.any(|test| test.column as usize >= columns.len()) {
            return Err(Error::Corrupt(
                "boosted trees of more columns than the templates have".into(),
            ));
        }
        Ok(Self::new(columns, labels))
    }
}

impl Classifier for Ensembles {
    fn n_classes(&self) -> usize {
        self.labels.len()
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogOdds
    }

    /// The confidence of each label, positive if it is predicted to be correct; comparable between rows.
    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let (tables, held) = (&self.tables, scratch.of());
        tables.find(row, held);
        out.copy_from_slice(&tables.base_scores);
        for &tree in &held.trees {
            let first = std::mem::replace(&mut held.first[tree as usize], NONE);
            let (label, base_scores) = tables.trees[tree as usize];
            out[usize::from(label)] += tables.leaf(first, &held.bits) - base_scores;
        }
    }

    fn evidence(&self, row: RowRef<'_>, classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        let Some(Some(ensemble)) = self.labels.get(usize::from(classes[0])) else {
            return Evidence::Scores;
        };
        let holds = |Test { column, value }| {
            let column = column as usize;
            values(&row, column, self.tables.is_set[column]).contains(&value)
        };
        let pair = |Test { column, value }| (column as u16, value);
        let leaf = |(confidence, held): (f32, Vec<Test>)| {
            (confidence, held.into_iter().map(pair).collect())
        };
        Evidence::Leaves(ensemble.leaves(holds).map(leaf).collect())
    }

    fn store(&self, sections: &mut Sections) {
        let seen: Vec<u8> = self.labels.iter().map(|label| u8::from(label.is_some())).collect();
        sections.put("boost.seen", seen.into());
        for (at, label) in self.labels.iter().enumerate() {
            if let Some(ensemble) = label {
                let mut part = Sections::default();
                ensemble.store(&mut part);
                sections.put_part(&format!("label{at}"), part);
            }
        }
    }
}
