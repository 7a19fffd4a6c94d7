//! Classifiers stored as support vectors, for any degree: the result of the solvers that use the kernel.

use super::rows::{BinaryClassifiers, Rows};
use crate::classifier::{Classifier, Scratch};
use crate::feature::{Indicators, RowRef};
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// The net dual variables and the bias of a classifier.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dual {
    /// For each row its dual variables times +1 or −1, summed up.
    pub weights: Vec<f64>,
    /// Added to every margin.
    pub bias: f64,
}

/// Polynomial classifiers of any degree over indicators, stored as support vectors. An inverted index lists
/// the vectors that have an indicator.
#[derive(Debug, Clone)]
pub struct VectorModel {
    indicators: Indicators,
    degree: u32,
    /// The ids of the indicators, in ascending order.
    ids: Array<u64>,
    /// The end of each indicator's list of vectors.
    ends: Array<u32>,
    vectors: Array<u32>,
    /// For each vector its weight in each classifier.
    weights: Array<f32>,
    biases: Array<f32>,
    classes: Array<u16>,
    n_classes: usize,
}

/// The polynomial kernel of two rows, given the number of indicators they have in common.
pub fn kernel(common: u32, degree: u32) -> f64 {
    (1.0 + f64::from(common)).powi(degree as i32)
}

impl VectorModel {
    /// The model of one dual solution per classifier.
    pub fn new(
        indicators: &Indicators,
        degree: u32,
        rows: &Rows,
        classifiers: &BinaryClassifiers,
        duals: &[Dual],
        n_classes: usize,
    ) -> Self {
        let is_vector = |row: &usize| duals.iter().any(|dual| dual.weights[*row] != 0.0);
        let vectors: Vec<usize> = (0..rows.len()).filter(is_vector).collect();
        let mut entries: Vec<(u64, u32)> = Vec::new();
        for (&row, vector) in vectors.iter().zip(0..) {
            entries.extend(rows.row(row).iter().map(|&item| (rows.ids[item as usize], vector)));
        }
        entries.sort_unstable();
        let (mut ids, mut ends) = (Vec::new(), Vec::new());
        for (&(id, _), end) in entries.iter().zip(1..) {
            if ids.last() != Some(&id) {
                ids.push(id);
                ends.push(end);
            } else if let Some(last) = ends.last_mut() {
                *last = end;
            }
        }
        let weights =
            vectors.iter().flat_map(|&row| duals.iter().map(move |dual| dual.weights[row] as f32));
        Self {
            indicators: indicators.clone(),
            degree,
            ids: ids.into(),
            ends: ends.into(),
            vectors: entries.iter().map(|&(_, vector)| vector).collect::<Vec<_>>().into(),
            weights: weights.collect::<Vec<_>>().into(),
            biases: duals.iter().map(|dual| dual.bias as f32).collect::<Vec<_>>().into(),
            classes: classifiers.classes.clone().into(),
            n_classes,
        }
    }

    /// Reads what [`Classifier::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or is not of such a model.
    pub fn load(indicators: Indicators, sections: &Sections) -> Result<Self> {
        let broken =
            || Error::Corrupt("the support vectors are not those of a polynomial SVM".into());
        let shape: Array<u32> = sections.get("svm.shape")?;
        let &[n_classes, degree] = &*shape else { return Err(broken()) };
        let model = Self {
            indicators,
            degree,
            ids: sections.get("svm.ids")?,
            ends: sections.get("svm.ends")?,
            vectors: sections.get("svm.vectors")?,
            weights: sections.get("svm.weights")?,
            biases: sections.get("svm.biases")?,
            classes: sections.get("svm.classes")?,
            n_classes: n_classes as usize,
        };
        let classifiers = BinaryClassifiers { classes: model.classes.to_vec() }.len();
        let n_vectors = model.n_vectors();
        let fits = model.n_classes <= usize::from(u16::MAX)
            && degree >= 1
            && model.classes.iter().all(|&class| usize::from(class) < model.n_classes)
            && model.biases.len() == classifiers
            && model.weights.len() == n_vectors * classifiers
            && model.ids.len() == model.ends.len()
            && model.ids.is_sorted()
            && model.ends.is_sorted()
            && model.ends.last().copied().unwrap_or(0) as usize == model.vectors.len()
            && model.vectors.iter().all(|&vector| (vector as usize) < n_vectors);
        if fits { Ok(model) } else { Err(broken()) }
    }

    /// The number of support vectors of all classifiers together.
    pub fn n_vectors(&self) -> usize {
        self.weights.len() / self.biases.len().max(1)
    }
}

/// Scratch memory of one thread.
#[derive(Default)]
struct Memory {
    ids: Vec<u64>,
    /// For each vector, how many indicators it shares with the row.
    common: Vec<u32>,
    margins: Vec<f32>,
}

impl Classifier for VectorModel {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let Memory { ids, common, margins } = scratch.of();
        self.indicators.ids(row, ids);
        ids.sort_unstable();
        ids.dedup();
        common.clear();
        common.resize(self.n_vectors(), 0);
        for id in ids {
            let Ok(at) = self.ids.binary_search(id) else { continue };
            let first = if at == 0 { 0 } else { self.ends[at - 1] as usize };
            for &vector in &self.vectors[first..self.ends[at] as usize] {
                common[vector as usize] += 1;
            }
        }
        margins.clear();
        margins.extend_from_slice(&self.biases);
        if !margins.is_empty() {
            for (weights, &common) in self.weights.chunks_exact(margins.len()).zip(common.iter()) {
                let kernel = kernel(common, self.degree) as f32;
                for (margin, &weight) in margins.iter_mut().zip(weights) {
                    *margin += kernel * weight;
                }
            }
        }
        BinaryClassifiers::scores(&self.classes, margins, out);
    }

    fn store(&self, sections: &mut Sections) {
        sections.put("svm.shape", vec![self.n_classes as u32, self.degree].into());
        sections.put("svm.classes", self.classes.clone());
        sections.put("svm.biases", self.biases.clone());
        sections.put("svm.ids", self.ids.clone());
        sections.put("svm.ends", self.ends.clone());
        sections.put("svm.vectors", self.vectors.clone());
        sections.put("svm.weights", self.weights.clone());
    }
}
