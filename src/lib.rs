//! Linear-time shift-reduce constituency parsing.
pub mod classifier;
pub mod cli;
pub mod decode;
pub mod error;
pub mod eval;
pub mod feature;
pub mod memory;
pub mod model;
pub mod oracle;
pub mod preset;
pub mod scorer;
pub mod symbols;
pub mod train;
pub mod transition;
pub mod tree;
pub mod treebank;
pub use error::{Error, Place, Result};
