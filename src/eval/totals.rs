//! Sums over sentences, and the percentages made of them.

use crate::eval::dependency::Attachments;
use crate::eval::percent::{f1, percent};
use crate::eval::sentence_score::{SentenceScore, Status};

/// Sums over sentences. Bracket, word and tag counts are those of valid sentences, as in EVALB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// All sentences.
    pub sentences: u64,
    /// Sentences left out because words or brackets do not fit.
    pub errors: u64,
    /// Sentences left out because the test tree has no words to score.
    pub skipped: u64,
    /// Gold brackets.
    pub gold: u64,
    /// Test brackets.
    pub test: u64,
    /// Brackets in both.
    pub matched: u64,
    /// Sentences with all brackets right and none too many.
    pub complete: u64,
    /// Words compared.
    pub words: u64,
    /// Words with the right tag.
    pub correct_tags: u64,
    /// Test brackets that cross gold ones.
    pub crossing: u64,
    /// Sentences without crossing brackets.
    pub no_crossing: u64,
    /// Sentences with at most two crossing brackets.
    pub two_crossing: u64,
    /// Gold brackets of the sentences left out.
    pub lost: u64,
    /// Heads compared.
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
                self.complete += u64::from(score.gold == score.test && score.test == score.matched);
                self.words += u64::from(score.words);
                self.correct_tags += u64::from(score.correct_tags);
                self.crossing += u64::from(score.crossing);
                self.no_crossing += u64::from(score.crossing == 0);
                self.two_crossing += u64::from(score.crossing <= 2);
            }
        }
    }

    /// Sentences neither in error nor skipped.
    pub fn valid(&self) -> u64 {
        self.sentences - self.errors - self.skipped
    }

    /// Labelled recall in percent; 0 where there is nothing to divide by, as everywhere here.
    pub fn recall(&self) -> f64 {
        percent(self.matched, self.gold)
    }

    /// Labelled precision in percent.
    pub fn precision(&self) -> f64 {
        percent(self.matched, self.test)
    }

    /// EVALB's F1 in percent: over valid sentences only.
    pub fn f1(&self) -> f64 {
        f1(self.precision(), self.recall())
    }

    /// F1 in percent with the sentences left out counted as empty parses: their gold brackets are missed.
    pub fn f1_failures_empty(&self) -> f64 {
        f1(self.precision(), percent(self.matched, self.gold + self.lost))
    }

    /// Complete matches in percent of the valid sentences.
    pub fn exact(&self) -> f64 {
        percent(self.complete, self.valid())
    }

    /// Words with the right tag in percent.
    pub fn tagging(&self) -> f64 {
        percent(self.correct_tags, self.words)
    }

    /// Crossing brackets per valid sentence.
    pub fn average_crossing(&self) -> f64 {
        if self.valid() == 0 { 0.0 } else { self.crossing as f64 / self.valid() as f64 }
    }

    /// Sentences without crossing brackets in percent of the valid ones.
    pub fn without_crossing(&self) -> f64 {
        percent(self.no_crossing, self.valid())
    }

    /// Sentences with at most two crossing brackets in percent of the valid ones.
    pub fn two_or_less_crossing(&self) -> f64 {
        percent(self.two_crossing, self.valid())
    }

    /// Valid sentences in percent of all: those whose test tree has words, and the words of the gold tree.
    ///
    /// Partial parses that a parser has made into a tree are valid here: a tree does not show them.
    pub fn coverage(&self) -> f64 {
        percent(self.valid(), self.sentences)
    }
}
