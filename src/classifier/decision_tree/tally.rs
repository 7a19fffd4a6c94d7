//! Counts of classes by value of a column.

use super::table::Coding;

/// The instances with one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueCount {
    /// The code of the value.
    pub(super) code: u16,
    /// The number of instances.
    pub(super) n: u32,
    first: u32,
    last: u32,
}

/// The non-zero counts of one column, by value and class; values are in order of code.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) runs: Vec<ValueCount>,
    cells: Vec<(u16, u32)>,
    keys: Vec<u32>,
    starts: Vec<u32>,
    sorted: Vec<u16>,
    counts: Vec<u32>,
}

/// Maximum number of instances that are sorted by comparison.
const FEW: usize = 256;

impl Tally {
    /// The classes of the instances of a run, with their counts.
    pub(super) fn cells(&self, run: &ValueCount) -> &[(u16, u32)] {
        &self.cells[run.first as usize..run.last as usize]
    }

    /// Counts the instances `(codes[i], classes[i])`.
    pub(super) fn count(
        &mut self,
        codes: &[u16],
        classes: &[u16],
        coding: &Coding,
        n_classes: usize,
    ) {
        self.runs.clear();
        self.cells.clear();
        if codes.len() <= FEW || codes.len() * 4 < coding.n_codes() {
            self.by_sorting(codes, classes);
        } else {
            self.by_counting(codes, classes, coding.n_codes(), n_classes);
        }
    }

    fn by_sorting(&mut self, codes: &[u16], classes: &[u16]) {
        self.keys.clear();
        let keys = codes.iter().zip(classes);
        self.keys.extend(keys.map(|(&code, &class)| u32::from(code) << 16 | u32::from(class)));
        self.keys.sort_unstable();
        let mut last_key = None;
        for &key in &self.keys {
            let (code, class) = ((key >> 16) as u16, key as u16);
            match (self.runs.last_mut(), self.cells.last_mut()) {
                (Some(run), Some(cell)) if last_key == Some(key) => {
                    run.n += 1;
                    cell.1 += 1;
                }
                (Some(run), _) if run.code == code => {
                    run.n += 1;
                    run.last += 1;
                    self.cells.push((class, 1));
                }
                _ => {
                    let first = self.cells.len() as u32;
                    self.runs.push(ValueCount { code, n: 1, first, last: first + 1 });
                    self.cells.push((class, 1));
                }
            }
            last_key = Some(key);
        }
    }

    fn by_counting(&mut self, codes: &[u16], classes: &[u16], n_codes: usize, n_classes: usize) {
        let Self { runs, cells, starts, sorted, counts, .. } = self;
        starts.clear();
        starts.resize(n_codes + 1, 0);
        for &code in codes {
            starts[usize::from(code) + 1] += 1;
        }
        for at in 0..n_codes {
            starts[at + 1] += starts[at];
        }
        sorted.resize(codes.len(), 0);
        for (&code, &class) in codes.iter().zip(classes) {
            let place = &mut starts[usize::from(code)];
            sorted[*place as usize] = class;
            *place += 1;
        }
        counts.clear();
        counts.resize(n_classes, 0);
        let mut begin = 0;
        for (code, &end) in (0..=u16::MAX).zip(&starts[..n_codes]) {
            if begin == end {
                continue;
            }
            let first = cells.len() as u32;
            for &class in &sorted[begin as usize..end as usize] {
                let count = &mut counts[usize::from(class)];
                if *count == 0 {
                    cells.push((class, 0));
                }
                *count += 1;
            }
            for cell in &mut cells[first as usize..] {
                cell.1 = std::mem::take(&mut counts[usize::from(cell.0)]);
            }
            runs.push(ValueCount { code, n: end - begin, first, last: cells.len() as u32 });
            begin = end;
        }
    }
}

/// n log2 n.
pub(super) fn n_log_n(n: u32) -> f64 {
    static SMALL: std::sync::LazyLock<Vec<f64>> = std::sync::LazyLock::new(|| {
        (0..4096u32).map(|n| f64::from(n) * f64::from(n.max(1)).log2()).collect()
    });
    SMALL.get(n as usize).copied().unwrap_or_else(|| f64::from(n) * f64::from(n).log2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_counting_agree() {
        let codes: Vec<u16> = (0..1000u32).map(|i| (i * i % 17) as u16).collect();
        let classes: Vec<u16> = (0..1000u32).map(|i| (i * 7 % 5) as u16).collect();
        let (mut sorted, mut counted) = (Tally::default(), Tally::default());
        sorted.by_sorting(&codes, &classes);
        counted.by_counting(&codes, &classes, 20, 5);
        assert_eq!(sorted.runs, counted.runs);
        for run in &sorted.runs {
            let mut cells = counted.cells(run).to_vec();
            cells.sort_unstable();
            assert_eq!(sorted.cells(run), cells);
            assert_eq!(run.n, cells.iter().map(|cell| cell.1).sum::<u32>());
        }
    }
}
