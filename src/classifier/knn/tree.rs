//! The training rows as a tree of values, and its memory layout.
//!
//! Rows are sorted by the ids of their columns, level by level, and equal rows are merged. A block
//! represents the rows with a common prefix. Blocks are stored in preorder as sequences of `u16`:
//!
//! - the number of further levels that all rows of the block share, and their ids;
//! - then either the number of children, which differ in the next level, the id of each child, and the
//!   offset of its block (low half, high half);
//! - or 0, the number of rows, the index of the first row (low half, high half), and for each row its ids
//!   at the remaining levels.
//!
//! A corrupt file is detected when it is loaded: see [`Tree::load`].

use super::columns::Chosen;
use super::values::Values;
use crate::classifier::Instances;
use crate::memory::{Array, Sections};
use crate::parallel;
use crate::sort::sort_by;
use crate::{Error, Result};

/// Maximum number of rows of a block without children.
const FEW: usize = 16;

/// The blocks.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    blocks: Array<u16>,
}

/// The instances of each distinct row.
#[derive(Debug, Clone, Default)]
pub(super) struct RowsOf {
    /// The instances, row by row.
    pub(super) instances: Vec<u32>,
    /// The end of each row's instances.
    pub(super) ends: Vec<u32>,
}

/// A decoded block.
pub(super) struct Block<'a> {
    /// The ids that all rows share.
    pub(super) shared: &'a [u16],
    /// The rest of the block.
    pub(super) rest: Rest<'a>,
}

/// The rest of a block.
pub(super) enum Rest<'a> {
    /// The ids of the children, and the offsets of their blocks.
    Children(&'a [u16], &'a [[u16; 2]]),
    /// The index of the first row, the number of rows, and their ids at the remaining levels.
    Rows(u32, usize, &'a [u16]),
}

/// Joins the two halves of a number.
pub(super) fn join([low, high]: [u16; 2]) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

fn halves(number: u32) -> [u16; 2] {
    [number as u16, (number >> 16) as u16]
}

/// Number of rows that a thread processes at a time.
const CHUNK: usize = 1 << 12;

/// The distinct rows of the instances as ids, sorted.
pub(super) struct Sorted {
    width: usize,
    /// The ids of all instances.
    ids: Vec<u16>,
    /// An instance of each distinct row.
    firsts: Vec<u32>,
    /// All instances of each distinct row.
    pub(super) rows: RowsOf,
}

impl Sorted {
    /// Sorts the rows by the ids of the levels.
    pub(super) fn of(chosen: &Chosen, instances: &Instances) -> Self {
        let width = chosen.levels.len();
        let mut ids = vec![0; width * instances.len()];
        let chunks = ids.chunks_mut(width.max(1) * CHUNK).zip((0..).step_by(CHUNK));
        parallel::for_each(chunks, |(ids, first)| {
            for (ids, at) in ids.chunks_mut(width).zip(first..) {
                let row = instances.row(at).values;
                for (id, level) in ids.iter_mut().zip(&chosen.levels) {
                    *id = level.id(row[level.column]);
                }
            }
        });
        let row = |at: u32| &ids[at as usize * width..][..width];
        let mut order: Vec<u32> = (0..instances.len() as u32).collect();
        sort_by(&mut order, |&a, &b| row(a).cmp(row(b)).then(a.cmp(&b)));
        let mut rows = RowsOf::default();
        let mut firsts = Vec::new();
        for same in order.chunk_by(|&a, &b| row(a) == row(b)) {
            firsts.push(same[0]);
            rows.instances.extend_from_slice(same);
            rows.ends.push(rows.instances.len() as u32);
        }
        Self { width, ids, firsts, rows }
    }

    /// The number of distinct rows.
    pub(super) fn n_rows(&self) -> usize {
        self.firsts.len()
    }

    /// The ids of a row, level by level.
    pub(super) fn row(&self, at: usize) -> &[u16] {
        &self.ids[self.firsts[at] as usize * self.width..][..self.width]
    }
}

impl Tree {
    /// Builds the tree of the rows.
    ///
    /// # Errors
    /// When it is too large.
    pub(super) fn grow(sorted: &Sorted) -> Result<Self> {
        let blocks = write_blocks(sorted.width, sorted.n_rows(), |at| sorted.row(at))?;
        Ok(Self { blocks: blocks.into() })
    }

    /// The number of stored numbers.
    pub(super) fn n_numbers(&self) -> usize {
        self.blocks.len()
    }

