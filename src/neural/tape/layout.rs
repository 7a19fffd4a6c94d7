//! In which rows the words of a batch stand.

use std::cmp::Reverse;
use std::ops::Range;

use crate::sort::stable_sort_by_key;

/// The rows of a batch: first the first words of all sentences, then the second ones, and so on. The longest sentence
/// comes first, so those that still go on are the first rows of each step.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// The place of each sentence among those sorted by length.
    ranks: Vec<usize>,
    /// The first row of each step, and the number of rows.
    steps: Vec<usize>,
}

impl Layout {
    /// The rows of sentences of these lengths.
    pub fn new(lengths: &[usize]) -> Self {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        stable_sort_by_key(&mut order, |&sentence| Reverse(lengths[sentence]));
        let mut ranks = vec![0; lengths.len()];
        order.iter().enumerate().for_each(|(rank, &sentence)| ranks[sentence] = rank);
        let mut steps = vec![0];
        let (mut running, mut rows) = (lengths.len(), 0);
        for step in 0..lengths.iter().copied().max().unwrap_or(0) {
            while lengths[order[running - 1]] <= step {
                running -= 1;
            }
            rows += running;
            steps.push(rows);
        }
        Self { ranks, steps }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.steps.last().copied().unwrap_or(0)
    }

    /// The row of a word.
    pub fn row(&self, sentence: usize, position: usize) -> usize {
        self.steps[position] + self.ranks[sentence]
    }

    /// The rows of each step in the order of reading, and those of the words that were read before the first of them:
    /// none for words that are read first.
    pub(super) fn steps(
        &self,
        backwards: bool,
    ) -> impl DoubleEndedIterator<Item = (Range<usize>, Range<usize>)> {
        let n = self.steps.len().saturating_sub(1);
        let rows = move |step: usize| self.steps[step]..self.steps[step + 1];
        (0..n).map(move |at| {
            let step = if backwards { n - 1 - at } else { at };
            let before = if backwards { step + 1 } else { step.wrapping_sub(1) };
            let own = rows(step);
            let before = if before < n { rows(before) } else { 0..0 };
            let both = own.len().min(before.len());
            (own, before.start..before.start + both)
        })
    }
}
