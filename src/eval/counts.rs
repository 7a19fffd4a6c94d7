//! Counts of brackets, and the scores they give.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Add, AddAssign};

use crate::eval::percent::{f1, percent};
use crate::eval::sentence_score::{SentenceScore, Status};

/// Counts of gold and test brackets: of a sentence, or in one row of a table. Two brackets that match by
/// `EQ_LABEL`, or with different numbers of children, are in different rows; therefore matches are counted on
/// both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Gold brackets.
    pub gold: u64,
    /// Matched gold brackets.
    pub gold_matched: u64,
    /// Test brackets.
    pub test: u64,
    /// Matched test brackets.
    pub test_matched: u64,
}

impl Counts {
    /// Returns the counts of a sentence; one that EVALB excludes counts as a parse without brackets.
    pub fn of(score: &SentenceScore) -> Self {
        let SentenceScore { gold, test, matched, lost, .. } = *score;
        if score.status == Status::Valid {
            let matched = matched.into();
            Self {
                gold: gold.into(),
                gold_matched: matched,
                test: test.into(),
                test_matched: matched,
            }
        } else {
            Self { gold: lost.into(), ..Self::default() }
        }
    }

    /// Returns the counts of what both sides have, each matched once.
    pub(crate) fn common<T: Eq + Hash>(
        gold: impl IntoIterator<Item = T>,
        test: impl IntoIterator<Item = T>,
    ) -> Self {
        let mut counts = Self::default();
        let mut free: HashMap<T, u64> = HashMap::new();
        for item in gold {
            counts.gold += 1;
            *free.entry(item).or_default() += 1;
        }
        for item in test {
            counts.test += 1;
            if let Some(left) = free.get_mut(&item).filter(|left| **left > 0) {
                *left -= 1;
                counts.add_matched(1);
            }
        }
        counts
    }

    /// Returns recall in percent.
    pub fn recall(&self) -> f64 {
        percent(self.gold_matched, self.gold)
    }

    /// Returns precision in percent.
    pub fn precision(&self) -> f64 {
        percent(self.test_matched, self.test)
    }

    /// Returns F1 in percent.
    pub fn f1(&self) -> f64 {
        f1(self.precision(), self.recall())
    }

    pub(crate) fn add_gold(&mut self, matched: bool) {
        self.gold += 1;
        self.gold_matched += u64::from(matched);
    }

    pub(crate) fn add_test(&mut self, matched: bool) {
        self.test += 1;
        self.test_matched += u64::from(matched);
    }

    /// Counts matches that are the same on both sides.
    pub(crate) fn add_matched(&mut self, matched: u64) {
        self.gold_matched += matched;
        self.test_matched += matched;
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            gold: self.gold + other.gold,
            gold_matched: self.gold_matched + other.gold_matched,
            test: self.test + other.test,
            test_matched: self.test_matched + other.test_matched,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
