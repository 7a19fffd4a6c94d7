//! Instances as sorted lists of numbered indicators: the input of every solver.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::classifier::Instances;
use crate::feature::Indicators;
use crate::hash::mix;
use crate::sort::sort_by_key;

/// The distinct rows of a training set, with their class counts. Indicators are numbered from 0, the most
/// frequent first.
///
/// Equal rows are merged. A solver computes their total weight, which is exact, and contradictory classes
/// of equal rows are handled in one step.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    starts: Vec<usize>,
    items: Vec<u32>,
    label_starts: Vec<usize>,
    labels: Vec<(u16, u32)>,
    /// The 64-bit id of each indicator.
    pub ids: Vec<u64>,
    /// The number of distinct rows with each indicator.
    pub counts: Vec<u32>,
}

impl Rows {
    /// Numbers the indicators of the instances and merges equal rows, in order of first occurrence.
    pub fn new(instances: &Instances, indicators: &Indicators) -> Self {
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let mut known: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        let mut rows = Self { starts: vec![0], ..Self::default() };
        let mut seen: Vec<(u32, u16)> = Vec::with_capacity(instances.len());
        let mut ids = Vec::new();
        for at in 0..instances.len() {
            indicators.ids(instances.row(at), &mut ids);
            ids.sort_unstable();
            ids.dedup();
            let first = rows.items.len();
            for &id in &ids {
                rows.items.push(*numbers.entry(id).or_insert_with(|| {
                    rows.ids.push(id);
                    rows.ids.len() as u32 - 1
                }));
            }
            let look = ids.iter().fold(0, |hash, &id| mix::<5>(hash, id));
            let alike = known.entry(look).or_default();
            let this = &rows.items[first..];
            let same = alike.iter().find(|&&row| {
                let row = row as usize;
                rows.items[rows.starts[row]..rows.starts[row + 1]] == *this
            });
            let row = match same {
                Some(&row) => {
                    rows.items.truncate(first);
                    row
                }
                None => {
                    let row = rows.len() as u32;
                    rows.starts.push(rows.items.len());
                    alike.push(row);
                    row
                }
            };
            seen.push((row, instances.class(at)));
        }
        rows.count_labels(seen);
        rows.renumber();
        rows
    }

    fn count_labels(&mut self, mut seen: Vec<(u32, u16)>) {
        seen.sort_unstable();
        self.label_starts.push(0);
        for same in seen.chunk_by(|a, b| a.0 == b.0) {
            let labels = same.chunk_by(|a, b| a.1 == b.1);
            self.labels.extend(labels.map(|label| (label[0].1, label.len() as u32)));
            self.label_starts.push(self.labels.len());
        }
    }

    /// Renumbers the indicators, the most frequent first, ties by id; the indicators of a row are
    /// ascending.
    fn renumber(&mut self) {
        let mut counts = vec![0u32; self.ids.len()];
        for &item in &self.items {
            counts[item as usize] += 1;
        }
        let mut order: Vec<u32> = (0..self.ids.len() as u32).collect();
        sort_by_key(&mut order, |&old| (Reverse(counts[old as usize]), self.ids[old as usize]));
        let mut new = vec![0u32; order.len()];
        for (&old, number) in order.iter().zip(0..) {
            new[old as usize] = number;
        }
        self.ids = order.iter().map(|&old| self.ids[old as usize]).collect();
        self.counts = order.iter().map(|&old| counts[old as usize]).collect();
        for item in &mut self.items {
            *item = new[*item as usize];
        }
        for ends in self.starts.windows(2) {
            self.items[ends[0]..ends[1]].sort_unstable();
        }
    }

    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The indicators of a row, in ascending order.
    pub fn row(&self, at: usize) -> &[u32] {
        &self.items[self.starts[at]..self.starts[at + 1]]
    }

    /// The classes of a row in ascending order, with their counts.
    pub fn labels(&self, at: usize) -> &[(u16, u32)] {
        &self.labels[self.label_starts[at]..self.label_starts[at + 1]]
    }

