//! The evaluation of a treebank: totals, and tables by label, by number of children and by length.

use std::collections::BTreeMap;

use compact_str::CompactString;

use crate::eval::bracket_filter::BracketFilter;
use crate::eval::brackets::{Bracket, Bracketing};
use crate::eval::counts::Counts;
use crate::eval::dependency;
use crate::eval::difference::Difference;
use crate::eval::functions::FunctionScores;
use crate::eval::gold_tags;
use crate::eval::params::Params;
use crate::eval::sentence_score::{self, Matches, SentenceScore, Status};
use crate::eval::totals::Totals;
use crate::tree::Tree;
use crate::tree::heads::HeadRules;

/// The rows of the table by number of children.
pub const CHILDREN: [&str; 6] = ["1", "2", "3", "4", "5", "6+"];

/// The rows of the table by sentence length, each with its maximum length.
pub const LENGTHS: [(&str, u32); 4] =
    [("1-10", 10), ("11-20", 20), ("21-40", 40), ("41+", u32::MAX)];

/// The evaluation of a treebank, built pair by pair.
///
/// ```
/// use srparse::eval::{Evaluation, Params};
/// use srparse::tree::TreeBuilder;
/// let mut builder = TreeBuilder::new();
/// builder.open("TOP");
/// builder.open("NP");
/// builder.token("dogs", "NNS");
/// builder.close();
/// builder.close();
/// let tree = builder.finish();
///
/// let mut evaluation = Evaluation::new(Params::default(), None);
/// evaluation.add(&tree, &tree);
/// assert_eq!(evaluation.all.f1(), 100.0);
/// ```
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The evaluation parameters.
    pub params: Params,
    /// The head rules for dependency accuracy; `None` to leave it out.
    pub heads: Option<HeadRules>,
    /// Whether test trees are scored with the tags of the gold trees; tagging accuracy is still that of the test
    /// trees. Lines are always scored with their own tags.
    pub gold_tags: bool,
    /// The scores of function tags; `None` to leave them out. Lines have none.
    #[doc(hidden)]
    pub functions: Option<FunctionScores>,
    /// All sentences.
    pub all: Totals,
    /// The sentences up to the cut-off length.
    pub short: Totals,
    /// Brackets by label.
    pub labels: BTreeMap<CompactString, Counts>,
    /// Brackets by number of children, with the rows of [`CHILDREN`]: for recall, the children of the gold
    /// bracket; for precision, those of the test bracket. Children without a word (traces) are not counted.
    pub children: [Counts; CHILDREN.len()],
    /// Sentences by length, with the rows of [`LENGTHS`].
    pub lengths: [Totals; LENGTHS.len()],
}

impl Evaluation {
    /// Returns an empty evaluation.
    pub fn new(params: Params, heads: Option<HeadRules>) -> Self {
        Self {
            params,
            heads,
            gold_tags: false,
            functions: None,
            all: Totals::default(),
            short: Totals::default(),
            labels: BTreeMap::new(),
            children: Default::default(),
            lengths: Default::default(),
        }
    }

