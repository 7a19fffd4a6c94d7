//! Checkpoints: finished parts of training in a folder, so that training can be resumed.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHasher;

use crate::classifier::Checkpoint;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{Model, file};
use crate::observer::{Event, Observer};
use crate::oracle::Example;
use crate::tree::Tree;

/// A checkpoint folder with a file for each finished part.
pub struct Folder<'a> {
    path: PathBuf,
    observer: &'a dyn Observer,
    has_failed: AtomicBool,
}

impl<'a> Folder<'a> {
    /// Creates a folder inside `path` unless it exists. `fingerprint` identifies data, settings and seed, so that
    /// other training runs do not use the same folder. The observer is told once if a part cannot be kept.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(path: &Path, fingerprint: u64, observer: &'a dyn Observer) -> Result<Self> {
        let path = path.join(format!("{fingerprint:016x}"));
        std::fs::create_dir_all(&path).map_err(|error| Error::io(&path, error))?;
        Ok(Self { path, observer, has_failed: AtomicBool::new(false) })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{}.srm", name.replace('/', ".")))
    }
}

impl Checkpoint for Folder<'_> {
    /// Returns `None` for a missing file, and notes one that is damaged; the part is then trained again.
    fn load(&self, name: &str) -> Option<Sections> {
        let file = self.file(name);
        if !file.exists() {
            return None;
        }
        match file::read(&file) {
            Ok(model) => Some(model.sections),
            Err(error) => {
                let note = format!("{error}; this part is trained again, without its checkpoint");
                self.observer.event(Event::Note(&note));
                None
            }
        }
    }

    fn save(&self, name: &str, sections: &Sections) {
        let model = Model { sections: sections.clone(), ..Model::default() };
        if let Err(error) = file::write(&model, &self.file(name))
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            let note = format!("{error}; training goes on without this checkpoint");
            self.observer.event(Event::Note(&note));
        }
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
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Observer for Notes {
        fn event(&self, event: Event<'_>) {
            if let Event::Note(text) = event {
                self.0.lock().unwrap().push(text.to_owned());
            }
        }
    }

    #[test]
    fn parts_are_saved_and_damaged_ones_are_noted() {
        let (folder, notes) = (tempfile::tempdir().unwrap(), Notes::default());
        let checkpoint = Folder::new(folder.path(), 7, &notes).unwrap();
        let mut sections = Sections::default();
        sections.put::<u8>("a", vec![1, 2].into());
        checkpoint.save("first/value3", &sections);
        let loaded = checkpoint.load("first/value3").unwrap();
        assert_eq!(&*loaded.get::<u8>("a").unwrap(), [1, 2]);
        assert!(checkpoint.load("second").is_none());
        assert!(Folder::new(folder.path(), 8, &notes).unwrap().load("first/value3").is_none());
        assert!(notes.0.lock().unwrap().is_empty());
        let file = checkpoint.file("first/value3");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        assert!(checkpoint.load("first/value3").is_none());
        let notes = notes.0.lock().unwrap();
        assert!(notes.len() == 1 && notes[0].contains("first.value3.srm: "), "{notes:?}");
    }
}
