//! Growing: from all instances at the root to leaves, level by level.
//!
//! The instances of a node are contiguous in every column, so that counting reads memory in order; a column
//! in which they no longer differ is dropped. Nodes are numbered level by level, so neither the tree nor
//! its numbering depends on the number of threads.

use super::table::{Block, Coding};
use crate::classifier::Fit;
use crate::parallel;

/// Minimum number of instances for processing the columns of a node in parallel.
pub(super) const MANY: usize = 8192;
/// Marks a code without a branch.
const NONE: u16 = u16::MAX;

/// The test of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    /// Whether the code is this one: branch 1, else 0.
    Equal(u16),
    /// Whether the code is at most this one: branch 1, else 0.
    AtMost(u16),
    /// Whether the code is one of these, in ascending order: branch 1, else 0. Codes that were not in the
    /// sample take branch 1 if `otherwise`.
    Among { yes: Vec<u16>, no: Vec<u16>, otherwise: bool },
    /// A branch for each of these codes, in ascending order.
    Which(Vec<u16>),
}

impl Test {
    /// The branch of every code, and the number of branches.
    pub(super) fn branches(&self, n_codes: usize) -> (Vec<u16>, usize) {
        let at =
            |yes: &dyn Fn(usize) -> bool| (0..n_codes).map(|code| u16::from(yes(code))).collect();
        match self {
            Self::Equal(wanted) => (at(&|code| code == usize::from(*wanted)), 2),
            Self::AtMost(last) => (at(&|code| code <= usize::from(*last)), 2),
            Self::Among { yes, no, otherwise } => {
                let mut branches = vec![u16::from(*otherwise); n_codes];
                yes.iter().for_each(|&code| branches[usize::from(code)] = 1);
                no.iter().for_each(|&code| branches[usize::from(code)] = 0);
                (branches, 2)
            }
            Self::Which(codes) => {
                let mut branches = vec![NONE; n_codes];
                for (&code, branch) in codes.iter().zip(0..) {
                    branches[usize::from(code)] = branch;
                }
                (branches, codes.len())
            }
        }
    }
}

/// A node of a growing tree. The children of a node are contiguous in the list of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// The classes of its instances with their counts, in order of class.
    pub(super) counts: Vec<(u16, u32)>,
    /// The column and the test; `None` for a leaf.
    pub(super) test: Option<(u16, Test)>,
    /// The index of the first child; there is one child for each branch.
    pub(super) children: u32,
}

impl Node {
    fn leaf(counts: Vec<(u16, u32)>) -> Self {
        Self { counts, test: None, children: 0 }
    }

    /// The number of children.
    pub(super) fn n_children(&self) -> usize {
        match &self.test {
            None => 0,
            Some((_, Test::Which(codes))) => codes.len(),
            Some(_) => 2,
        }
    }

    /// The indices of the children.
    pub(super) fn children(&self) -> std::ops::Range<usize> {
        let first = self.children as usize;
        first..first + self.n_children()
    }

    /// The number of instances.
    pub(super) fn n(&self) -> u32 {
        self.counts.iter().map(|count| count.1).sum()
    }

    /// The number of instances that are not of the majority class.
    pub(super) fn errors(&self) -> u32 {
        self.n() - self.counts.iter().map(|count| count.1).max().unwrap_or(0)
    }
}

/// Chooses the test of a node.
pub(super) trait Chooser: Sync {
    /// The column and the test for the instances of a node; `None` makes it a leaf.
    fn choose(&self, codings: &[Coding], block: &Block, node: u32) -> Option<(u16, Test)>;
    /// The minimum number of instances of a node that is split.
    fn min_split(&self) -> usize;
}

/// The classes with their numbers of instances, in order of class.
type Counts = Vec<(u16, u32)>;

/// The classes of some instances with their counts.
fn count_classes(classes: &[u16]) -> Counts {
    let mut counts = vec![0u32; classes.iter().max().map_or(0, |&class| usize::from(class) + 1)];
    for &class in classes {
        counts[usize::from(class)] += 1;
    }
    (0..).zip(counts).filter(|count| count.1 > 0).collect()
}

/// The result for one node of a level.
struct Grown {
    test: Option<(u16, Test)>,
    children: Vec<(Counts, Option<Block>)>,
}

