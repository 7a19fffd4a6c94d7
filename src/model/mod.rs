//! Models: what training stores and parsing loads.
//!
//! A [`Model`] is a JSON header and named arrays that are read in place; [`mod@file`] describes the file format.
//! Small structured values are stored through [`bincode_section`].

pub mod bincode_section;
pub mod embedded;
pub mod file;
pub mod installed;
pub mod vocabulary;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::memory::{ModelBytes, Sections};

/// The description of a model in its file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Header {
    /// The version of the program that wrote it.
    pub tool_version: String,
    /// The complete preset.
    pub preset: serde_json::Value,
    /// The random seed of training.
    pub seed: u64,
    /// The transition system: its labels, actions and limits.
    pub system: serde_json::Value,
    /// The names of the actions, in order; for item-based parsers, the labels of candidates.
    pub actions: Vec<String>,
    /// The feature templates, as text.
    pub templates: String,
    /// The head rules, as text; empty if there are none.
    pub heads: String,
    /// The training data.
    pub training: TrainingSummary,
    /// Scores on the development set, if there was one.
    pub dev: Option<DevScores>,
    /// The part-of-speech tagger in the model, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tagger: Option<TaggerSummary>,
}

/// The description of a tagger in a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaggerSummary {
    /// The number of tags.
    pub tags: u64,
    /// The number of distinct words in its training data.
    pub words: u64,
    /// Accuracy on the training trees of the parser, if they were tagged by jackknifing.
    pub jackknifed: Option<TaggingScores>,
    /// Accuracy on the development set, if there was one.
    pub dev: Option<TaggingScores>,
}

/// Tagging accuracy, in percent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaggingScores {
    /// The names of the files, without their folders.
    pub files: Vec<String>,
    /// Accuracy on all words.
    pub accuracy: f64,
    /// Accuracy on words not seen in training.
    pub unseen: f64,
}

/// The training data of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingSummary {
    /// The names of the files, without their folders.
    pub files: Vec<String>,
    /// Trees used.
    pub trees: u64,
    /// Words in them.
    pub words: u64,
    /// Trees read but not used, with the reasons.
    pub skipped: Vec<String>,
    /// The number of decisions in all derivations.
    pub decisions: u64,
    /// The selected epoch, from 1; 0 if the learner has no epochs.
    pub epoch: u32,
    /// The labels that were trained, if not all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The training data of the model that training continued from, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Self>>,
    /// The training data of the other models, if the parameters are an average of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mean_with: Vec<Self>,
}

impl TrainingSummary {
    /// This training and those that it continued from, the last first.
    pub fn history(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |training| training.before.as_deref())
    }

    /// The numbers of trees, words and decisions, which tell treebanks apart.
    pub fn counts(&self) -> [u64; 3] {
        [self.trees, self.words, self.decisions]
    }
}

/// Scores on development trees, in percent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DevScores {
    /// The names of the files, without their folders.
    pub files: Vec<String>,
    /// Labelled F1 by EVALB's rules.
    pub f1: f64,
    /// Exact matches.
    pub exact: f64,
}

/// The part of the sections that holds the tagger.
pub const TAGGER_PART: &str = "tagger";

/// A stored model.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// Its description.
    #[doc(hidden)]
    pub header: Header,
    /// Its arrays.
    #[doc(hidden)]
    pub sections: Sections,
    /// The file that it was read from, for messages; empty if there is none.
    #[doc(hidden)]
    pub path: PathBuf,
}

impl Model {
    /// Opens a model file, or the [embedded](embedded::NAMES) or [installed] model of that name.
    ///
    /// # Errors
    /// When it cannot be read, or is not a model of this version.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if embedded::is_embedded(path) {
            return embedded::read(path);
        }
        let installed = installed::file(path);
        let path = installed.as_deref().unwrap_or(path);
        file::read(path).map_err(|error| installed::misspelled(path).unwrap_or(error))
    }

    /// Reads a model from the bytes of a model file; messages name it `name`.
    ///
    /// # Errors
    /// When they are not a model of this version.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self> {
        let model = file::read_memory(ModelBytes::owned(bytes), name.as_ref())?;
        Ok(Self { path: PathBuf::new(), ..model })
    }

    /// A check sum of its model file.
    #[cfg(feature = "cli")]
    pub(crate) fn checksum(&self) -> u32 {
        struct Sum(crc32fast::Hasher);

        impl std::io::Write for Sum {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.update(bytes);
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }

        let mut sum = Sum(crc32fast::Hasher::new());
        // Nothing is written.
        let _ = file::write_to(self, &mut sum);
        sum.0.finalize()
    }

    /// The bytes of its model file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory does not fail.
        let _ = file::write_to(self, &mut bytes);
        bytes
    }

    /// Writes its model file; a file that is there is replaced once the model is written in full.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::write(self, path.as_ref())
    }

    /// Returns the default embedded model, of English.
    ///
    /// # Errors
    /// In a build without embedded models.
    pub fn embedded() -> Result<Self> {
        Self::open(embedded::DEFAULT)
    }
}
