//! Counts of errors by class, and of changes of labels.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use compact_str::CompactString;

use crate::eval::difference::{Difference, ErrorClass};
use crate::eval::percent::{f1, percent};
use crate::eval::totals::Totals;
use crate::sort::stable_sort_by_key;
use crate::tree::{NodeId, Tree, base_label};

/// Counts of one class of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClassCounts {
    /// Errors.
    pub errors: u64,
    /// Missed brackets that belong to them.
    pub missed: u64,
    /// Spurious brackets that belong to them.
    pub spurious: u64,
}

impl ClassCounts {
    /// Returns the F1, in percent, if these errors were mended and all others remained.
    pub fn f1_mended(&self, totals: &Totals) -> f64 {
        let matched = totals.matched + self.missed;
        let test = (totals.test + self.missed).saturating_sub(self.spurious);
        f1(percent(matched, test), percent(matched, totals.gold))
    }
}

/// Counts of errors over many sentences.
#[derive(Debug, Clone, Default)]
pub struct ErrorCounts {
    classes: [ClassCounts; ErrorClass::ALL.len()],
    /// How often a gold label was replaced by another, without functions and indices.
    labels: BTreeMap<(CompactString, CompactString), u64>,
}

/// How often brackets of one gold label have another label in the parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relabelled<'a> {
    /// The label in the gold trees.
    pub gold: &'a str,
    /// The label in the parses.
    pub test: &'a str,
    /// The number of brackets.
    pub count: u64,
}

impl ErrorCounts {
    /// Adds the errors of a sentence.
    pub fn add(&mut self, gold: &Tree, test: &Tree, difference: &Difference) {
        for error in &difference.errors {
            let counts = &mut self.classes[error.class as usize];
            counts.errors += 1;
            counts.missed += error.missed.len() as u64;
            counts.spurious += error.spurious.len() as u64;
            if error.class == ErrorClass::DifferentLabel {
                for (&gold_id, &test_id) in error.missed.iter().zip(&error.spurious) {
                    let label = |tree: &Tree, id: NodeId| base_label(&tree.node(id).label).into();
                    *self
                        .labels
                        .entry((label(gold, gold_id), label(test, test_id)))
                        .or_default() += 1;
                }
            }
        }
    }

    /// Returns the counts of a class.
    pub fn of(&self, class: ErrorClass) -> &ClassCounts {
        &self.classes[class as usize]
    }

    /// Returns the classes, the one with the most wrong brackets first.
    pub fn by_brackets(&self) -> Vec<(ErrorClass, &ClassCounts)> {
        let mut classes: Vec<_> =
            ErrorClass::ALL.iter().map(|&class| (class, self.of(class))).collect();
        stable_sort_by_key(&mut classes, |(_, counts)| Reverse(counts.missed + counts.spurious));
        classes
    }

    /// Returns the changes of labels, the most frequent first.
    pub fn relabelled(&self) -> Vec<Relabelled<'_>> {
        let mut changes: Vec<_> = (self.labels.iter())
            .map(|((gold, test), &count)| Relabelled { gold, test, count })
            .collect();
        stable_sort_by_key(&mut changes, |change| Reverse(change.count));
        changes
    }
}

#[cfg(test)]
pub(in crate::eval) mod tests {
    use super::*;
    use crate::eval::{Evaluation, Params};

    /// A parse with a PP attached too low and an ADJP that became an NP.
    pub(in crate::eval) fn counted() -> (Evaluation, ErrorCounts) {
        let gold: Tree = "(TOP (S (NP (NN a)) (VP (VB b) (ADJP (JJ c)) (PP (IN d) (NP (NN e))))))"
            .parse()
            .unwrap();
        let test: Tree =
            "(TOP (S (NP (NN a)) (VP (VB b) (NP (NP (JJ c)) (PP (IN d) (NP (NN e)))))))"
                .parse()
                .unwrap();
        let mut evaluation = Evaluation::new(Params::default(), None);
        let difference = evaluation.add_with(&gold, &test, |pair| pair.difference());
        let mut counts = ErrorCounts::default();
        counts.add(&gold, &test, &difference.unwrap());
        (evaluation, counts)
    }

    #[test]
    fn mending_all_classes_gives_the_gold_brackets() {
        let (evaluation, counts) = counted();
        assert_eq!(counts.relabelled(), [Relabelled { gold: "ADJP", test: "NP", count: 1 }]);
        let sum = counts.by_brackets().into_iter().fold(ClassCounts::default(), |sum, (_, one)| {
            ClassCounts {
                errors: sum.errors + one.errors,
                missed: sum.missed + one.missed,
                spurious: sum.spurious + one.spurious,
            }
        });
        assert_eq!(sum, ClassCounts { errors: 2, missed: 1, spurious: 2 });
        assert_eq!(sum.f1_mended(&evaluation.all), 100.0);
        let labels = counts.of(ErrorClass::DifferentLabel).f1_mended(&evaluation.all);
        assert!(evaluation.all.f1() < labels && labels < 100.0);
    }
}
