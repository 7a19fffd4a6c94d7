//! The folder with the results of an experiment.
//!
//! `cells/NAME.json` has the results of a cell; it is written last. `trees/NAME.gold-tags.mrg` and
//! `trees/NAME.own-tags.mrg` have its parses, `checkpoints/NAME` the checkpoint of a cell that is not finished.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cell::Cell;
use crate::error::{Error, Result};
use crate::output;
use crate::tree::Tree;
use crate::treebank::penn;

/// The results of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// A hash of what they depend on.
    pub fingerprint: String,
    /// The results that are the same whenever the cell is run.
    pub scores: Scores,
    /// Its cost.
    pub costs: Costs,
}

/// The contents of `cells/NAME.json`.
#[derive(Serialize, Deserialize)]
struct Stored<O> {
    #[serde(flatten)]
    outcome: O,
    /// The check sums of the parses with [`GOLD_TAGS`] and [`OWN_TAGS`].
    parses: [Option<u32>; 2],
}

/// The scores of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// The number of training trees.
    pub trees: u64,
    /// With gold tags.
    pub gold_tags: TagScores,
    /// With the parser's own tags, scored with gold tags; `None` if it cannot tag words.
    pub own_tags: Option<TagScores>,
}

/// Scores on the trees that are parsed, the test trees or else the development trees; in percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TagScores {
    /// F1, as EVALB's with Collins' parameters.
    pub f1: f64,
    /// Sentences with all brackets correct.
    pub exact: f64,
    /// Coverage: sentences whose parse is complete.
    pub complete: f64,
    /// Tagging accuracy, as EVALB's.
    pub tagging: f64,
}

/// The cost of a cell, as far as the system tells. Nothing of training if it was resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// CPU time of training, in seconds.
    pub train_cpu_s: Option<f64>,
    /// Time of training, in seconds.
    pub train_s: Option<f64>,
    /// The most memory of the process during training and parsing, in megabytes, if the cell was run alone.
    pub memory_mb: Option<f64>,
    /// Sentences parsed per second of CPU time, with gold tags.
    pub sentences_s: f64,
}

/// Names the parses of words with their gold tags.
pub const GOLD_TAGS: &str = "gold-tags";
/// Names the parses of words with the parser's own tags.
pub const OWN_TAGS: &str = "own-tags";

/// The folder with the results of an experiment.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates the folder, if it does not exist.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn create(path: &Path) -> Result<Self> {
        for path in [path, &path.join("cells"), &path.join("trees"), &path.join("checkpoints")] {
            fs::create_dir_all(path).map_err(|error| Error::io(path, error))?;
        }
        Ok(Self { path: path.to_owned() })
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The results of a cell with this fingerprint; `None` if there are none, or the trees are missing.
    pub fn outcome(&self, cell: &Cell, fingerprint: &str) -> Option<Outcome> {
        let Stored { outcome, .. } = self.stored(cell)?;
        let has_trees = self.parses(cell).exists();
        (has_trees && outcome.fingerprint == fingerprint).then_some(outcome)
    }

    /// Whether the parses of a finished cell are those that were written.
    pub fn has_its_parses(&self, cell: &Cell) -> bool {
        let Some(Stored { parses, .. }) = self.stored(cell) else { return false };
        self.checksums(cell).is_ok_and(|sums| sums == parses)
    }

    fn stored(&self, cell: &Cell) -> Option<Stored<Outcome>> {
        serde_json::from_slice(&fs::read(self.results(cell)).ok()?).ok()
    }

    /// The check sums of the files of parses, of those that are there.
    fn checksums(&self, cell: &Cell) -> Result<[Option<u32>; 2]> {
        let sum = |tags| {
            let path = self.parses_with(cell, tags);
            match fs::read(&path) {
                Ok(bytes) => Ok(Some(crc32fast::hash(&bytes))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(Error::io(&path, error)),
            }
        };
        Ok([sum(GOLD_TAGS)?, sum(OWN_TAGS)?])
    }

    /// The parses of a cell with gold tags.
    pub fn parses(&self, cell: &Cell) -> PathBuf {
        self.parses_with(cell, GOLD_TAGS)
    }

    /// Deletes the results of an earlier run of a cell: results never stand beside trees of another run.
    pub(super) fn begin(&self, cell: &Cell) -> Result<()> {
        let trees = [GOLD_TAGS, OWN_TAGS].map(|tags| self.parses_with(cell, tags));
        for path in [self.results(cell)].into_iter().chain(trees) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io(&path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn checkpoint(&self, cell: &Cell) -> PathBuf {
        self.path.join("checkpoints").join(cell.name())
    }

    pub(super) fn write_trees(&self, cell: &Cell, tags: &str, trees: &[Tree]) -> Result<()> {
        output::write(&self.parses_with(cell, tags), |out| {
            let mut out = out;
            trees.iter().try_for_each(|tree| penn::write_line(tree, &mut out))
        })
    }

    /// Writes the results of a cell, and deletes its checkpoint.
    pub(super) fn finish(&self, cell: &Cell, outcome: &Outcome) -> Result<()> {
        let stored = Stored { outcome, parses: self.checksums(cell)? };
        output::write(&self.results(cell), |out| {
            serde_json::to_writer_pretty(&mut *out, &stored)?;
            writeln!(out)
        })?;
        let _ = fs::remove_dir_all(self.checkpoint(cell));
        Ok(())
    }

    fn results(&self, cell: &Cell) -> PathBuf {
        self.path.join("cells").join(format!("{}.json", cell.name()))
    }

    /// The parses of a cell with [`GOLD_TAGS`] or [`OWN_TAGS`].
    pub fn parses_with(&self, cell: &Cell, tags: &str) -> PathBuf {
        self.path.join("trees").join(format!("{}.{tags}.mrg", cell.name()))
    }
}
