//! C4.5 (Quinlan 1993, Release 8 as in Quinlan 1996): tests by gain ratio, pessimistic pruning.
//!
//! A test must leave at least two branches with `min_cases` instances each. Among the tests whose information
//! gain is at least the average over the columns, the one with the greatest gain ratio is chosen (Quinlan 1993,
//! section 2.2). Nominal columns branch on every value, or test for one value: `branch = "one-value"` treats each
//! value as a binary attribute, as the features of Wang, Sagae and Mitamura (2006) are. A column then enters the
//! average with its best value. In an average over all values, most of which are uninformative, tests would pass
//! that split off a handful of instances with the greatest gain ratio, and the tree would become a list as long
//! as the training data. Numbers are split at a threshold; their gain is reduced by log2(number of thresholds) ÷
//! number of instances (Quinlan 1996, section 3).
//!
//! Left out: subtree raising, grouping of values, windowing, unknown values (there are none).

use serde::{Deserialize, Serialize};

use super::grow::{Chooser, MANY, Test};
use super::table::{Block, Coding};
use super::tally::{Tally, n_log_n};
use super::{prune, tree};
use crate::Result;
use crate::classifier::{Classifier, Fit, Instances, Learner, LearnerParams, Parts, ScoreScale};
use crate::memory::Sections;
use crate::parallel;

/// How nominal columns are tested.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Branch {
    /// A branch for every value.
    #[default]
    EachValue,
    /// One value against all others.
    OneValue,
}

/// The settings of C4.5.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct C45Params {
    /// Whether a test on a nominal column has a branch for every value, or tests for one value.
    pub branch: Branch,
    /// The minimum number of instances in at least two branches of a test.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub min_cases: u32,
    /// The confidence of pessimistic pruning; smaller values prune more, 1 prunes nothing.
    #[schemars(extend("anyOf" = [{"exclusiveMinimum": 0.0, "maximum": 0.5}, {"const": 1.0}]))]
    pub confidence: f64,
    /// Words that occur less often than this in a column are ignored.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub min_word_count: u32,
    /// The weight, in instances, of the distribution of the parent node in that of a node; 0 for no
    /// smoothing.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub backoff: f64,
}

impl Default for C45Params {
    fn default() -> Self {
        Self {
            branch: Branch::default(),
            min_cases: 2,
            confidence: 0.25,
            min_word_count: 7,
            backoff: 1.0,
        }
    }
}

impl LearnerParams for C45Params {
    fn learner(&self, _parts: &Parts) -> Result<Box<dyn Learner>> {
        Ok(Box::new(self.clone()))
    }
}

impl Learner for C45Params {
    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let (codings, mut nodes) =
            super::grow_tree(instances, self.min_word_count, &Choice(self), fit)?;
        if self.confidence < 1.0 {
            prune::pessimistic(&mut nodes, self.confidence);
        }
        super::finish(instances, &codings, &nodes, self.backoff, fit)
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        Ok(Box::new(tree::DecisionTree::load(sections)?))
    }
}

/// A test, its information gain and its split information in bits.
#[derive(Debug, Clone)]
struct Candidate {
    column: u16,
    test: Test,
    gain: f64,
    split: f64,
}

/// Differences below this, in bits, are ignored.
const EPSILON: f64 = 1e-9;

pub(super) struct Choice<'a>(pub(super) &'a C45Params);

impl Chooser for Choice<'_> {
    fn choose(&self, codings: &[Coding], block: &Block, _node: u32) -> Option<(u16, Test)> {
        let counts = super::dense_counts(&block.classes);
        let of_column = |tally: &mut Tally, (column, codes): &(u16, Vec<u16>)| {
            let coding = &codings[usize::from(*column)];
            tally.count(codes, &block.classes, coding, counts.len());
            self.candidates(*column, coding, tally, &counts)
        };
        let tests: Vec<Vec<Candidate>> = if block.len() >= MANY {
            parallel::map_init(&block.columns, Tally::default, of_column)
        } else {
            let mut tally = Tally::default();
            block.columns.iter().map(|column| of_column(&mut tally, column)).collect()
        };
        let best_gain = |tests: &Vec<Candidate>| tests.iter().map(|c| c.gain).reduce(f64::max);
        let gains: Vec<f64> = tests.iter().filter_map(best_gain).collect();
        let average = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
        let mut best: Option<Candidate> = None;
        for candidate in tests.into_iter().flatten() {
            let ratio = |c: &Candidate| c.gain / c.split;
            let worth = candidate.gain > EPSILON && candidate.gain >= average - EPSILON;
            if worth && best.as_ref().is_none_or(|best| ratio(&candidate) > ratio(best)) {
                best = Some(candidate);
            }
        }
        best.map(|best| (best.column, best.test))
    }

    fn min_split(&self) -> usize {
        2 * self.0.min_cases as usize
    }
}