    /// The inverted index: the start of each indicator's list of rows, and the lists, each ascending.
    pub fn inverted(&self) -> (Vec<usize>, Vec<u32>) {
        let mut starts = vec![0; self.ids.len() + 1];
        for (at, &count) in self.counts.iter().enumerate() {
            starts[at + 1] = starts[at] + count as usize;
        }
        let (mut next, mut rows) = (starts.clone(), vec![0; self.items.len()]);
        for row in 0..self.len() {
            for &item in self.row(row) {
                rows[next[item as usize]] = row as u32;
                next[item as usize] += 1;
            }
        }
        (starts, rows)
    }
}

/// The one-vs-rest classifiers: one per class, but one for two classes and none for a single class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BinaryClassifiers {
    /// The classes that were seen, the most frequent first, ties by number. Classifier *i* separates class
    /// *i* of these from all others.
    pub classes: Vec<u16>,
}

impl BinaryClassifiers {
    /// The classifiers for the classes of the instances.
    pub fn of(instances: &Instances) -> Self {
        let counts = instances.counts();
        let mut classes: Vec<u16> = (0..instances.n_classes() as u16).collect();
        classes.retain(|&class| counts[usize::from(class)] > 0);
        sort_by_key(&mut classes, |&class| (Reverse(counts[usize::from(class)]), class));
        Self { classes }
    }

    /// The number of classifiers.
    pub fn len(&self) -> usize {
        match self.classes.len() {
            0 | 1 => 0,
            2 => 1,
            n => n,
        }
    }

    /// Writes the scores of all classes, given the margins of the classifiers.
    pub fn scores(classes: &[u16], margins: &[f32], out: &mut [f32]) {
        out.fill(f32::NEG_INFINITY);
        let mut put = |class: u16, score: f32| {
            if let Some(out) = out.get_mut(usize::from(class)) {
                *out = score;
            }
        };
        match (classes, margins) {
            (&[first, second], &[margin]) => {
                put(first, margin);
                put(second, -margin);
            }
            (&[only], _) => put(only, 0.0),
            _ => classes.iter().zip(margins).for_each(|(&class, &margin)| put(class, margin)),
        }
    }
}

/// For each row, its positive instances by classifier.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    starts: Vec<usize>,
    positive: Vec<(u16, f32)>,
    totals: Vec<f32>,
}

impl Targets {
    /// Counts the positive instances for each classifier.
    pub fn new(rows: &Rows, classifiers: &BinaryClassifiers) -> Self {
        let mut targets = Self { starts: vec![0], ..Self::default() };
        for at in 0..rows.len() {
            let labels = rows.labels(at);
            for &(class, count) in labels {
                let classifier = classifiers.classes.iter().position(|&other| other == class);
                if let Some(classifier) =
                    classifier.filter(|&classifier| classifier < classifiers.len())
                {
                    targets.positive.push((classifier as u16, count as f32));
                }
            }
            targets.starts.push(targets.positive.len());
            targets.totals.push(labels.iter().map(|&(_, count)| count as f32).sum());
        }
        targets
    }

    /// The targets of instances that are not merged: each is a row of its own.
    pub fn of_instances(instances: &Instances, classifiers: &BinaryClassifiers) -> Self {
        let mut targets = Self { starts: vec![0], ..Self::default() };
        for at in 0..instances.len() {
            let class = instances.class(at);
            let classifier = classifiers.classes.iter().position(|&other| other == class);
            let classifier = classifier.filter(|&classifier| classifier < classifiers.len());
            targets.positive.extend(classifier.map(|classifier| (classifier as u16, 1.0)));
            targets.starts.push(targets.positive.len());
            targets.totals.push(1.0);
        }
        targets
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.totals.len()
    }

    /// The classifiers with positive instances among those of a row, and how many.
    pub fn positive(&self, row: usize) -> &[(u16, f32)] {
        &self.positive[self.starts[row]..self.starts[row + 1]]
    }

    /// The number of instances of a row.
    pub fn total(&self, row: usize) -> f32 {
        self.totals[row]
    }
}
