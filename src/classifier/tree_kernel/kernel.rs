//! The kernel: common subtrees of two trees, and common indicators of two rows.

use super::TreeKernelParams;
use crate::classifier::forest::Forest;
use crate::classifier::svm::vectors;
use crate::hash::{finish, mix};

/// Stands for the production of a leaf.
const LEAF: u64 = 0;
/// The largest number of common subtrees below two nodes; more of them would soon not be finite.
const MANY: f64 = 1e100;

/// Trees as the kernel needs them.
#[derive(Debug, Clone, Default)]
struct Trees {
    forest: Forest,
    /// For each node a hash of its label and its children's labels, or [`LEAF`].
    productions: Vec<u64>,
    /// The inner nodes of each tree with their productions, sorted.
    inner: Vec<(u64, u32)>,
    /// For each tree the end of its inner nodes.
    ends: Vec<usize>,
}

impl Trees {
    fn clear(&mut self) {
        let Self { forest, productions, inner, ends } = self;
        forest.clear();
        productions.clear();
        inner.clear();
        ends.clear();
    }

    /// Adds a tree: its nodes in preorder, each with its label and its depth.
    fn push(&mut self, nodes: &[u32]) {
        let first = self.forest.len() as u32;
        for node in nodes.chunks_exact(2) {
            match node[1] {
                0 => self.forest.begin(node[0].into()),
                depth => self.forest.push(node[0].into(), depth as usize),
            }
        }
        let start = self.inner.len();
        for node in first..self.forest.len() as u32 {
            let production = self.production(node);
            self.productions.push(production);
            if production != LEAF {
                self.inner.push((production, node));
            }
        }
        self.inner[start..].sort_unstable();
        self.ends.push(self.inner.len());
    }

    fn production(&self, node: u32) -> u64 {
        let mut children = self.forest.children(node).map(|child| self.forest.label(child));
        let Some(first) = children.next() else { return LEAF };
        let hash = mix::<23>(mix::<23>(1, self.forest.label(node)), first);
        finish(children.fold(hash, mix::<23>))
    }

    fn inner(&self, at: usize) -> &[(u64, u32)] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.inner[start..self.ends[at]]
    }

    /// The number of common subtrees, each times the decay to the power of the number of its productions: the sum over
    /// all pairs of nodes with the same production.
    fn kernel(&self, at: usize, (others, other): (&Self, usize), decay: f64) -> f64 {
        let (mut own, mut rest) = (self.inner(at), others.inner(other));
        let mut sum = 0.0;
        while let (Some(&(a, _)), Some(&(b, _))) = (own.first(), rest.first()) {
            if a != b {
                let behind = if a < b { &mut own } else { &mut rest };
                *behind = &behind[1..];
                continue;
            }
            let same = rest.iter().take_while(|node| node.0 == b).count();
            while let Some(&(_, node)) = own.first().filter(|node| node.0 == a) {
                let common = |&(_, other): &(u64, u32)| self.common(node, (others, other), decay);
                sum += rest[..same].iter().map(common).sum::<f64>();
                own = &own[1..];
            }
            rest = &rest[same..];
        }
        sum
    }

    /// The same for subtrees with these roots, which have the same production. The recursion is as deep as the trees.
    fn common(&self, node: u32, (others, other): (&Self, u32), decay: f64) -> f64 {
        let pairs = self.forest.children(node).zip(others.forest.children(other));
        pairs.fold(decay, |product, (own, other)| {
            let production = self.productions[own as usize];
            if production == LEAF || production != others.productions[other as usize] {
                return product;
            }
            (product * (1.0 + self.common(own, (others, other), decay))).min(MANY)
        })
    }
}

/// Rows as the kernel needs them: a tree and sorted indicators each.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    trees: Trees,
    ids: Vec<u64>,
    /// For each row the end of its indicators.
    ends: Vec<usize>,
    /// For each row the roots of the kernels of its tree and of its indicators with themselves.
    norms: Vec<[f64; 2]>,
}

impl Examples {
    /// Removes all rows.
    pub fn clear(&mut self) {
        let Self { trees, ids, ends, norms } = self;
        trees.clear();
        ids.clear();
        ends.clear();
        norms.clear();
    }

    /// Adds a row: the nodes of its tree in preorder, each with its label and its depth, and its sorted indicators.
    pub fn push(&mut self, tree: &[u32], ids: &[u64], params: &TreeKernelParams) {
        let at = self.len();
        self.trees.push(tree);
        self.ids.extend_from_slice(ids);
        self.ends.push(self.ids.len());
        let tree = self.trees.kernel(at, (&self.trees, at), params.decay);
        self.norms.push([tree, vectors::kernel(ids.len() as u32, params.degree)].map(f64::sqrt));
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    fn ids(&self, at: usize) -> &[u64] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start..self.ends[at]]
    }

    /// The kernel of two rows, from 0 to 1.
    pub fn kernel(
        &self,
        at: usize,
        (others, other): (&Self, usize),
        params: &TreeKernelParams,
    ) -> f64 {
        let share = params.tree_share;
        let (own, rest) = (self.norms[at], others.norms[other]);
        let mut sum = 0.0;
        if share > 0.0 {
            let kernel = self.trees.kernel(at, (&others.trees, other), params.decay);
            sum += share * kernel / (own[0] * rest[0]);
        }
        if share < 1.0 {
            let common = n_common(self.ids(at), others.ids(other));
            sum += (1.0 - share) * vectors::kernel(common, params.degree) / (own[1] * rest[1]);
        }
        sum
    }
}

/// The number of common elements of two sorted lists.
fn n_common(mut a: &[u64], mut b: &[u64]) -> u32 {
    let mut n = 0;
    while let ([first, rest_a @ ..], [other, rest_b @ ..]) = (a, b) {
        n += u32::from(first == other);
        (a, b) = (if first <= other { rest_a } else { a }, if other <= first { rest_b } else { b });
    }
    n
}

#[cfg(test)]
mod tests;
