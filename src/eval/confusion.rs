//! Which labels a parser confuses.

use crate::eval::error_counts::ErrorCounts;
use crate::eval::evaluation::Evaluation;
use crate::sort::stable_sort_by_key;
use std::cmp::Reverse;

/// The brackets of the most frequent labels by their label in the gold trees and in the parses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confusion {
    /// The labels, the one with the most gold brackets first.
    pub labels: Vec<String>,
    /// The gold brackets of each label, in the order of `labels`.
    pub rows: Vec<LabelConfusion>,
    /// For each label the spurious brackets of the parses.
    pub spurious: Vec<u64>,
}

/// The gold brackets of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelConfusion {
    /// By the label of the bracket over the same words in the parses, in the order of [`Confusion::labels`].
    pub by_label: Vec<u64>,
    /// Those with another label in the parses.
    pub others: u64,
    /// Those that the parses miss.
    pub missed: u64,
}

impl Confusion {
    /// Counts brackets of at most so many labels.
    pub fn new(evaluation: &Evaluation, errors: &ErrorCounts, most: usize) -> Self {
        let mut labels: Vec<_> = evaluation.labels.iter().collect();
        stable_sort_by_key(&mut labels, |(_, counts)| Reverse(counts.gold + counts.test));
        labels.truncate(most);
        stable_sort_by_key(&mut labels, |(_, counts)| Reverse(counts.gold));
        let changes = errors.relabelled();
        let mut found = Self::default();
        for (gold, counts) in &labels {
            let count = |test: &str| {
                let same =
                    changes.iter().find(|change| change.gold == *gold && change.test == test);
                let right = if test == gold.as_str() { counts.gold_matched } else { 0 };
                right + same.map_or(0, |change| change.count)
            };
            let by_label: Vec<u64> = labels.iter().map(|(test, _)| count(test)).collect();
            let of_gold = changes.iter().filter(|change| change.gold == *gold);
            let relabelled = of_gold.map(|change| change.count).sum::<u64>();
            let others = (relabelled + counts.gold_matched).saturating_sub(by_label.iter().sum());
            let missed = (counts.gold - counts.gold_matched).saturating_sub(relabelled);
            found.rows.push(LabelConfusion { by_label, others, missed });
            let to_test = changes.iter().filter(|change| change.test == *gold);
            let relabelled = to_test.map(|change| change.count).sum::<u64>();
            found.spurious.push((counts.test - counts.test_matched).saturating_sub(relabelled));
            found.labels.push(gold.to_string());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::error_counts::tests::counted;

    #[test]
    fn rows_add_up_to_the_gold_brackets_of_their_label() {
        let (evaluation, errors) = counted();
        let found = Confusion::new(&evaluation, &errors, 2);
        assert_eq!(found.labels, ["NP", "PP"]);
        assert_eq!(found.rows[0], LabelConfusion { by_label: vec![2, 0], others: 0, missed: 0 });
        assert_eq!(found.spurious, [1, 0]);
        let all = Confusion::new(&evaluation, &errors, 9);
        let adjp = all.labels.iter().position(|label| label == "ADJP").unwrap();
        assert_eq!(all.rows[adjp].by_label, [1, 0, 0, 0, 0]);
        for (label, row) in all.labels.iter().zip(&all.rows) {
            let gold = evaluation.labels[label.as_str()].gold;
            let sum = row.by_label.iter().sum::<u64>() + row.others + row.missed;
            assert_eq!(sum, gold, "{label}");
        }
    }
}
