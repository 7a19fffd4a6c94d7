//! Totals over sentences, and the scores computed from them.

use crate::eval::dependency::Attachments;
use crate::eval::percent::{f1, percent};
use crate::eval::sentence_score::{SentenceScore, Status};

/// Totals over sentences. Counts of brackets, words and tags are those of valid sentences, as in EVALB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// All sentences.
    pub sentences: u64,
    /// Sentences excluded because the words differ or a line is malformed.
    pub errors: u64,
    /// Sentences excluded because the test tree has no words to score.
    pub skipped: u64,
    /// Gold brackets.
    pub gold: u64,
    /// Test brackets.
    pub test: u64,
    /// Matched brackets.
    pub matched: u64,
    /// Sentences whose brackets are exactly those of the gold tree.
    pub complete: u64,
    /// Words compared.
    pub words: u64,
    /// Words with the correct tag.
    pub correct_tags: u64,
    /// Test brackets that cross gold brackets.
    pub crossing: u64,
    /// Sentences without crossing brackets.
    pub no_crossing: u64,
    /// Sentences with at most two crossing brackets.
    pub two_crossing: u64,
    /// Gold brackets of excluded sentences.
    pub lost: u64,
    /// Correct attachments.
    #[doc(hidden)]
    pub attachments: Attachments,
}

impl Totals {
    /// Adds a sentence.
    pub fn add(&mut self, score: &SentenceScore) {
        self.sentences += 1;
        self.lost += u64::from(score.lost);
        self.attachments += score.attachments;
        match score.status {
            Status::Error => self.errors += 1,
            Status::Skipped => self.skipped += 1,
            Status::Valid => {
                self.gold += u64::from(score.gold);
                self.test += u64::from(score.test);
                self.matched += u64::from(score.matched);
                self.complete += u64::from(score.is_exact());
                self.words += u64::from(score.words);
                self.correct_tags += u64::from(score.correct_tags);
                self.crossing += u64::from(score.crossing);
                self.no_crossing += u64::from(score.crossing == 0);
                self.two_crossing += u64::from(score.crossing <= 2);
            }
        }
    }

    /// Returns the number of sentences that are neither errors nor skipped.
    pub fn valid(&self) -> u64 {
        self.sentences - self.errors - self.skipped
    }

    /// Returns labelled recall in percent. Like all scores here, it is 0 if there is nothing to divide by.
    pub fn recall(&self) -> f64 {
        percent(self.matched, self.gold)
    }

    /// Returns labelled precision in percent.
    pub fn precision(&self) -> f64 {
        percent(self.matched, self.test)
    }

    /// Returns EVALB's F1 in percent, over valid sentences only.
    pub fn f1(&self) -> f64 {
        f1(self.precision(), self.recall())
    }

    /// Returns F1 in percent, with excluded sentences counted as empty parses whose gold brackets are missed.
    pub fn f1_failures_empty(&self) -> f64 {
        f1(self.precision(), percent(self.matched, self.gold + self.lost))
    }

    /// Returns exact matches in percent of the valid sentences.
    pub fn exact(&self) -> f64 {
        percent(self.complete, self.valid())
    }

    /// Returns tagging accuracy in percent.
    pub fn tagging(&self) -> f64 {
        percent(self.correct_tags, self.words)
    }

    /// Returns the average number of crossing brackets per valid sentence.
    pub fn average_crossing(&self) -> f64 {
        if self.valid() == 0 { 0.0 } else { self.crossing as f64 / self.valid() as f64 }
    }

    /// Returns the valid sentences without crossing brackets, in percent.
    pub fn without_crossing(&self) -> f64 {
        percent(self.no_crossing, self.valid())
    }

    /// Returns the valid sentences with at most two crossing brackets, in percent.
    pub fn two_or_less_crossing(&self) -> f64 {
        percent(self.two_crossing, self.valid())
    }

    /// Returns the valid sentences in percent of all: those whose test tree has words, and the same words as gold.
    ///
    /// Partial parses that the parser completed into a tree are valid, since a tree does not show this.
    pub fn coverage(&self) -> f64 {
        percent(self.valid(), self.sentences)
    }
}
