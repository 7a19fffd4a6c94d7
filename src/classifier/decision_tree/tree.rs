//! A decision tree as it is stored and evaluated.
//!
//! A node has four words: the kind of test and its column, the tested value or the offset of its table, its
//! first child, and its distribution. Children come after their parents, so every path ends.
//!
//! - *At most* compares with a value; *among* looks up the code of the value (`codes.rs`) in a bit set. The
//!   two children are adjacent, the one for "no" first.
//! - *First* is a list of tests for one value each, every one the "no" child of the one before. Trees of
//!   such tests are long lists, and reading a list is several times as fast as following nodes.
//! - *Which* looks up the value in a hash table of children.
//!
//! A distribution is short: the classes seen at the node, or at a near ancestor, with their
//! log-probabilities, the most probable first. All other classes have the probability that the full
//! distribution of some ancestor gives them, times the weight of backing off. The distributions of the
//! root, and of nodes below which far fewer classes remain, are stored in full.

use super::codes::Codes;
use crate::classifier::{Classifier, Evidence, ScoreScale, Scratch};
use crate::feature::RowRef;
use crate::hash::multiply;
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// Number of words of a node.
pub(super) const NODE: usize = 4;
/// The kinds of tests, in the high half of a node's first word; the column is in the low half.
pub(super) const LEAF: u32 = 0;
pub(super) const FIRST: u32 = 1;
pub(super) const AT_MOST: u32 = 2;
pub(super) const AMONG: u32 = 3;
pub(super) const WHICH: u32 = 4;
/// Words before the classes of a distribution: its full distribution, the logarithm of the weight of that,
/// and the number of classes.
pub(super) const HEAD: usize = 3;
/// Log-probabilities of single classes are stored in units of 1/2048, down to −32.
pub(super) const UNIT: f32 = 2048.0;

/// The slot of a value in a hash table of 2 to the power of `bits`.
pub(super) fn slot_of(value: u32, bits: u32) -> usize {
    (u64::from(multiply(value)) << bits >> 32) as usize
}

/// A fitted decision tree.
#[derive(Debug, Clone)]
pub struct DecisionTree {
    pub(super) n_classes: usize,
    pub(super) nodes: Array<u32>,
    /// Bit sets; lists of tests: pairs of a column and a value, then the child of each; hash tables: the
    /// child of ignored words, then pairs of a value and a child, 0 where free.
    pub(super) tables: Array<u32>,
    pub(super) codes: Codes,
    /// The distributions.
    pub(super) rows: Array<u32>,
    /// The log-probabilities of all classes, for distributions that are stored in full.
    pub(super) full: Array<f32>,
}

