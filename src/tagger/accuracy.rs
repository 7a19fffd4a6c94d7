//! Tagging accuracy.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::tree::Token;

/// Counts of words and of correct tags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Words.
    pub words: u64,
    /// Words with the correct tag.
    pub right: u64,
    /// Words not seen in training.
    pub unseen: u64,
    /// Words not seen in training with the correct tag.
    pub unseen_right: u64,
}

impl Accuracy {
    /// The counts of a sentence; surplus words of the longer sequence do not count. `knows` tells whether a word was
    /// seen in training.
    pub fn of(gold: &[Token], predicted: &[Token], knows: impl Fn(&str) -> bool) -> Self {
        let mut accuracy = Self::default();
        for (gold, predicted) in gold.iter().zip(predicted) {
            let right = u64::from(gold.tag == predicted.tag);
            accuracy.words += 1;
            accuracy.right += right;
            if !knows(&gold.word) {
                accuracy.unseen += 1;
                accuracy.unseen_right += right;
            }
        }
        accuracy
    }

    /// The accuracy in percent; 0 if there are no words.
    pub fn percent(&self) -> f64 {
        100.0 * self.right as f64 / self.words.max(1) as f64
    }

    /// The accuracy on words not seen in training, in percent; 0 if there are none.
    pub fn unseen_percent(&self) -> f64 {
        100.0 * self.unseen_right as f64 / self.unseen.max(1) as f64
    }
}

impl AddAssign for Accuracy {
    fn add_assign(&mut self, other: Self) {
        self.words += other.words;
        self.right += other.right;
        self.unseen += other.unseen;
        self.unseen_right += other.unseen_right;
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.words == 0 {
            return f.write_str("- (no words)");
        }
        write!(f, "{:.2} % of {} words", self.percent(), self.words)?;
        match self.unseen {
            0 => f.write_str(", all of them seen in training"),
            n => write!(f, ", {:.2} % of {n} not seen in training", self.unseen_percent()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_were_not_seen_are_counted_apart() {
        let tokens = |tags: [&str; 3]| {
            ["a", "b", "c"].iter().zip(tags).map(|(w, t)| Token::new(*w, t)).collect::<Vec<_>>()
        };
        let gold = tokens(["X", "Y", "Z"]);
        let mut accuracy = Accuracy::of(&gold, &tokens(["X", "X", "Z"]), |word| word != "c");
        assert_eq!(accuracy, Accuracy { words: 3, right: 2, unseen: 1, unseen_right: 1 });
        accuracy += accuracy;
        assert_eq!(accuracy.to_string(), "66.67 % of 6 words, 100.00 % of 2 not seen in training");
        assert_eq!(Accuracy::default().to_string(), "- (no words)");
    }
}