    /// The block at an offset; its prefix has `depth` of the `width` levels.
    #[inline]
    pub(super) fn block(&self, at: u32, depth: usize, width: usize) -> Block<'_> {
        let blocks = &self.blocks[at as usize..];
        let (shared, blocks) = blocks[1..].split_at(usize::from(blocks[0]));
        let (n, blocks) = (usize::from(blocks[0]), &blocks[1..]);
        if n > 0 {
            let (ids, blocks) = blocks.split_at(n);
            return Block { shared, rest: Rest::Children(ids, &blocks.as_chunks().0[..n]) };
        }
        let n_rows = usize::from(blocks[0]);
        let rows = &blocks[3..][..n_rows * (width - depth - shared.len())];
        Block { shared, rest: Rest::Rows(join([blocks[1], blocks[2]]), n_rows, rows) }
    }

    /// Adds the tree to the sections of a model.
    pub(super) fn put(&self, sections: &mut Sections) {
        sections.put("knn.tree", self.blocks.clone());
    }

    /// Reads what [`Tree::put`] wrote, and checks all of it: every block begins where the previous one
    /// ends, every id belongs to its level, and every row occurs once.
    pub(super) fn load(values: &Values, n_rows: usize, sections: &Sections) -> Result<Self> {
        let blocks: Array<u16> = sections.get("knn.tree")?;
        if check_blocks(&blocks, values, n_rows).is_none() {
            return Err(Error::Corrupt("the rows are not those of a memory-based model".into()));
        }
        Ok(Self { blocks })
    }
}

/// A block to be written: its rows, the length of its prefix, and where to store its offset.
struct SplitTask {
    first: usize,
    end: usize,
    depth: usize,
    wanted_at: Option<usize>,
}

fn write_blocks<'a>(
    width: usize,
    n_rows: usize,
    row: impl Fn(usize) -> &'a [u16],
) -> Result<Vec<u16>> {
    let mut blocks: Vec<u16> = Vec::new();
    let mut tasks = vec![SplitTask { first: 0, end: n_rows, depth: 0, wanted_at: None }];
    while let Some(SplitTask { first, end, depth, wanted_at }) = tasks.pop() {
        if blocks.len() > u32::MAX as usize - (FEW + 1) * (width + 4) {
            let problem =
                "too many instances for memory-based learning: use fewer trees or templates";
            return Err(Error::config("learner.kind", problem));
        }
        if let Some(wanted_at) = wanted_at {
            let place = halves(blocks.len() as u32);
            blocks[wanted_at..wanted_at + 2].copy_from_slice(&place);
        }
        let shared = if first == end {
            0
        } else {
            let pairs = row(first)[depth..].iter().zip(&row(end - 1)[depth..]);
            pairs.take_while(|(a, b)| a == b).count()
        };
        blocks.push(shared as u16);
        if shared > 0 {
            blocks.extend_from_slice(&row(first)[depth..depth + shared]);
        }
        let depth = depth + shared;
        if end - first <= FEW {
            blocks.extend([0, (end - first) as u16]);
            blocks.extend(halves(first as u32));
            for at in first..end {
                blocks.extend_from_slice(&row(at)[depth..]);
            }
            continue;
        }
        let mut children = Vec::new();
        let mut at = first;
        while at < end {
            let begin = at;
            while at < end && row(at)[depth] == row(begin)[depth] {
                at += 1;
            }
            children.push((begin, at));
        }
        blocks.push(children.len() as u16);
        blocks.extend(children.iter().map(|&(begin, _)| row(begin)[depth]));
        let places = blocks.len();
        blocks.resize(places + 2 * children.len(), 0);
        let task = |(child, &(first, end)): (usize, &(usize, usize))| {
            let wanted_at = Some(places + 2 * child);
            SplitTask { first, end, depth: depth + 1, wanted_at }
        };
        tasks.extend(children.iter().enumerate().rev().map(task));
    }
    Ok(blocks)
}

/// Returns `None` unless the blocks form a tree.
fn check_blocks(blocks: &[u16], values: &Values, n_rows: usize) -> Option<()> {
    let width = values.n_levels();
    let limits: Vec<usize> = (0..width).map(|level| values.n_ids(level)).collect();
    let known = |ids: &[u16], depth: usize| {
        ids.iter().zip(limits.get(depth..).unwrap_or_default()).all(|(&id, &n)| usize::from(id) < n)
    };
    let (mut at, mut rows) = (0usize, 0usize);
    let mut tasks = vec![(0usize, 0usize)];
    while let Some((place, depth)) = tasks.pop() {
        if place != at {
            return None;
        }
        let mut take = |n: usize| {
            let taken = blocks.get(at..at.checked_add(n)?)?;
            at += n;
            Some(taken)
        };
        let n_shared = usize::from(take(1)?[0]);
        let shared = take(n_shared)?;
        if !known(shared, depth) || depth + n_shared > width {
            return None;
        }
        let depth = depth + n_shared;
        let n = usize::from(take(1)?[0]);
        if n > 0 {
            let limit = *limits.get(depth)?;
            let ids = take(n)?;
            let places = take(2 * n)?.as_chunks().0;
            if ids.iter().any(|&id| usize::from(id) >= limit) {
                return None;
            }
            tasks.extend(places.iter().rev().map(|&place| (join(place) as usize, depth + 1)));
        } else {
            let head = take(3)?;
            let (n, left) = (usize::from(head[0]), width - depth);
            if join([head[1], head[2]]) as usize != rows || (left == 0 && n > 1) {
                return None;
            }
            let ids = take(n * left)?;
            if left > 0 && !ids.chunks_exact(left).all(|ids| known(ids, depth)) {
                return None;
            }
            rows += n;
        }
    }
    (at == blocks.len() && rows == n_rows).then_some(())
}
