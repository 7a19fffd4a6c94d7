//! CART (Breiman, Friedman, Olshen and Stone 1984): binary tests by impurity, on samples of the
//! instances as Kalt (2004, section 3.2).
//!
//! Kalt: "All features used were categorical, and all tests were binary", chosen by "using samples,
//! rather than all instances, to choose tests at each node". The paper leaves open which binary tests,
//! the impurity, the size of the samples and when growing ends: all are settings here.
//!
//! The two sides of a test on a nominal column are found by two-means clustering of its values (Chou 1991):
//! starting from the best cut through the values, sorted by the share of the majority class, each value
//! moves to the side whose class distribution is nearer, while the impurity decreases. With two classes the
//! first cut is optimal (Breiman et al. 1984, section 4.2). Numbers are split at a threshold.
//!
//! Thousands of words can be divided so as to separate any classes, and columns of words would win every
//! comparison. So the sides are chosen on one half of the sample, and columns are compared on the other.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use serde::{Deserialize, Serialize};

use super::grow::{Chooser, Test};
use super::impurity::{Impurity, Sides};
use super::table::{Block, Coding};
use super::tally::Tally;
use super::{prune, tree};
use crate::Result;
use crate::classifier::{Classifier, Fit, Instances, Learner, LearnerParams, Parts, ScoreScale};
use crate::memory::Sections;
use crate::parallel;

/// The question of a test on a nominal column.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Whether the value is in a set of values.
    Subset,
    /// Whether the value is a certain one.
    #[default]
    OneValue,
}

/// The settings of CART.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CartParams {
    /// Whether a test on a nominal column asks for one value or for a set of values.
    pub question: Question,
    /// The impurity that a test minimizes.
    pub impurity: Impurity,
    /// The number of instances sampled to choose the test of a node; 0 for all.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub sample: u32,
    /// The minimum number of instances in a leaf.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub min_leaf: u32,
    /// The number of errors on the training instances that a leaf must save; 0 prunes no leaf that saves
    /// any.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub complexity: f64,
    /// Words that occur less often than this in a column are ignored.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub min_word_count: u32,
    /// The weight, in instances, of the distribution of the parent node in that of a node; 0 for no
    /// smoothing.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub backoff: f64,
}

impl Default for CartParams {
    fn default() -> Self {
        Self {
            question: Question::default(),
            impurity: Impurity::default(),
            sample: 5000,
            min_leaf: 5,
            complexity: 1.0,
            min_word_count: 7,
            backoff: 1.0,
        }
    }
}

impl LearnerParams for CartParams {
    fn learner(&self, _parts: &Parts) -> Result<Box<dyn Learner>> {
        Ok(Box::new(self.clone()))
    }
}

impl Learner for CartParams {
    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let choice = Choice { params: self, seed: fit.seed };
        let (codings, mut nodes) = super::grow_tree(instances, self.min_word_count, &choice, fit)?;
        prune::cost_complexity(&mut nodes, self.complexity);
        super::finish(instances, &codings, &nodes, self.backoff, fit)
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        Ok(Box::new(tree::DecisionTree::load(sections)?))
    }
}

pub(super) struct Choice<'a> {
    pub(super) params: &'a CartParams,
    pub(super) seed: u64,
}

/// Minimum size of a sample whose columns are processed in parallel.
const MANY: usize = 1 << 15;

/// Scratch memory for one column.
#[derive(Default)]
struct Scratch {
    tally: Tally,
    judge: Tally,
    sides: Sides,
    codes: Vec<u16>,
}

/// Some of the instances of a node.
struct Part {
    at: Vec<u32>,
    classes: Vec<u16>,
    counts: Vec<u32>,
}

impl Part {
    fn new(block: &Block, at: Vec<u32>, n_classes: usize) -> Self {
        let classes: Vec<u16> = at.iter().map(|&at| block.classes[at as usize]).collect();
        let mut counts = super::dense_counts(&classes);
        counts.resize(n_classes, 0);
        Self { at, classes, counts }
    }

    fn count(&self, codes: &[u16], coding: &Coding, picked: &mut Vec<u16>, tally: &mut Tally) {
        picked.clear();
        picked.extend(self.at.iter().map(|&at| codes[at as usize]));
        tally.count(picked, &self.classes, coding, self.counts.len());
    }
}

