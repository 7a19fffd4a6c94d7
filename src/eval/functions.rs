//! Scores of function tags: `SBJ` and `LOC` in `NP-SBJ-LOC-1`. Numbers are indices, not function tags.

use crate::eval::brackets::{Bracket, Bracketing};
use crate::eval::counts::Counts;
use crate::eval::sentence_score::Matches;

/// Scores of function tags, over the brackets that EVALB scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FunctionScores {
    /// Brackets, which match if span, label and all function tags do.
    pub brackets: Counts,
    /// Function tags of the brackets that match by span and label.
    pub tags: Counts,
}

impl FunctionScores {
    /// Adds a pair of sentences that was scored.
    pub(crate) fn add(&mut self, gold: &Bracketing<'_>, test: &Bracketing<'_>, matches: &Matches) {
        let count = |scored: &[Option<bool>]| scored.iter().flatten().count() as u64;
        self.brackets.gold += count(&matches.gold);
        self.brackets.test += count(&matches.test);
        for &(gold_at, test_at) in &matches.pairs {
            let gold = tags(&gold.brackets[gold_at as usize]);
            let found = Counts::common(gold, tags(&test.brackets[test_at as usize]));
            self.tags += found;
            let same = found.gold == found.gold_matched && found.test == found.test_matched;
            self.brackets.add_matched(u64::from(same));
        }
    }
}

/// The function tags of a bracket.
fn tags<'a>(bracket: &Bracket<'a>) -> impl Iterator<Item = &'a str> {
    let is_tag = |part: &&str| part.bytes().any(|byte| !byte.is_ascii_digit());
    bracket.functions.split(['-', '=']).filter(is_tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Evaluation, Params};

    #[test]
    fn brackets_match_with_all_their_function_tags() {
        let mut evaluation = Evaluation::new(Params::default(), None);
        evaluation.functions = Some(FunctionScores::default());
        let tree = |text: &str| text.parse().unwrap();
        let gold =
            tree("(TOP (S-1 (NP-SBJ-LOC=2 (A a)) (VP (B b) (NP-OBJ (C c)) (PP-TMP (D d)))))");
        let test =
            tree("(TOP (S (NP-LOC-SBJ (A a)) (VP (B b) (NP-SBJ-X (C c)) (ADVP-TMP (D d)))))");
        evaluation.add(&gold, &test);
        let FunctionScores { brackets, tags } = evaluation.functions.unwrap();
        // S, the first NP and VP match; PP does not match at all.
        assert_eq!((brackets.gold, brackets.test, brackets.gold_matched), (5, 5, 3));
        assert_eq!((tags.gold, tags.test, tags.gold_matched, tags.test_matched), (3, 4, 2, 2));
    }
}
