//! Which of several systems are right at the same time.

/// The maximum number of systems: their subsets are listed.
pub const MOST_SYSTEMS: usize = 6;
/// The names of the systems, in order.
pub const NAMES: [&str; MOST_SYSTEMS] = ["A", "B", "C", "D", "E", "F"];

/// For every subset of several systems, how often exactly these are right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    n_systems: usize,
    /// By subset: bit `i` stands for the system `i`.
    counts: Vec<u64>,
}

impl Agreement {
    /// No counts of `n_systems` systems, at most [`MOST_SYSTEMS`].
    ///
    /// # Panics
    /// If there are more.
    pub fn new(n_systems: usize) -> Self {
        assert!(n_systems <= MOST_SYSTEMS, "{n_systems} systems have too many subsets");
        Self { n_systems, counts: vec![0; 1 << n_systems] }
    }

    /// Counts one case: whether each system is right, in order.
    pub fn add(&mut self, right: impl IntoIterator<Item = bool>) {
        let bits = right.into_iter().take(self.n_systems).enumerate();
        let subset = bits.fold(0, |subset, (at, right)| subset | usize::from(right) << at);
        self.counts[subset] += 1;
    }

    /// The number of cases.
    pub fn number(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The names of the systems of each subset, and how often these and no others were right: larger subsets first,
    /// then in alphabetical order. The last subset is empty.
    pub fn subsets(&self) -> Vec<(Vec<&'static str>, u64)> {
        let members = |subset: usize| {
            let named = NAMES.iter().enumerate();
            named.filter(|(at, _)| subset >> at & 1 == 1).map(|(_, name)| *name).collect()
        };
        let counts = self.counts.iter().enumerate();
        let mut all: Vec<(Vec<&str>, u64)> =
            counts.map(|(subset, &count)| (members(subset), count)).collect();
        crate::sort::sort_by(&mut all, |(a, _), (b, _)| b.len().cmp(&a.len()).then(a.cmp(b)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_counted_under_one_subset() {
        let mut found = Agreement::new(3);
        for right in [[true, true, false], [true, true, false], [false, false, true], [false; 3]] {
            found.add(right);
        }
        let names = |subset: &Vec<&str>| subset.concat();
        let counts: Vec<(String, u64)> =
            found.subsets().iter().map(|(subset, count)| (names(subset), *count)).collect();
        let expected =
            [("ABC", 0), ("AB", 2), ("AC", 0), ("BC", 0), ("A", 0), ("B", 0), ("C", 1), ("", 1)];
        assert_eq!(counts, expected.map(|(names, count)| (names.to_owned(), count)));
        assert_eq!(found.number(), 4);
    }
}
