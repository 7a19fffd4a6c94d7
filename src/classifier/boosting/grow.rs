//! Growing trees one after the other: a node is split while some split reduces Z enough.

use rustc_hash::FxHashMap;

use super::BoostingParams;
use super::candidates::Example;
use super::design::{Design, Test};
use super::ensemble::{Ensemble, Growing, LEAF, STEPS};
use super::sample::{Histogram, Node, Sample, Totals};

/// Grows the trees of one label.
#[derive(Debug)]
pub(super) struct Grower<'a> {
    sample: Sample<'a>,
    tests: &'a [Test],
    params: &'a BoostingParams,
    /// Θ: the loss reduction that a split needs.
    threshold: f64,
    progress: Progress,
    /// Histograms for reuse.
    pool: Vec<Histogram>,
}

/// How many trees in a row may leave the sum of the weights as high as it was.
const MAX_IDLE: u32 = 200;

/// Whether trees bring the weights of the examples down. Leaves without a wrong example that are hardly smoothed have
/// confidences so large that one tree undoes what another does.
#[derive(Debug, Clone, Copy)]
struct Progress {
    /// The least sum of the weights so far.
    least: i64,
    /// The number of trees since then.
    idle: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Self { least: i64::MAX, idle: 0 }
    }
}

impl Progress {
    /// Whether another tree is to be grown; called before each, with the sums of all examples.
    fn goes_on(&mut self, totals: Totals) -> bool {
        let sum = totals.gold.saturating_add(totals.wrong);
        self.idle = if sum < self.least { 0 } else { self.idle + 1 };
        self.least = self.least.min(sum);
        self.idle < MAX_IDLE
    }
}

/// A node to be split, with the sums of its examples.
#[derive(Debug)]
struct Open {
    /// Its index among the grown nodes.
    at: usize,
    node: Node,
    totals: Totals,
    depth: u32,
    sums: Histogram,
    split: Split,
}

/// A node of the tree: a test and the indices of its "no" and "yes" children, or a leaf with its examples.
#[derive(Debug)]
enum Grown {
    Split { test: u32, children: usize },
    Leaf { node: Node, totals: Totals },
}

/// The best split of a node.
#[derive(Debug, Clone, Copy)]
struct Split {
    test: u32,
    /// The reduction of the loss, in units of weight.
    reduction: f64,
    /// The weights of the examples for which the test holds.
    yes: Totals,
}

/// The loss of a leaf (equation 10).
fn z(totals: Totals) -> f64 {
    2.0 * (totals.gold as f64 * totals.wrong as f64).sqrt()
}

/// The split with the largest reduction of the loss; the first among equals (equations 12 and 13).
fn best_split(sums: &Histogram, totals: Totals, n_tests: usize) -> Split {
    let (gold, wrong) = (totals.gold as f64, totals.wrong as f64);
    let whole = (gold * wrong).sqrt();
    let mut split = Split { test: 0, reduction: 0.0, yes: Totals::default() };
    let mut least = whole;
    let all = sums.gold[..n_tests].iter().zip(&sums.wrong[..n_tests]);
    for ((&yes_gold, &yes_wrong), test) in all.zip(0..) {
        let (a, b) = (yes_gold as f64, yes_wrong as f64);
        let parts = (a * b).sqrt() + ((gold - a) * (wrong - b)).sqrt();
        if parts < least {
            least = parts;
            split.test = test;
            split.yes = Totals { gold: yes_gold, wrong: yes_wrong };
        }
    }
    split.reduction = 2.0 * (whole - least);
    split
}

impl<'a> Grower<'a> {
    pub(super) fn new(
        design: &'a Design,
        examples: &[Example],
        params: &'a BoostingParams,
    ) -> Self {
        let sample = Sample::new(design, examples, params);
        let (tests, threshold) = (design.tests(), f64::INFINITY);
        let progress = Progress::default();
        Self { sample, tests, params, threshold, progress, pool: Vec::new() }
    }

    /// Grows a tree. Returns false, and grows none, if no split of the root reduces the loss by at least
    /// the minimum in the settings, or the trees so far have stopped making progress.
    pub(super) fn add_tree(&mut self, growing: &mut Growing) -> bool {
        let node = self.sample.root();
        let totals = self.sample.totals(&node);
        if !self.progress.goes_on(totals) {
            return false;
        }
        let mut sums = self.pool.pop().unwrap_or_default();
        self.sample.histogram(&node, &mut sums);
        let split = best_split(&sums, totals, self.tests.len());
        let reduction = split.reduction / self.sample.unit;
        if reduction <= 0.0 || reduction < self.params.min_reduction {
            self.pool.push(sums);
            return false;
        }
        self.threshold = self.threshold.min(reduction);
        let mut grown = vec![Grown::Leaf { node: node.clone(), totals }];
        let mut open = vec![Open { at: 0, node, totals, depth: 0, sums, split }];
        while let Some(next) = open.pop() {
            self.split(next, &mut grown, &mut open);
        }
        self.write(&grown, growing);
        growing.end_tree(self.threshold);
        true
    }