impl Chooser for Choice<'_> {
    fn choose(&self, codings: &[Coding], block: &Block, node: u32) -> Option<(u16, Test)> {
        let sample = self.sample(block.len(), node);
        let n_classes = block.classes.iter().max().map_or(0, |&class| usize::from(class) + 1);
        let honest = self.params.question == Question::Subset;
        let (found_by, judged_by) = if honest {
            let half = |odd: usize| sample.iter().copied().skip(odd).step_by(2).collect();
            let judges = Part::new(block, half(1), n_classes);
            (Part::new(block, half(0), n_classes), Some(judges))
        } else {
            (Part::new(block, sample, n_classes), None)
        };
        let of_column = |scratch: &mut Scratch, (column, codes): &(u16, Vec<u16>)| {
            let Scratch { tally, judge, sides, codes: picked } = scratch;
            let coding = &codings[usize::from(*column)];
            found_by.count(codes, coding, picked, tally);
            let (mut purity, test) = self.best(coding, tally, &found_by.counts, sides)?;
            if let Some(part) = &judged_by {
                part.count(codes, coding, picked, judge);
                let (branches, _) = test.branches(coding.n_codes());
                sides.reset(self.params.impurity, &part.counts);
                for run in judge.runs.iter().filter(|run| branches[usize::from(run.code)] == 1) {
                    sides.move_run(judge, run, true);
                }
                purity = sides.purity(1)?;
            }
            Some((purity, *column, test))
        };
        let found: Vec<Option<(f64, u16, Test)>> = if found_by.classes.len() >= MANY {
            parallel::map_init(&block.columns, Scratch::default, of_column)
        } else {
            let mut scratch = Scratch::default();
            block.columns.iter().map(|column| of_column(&mut scratch, column)).collect()
        };
        let whole = &judged_by.as_ref().unwrap_or(&found_by).counts;
        let whole = self.params.impurity.purity_of(whole);
        let mut best: Option<(f64, u16, Test)> = None;
        for this in found.into_iter().flatten() {
            let gains = this.0 > whole + 1e-9 * whole.abs().max(1.0);
            if gains && best.as_ref().is_none_or(|best| this.0 > best.0) {
                best = Some(this);
            }
        }
        let (_, column, test) = best?;
        self.leaves_enough(&codings[usize::from(column)], block, column, &test)
            .then_some((column, test))
    }

    fn min_split(&self) -> usize {
        2 * self.params.min_leaf as usize
    }
}

impl Choice<'_> {
    /// The positions of the sampled instances, in order.
    fn sample(&self, n: usize, node: u32) -> Vec<u32> {
        let size = self.params.sample as usize;
        if size == 0 || n <= size {
            return (0..n as u32).collect();
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(node));
        let mut sample: Vec<u32> =
            index::sample(&mut rng, n, size).into_iter().map(|at| at as u32).collect();
        sample.sort_unstable();
        sample
    }

    /// Whether both sides of a test have the minimum number of instances of a leaf.
    fn leaves_enough(&self, coding: &Coding, block: &Block, column: u16, test: &Test) -> bool {
        let (branches, _) = test.branches(coding.n_codes());
        let codes = block.columns.iter().find(|(known, _)| *known == column);
        let yes =
            |codes: &[u16]| codes.iter().filter(|&&code| branches[usize::from(code)] == 1).count();
        let n_yes = codes.map_or(0, |(_, codes)| yes(codes));
        n_yes.min(block.len() - n_yes) >= self.params.min_leaf as usize
    }

    /// The best test of a column, and the purity of its two sides.
    fn best(
        &self,
        coding: &Coding,
        tally: &Tally,
        counts: &[u32],
        sides: &mut Sides,
    ) -> Option<(f64, Test)> {
        let CartParams { impurity, min_leaf, question, .. } = *self.params;
        let min_leaf = if question == Question::Subset { min_leaf.div_ceil(2) } else { min_leaf };
        sides.reset(impurity, counts);
        if coding.ordered {
            let order: Vec<usize> = (0..tally.runs.len()).collect();
            let (purity, cut) = sides.best_cut(tally, &order, min_leaf)?;
            return Some((purity, Test::AtMost(tally.runs[cut].code)));
        }
        if question == Question::OneValue {
            let mut best: Option<(f64, u16)> = None;
            for run in tally.runs.iter().filter(|run| run.code > 0) {
                sides.move_run(tally, run, true);
                let purity = sides.purity(min_leaf);
                sides.move_run(tally, run, false);
                if let Some(purity) = purity.filter(|&p| best.is_none_or(|best| p > best.0)) {
                    best = Some((purity, run.code));
                }
            }
            return best.map(|(purity, code)| (purity, Test::Equal(code)));
        }
        let (purity, yes) = sides.best_subset(tally, counts, min_leaf)?;
        let codes = |side: bool| {
            let of_side = tally.runs.iter().zip(&yes).filter(move |(_, yes)| **yes == side);
            of_side.map(|(run, _)| run.code).collect::<Vec<u16>>()
        };
        let n_yes: u32 =
            tally.runs.iter().zip(&yes).filter(|(_, yes)| **yes).map(|(run, _)| run.n).sum();
        let otherwise = 2 * n_yes > counts.iter().sum();
        Some((purity, Test::Among { yes: codes(true), no: codes(false), otherwise }))
    }
}
