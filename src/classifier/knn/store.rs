//! Storing and loading of models.

use super::flat::Flat;
use super::tree::Tree;
use super::values::Values;
use super::vote::Votes;
use super::{Index, KnnModel, KnnParams};
use crate::Result;
use crate::memory::Sections;

impl KnnModel {
    /// Adds the model to the sections of a file.
    pub(super) fn put(&self, sections: &mut Sections) {
        self.values.put(sections);
        match &self.index {
            Index::Tree(tree) => tree.put(sections),
            Index::Flat(flat) => flat.put(sections),
        }
        self.votes.put(sections);
    }

    /// Reads what [`KnnModel::put`] wrote.
    pub(super) fn load(params: &KnnParams, sections: &Sections) -> Result<Self> {
        let votes = Votes::load(sections)?;
        let values = Values::load(params, votes.n_classes(), sections)?;
        let index = if params.one_hot {
            Index::Flat(Flat::load(&values, votes.n_rows(), sections)?)
        } else {
            Index::Tree(Tree::load(&values, votes.n_rows(), sections)?)
        };
        Ok(Self::new(params, values, index, votes))
    }
}
