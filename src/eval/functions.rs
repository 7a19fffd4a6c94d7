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
            let of = |side: &Bracketing<'_>, at: u32| tags(&side.brackets[at as usize]);
            let (gold, test) = (of(gold, gold_at), of(test, test_at));
            let shared = shared(&gold, &test);
            self.tags.gold += gold.len() as u64;
            self.tags.test += test.len() as u64;
            self.tags.add_matched(shared);
            let same = shared as usize == gold.len() && shared as usize == test.len();
            self.brackets.add_matched(u64::from(same));
        }
    }
}

/// The function tags of a bracket, sorted.
fn tags(bracket: &Bracket<'_>) -> Vec<String> {
    let is_tag = |part: &&str| part.bytes().any(|byte| !byte.is_ascii_digit());
    let parts = bracket.functions.split(['-', '=']).filter(|part| !part.is_empty());
    let mut tags: Vec<String> = parts.filter(is_tag).map(str::to_owned).collect();
    tags.sort_unstable();
    tags
}

/// How many items two sorted lists share.
fn shared(a: &[String], b: &[String]) -> u64 {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut shared = 0;
    while let (Some(left), Some(right)) = (a.peek(), b.peek()) {
        let order = left.cmp(right);
        shared += u64::from(order.is_eq());
        if order.is_le() {
            a.next();
        }
        if order.is_ge() {
            b.next();
        }
    }
    shared
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