    /// Splits a node; children that may be split further are added to `open`.
    fn split(&mut self, parent: Open, grown: &mut Vec<Grown>, open: &mut Vec<Open>) {
        let Open { at, node, totals, depth, mut sums, split } = parent;
        let nodes = self.sample.divide(&node, split.test);
        let totals = [totals - split.yes, split.yes];
        let children = grown.len();
        grown[at] = Grown::Split { test: split.test, children };
        for (node, totals) in nodes.iter().zip(totals) {
            grown.push(Grown::Leaf { node: node.clone(), totals });
        }
        let depth = depth + 1;
        let goes_on = self.params.max_depth == 0 || depth < self.params.max_depth;
        let may_split = totals.map(|totals| goes_on && self.is_enough(z(totals)));
        if may_split == [false; 2] {
            self.pool.push(sums);
            return;
        }
        // The histogram of the larger child is that of the parent minus that of the smaller one.
        let small = usize::from(nodes[1].len() < nodes[0].len());
        let mut small_sums = self.pool.pop().unwrap_or_default();
        self.sample.histogram(&nodes[small], &mut small_sums);
        if may_split[1 - small] {
            sums.subtract(&small_sums);
        }
        // The smaller child is pushed last and split first, so that few histograms are in memory at a time.
        for (child, sums) in [(1 - small, sums), (small, small_sums)] {
            let totals = totals[child];
            let split = may_split[child].then(|| best_split(&sums, totals, self.tests.len()));
            match split.filter(|split| self.is_enough(split.reduction)) {
                Some(split) => {
                    let (at, node) = (children + child, nodes[child].clone());
                    open.push(Open { at, node, totals, depth, sums, split });
                }
                None => self.pool.push(sums),
            }
        }
    }

    /// Whether a loss, in units of weight, is at least Θ.
    fn is_enough(&self, loss: f64) -> bool {
        loss / self.sample.unit >= self.threshold
    }

    /// Stores the tree and adds its confidences to those of the examples.
    fn write(&mut self, grown: &[Grown], growing: &mut Growing) {
        let start = growing.ensemble.nodes.len();
        let mut open: Vec<(usize, Option<usize>)> = vec![(0, None)];
        while let Some((at, from)) = open.pop() {
            let here = growing.ensemble.nodes.len();
            if let Some(from) = from {
                growing.ensemble.nodes[from][1] = (here - start) as u32;
            }
            let node = match &grown[at] {
                Grown::Split { test, children } => {
                    open.extend([(children + 1, Some(here)), (*children, None)]);
                    [growing.number(self.tests[*test as usize]), 0]
                }
                Grown::Leaf { node, totals } => {
                    let confidence = self.confidence(*totals);
                    self.sample.add_confidence(node, f64::from(confidence));
                    [LEAF, confidence.to_bits()]
                }
            };
            growing.ensemble.nodes.push(node);
        }
    }

    /// The confidence of a leaf (equation 14), rounded to a multiple of the unit.
    fn confidence(&self, totals: Totals) -> f32 {
        let side = |weight: i64| weight as f64 / self.sample.unit + self.params.smoothing;
        let confidence = 0.5 * (side(totals.gold) / side(totals.wrong)).ln();
        ((confidence * STEPS).round() / STEPS) as f32
    }

    /// Resumes from an ensemble: adds its confidences to those of the examples. Returns false, without any
    /// change, if it has tests that no row has.
    pub(super) fn resume(&mut self, ensemble: &Ensemble) -> bool {
        let numbers: FxHashMap<Test, u32> = self.tests.iter().copied().zip(0..).collect();
        let numbers: Option<Vec<u32>> =
            ensemble.tests.iter().map(|test| numbers.get(test).copied()).collect();
        let Some(numbers) = numbers else { return false };
        for nodes in ensemble.all_nodes() {
            let root = self.sample.root();
            self.progress.goes_on(self.sample.totals(&root));
            let mut open = vec![(0, root)];
            while let Some((at, node)) = open.pop() {
                let [test, next] = nodes[at];
                if test == LEAF {
                    self.sample.add_confidence(&node, f64::from(f32::from_bits(next)));
                } else {
                    let [no, yes] = self.sample.divide(&node, numbers[test as usize]);
                    open.extend([(next as usize, yes), (at + 1, no)]);
                }
            }
        }
        if let Some(last) = ensemble.trees.last() {
            self.threshold = last.reduction;
        }
        true
    }
}
