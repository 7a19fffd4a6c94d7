//! Experiments: a parser is trained and scored for every combination of presets, settings, treebanks, shares of the
//! training trees and seeds.
//!
//! An [`Experiment`] is the file as written. Each combination is a [`Cell`], whose results are stored in a [`Folder`]
//! with a fingerprint of everything that they depend on: a cell with results of its fingerprint is finished. Results
//! appear whole or not at all, so an experiment can be stopped at any time and resumed.

mod cell;
mod folder;
mod resources;
mod spec;
pub mod tables;

pub use cell::Cell;
pub use folder::{Costs, Folder, GOLD_TAGS, OWN_TAGS, Outcome, Scores, TagScores};
pub use spec::{Experiment, ParserEntry, SettingEntry, TreebankEntry};
pub use tables::Finished;
