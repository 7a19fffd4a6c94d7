//! Votes of the neighbours, and the scores of classes.

use super::search::Memory;
use super::tree::RowsOf;
use super::{KnnParams, Voting};
use crate::classifier::Instances;
use crate::memory::{Array, Sections};
use crate::sort::{sort_by, sort_by_key};
use crate::{Error, Result};

/// The rank of a class that was never seen.
const UNSEEN: u16 = u16::MAX;

/// The class counts of every row of the tree.
#[derive(Debug, Clone)]
pub(super) struct Votes {
    /// The end of each row's entries.
    ends: Array<u32>,
    /// The entries: a class and its number of instances.
    classes: Array<u16>,
    counts: Array<u32>,
    /// The rank of each class: by decreasing frequency, then in order of first appearance.
    ranks: Array<u16>,
}

impl Votes {
    /// Counts the classes of the rows.
    pub(super) fn new(rows: &RowsOf, instances: &Instances) -> Self {
        let (mut ends, mut classes, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        let mut of_row = Vec::new();
        for &end in &rows.ends {
            of_row.clear();
            let here = &rows.instances[first..end as usize];
            of_row.extend(here.iter().map(|&at| instances.class(at as usize)));
            of_row.sort_unstable();
            for same in of_row.chunk_by(|a, b| a == b) {
                classes.push(same[0]);
                counts.push(same.len() as u32);
            }
            ends.push(classes.len() as u32);
            first = end as usize;
        }
        Self {
            ends: ends.into(),
            classes: classes.into(),
            counts: counts.into(),
            ranks: ranks(instances).into(),
        }
    }

    /// The number of classes, seen or not.
    pub(super) fn n_classes(&self) -> usize {
        self.ranks.len()
    }

    /// The number of rows.
    pub(super) fn n_rows(&self) -> usize {
        self.ends.len()
    }

    /// The number of instances of a row by class.
    pub(super) fn of_row(&self, row: usize) -> impl Iterator<Item = (u16, u32)> {
        let begin = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        let entries = begin..self.ends[row] as usize;
        self.classes[entries.clone()].iter().copied().zip(self.counts[entries].iter().copied())
    }

    /// Counts the votes of the rows found; returns whether several classes have the most votes.
    pub(super) fn count(&self, params: &KnnParams, unit: f64, memory: &mut Memory) -> bool {
        let Memory { found, nearest, votes, .. } = memory;
        votes.clear();
        votes.resize(self.n_classes(), 0.0);
        // In a fixed order, because sums of floats depend on it.
        found.sort_unstable();
        let real = |distance: u32| f64::from(distance) * unit;
        let first = nearest.first().copied().map_or(0.0, real);
        let last = nearest.last().copied().map_or(0.0, real);
        for &(distance, row) in found.iter() {
            let row = row as usize;
            let vote = params.vote(real(distance), first, last);
            for (class, n) in self.of_row(row) {
                votes[usize::from(class)] += vote * f64::from(n);
            }
        }
        let most = votes.iter().copied().fold(0.0, f64::max);
        votes.iter().filter(|&&votes| votes == most).count() > 1 && most > 0.0
    }

    /// Writes the scores for the counted votes.
    pub(super) fn scores(&self, memory: &mut Memory, out: &mut [f32]) {
        let Memory { votes, order, .. } = memory;
        let all: f64 = votes.iter().sum();
        order.clear();
        order.extend((0..self.n_classes() as u16).filter(|&class| votes[usize::from(class)] > 0.0));
        sort_by(order, |&a, &b| {
            let (a, b) = (usize::from(a), usize::from(b));
            votes[b].total_cmp(&votes[a]).then(self.ranks[a].cmp(&self.ranks[b])).then(a.cmp(&b))
        });
        for (out, &rank) in out.iter_mut().zip(&*self.ranks) {
            let behind = f32::from(rank) + 1.0;
            *out = if rank == UNSEEN { f32::NEG_INFINITY } else { -behind / (behind + 1.0) };
        }
        // From the last to the first, so that rounding favours the first.
        let mut last = 0.0f32;
        for &class in order.iter().rev() {
            let share = (votes[usize::from(class)] / all) as f32;
            last = if share > last { share } else { last.next_up() };
            out[usize::from(class)] = last;
        }
    }

    /// Adds the votes to the sections of a model.
    pub(super) fn put(&self, sections: &mut Sections) {
        sections.put("knn.rows", self.ends.clone());
        sections.put("knn.row-classes", self.classes.clone());
        sections.put("knn.row-counts", self.counts.clone());
        sections.put("knn.ranks", self.ranks.clone());
    }

    /// Reads what [`Votes::put`] wrote.
    pub(super) fn load(sections: &Sections) -> Result<Self> {
        let votes = Self {
            ends: sections.get("knn.rows")?,
            classes: sections.get("knn.row-classes")?,
            counts: sections.get("knn.row-counts")?,
            ranks: sections.get("knn.ranks")?,
        };
        let n_entries = votes.classes.len();
        let whole = votes.counts.len() == n_entries
            && votes.ends.is_sorted()
            && votes.ends.last().map_or(0, |&end| end as usize) == n_entries
            && votes.classes.iter().all(|&class| usize::from(class) < votes.n_classes())
            && votes.n_classes() <= usize::from(UNSEEN);
        if !whole {
            return Err(Error::Corrupt("the votes are not those of a memory-based model".into()));
        }
        Ok(votes)
    }
}

impl KnnParams {
    /// The weight of a neighbour's vote.
    fn vote(&self, distance: f64, first: f64, last: f64) -> f64 {
        match self.voting {
            Voting::Equal => 1.0,
            Voting::InverseDistance => 1.0 / (distance + f64::EPSILON),
            Voting::InverseLinear if last > first => (last - distance) / (last - first),
            Voting::InverseLinear => 1.0,
            Voting::ExponentialDecay => (-self.decay * distance.powf(self.decay_power)).exp(),
        }
    }
}

/// The rank of each class.
fn ranks(instances: &Instances) -> Vec<u16> {
    let counts = instances.counts();
    let mut appeared = vec![u32::MAX; counts.len()];
    for at in (0..instances.len()).rev() {
        appeared[usize::from(instances.class(at))] = at as u32;
    }
    let mut order: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
    sort_by_key(&mut order, |&class| (std::cmp::Reverse(counts[class]), appeared[class]));
    let mut ranks = vec![UNSEEN; counts.len()];
    for (class, rank) in order.into_iter().zip(0..) {
        ranks[class] = rank;
    }
    ranks
}
