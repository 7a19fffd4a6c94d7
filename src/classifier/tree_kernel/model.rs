//! The support vectors: what a model file stores, and what scores rows.

use super::kernel::Examples;
use super::{TreeKernel, TreeKernelParams};
use crate::classifier::svm::rows::BinaryClassifiers;
use crate::classifier::svm::vectors::Dual;
use crate::classifier::{Classifier, Scratch};
use crate::feature::RowRef;
use crate::feature::extract::tree::{MAX_DEPTH, MAX_NODES};
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// Rows as a model file stores them.
#[derive(Debug, Clone, Default)]
pub(super) struct Vectors {
    /// The nodes of all trees in preorder, each with its label and its depth.
    nodes: Vec<u32>,
    /// For each row the end of its nodes.
    node_ends: Vec<u32>,
    /// The sorted indicators of each row.
    ids: Vec<u64>,
    /// For each row the end of its indicators.
    id_ends: Vec<u32>,
    /// The same rows for the kernel.
    pub(super) examples: Examples,
}

impl Vectors {
    pub(super) fn push(&mut self, tree: &[u32], ids: &[u64], params: &TreeKernelParams) {
        self.nodes.extend_from_slice(tree);
        self.node_ends.push(self.nodes.len() as u32);
        self.ids.extend_from_slice(ids);
        self.id_ends.push(self.ids.len() as u32);
        self.examples.push(tree, ids, params);
    }

    fn row(&self, at: usize) -> (&[u32], &[u64]) {
        let start = |ends: &[u32]| at.checked_sub(1).map_or(0, |before| ends[before] as usize);
        (
            &self.nodes[start(&self.node_ends)..self.node_ends[at] as usize],
            &self.ids[start(&self.id_ends)..self.id_ends[at] as usize],
        )
    }

    /// The rows that have a weight in a classifier.
    pub(super) fn with_weights(&self, duals: &[Dual], params: &TreeKernelParams) -> Weighted {
        let mut kept = Weighted::default();
        for at in 0..self.node_ends.len() {
            if duals.iter().any(|dual| dual.weights[at] != 0.0) {
                let (tree, ids) = self.row(at);
                kept.vectors.push(tree, ids, params);
                kept.weights.extend(duals.iter().map(|dual| dual.weights[at] as f32));
            }
        }
        kept
    }

    /// Reads rows.
    fn load(learner: &TreeKernel, sections: &Sections) -> Result<Self> {
        let broken = || Error::Corrupt("the rows are not those of a tree kernel".into());
        let nodes: Array<u32> = sections.get("kernel.nodes")?;
        let node_ends: Array<u32> = sections.get("kernel.node-ends")?;
        let ids: Array<u64> = sections.get("kernel.ids")?;
        let id_ends: Array<u32> = sections.get("kernel.id-ends")?;
        let mut rows = Self::default();
        if node_ends.len() != id_ends.len() {
            return Err(broken());
        }
        let (mut node_start, mut id_start) = (0, 0);
        for (&node_end, &id_end) in node_ends.iter().zip(&*id_ends) {
            let tree = nodes.get(node_start..node_end as usize).ok_or_else(broken)?;
            let own = ids.get(id_start..id_end as usize).ok_or_else(broken)?;
            let is_tree = is_tree(tree) && tree.is_empty() == learner.tree_column().is_none();
            if !is_tree || !own.is_sorted() || own.len() > learner.indicators.len() {
                return Err(broken());
            }
            rows.push(tree, own, &learner.params);
            (node_start, id_start) = (node_end as usize, id_end as usize);
        }
        let is_whole = node_start == nodes.len() && id_start == ids.len();
        if is_whole { Ok(rows) } else { Err(broken()) }
    }
}

/// Whether nodes in preorder, each with its label and its depth, form a tree of two nodes or more that is not too
/// large, or are none.
fn is_tree(nodes: &[u32]) -> bool {
    let depths = || nodes.iter().skip(1).step_by(2);
    let follows = |(&before, &depth): (&u32, &u32)| (1..=before + 1).contains(&depth);
    nodes.len().is_multiple_of(2)
        && nodes.len() != 2
        && nodes.len() <= 2 * MAX_NODES
        && depths().next().is_none_or(|&depth| depth == 0)
        && depths().all(|&depth| depth <= MAX_DEPTH)
        && depths().zip(depths().skip(1)).all(follows)
}

