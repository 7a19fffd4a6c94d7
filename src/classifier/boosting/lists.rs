//! Lists of numbers, stored contiguously.

/// Marks a number that is left out.
pub(super) const OMITTED: u32 = u32::MAX;

/// Adds a weight to some of the sums.
#[inline]
pub(super) fn add(weight: i64, numbers: &[u32], sums: &mut [i64]) {
    for &number in numbers {
        sums[number as usize] += weight;
    }
}

/// A list of lists.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    ends: Vec<usize>,
    pub(super) entries: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { ends: vec![0], entries: Vec::new() }
    }
}

impl Lists {
    pub(super) fn len(&self) -> usize {
        self.ends.len() - 1
    }

    #[inline]
    pub(super) fn list(&self, at: usize) -> &[u32] {
        &self.entries[self.ends[at]..self.ends[at + 1]]
    }

    pub(super) fn end_list(&mut self) {
        self.ends.push(self.entries.len());
    }

    /// Adds the sum of each list to the sums of its entries, and resets it to 0.
    pub(super) fn distribute(&self, from: &mut [i64], to: &mut [i64]) {
        for (at, sum) in from.iter_mut().enumerate() {
            let sum = std::mem::take(sum);
            if sum != 0 {
                add(sum, self.list(at), to);
            }
        }
    }

    /// How often each number below `n` occurs, given the number of occurrences of each list.
    pub(super) fn counts(&self, times: &[u64], n: usize) -> Vec<u64> {
        let mut counts = vec![0; n];
        for (at, times) in times.iter().enumerate() {
            self.list(at).iter().for_each(|&entry| counts[entry as usize] += times);
        }
        counts
    }

    /// The total number of entries, given the number of occurrences of each list.
    pub(super) fn total(&self, times: &[u64]) -> u64 {
        let all = times.iter().enumerate();
        { all }.map(|(at, times)| self.list(at).len() as u64 * times).sum()
    }

    /// The same lists with other numbers, without entries that have none.
    pub(super) fn renumbered(&self, numbers: &[u32]) -> Self {
        let mut lists = Self::default();
        for at in 0..self.len() {
            let entries = self.list(at).iter().map(|&entry| numbers[entry as usize]);
            lists.entries.extend(entries.filter(|&number| number != OMITTED));
            lists.end_list();
        }
        lists.entries.shrink_to_fit();
        lists
    }

    /// For each number below `n`, the lists that contain it.
    pub(super) fn transposed(&self, n: usize) -> Self {
        let mut ends = vec![0; n + 1];
        for &entry in &self.entries {
            ends[entry as usize + 1] += 1;
        }
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let (mut next, mut entries) = (ends.clone(), vec![0; self.entries.len()]);
        for at in 0..self.len() {
            for &entry in self.list(at) {
                entries[next[entry as usize]] = at as u32;
                next[entry as usize] += 1;
            }
        }
        Self { ends, entries }
    }
}