    /// The evaluation of pairs of a gold and a test tree; heads are not compared.
    pub fn of<'t>(pairs: impl IntoIterator<Item = (&'t Tree, &'t Tree)>, params: &Params) -> Self {
        let mut evaluation = Self::new(params.clone(), None);
        for (gold, test) in pairs {
            evaluation.add(gold, test);
        }
        evaluation
    }

    /// Scores a test tree against its gold tree and adds the score. Roots labelled `ROOT`, `S1`, `VROOT` or
    /// without a label are treated as `TOP`; the trees are not changed.
    pub fn add(&mut self, gold: &Tree, test: &Tree) -> SentenceScore {
        self.add_with(gold, test, |scored| scored.score.clone())
    }

    /// As [`Evaluation::add`], with a look at the pair that was scored.
    #[doc(hidden)]
    pub fn add_with<R>(
        &mut self,
        gold: &Tree,
        test: &Tree,
        look: impl FnOnce(&ScoredPair<'_, '_>) -> R,
    ) -> R {
        let retagged =
            if self.gold_tags { gold_tags::retag(gold, test, &self.params) } else { None };
        let test = retagged.as_ref().map_or(test, |retagged| &retagged.test);
        let mut gold_brackets = Bracketing::from_tree(gold, &self.params);
        let mut test_brackets = Bracketing::from_tree(test, &self.params);
        let (mut score, matches) =
            sentence_score::score(&mut gold_brackets, &mut test_brackets, &self.params);
        if let Some(retagged) = retagged.as_ref().filter(|_| score.status == Status::Valid) {
            score.correct_tags = retagged.correct;
        }
        if let Some(rules) = &self.heads {
            score.attachments = dependency::attachments(gold, test, rules, &self.params);
        }
        self.count(&score, &gold_brackets, &test_brackets, &matches);
        look(&ScoredPair {
            score,
            gold: (gold, &gold_brackets),
            test: (test, &test_brackets),
            matches: &matches,
            params: &self.params,
        })
    }

    /// Scores two lines as EVALB reads them, and adds the score.
    pub fn add_lines(&mut self, gold: &str, test: &str) -> SentenceScore {
        let mut gold = Bracketing::from_line(gold, &self.params);
        let mut test = Bracketing::from_line(test, &self.params);
        let (score, matches) = sentence_score::score(&mut gold, &mut test, &self.params);
        self.count(&score, &gold, &test, &matches);
        score
    }

    fn count(
        &mut self,
        score: &SentenceScore,
        gold: &Bracketing<'_>,
        test: &Bracketing<'_>,
        matches: &Matches,
    ) {
        self.all.add(score);
        if score.length <= self.params.cutoff {
            self.short.add(score);
        }
        let row = LENGTHS.iter().position(|&(_, longest)| score.length <= longest);
        self.lengths[row.unwrap_or(LENGTHS.len() - 1)].add(score);
        if score.status != Status::Valid {
            return;
        }
        if let Some(functions) = &mut self.functions {
            functions.add(gold, test, matches);
        }
        for (bracket, matched) in scored(gold, &matches.gold) {
            self.label(bracket.label).add_gold(matched);
            self.children[children_row(bracket)].add_gold(matched);
        }
        for (bracket, matched) in scored(test, &matches.test) {
            self.label(bracket.label).add_test(matched);
            self.children[children_row(bracket)].add_test(matched);
        }
    }

    fn label(&mut self, label: &str) -> &mut Counts {
        self.labels.entry(label.into()).or_default()
    }
}

