//! The codes of values at parse time, for tests of several values.
//!
//! The values of a column lie in a few ranges: words and labels from 0, tags and the boundaries of stack
//! and buffer far above. Each range has a table of codes; values outside all ranges have code 0.

use super::table::Coding;
use crate::memory::{Array, Sections};
use crate::sort::sort_by_key;
use crate::{Error, Result};

/// The maximum number of ranges of a column.
const MAX_RANGES: usize = 4;
/// A gap of at least this many values begins a new range.
const GAP: u32 = 256;

#[derive(Debug, Clone, Copy)]
struct Range {
    /// The first value.
    first: u32,
    /// The number of values.
    len: u32,
    /// The offset of the codes.
    at: u32,
}

/// The codes of all columns.
#[derive(Debug, Clone)]
pub(super) struct Codes {
    /// For each column, the end of its ranges.
    ends: Array<u32>,
    /// The ranges: first value, number of values, offset of the codes.
    ranges: Array<u32>,
    table: Array<u16>,
}

impl Codes {
    /// The codes of the columns for which `wanted` is true.
    pub(super) fn new(codings: &[Coding], wanted: &[bool]) -> Self {
        let (mut ends, mut ranges, mut table) = (Vec::new(), Vec::new(), Vec::new());
        for (coding, &wanted) in codings.iter().zip(wanted) {
            if wanted {
                for Range { first, len, at } in ranges_of(&coding.values, table.len() as u32) {
                    ranges.extend([first, len, at]);
                    table.resize(table.len() + len as usize, 0);
                    for (&value, code) in coding.values.iter().zip(1..) {
                        if let Some(offset) = value.checked_sub(first).filter(|&o| o < len) {
                            table[(at + offset) as usize] = code;
                        }
                    }
                }
            }
            ends.push(ranges.len() as u32 / 3);
        }
        Self { ends: ends.into(), ranges: ranges.into(), table: table.into() }
    }

    /// The code of a value; 0 for a value without one.
    #[inline]
    pub(super) fn code(&self, column: usize, value: u32) -> u16 {
        let ends = &*self.ends;
        let first =
            if column == 0 { 0 } else { ends.get(column - 1).copied().unwrap_or(0) as usize };
        let last = ends.get(column).copied().unwrap_or(0) as usize;
        let ranges = self.ranges.as_chunks::<3>().0.get(first..last).unwrap_or_default();
        for &[first, len, at] in ranges {
            let offset = value.wrapping_sub(first);
            if offset < len {
                let place = at as usize + offset as usize;
                return self.table.get(place).copied().unwrap_or(0);
            }
        }
        0
    }

    pub(super) fn store(&self, sections: &mut Sections) {
        sections.put("tree.code-ends", self.ends.clone());
        sections.put("tree.code-ranges", self.ranges.clone());
        sections.put("tree.codes", self.table.clone());
    }

    /// # Errors
    /// When a section is missing, or is not a table of ranges.
    pub(super) fn load(sections: &Sections) -> Result<Self> {
        let codes = Self {
            ends: sections.get("tree.code-ends")?,
            ranges: sections.get("tree.code-ranges")?,
            table: sections.get("tree.codes")?,
        };
        if codes.ranges.len().is_multiple_of(3) {
            return Ok(codes);
        }
        Err(Error::Corrupt("the codes are not those of a decision tree".into()))
    }
}

/// A small number of ranges that contain all of `values`, which are ascending; their codes begin at `at`.
fn ranges_of(values: &[u32], mut at: u32) -> Vec<Range> {
    let mut gaps: Vec<(u32, usize)> = values
        .windows(2)
        .zip(1..)
        .map(|(pair, next)| (pair[1] - pair[0], next))
        .filter(|&(gap, _)| gap > GAP)
        .collect();
    sort_by_key(&mut gaps, |&(gap, next)| (std::cmp::Reverse(gap), next));
    gaps.truncate(MAX_RANGES - 1);
    let mut starts: Vec<usize> = std::iter::once(0).chain(gaps.iter().map(|gap| gap.1)).collect();
    starts.sort_unstable();
    starts.push(values.len());
    let mut ranges = Vec::new();
    for pair in starts.windows(2) {
        let part = &values[pair[0]..pair[1]];
        if let (Some(&first), Some(&last)) = (part.first(), part.last()) {
            let len = last - first + 1;
            ranges.push(Range { first, len, at });
            at += len;
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_code_and_no_other_has_one() {
        let values = vec![0, 1, 7, 40_000, 1 << 20, (1 << 20) + 3, 1 << 21, (1 << 21) + 500];
        let codings = [Coding::default(), Coding { values: values.clone(), ordered: false }];
        let codes = Codes::new(&codings, &[true, true]);
        for (&value, code) in values.iter().zip(1..) {
            assert_eq!(codes.code(1, value), code);
            assert_eq!(codes.code(0, value), 0);
        }
        for value in [2, 39_999, 40_001, (1 << 20) + 1, (1 << 20) + 4, u32::MAX] {
            assert_eq!(codes.code(1, value), 0);
        }
        assert_eq!(codes.code(2, 0), 0);
    }
}
