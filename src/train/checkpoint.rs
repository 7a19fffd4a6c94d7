//! Checkpoints: finished parts of training in a folder, so that training can be resumed.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use rustc_hash::FxHasher;

use crate::classifier::Checkpoint;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{Model, file};
use crate::train::Example;
use crate::tree::Tree;

/// A checkpoint folder with a file for each finished part.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates a folder inside `path` unless it exists. `fingerprint` identifies data, settings and seed, so that
    /// other training runs do not use the same folder.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(path: &Path, fingerprint: u64) -> Result<Self> {
        let path = path.join(format!("{fingerprint:016x}"));
        std::fs::create_dir_all(&path).map_err(|error| Error::io(&path, error))?;
        Ok(Self { path })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{}.srm", name.replace('/', ".")))
    }
}

impl Checkpoint for Folder {
    /// Returns `None` for a missing or corrupt file, whose part is then trained again.
    fn load(&self, name: &str) -> Option<Sections> {
        let file = self.file(name);
        file.is_file().then(|| file::read(&file).ok()).flatten().map(|model| model.sections)
    }

    fn save(&self, name: &str, sections: &Sections) -> Result<()> {
        let model = Model { sections: sections.clone(), ..Model::default() };
        file::write(&model, &self.file(name))
    }
}

/// A hash of training sentences and trees.
pub fn fingerprint(examples: &[Example]) -> u64 {
    let mut hasher = FxHasher::default();
    for Example { sentence, tree } in examples {
        (&sentence.words, &sentence.tags, &sentence.forms).hash(&mut hasher);
        hash_nodes(tree, &mut hasher);
    }
    hasher.finish()
}

/// Hashes the constituents of a tree.
pub fn hash_nodes(tree: &Tree, hasher: &mut impl Hasher) {
    for node in tree.nodes() {
        (node.start, node.end, node.head, &node.label).hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_saved_and_corrupt_ones_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Folder::new(folder.path(), 7).unwrap();
        let mut sections = Sections::default();
        sections.put::<u8>("a", vec![1, 2].into());
        checkpoint.save("first/value3", &sections).unwrap();
        let loaded = checkpoint.load("first/value3").unwrap();
        assert_eq!(&*loaded.get::<u8>("a").unwrap(), [1, 2]);
        assert!(checkpoint.load("second").is_none());
        assert!(Folder::new(folder.path(), 8).unwrap().load("first/value3").is_none());
        let file = checkpoint.file("first/value3");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        assert!(checkpoint.load("first/value3").is_none());
    }
}