/// Rows and for each its weight in each classifier.
#[derive(Debug, Clone, Default)]
pub(super) struct Weighted {
    vectors: Vectors,
    weights: Vec<f32>,
}

/// Classifiers as support vectors.
#[derive(Debug, Clone)]
pub struct KernelModel {
    learner: TreeKernel,
    vectors: Vectors,
    /// For each vector its weight in each classifier.
    weights: Array<f32>,
    biases: Array<f32>,
    classes: Array<u16>,
    n_classes: usize,
}

impl KernelModel {
    pub(super) fn new(
        learner: &TreeKernel,
        Weighted { vectors, weights }: Weighted,
        classifiers: &BinaryClassifiers,
        duals: &[Dual],
        n_classes: usize,
    ) -> Self {
        Self {
            learner: learner.clone(),
            vectors,
            weights: weights.into(),
            biases: duals.iter().map(|dual| dual.bias as f32).collect::<Vec<_>>().into(),
            classes: classifiers.classes.clone().into(),
            n_classes,
        }
    }

    /// Reads what [`Classifier::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or is not of such a model.
    pub fn load(learner: &TreeKernel, sections: &Sections) -> Result<Self> {
        let n_classes: Array<u32> = sections.get("kernel.n-classes")?;
        let model = Self {
            learner: learner.clone(),
            vectors: Vectors::load(learner, sections)?,
            weights: sections.get("kernel.weights")?,
            biases: sections.get("kernel.biases")?,
            classes: sections.get("kernel.classes")?,
            n_classes: n_classes.first().copied().unwrap_or(u32::MAX) as usize,
        };
        let classifiers = BinaryClassifiers { classes: model.classes.to_vec() }.len();
        let is_finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
        let fits = model.n_classes <= usize::from(u16::MAX)
            && model.classes.iter().all(|&class| usize::from(class) < model.n_classes)
            && model.biases.len() == classifiers
            && model.weights.len() == model.n_vectors() * classifiers
            && is_finite(&model.weights)
            && is_finite(&model.biases);
        if fits {
            return Ok(model);
        }
        Err(Error::Corrupt("the weights are not those of a tree kernel".into()))
    }

    /// The number of support vectors of all classifiers together.
    pub fn n_vectors(&self) -> usize {
        self.vectors.examples.len()
    }
}

/// Scratch memory of one thread.
#[derive(Default)]
struct Memory {
    ids: Vec<u64>,
    margins: Vec<f32>,
    /// The row.
    example: Examples,
}

impl Classifier for KernelModel {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let Memory { ids, margins, example } = scratch.of();
        let params = &self.learner.params;
        self.learner.indicators.ids(row, ids);
        ids.sort_unstable();
        ids.dedup();
        let tree = self.learner.tree_column().map_or(&[][..], |column| row.set(column));
        example.clear();
        example.push(tree, ids, params);
        margins.clear();
        margins.extend_from_slice(&self.biases);
        let each = self.weights.chunks_exact(margins.len().max(1));
        for (at, weights) in each.enumerate() {
            let kernel = self.vectors.examples.kernel(at, (example, 0), params) as f32;
            for (margin, weight) in margins.iter_mut().zip(weights) {
                *margin += kernel * weight;
            }
        }
        BinaryClassifiers::scores(&self.classes, margins, out);
    }

    fn store(&self, sections: &mut Sections) {
        sections.put("kernel.n-classes", vec![self.n_classes as u32].into());
        sections.put("kernel.classes", self.classes.clone());
        sections.put("kernel.biases", self.biases.clone());
        sections.put("kernel.weights", self.weights.clone());
        sections.put("kernel.nodes", self.vectors.nodes.clone().into());
        sections.put("kernel.node-ends", self.vectors.node_ends.clone().into());
        sections.put("kernel.ids", self.vectors.ids.clone().into());
        sections.put("kernel.id-ends", self.vectors.id_ends.clone().into());
    }
}