impl DecisionTree {
    /// The number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len() / NODE
    }

    /// The number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.nodes.as_chunks::<NODE>().0.iter().filter(|node| node[0] >> 16 == LEAF).count()
    }

    /// The offset of the distribution that a row of columns leads to; `value` is called only for columns on
    /// the path.
    fn find(&self, mut value: impl FnMut(usize) -> u32) -> usize {
        let nodes = self.nodes.as_chunks::<NODE>().0;
        let tables = &*self.tables;
        let mut at = 0;
        loop {
            let [ask, what, child, row] = nodes[at];
            let column = (ask & 0xffff) as usize;
            let yes = match ask >> 16 {
                FIRST => {
                    // The low half is the length of the list.
                    let (tests, children) = tables[what as usize..].split_at(2 * column);
                    let tests = tests.as_chunks::<2>().0;
                    let found =
                        tests.iter().position(|&[column, wanted]| value(column as usize) == wanted);
                    at = found.map_or(child, |found| children[found]) as usize;
                    continue;
                }
                AT_MOST => value(column) <= what,
                AMONG => {
                    let code = u32::from(self.codes.code(column, value(column)));
                    // In a table that is too short no bit is set.
                    let word = tables.get((what + code / 32) as usize).copied().unwrap_or(0);
                    word >> (code % 32) & 1 == 1
                }
                WHICH => match hashed(tables, what, child, value(column)) {
                    Some(child) => {
                        at = child;
                        continue;
                    }
                    None => return row as usize,
                },
                _ => return row as usize,
            };
            at = child as usize + usize::from(yes);
        }
    }

    /// Writes the scores of all classes of a distribution.
    fn write(&self, row: usize, out: &mut [f32]) {
        let (head, rest) = self.rows[row..].split_at(HEAD);
        let full = &self.full[head[0] as usize * self.n_classes..];
        let offset = f32::from_bits(head[1]);
        for (out, &full) in out.iter_mut().zip(full) {
            *out = full + offset;
        }
        for &entry in &rest[..head[2] as usize] {
            if let Some(out) = out.get_mut((entry >> 16) as usize) {
                *out = log_probability(entry);
            }
        }
    }

    /// Reads what [`Classifier::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or is not of a decision tree.
    pub fn load(sections: &Sections) -> Result<Self> {
        let n_classes: Array<u32> = sections.get("tree.classes")?;
        let tree = Self {
            n_classes: n_classes.first().map_or(0, |&n| n as usize),
            nodes: sections.get("tree.nodes")?,
            tables: sections.get("tree.tables")?,
            codes: Codes::load(sections)?,
            rows: sections.get("tree.rows")?,
            full: sections.get("tree.full")?,
        };
        if tree.is_valid() {
            return Ok(tree);
        }
        Err(Error::Corrupt("the nodes are not those of a decision tree".into()))
    }

    /// Whether every path ends at a distribution, within the sections.
    fn is_valid(&self) -> bool {
        let n = self.n_nodes();
        let n_full = self.full.len().checked_div(self.n_classes).unwrap_or(0);
        let classes = 1..=usize::from(u16::MAX) + 1;
        if !classes.contains(&self.n_classes) || n == 0 || !self.nodes.len().is_multiple_of(NODE) {
            return false;
        }
        let has_row = |row: u32| match self.rows.get(row as usize..) {
            Some(&[full, offset, size, ref entries @ ..]) => {
                let offset = f32::from_bits(offset);
                (full as usize) < n_full
                    && offset <= 0.0
                    && 0 < size
                    && size as usize <= entries.len()
            }
            _ => false,
        };
        let goes_on = |at: usize, child: usize| child > at && child < n;
        let all = self.nodes.as_chunks::<NODE>().0.iter().enumerate();
        let is_sound = |(at, &[ask, what, child, row]): (usize, &[u32; NODE])| match ask >> 16 {
            LEAF => has_row(row),
            AT_MOST => goes_on(at, child as usize) && (child as usize) + 1 < n,
            FIRST => {
                let (first, len) = (what as usize, (ask & 0xffff) as usize);
                let children = self.tables.get(first + 2 * len..first + 3 * len);
                let sound = |&child: &u32| goes_on(at, child as usize);
                goes_on(at, child as usize) && children.is_some_and(|all| all.iter().all(sound))
            }
            AMONG => {
                let in_tables = (what as usize) < self.tables.len();
                in_tables && goes_on(at, child as usize) && (child as usize) + 1 < n
            }
            WHICH => {
                let slots = 1usize << child.min(17);
                let table = (what as usize).checked_add(1 + 2 * slots);
                let table = table.and_then(|end| self.tables.get(what as usize..end));
                let Some([other, slots @ ..]) = table else { return false };
                let next = slots.as_chunks::<2>().0.iter().map(|slot| slot[1]);
                let free = slots.as_chunks::<2>().0.iter().any(|slot| slot[1] == 0);
                let sound = |child: u32| child == 0 || goes_on(at, child as usize);
                child <= 17 && has_row(row) && free && sound(*other) && { next }.all(sound)
            }
            _ => false,
        };
        { all }.all(is_sound) && self.full.iter().all(|p| *p <= 0.0)
    }
}

/// The log-probability of an entry of a distribution.
fn log_probability(entry: u32) -> f32 {
    -((entry & 0xffff) as f32) / UNIT
}

/// The child for a value in the hash table at offset `first`; a value that is not in it goes where ignored
/// words go.
fn hashed(tables: &[u32], first: u32, bits: u32, value: u32) -> Option<usize> {
    let first = first as usize;
    let slots = tables[first + 1..].as_chunks::<2>().0;
    let mask = (1usize << bits) - 1;
    let mut slot = slot_of(value, bits);
    loop {
        let [key, child] = slots[slot];
        if child == 0 {
            let other = tables[first] as usize;
            return (other > 0).then_some(other);
        }
        if key == value {
            return Some(child as usize);
        }
        slot = (slot + 1) & mask;
    }
}

impl Classifier for DecisionTree {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }

    fn scores(&self, row: RowRef<'_>, _scratch: &mut Scratch, out: &mut [f32]) {
        // A corrupt file may refer to a column that does not exist.
        let row = self.find(|column| row.values.get(column).copied().unwrap_or(0));
        self.write(row, out);
    }

    fn best(
        &self,
        row: RowRef<'_>,
        accept: &mut dyn FnMut(u16) -> bool,
        _scratch: &mut Scratch,
    ) -> Option<(u16, f32)> {
        let row = self.find(|column| row.values.get(column).copied().unwrap_or(0));
        let first = self.rows[row + HEAD];
        let class = (first >> 16) as u16;
        accept(class).then(|| (class, log_probability(first)))
    }

    fn evidence(&self, row: RowRef<'_>, _classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        let mut path: Vec<u16> = Vec::new();
        self.find(|column| {
            if !path.contains(&(column as u16)) {
                path.push(column as u16);
            }
            row.values.get(column).copied().unwrap_or(0)
        });
        Evidence::Path(path)
    }

    fn store(&self, sections: &mut Sections) {
        sections.put("tree.classes", vec![self.n_classes as u32].into());
        sections.put("tree.nodes", self.nodes.clone());
        sections.put("tree.tables", self.tables.clone());
        self.codes.store(sections);
        sections.put("tree.rows", self.rows.clone());
        sections.put("tree.full", self.full.clone());
    }
}
