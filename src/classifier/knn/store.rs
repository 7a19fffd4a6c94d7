//! The model in sections.

use super::tree::Tree;
use super::values::Values;
use super::vote::Votes;
use super::{KnnModel, KnnParams};
use crate::Result;
use crate::memory::Sections;

impl KnnModel {
    /// Adds the model to the sections of a file.
    pub(super) fn put(&self, sections: &mut Sections) {
        self.values.put(sections);
        self.tree.put(sections);
        self.votes.put(sections);
    }

    /// Reads what [`KnnModel::put`] wrote.
    pub(super) fn load(params: &KnnParams, sections: &Sections) -> Result<Self> {
        params.check()?;
        let votes = Votes::load(sections)?;
        let values = Values::load(params, votes.n_classes(), sections)?;
        let tree = Tree::load(&values, votes.n_rows(), sections)?;
        Ok(Self::new(params, values, tree, votes))
    }
}