/// Σ n log2 n over the classes.
fn sum_of(cells: &[(u16, u32)]) -> f64 {
    cells.iter().map(|cell| n_log_n(cell.1)).sum()
}

impl Choice<'_> {
    /// The tests of a column that leave enough instances in two branches.
    fn candidates(
        &self,
        column: u16,
        coding: &Coding,
        tally: &Tally,
        counts: &[u32],
    ) -> Vec<Candidate> {
        let n: u32 = counts.iter().sum();
        let base: f64 = counts.iter().map(|&count| n_log_n(count)).sum();
        let entropy = n_log_n(n) - base;
        let candidate = |test, after: f64, split: f64| Candidate {
            column,
            test,
            gain: (entropy - after) / f64::from(n),
            split: split / f64::from(n),
        };
        if coding.ordered {
            return self.threshold(tally, counts, &candidate).into_iter().collect();
        }
        let min = self.0.min_cases;
        match self.0.branch {
            Branch::EachValue => {
                if tally.runs.iter().filter(|run| run.n >= min).count() < 2 {
                    return Vec::new();
                }
                let after = |run| sum_of(tally.cells(run));
                let after: f64 = tally.runs.iter().map(|run| n_log_n(run.n) - after(run)).sum();
                let split = n_log_n(n) - tally.runs.iter().map(|run| n_log_n(run.n)).sum::<f64>();
                let codes = tally.runs.iter().map(|run| run.code).collect();
                vec![candidate(Test::Which(codes), after, split)]
            }
            Branch::OneValue => {
                let large = tally
                    .runs
                    .iter()
                    .filter(|run| run.code > 0 && run.n >= min && n - run.n >= min);
                let test = |run: &super::tally::ValueCount| {
                    let cells = tally.cells(run);
                    let rest = |&(class, count): &(u16, u32)| {
                        let all = counts[usize::from(class)];
                        n_log_n(all - count) - n_log_n(all)
                    };
                    let rest = base + cells.iter().map(rest).sum::<f64>();
                    let sides = n_log_n(run.n) + n_log_n(n - run.n);
                    candidate(
                        Test::Equal(run.code),
                        sides - sum_of(cells) - rest,
                        n_log_n(n) - sides,
                    )
                };
                large.map(test).collect()
            }
        }
    }

    /// The threshold of greatest gain.
    fn threshold(
        &self,
        tally: &Tally,
        counts: &[u32],
        candidate: &dyn Fn(Test, f64, f64) -> Candidate,
    ) -> Option<Candidate> {
        let n: u32 = counts.iter().sum();
        let n_classes = counts.iter().filter(|&&count| count > 0).count() as u32;
        let min = (n / 10 / n_classes.max(1)).clamp(self.0.min_cases, self.0.min_cases.max(25));
        let mut below = vec![0u32; counts.len()];
        let (mut n_below, mut sum_below) = (0, 0.0);
        let mut sum_above: f64 = counts.iter().map(|&count| n_log_n(count)).sum();
        let mut tries = 0;
        let mut best: Option<Candidate> = None;
        for run in tally.runs.split_last().map_or(&[][..], |(_, runs)| runs) {
            for &(class, count) in tally.cells(run) {
                let (below, all) = (&mut below[usize::from(class)], counts[usize::from(class)]);
                sum_below -= n_log_n(*below);
                sum_above -= n_log_n(all - *below);
                *below += count;
                sum_below += n_log_n(*below);
                sum_above += n_log_n(all - *below);
            }
            n_below += run.n;
            if n_below < min || n - n_below < min {
                continue;
            }
            tries += 1;
            let sides = n_log_n(n_below) + n_log_n(n - n_below);
            let this = candidate(
                Test::AtMost(run.code),
                sides - sum_below - sum_above,
                n_log_n(n) - sides,
            );
            if best.as_ref().is_none_or(|best| this.gain > best.gain + EPSILON) {
                best = Some(this);
            }
        }
        let cost = f64::from(tries).log2() / f64::from(n);
        best.map(|best| Candidate { gain: best.gain - cost, ..best })
    }
}
