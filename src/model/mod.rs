//! Models: what training stores and parsing loads.
//!
//! A [`Model`] is a header that explains itself (JSON) and named arrays that are read in place; how
//! both stand in a file is in [`mod@file`]. What is small and structured goes through [`bincode_section`].

pub mod bincode_section;
pub mod file;

use serde::{Deserialize, Serialize};

use crate::memory::Sections;

/// The file that [`Model::embedded`] reads, aligned for reading in place.
#[cfg(feature = "embedded-model")]
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

#[cfg(feature = "embedded-model")]
static EMBEDDED: &Aligned<[u8]> = &Aligned(*include_bytes!("../../data/models/english.srm"));

/// What is said about a model in its file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Header {
    /// The version of the program that wrote it.
    pub tool_version: String,
    /// The preset in full, as a program can read it.
    pub preset: serde_json::Value,
    /// The seed of the training.
    pub seed: u64,
    /// The transition system: its labels, actions and limits.
    pub system: serde_json::Value,
    /// The actions by name, in order; where they are candidates, their labels.
    pub actions: Vec<String>,
    /// The template file.
    pub templates: String,
    /// The head rules; empty when there are none.
    pub heads: String,
    /// What it was trained on.
    pub training: TrainingSummary,
    /// How it does on the development trees, if there were any.
    pub dev: Option<DevScores>,
    /// The part-of-speech tagger inside, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tagger: Option<TaggerSummary>,
}

/// What is said about a tagger inside a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaggerSummary {
    /// How many tags there are.
    pub tags: u64,
    /// How many distinct words it was trained on.
    pub words: u64,
    /// How the training trees of the parser were tagged, if by taggers that had not seen them.
    pub jackknifed: Option<TaggingScores>,
    /// How it does on the development trees, if there were any.
    pub dev: Option<TaggingScores>,
}

/// Right tags, in percent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaggingScores {
    /// The names of the files, without their folders.
    pub files: Vec<String>,
    /// Of all words.
    pub accuracy: f64,
    /// Of words not seen in training.
    pub unseen: f64,
}

/// What a model was trained on.
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
    /// Decisions on the way to all trees.
    pub decisions: u64,
    /// The epoch whose weights were kept, from 1; 0 where there are no epochs.
    pub epoch: u32,
    /// The labels that were trained, if others were left to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// Scores on development trees, in percent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DevScores {
    /// The names of the files, without their folders.
    pub files: Vec<String>,
    /// Labelled F1 by EVALB's rules.
    pub f1: f64,
    /// Trees parsed without a mistake.
    pub exact: f64,
}

/// A stored model.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// What is said about it.
    pub header: Header,
    /// Its arrays.
    pub sections: Sections,
}

impl Model {
    /// The English model that is part of the program.
    ///
    /// # Errors
    /// In a build without the feature `embedded-model`.
    pub fn embedded() -> crate::Result<Self> {
        let name: &std::path::Path = "the embedded model".as_ref();
        #[cfg(feature = "embedded-model")]
        return file::read_memory(crate::memory::Memory::Static(&EMBEDDED.0), name);
        #[cfg(not(feature = "embedded-model"))]
        Err(crate::Error::Model {
            path: name.to_path_buf(),
            problem: "not part of this build: give a model file".to_owned(),
        })
    }
}
