//! The examples of one label while its trees are grown: their confidences so far, their weights, and their
//! nodes in the current tree.
//!
//! Weights are integer multiples of a power of two, so sums do not depend on the order, and the weight of
//! one side of a split is exactly the difference of the other two.

use std::ops::Range;

use super::candidates::Example;
use super::design::{Design, Marks, Sums};
use super::{BoostingParams, Loss};
use crate::sort::stable_sort_by_key;

/// The sum of all weights is below 2 to the power of this, in units of weight.
const WEIGHT_BITS: i32 = 60;

/// The positive or the negative examples.
#[derive(Debug, Clone, Default)]
struct Side {
    rows: Vec<u32>,
    /// Their multiplicities.
    counts: Vec<f32>,
    /// Their margins under the trees so far.
    confidences: Vec<f64>,
    weights: Vec<i64>,
    /// The examples, grouped by node, in order of their rows.
    order: Vec<u32>,
}

impl Side {
    fn new(examples: &[Example], gold: bool) -> Self {
        let mut side = Self::default();
        let mut sorted: Vec<&Example> =
            examples.iter().filter(|example| example.gold == gold).collect();
        stable_sort_by_key(&mut sorted, |example| example.row);
        for example in sorted {
            if side.rows.last() == Some(&example.row) {
                if let Some(count) = side.counts.last_mut() {
                    *count += example.weight;
                }
            } else {
                side.rows.push(example.row);
                side.counts.push(example.weight);
            }
        }
        side.confidences = vec![0.0; side.rows.len()];
        side.weights = vec![0; side.rows.len()];
        side.order = (0..side.rows.len() as u32).collect();
        side
    }

    /// Stable partition of a range: moves the examples whose rows are marked to its end; returns the number
    /// of the others.
    fn divide(
        &mut self,
        range: Range<usize>,
        design: &Design,
        marks: &Marks,
        moved: &mut Vec<u32>,
    ) -> usize {
        moved.clear();
        let order = &mut self.order[range];
        let mut kept = 0;
        for at in 0..order.len() {
            let example = order[at];
            if design.is_marked(self.rows[example as usize], marks) {
                moved.push(example);
            } else {
                order[kept] = example;
                kept += 1;
            }
        }
        order[kept..].copy_from_slice(moved);
        kept
    }
}

/// A node, with the ranges of its examples.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    gold: Range<usize>,
    wrong: Range<usize>,
}

impl Node {
    pub(super) fn len(&self) -> usize {
        self.gold.len() + self.wrong.len()
    }
}

/// Sums over the positive and over the negative examples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Totals {
    pub(super) gold: i64,
    pub(super) wrong: i64,
}

impl std::ops::Sub for Totals {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { gold: self.gold - other.gold, wrong: self.wrong - other.wrong }
    }
}

/// For each test, the weight of a node's examples for which it holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    pub(super) gold: Vec<i64>,
    pub(super) wrong: Vec<i64>,
}

impl Histogram {
    /// Subtracts the histogram of some of the examples.
    pub(super) fn subtract(&mut self, part: &Self) {
        for (all, part) in [(&mut self.gold, &part.gold), (&mut self.wrong, &part.wrong)] {
            for (all, part) in all.iter_mut().zip(part) {
                *all -= part;
            }
        }
    }
}

/// The examples of a label.
#[derive(Debug, Clone)]
pub(super) struct Sample<'a> {
    design: &'a Design,
    loss: Loss,
    gold: Side,
    wrong: Side,
    /// The number of units in a weight of 1.
    pub(super) unit: f64,
    marks: Marks,
    moved: Vec<u32>,
    sums: Sums,
}

impl<'a> Sample<'a> {
    pub(super) fn new(design: &'a Design, examples: &[Example], params: &BoostingParams) -> Self {
        let (gold, wrong) = (Side::new(examples, true), Side::new(examples, false));
        let total: f64 = gold.counts.iter().chain(&wrong.counts).map(|&n| f64::from(n)).sum();
        // The total loss never exceeds its initial value, so the weights sum up to at most `total`.
        let unit = f64::from(WEIGHT_BITS - total.max(1.0).log2().ceil() as i32).exp2();
        let mut sample = Self {
            design,
            loss: params.loss,
            gold,
            wrong,
            unit,
            marks: Marks::default(),
            moved: Vec::new(),
            sums: Sums::default(),
        };
        let root = sample.root();
        sample.add_confidence(&root, 0.0);
        sample
    }

    /// All examples, in order of their rows.
    pub(super) fn root(&mut self) -> Node {
        for side in [&mut self.gold, &mut self.wrong] {
            for (at, place) in (0..).zip(&mut side.order) {
                *place = at;
            }
        }
        Node { gold: 0..self.gold.rows.len(), wrong: 0..self.wrong.rows.len() }
    }

    /// Partitions the examples of a node: those for which the test does not hold, and those for which it
    /// does.
    pub(super) fn divide(&mut self, node: &Node, test: u32) -> [Node; 2] {
        let Self { design, marks, moved, .. } = self;
        design.mark(test, marks);
        let gold = self.gold.divide(node.gold.clone(), design, marks, moved);
        let wrong = self.wrong.divide(node.wrong.clone(), design, marks, moved);
        let (gold, wrong) = (node.gold.start + gold, node.wrong.start + wrong);
        [
            Node { gold: node.gold.start..gold, wrong: node.wrong.start..wrong },
            Node { gold: gold..node.gold.end, wrong: wrong..node.wrong.end },
        ]
    }

    /// The total weights of the examples of a node.
    pub(super) fn totals(&self, node: &Node) -> Totals {
        let sum = |side: &Side, range: &Range<usize>| {
            side.order[range.clone()].iter().map(|&at| side.weights[at as usize]).sum()
        };
        Totals { gold: sum(&self.gold, &node.gold), wrong: sum(&self.wrong, &node.wrong) }
    }

    /// Sums up the weights of a node's examples by test.
    pub(super) fn histogram(&mut self, node: &Node, out: &mut Histogram) {
        let totals = self.totals(node);
        let design = self.design;
        for (side, range, sums, total) in [
            (&self.gold, &node.gold, &mut out.gold, totals.gold),
            (&self.wrong, &node.wrong, &mut out.wrong, totals.wrong),
        ] {
            let weighted = side.order[range.clone()]
                .iter()
                .map(|&at| (side.rows[at as usize], side.weights[at as usize]));
            design.sum(range.len(), weighted, total, &mut self.sums, sums);
        }
    }

    /// Adds a confidence, which may be negative, to those of the examples of a node.
    pub(super) fn add_confidence(&mut self, node: &Node, by: f64) {
        let (loss, unit) = (self.loss, self.unit);
        for (side, range, sign) in
            [(&mut self.gold, &node.gold, 1.0), (&mut self.wrong, &node.wrong, -1.0)]
        {
            for &at in &side.order[range.clone()] {
                let at = at as usize;
                side.confidences[at] += by;
                let weight = loss.weight(sign * side.confidences[at]);
                side.weights[at] = (f64::from(side.counts[at]) * weight * unit) as i64;
            }
        }
    }
}
