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
    /// For each gold label and each label of parses, in the order of `labels`, the brackets over the same words; last,
    /// those whose other label is not among `labels`, and those that the parses miss.
    pub rows: Vec<(Vec<u64>, u64, u64)>,
    /// For each label the spurious brackets of the parses.
    pub spurious: Vec<u64>,
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
                    changes.iter().find(|change| change.0 == gold.as_str() && change.1 == test);
                let right = if test == gold.as_str() { counts.gold_matched } else { 0 };
                right + same.map_or(0, |change| change.2)
            };
            let row: Vec<u64> = labels.iter().map(|(test, _)| count(test)).collect();
            let of_gold = changes.iter().filter(|change| change.0 == gold.as_str());
            let relabelled = of_gold.map(|change| change.2).sum::<u64>();
            let others = (relabelled + counts.gold_matched).saturating_sub(row.iter().sum());
            let missed = (counts.gold - counts.gold_matched).saturating_sub(relabelled);
            found.rows.push((row, others, missed));
            let to_test = changes.iter().filter(|change| change.1 == gold.as_str());
            let relabelled = to_test.map(|change| change.2).sum::<u64>();
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
        assert_eq!(found.rows[0], (vec![2, 0], 0, 0));
        assert_eq!(found.spurious, [1, 0]);
        let all = Confusion::new(&evaluation, &errors, 9);
        let adjp = all.labels.iter().position(|label| label == "ADJP").unwrap();
        assert_eq!(all.rows[adjp].0, [1, 0, 0, 0, 0]);
        for (label, (row, others, missed)) in all.labels.iter().zip(&all.rows) {
            let gold = evaluation.labels[label.as_str()].gold;
            assert_eq!(row.iter().sum::<u64>() + others + missed, gold, "{label}");
        }
    }
}