/// A gold and a test tree that were scored.
#[derive(Debug)]
pub struct ScoredPair<'a, 't> {
    /// The score.
    pub score: SentenceScore,
    gold: (&'a Tree, &'a Bracketing<'t>),
    test: (&'a Tree, &'a Bracketing<'t>),
    matches: &'a Matches,
    params: &'a Params,
}

impl ScoredPair<'_, '_> {
    fn is_valid(&self) -> bool {
        self.score.status == Status::Valid
    }

    /// What differs, unless the pair is excluded.
    pub fn difference(&self) -> Option<Difference> {
        self.is_valid().then(|| Difference::new(self.gold, self.test, self.matches, self.params))
    }

    /// Whether each gold bracket was matched, `None` for those that are not scored, unless the pair is excluded.
    pub fn gold_matches(&self) -> Option<Vec<Option<bool>>> {
        self.is_valid().then(|| self.matches.gold.clone())
    }

    /// The counts of the brackets that `filter` contains. An excluded pair counts as a parse without brackets.
    pub fn count(&self, filter: &BracketFilter) -> Counts {
        let mut counts = Counts::default();
        if !self.is_valid() {
            let gold = Bracketing::from_tree(self.gold.0, self.params);
            let lost = gold.brackets.iter().filter(|b| b.counts(self.params) && filter.contains(b));
            counts.gold = lost.count() as u64;
            return counts;
        }
        for (bracket, matched) in scored(self.gold.1, &self.matches.gold) {
            if filter.contains(bracket) {
                counts.add_gold(matched);
            }
        }
        for (bracket, matched) in scored(self.test.1, &self.matches.test) {
            if filter.contains(bracket) {
                counts.add_test(matched);
            }
        }
        counts
    }
}

/// The brackets that were scored, with whether they were matched.
fn scored<'b, 'a>(
    side: &'b Bracketing<'a>,
    matched: &'b [Option<bool>],
) -> impl Iterator<Item = (&'b Bracket<'a>, bool)> {
    side.brackets.iter().zip(matched).filter_map(|(bracket, &matched)| Some((bracket, matched?)))
}

/// Returns the row of [`CHILDREN`] of a bracket.
pub(crate) fn children_row(bracket: &Bracket<'_>) -> usize {
    (bracket.children.max(1) as usize - 1).min(CHILDREN.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(pairs: &[(&str, &str)]) -> Evaluation {
        let mut evaluation = Evaluation::new(Params::default(), None);
        for (gold, test) in pairs {
            evaluation.add_lines(gold, test);
        }
        evaluation
    }

    #[test]
    fn a_match_by_equivalence_is_counted_under_each_sides_own_label() {
        let found = evaluation(&[("(ADVP (RB up))", "(PRT (RB up))")]);
        let row = |gold, gold_matched, test, test_matched| Counts {
            gold,
            gold_matched,
            test,
            test_matched,
        };
        assert_eq!(found.labels["ADVP"], row(1, 1, 0, 0));
        assert_eq!(found.labels["PRT"], row(0, 0, 1, 1));
    }

    #[test]
    fn children_are_counted_on_each_side_without_traces_but_with_punctuation() {
        let gold = "(S (NP (-NONE- *)) (VP (VB go) (ADVP (RB up) (-NONE- *))) (. .))";
        let found = evaluation(&[(gold, "(S (VP (VB go) (ADVP (RB up))))")]);
        let gold: Vec<u64> = found.children.iter().map(|row| row.gold).collect();
        let test: Vec<u64> = found.children.iter().map(|row| row.test).collect();
        // Gold: ADVP has 1, VP and S have 2; test: ADVP and S have 1, VP has 2.
        assert_eq!((gold, test), (vec![1, 2, 0, 0, 0, 0], vec![2, 1, 0, 0, 0, 0]));
        assert_eq!(found.all.f1(), 100.0);
    }

    #[test]
    fn many_children_share_the_last_row() {
        let flat = format!("(X {})", "(NN a)".repeat(80));
        assert_eq!(evaluation(&[(&flat, &flat)]).children[5].gold, 1);
    }

    #[test]
    fn sentences_fall_into_rows_and_the_short_summary_by_gold_length() {
        let sentences: Vec<String> = [10, 11, 20, 21, 40, 41]
            .iter()
            .map(|&n| format!("(X {})", "(NN a)".repeat(n)))
            .collect();
        let pairs: Vec<(&str, &str)> = sentences.iter().map(|s| (s.as_str(), s.as_str())).collect();
        let found = evaluation(&pairs);
        assert_eq!(found.lengths.map(|row| row.sentences), [1, 2, 2, 1]);
        assert_eq!((found.all.sentences, found.short.sentences), (6, 5));
    }

    #[test]
    fn failures_count_as_empty_parses_beside_evalbs_figure() {
        let good = ("(S (NP (NN a)))", "(S (NP (NN a)))");
        let found = evaluation(&[good, (good.0, "(())"), (good.0, "(S (NN b))")]);
        assert_eq!((found.all.skipped, found.all.errors, found.all.lost), (1, 1, 4));
        assert_eq!(found.all.f1(), 100.0);
        // Precision 2 of 2, recall 2 of 6.
        assert_eq!(found.all.f1_failures_empty(), 50.0);
        assert!((found.all.coverage() - 100.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn gold_tags_decide_which_words_count_but_not_which_were_tagged_right() {
        use crate::tree::TreeBuilder;
        let tree = |tags: &[&str]| {
            let mut builder = TreeBuilder::new();
            builder.open("TOP");
            builder.open("S");
            for (word, tag) in ["they", "sing", "*", "."].iter().zip(tags) {
                builder.token(*word, *tag);
            }
            builder.close();
            builder.close();
            builder.finish()
        };
        let gold = tree(&["PRP", "VBP", "-NONE-", "."]);
        // A stop tagged as a noun is one more word; a verb tagged as a stop is one less.
        for tags in [["PRP", "NN", "-NONE-", "NN"], ["PRP", ".", "-NONE-", "."]] {
            let test = tree(&tags);
            let mut evaluation = Evaluation::new(Params::default(), None);
            assert_eq!(evaluation.add(&gold, &test).status, Status::Error);
            evaluation = Evaluation::new(Params::default(), None);
            evaluation.gold_tags = true;
            let score = evaluation.add(&gold, &test);
            assert_eq!(
                (score.status, score.matched, score.gold, score.test),
                (Status::Valid, 1, 1, 1)
            );
            assert_eq!((score.words, score.correct_tags), (2, 1));
        }
        // Other numbers of words stay an error.
        let mut evaluation = Evaluation::new(Params::default(), None);
        evaluation.gold_tags = true;
        let shorter = tree(&["PRP", "VBP", "-NONE-"]);
        assert_eq!(evaluation.add(&gold, &shorter).status, Status::Valid);
        assert_eq!(evaluation.add(&gold, &tree(&["PRP"])).status, Status::Error);
    }

    #[test]
    fn roots_with_other_names_are_taken_as_top() {
        let (mut trees, labels) = (Vec::new(), ["TOP", "ROOT", "S1", "VROOT", ""]);
        for label in labels {
            let mut builder = crate::tree::TreeBuilder::new();
            builder.open(label);
            builder.open("NP");
            builder.token("a", "NN");
            builder.close();
            builder.close();
            trees.push(builder.finish());
        }
        for (tree, label) in trees.iter().zip(labels) {
            let found = Evaluation::of([(&trees[0], tree)], &Params::default());
            assert_eq!((found.all.gold, found.all.test, found.all.f1()), (1, 1, 100.0), "{label}");
        }
    }
}