/// Grows a tree; the root is the first node. If the fit is stopped, the tree has at least one level of
/// tests.
pub(super) fn grow(
    codings: &[Coding],
    root: Block,
    chooser: &dyn Chooser,
    fit: &Fit<'_>,
) -> Vec<Node> {
    let total = root.len().max(1);
    let mut nodes = vec![Node::leaf(count_classes(&root.classes))];
    let mut level: Vec<(u32, Block)> = Vec::new();
    if is_open(&nodes[0].counts, root.len(), chooser) {
        level.push((0, root));
    }
    while !level.is_empty() && (nodes.len() == 1 || !fit.is_stopped()) {
        let waiting: usize = level.iter().map(|(_, block)| block.len()).sum();
        let done = 1.0 - waiting as f64 / total as f64;
        fit.step(
            done,
            &format!("{} nodes, {waiting} instances in {} to split", nodes.len(), level.len()),
        );
        let grown: Vec<(u32, Grown)> =
            parallel::map_owned(level, |(at, block)| (at, split(codings, block, chooser, at)));
        level = Vec::new();
        for (at, Grown { test, children }) in grown {
            let parent = &mut nodes[at as usize];
            parent.test = test;
            let first = nodes.len() as u32;
            nodes[at as usize].children = first;
            for ((counts, block), child) in children.into_iter().zip(first..) {
                nodes.push(Node::leaf(counts));
                level.extend(block.map(|block| (child, block)));
            }
        }
    }
    nodes
}

/// Whether a node may be split.
fn is_open(counts: &[(u16, u32)], n: usize, chooser: &dyn Chooser) -> bool {
    counts.len() > 1 && n >= chooser.min_split()
}

fn split(codings: &[Coding], block: Block, chooser: &dyn Chooser, at: u32) -> Grown {
    let Some((column, test)) = chooser.choose(codings, &block, at) else {
        return Grown { test: None, children: Vec::new() };
    };
    let (branch_of, n_branches) = test.branches(codings[usize::from(column)].n_codes());
    let codes = block.columns.iter().find(|(known, _)| *known == column);
    let branches: Vec<u16> = codes
        .map(|(_, codes)| codes.iter().map(|&code| branch_of[usize::from(code)]).collect())
        .unwrap_or_default();
    let mut sizes = vec![0; n_branches];
    for &branch in &branches {
        // A code without a branch cannot occur: a chooser lists every code that it saw.
        if let Some(size) = sizes.get_mut(usize::from(branch)) {
            *size += 1;
        }
    }
    let all = vec![true; n_branches];
    let classes = partition(&block.classes, &branches, &sizes, &all);
    let counts: Vec<_> = classes.iter().map(|classes| count_classes(classes)).collect();
    let open: Vec<bool> =
        counts.iter().zip(&sizes).map(|(counts, &n)| is_open(counts, n, chooser)).collect();
    let mut blocks: Vec<Block> =
        classes.into_iter().map(|classes| Block { classes, columns: Vec::new() }).collect();
    if open.contains(&true) {
        let deal_column = |(column, codes): (u16, Vec<u16>)| {
            (column, partition(&codes, &branches, &sizes, &open))
        };
        let dealt: Vec<(u16, Vec<Vec<u16>>)> = if block.classes.len() >= MANY {
            parallel::map_owned(block.columns, deal_column)
        } else {
            block.columns.into_iter().map(deal_column).collect()
        };
        for (column, parts) in dealt {
            for (codes, block) in parts.into_iter().zip(&mut blocks) {
                if codes.iter().any(|code| *code != codes[0]) {
                    block.columns.push((column, codes));
                }
            }
        }
    }
    let blocks = blocks.into_iter().zip(open).map(|(block, open)| open.then_some(block));
    Grown { test: Some((column, test)), children: counts.into_iter().zip(blocks).collect() }
}

/// The values of each branch that is wanted, in order.
fn partition(values: &[u16], branches: &[u16], sizes: &[usize], wanted: &[bool]) -> Vec<Vec<u16>> {
    let room =
        |(&size, &wanted): (&usize, &bool)| Vec::with_capacity(if wanted { size } else { 0 });
    let mut parts: Vec<Vec<u16>> = sizes.iter().zip(wanted).map(room).collect();
    for (&value, &branch) in values.iter().zip(branches) {
        let branch = usize::from(branch);
        if wanted.get(branch) == Some(&true) {
            parts[branch].push(value);
        }
    }
    parts
}
