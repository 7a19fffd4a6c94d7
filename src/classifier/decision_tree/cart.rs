//! CART (Breiman, Friedman, Olshen and Stone 1984): binary tests by impurity, on samples of the
//! instances as Kalt (2004, section 3.2).
//!
//! Kalt: "All features used were categorical, and all tests were binary", chosen by "using samples,
//! rather than all instances, to choose tests at each node". The paper leaves open which binary tests,
//! the impurity, the size of the samples and when growing ends: all are settings here.
//!
//! The two sides of a nominal column are found by two-means over its values (Chou 1991): starting from
//! the best cut through the values in order of the share of the commonest class, each value moves to the
//! side whose distribution of classes is nearer, while the impurity falls. With two classes the first
//! cut is the best there is (Breiman et al. 1984, section 4.2). Numbers are split at a threshold.

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::grow::{Chooser, Test};
use super::impurity::{Impurity, Sides};
use super::table::{Block, Coding};
use super::tally::Tally;
use super::{prune, tree};
use crate::classifier::{Classifier, Fit, Instances, Learner, Setting};
use crate::memory::Sections;
use crate::{Error, Result};

/// What nominal columns are asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Whether the value is one of a set.
    #[default]
    Subset,
    /// Whether it is a certain value.
    OneValue,
}

/// The settings of CART.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CartParams {
    /// What nominal columns are asked.
    pub question: Question,
    /// What a test should make least.
    pub impurity: Impurity,
    /// How many instances the test of a node is chosen by; 0 for all.
    pub sample: u32,
    /// The fewest instances of a leaf; at least 1.
    pub min_leaf: u32,
    /// How many errors on the training instances a leaf must save; 0 prunes nothing that saves one.
    pub complexity: f64,
    /// Words are ignored that occur in a column less often than this.
    pub min_word_count: u32,
    /// How many instances the distribution above counts for in that of a node; 0 is no smoothing.
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

impl CartParams {
    /// The settings, explained.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "question",
            range: "subset or one-value",
            help: "whether a test asks for a set of values or for one",
        },
        Setting {
            key: "impurity",
            range: "gini or entropy",
            help: "what a test should make least",
        },
        Setting {
            key: "sample",
            range: "0 or more",
            help: "instances by which the test of a node is chosen; 0 for all",
        },
        Setting { key: "min_leaf", range: "1 or more", help: "the fewest instances of a leaf" },
        Setting {
            key: "complexity",
            range: "0 or more",
            help: "errors on the training instances that a leaf must save",
        },
        Setting {
            key: "min_word_count",
            range: "0 or more",
            help: "words are ignored that occur in a column less often",
        },
        Setting { key: "backoff", range: "0 or more", help: super::BACKOFF_HELP },
    ];

    /// Checks the settings.
    ///
    /// # Errors
    /// Naming the key and its range.
    pub fn check(&self) -> Result<()> {
        if self.min_leaf == 0 {
            return Err(Error::config("learner.min_leaf", "must be at least 1"));
        }
        if !(self.complexity.is_finite() && self.complexity >= 0.0) {
            return Err(Error::config("learner.complexity", "must be a number of errors: 0 or more"));
        }
        super::check_backoff(self.backoff)
    }
}

/// Learns a decision tree as CART does.
#[derive(Debug, Clone, Default)]
pub struct Cart {
    /// The settings.
    pub params: CartParams,
}

impl Learner for Cart {
    fn fit(&self, instances: &Instances, fit: &mut Fit<'_>) -> Result<Box<dyn Classifier>> {
        self.params.check()?;
        let choice = Choice { params: &self.params, seed: fit.seed };
        let (codings, mut nodes) =
            super::grow_tree(instances, self.params.min_word_count, &choice, fit)?;
        prune::cost_complexity(&mut nodes, self.params.complexity);
        super::finish(instances, &codings, &nodes, self.params.backoff, fit)
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        Ok(Box::new(tree::DecisionTree::load(sections)?))
    }
}

struct Choice<'a> {
    params: &'a CartParams,
    seed: u64,
}

/// From so many instances in the sample on, columns are worked on in parallel.
const MANY: usize = 1 << 15;

/// Memory for one column.
#[derive(Default)]
struct Scratch {
    tally: Tally,
    codes: Vec<u16>,
    sides: Sides,
}

impl Chooser for Choice<'_> {
    fn choose(&self, codings: &[Coding], block: &Block, node: u32) -> Option<(u16, Test)> {
        let sample = self.sample(block.len(), node);
        let sampled;
        let classes = match &sample {
            None => &block.classes,
            Some(sample) => {
                sampled = sample.iter().map(|&at| block.classes[at as usize]).collect();
                &sampled
            }
        };
        let counts = super::dense_counts(classes);
        let of_column = |scratch: &mut Scratch, (column, codes): &(u16, Vec<u16>)| {
            let Scratch { tally, codes: picked, sides } = scratch;
            let coding = &codings[usize::from(*column)];
            let codes = match &sample {
                None => codes,
                Some(sample) => {
                    picked.clear();
                    picked.extend(sample.iter().map(|&at| codes[at as usize]));
                    picked
                }
            };
            tally.count(codes, classes, coding, counts.len());
            let (purity, test) = self.best(coding, tally, &counts, sides)?;
            Some((purity, *column, test))
        };
        let found: Vec<Option<(f64, u16, Test)>> = if classes.len() >= MANY {
            block.columns.par_iter().map_init(Scratch::default, of_column).collect()
        } else {
            let mut scratch = Scratch::default();
            block.columns.iter().map(|column| of_column(&mut scratch, column)).collect()
        };
        let whole = self.params.impurity.purity_of(&counts);
        let mut best: Option<(f64, u16, Test)> = None;
        for this in found.into_iter().flatten() {
            let gains = this.0 > whole + 1e-9 * whole.abs().max(1.0);
            if gains && best.as_ref().is_none_or(|best| this.0 > best.0) {
                best = Some(this);
            }
        }
        best.map(|(_, column, test)| (column, test))
    }

    fn min_split(&self) -> usize {
        2 * self.params.min_leaf as usize
    }
}

impl Choice<'_> {
    /// The positions of the instances that the test of a node is chosen by, in order; none for all.
    fn sample(&self, n: usize, node: u32) -> Option<Vec<u32>> {
        let size = self.params.sample as usize;
        if size == 0 || n <= size {
            return None;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(u64::from(node));
        let mut sample: Vec<u32> =
            index::sample(&mut rng, n, size).into_iter().map(|at| at as u32).collect();
        sample.sort_unstable();
        Some(sample)
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
