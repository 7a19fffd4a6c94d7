//! Instances by column, encoded as small integers: the input of growing.
//!
//! In each column the most frequent values have the codes 1, 2, … in ascending order of value. Code 0
//! stands for all other values: words that are too rare, and at parse time values not seen in training.

use rustc_hash::FxHashMap;

use crate::classifier::Instances;
use crate::feature::{Column, ColumnKind};
use crate::parallel;
use crate::sort::sort_by_key;

/// Maximum number of values of a column that have a code; of more, the most frequent ones have.
const MAX_CODES: usize = u16::MAX as usize - 1;

/// The values of a column that have a code: code `at + 1` stands for `values[at]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Coding {
    pub(super) values: Vec<u32>,
    /// Whether the column is numeric: split at a threshold.
    pub(super) ordered: bool,
}

impl Coding {
    /// The number of codes, including code 0.
    pub(super) fn n_codes(&self) -> usize {
        self.values.len() + 1
    }

    /// The value of a code other than 0.
    pub(super) fn value(&self, code: u16) -> Option<u32> {
        self.values.get(usize::from(code).checked_sub(1)?).copied()
    }
}

/// The instances of a node: their classes, and each column in which they differ.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    pub(super) classes: Vec<u16>,
    /// The index of a column and the codes of its values.
    pub(super) columns: Vec<(u16, Vec<u16>)>,
}

impl Block {
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }
}

/// Encodes all instances. A value of a lexical column has a code if it occurs there at least
/// `min_word_count` times.
pub(super) fn encode(instances: &Instances, min_word_count: u32) -> (Vec<Coding>, Block) {
    let encoded: Vec<(Coding, Vec<u16>)> =
        parallel::map_owned(instances.columns().iter().enumerate(), |(at, column)| {
            encode_column(instances, at, column, min_word_count)
        });
    let (mut codings, mut columns) = (Vec::new(), Vec::new());
    for ((coding, codes), at) in encoded.into_iter().zip(0u16..) {
        codings.push(coding);
        if codes.windows(2).any(|pair| pair[0] != pair[1]) {
            columns.push((at, codes));
        }
    }
    let classes = (0..instances.len()).map(|at| instances.class(at)).collect();
    (codings, Block { classes, columns })
}

fn encode_column(
    instances: &Instances,
    at: usize,
    column: &Column,
    min_word_count: u32,
) -> (Coding, Vec<u16>) {
    let values = || (0..instances.len()).map(|row| instances.row(row).values[at]);
    let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
    for value in values() {
        *counts.entry(value).or_default() += 1;
    }
    let minimum = if column.lexical { min_word_count } else { 0 };
    let mut kept: Vec<(u32, u32)> =
        counts.into_iter().filter(|&(_, count)| count >= minimum).collect();
    sort_by_key(&mut kept, |&(value, count)| (std::cmp::Reverse(count), value));
    kept.truncate(MAX_CODES);
    let mut values_kept: Vec<u32> = kept.into_iter().map(|(value, _)| value).collect();
    values_kept.sort_unstable();
    let coding = Coding { values: values_kept, ordered: column.kind == ColumnKind::Number };
    let codes = if coding.ordered {
        // A number without a code gets that of the next smaller one.
        let code = |value| coding.values.partition_point(|&kept| kept <= value).max(1) as u16;
        values().map(code).collect()
    } else {
        let code_of: FxHashMap<u32, u16> = coding.values.iter().copied().zip(1..).collect();
        values().map(|value| code_of.get(&value).copied().unwrap_or(0)).collect()
    };
    (coding, codes)
}
