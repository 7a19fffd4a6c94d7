//! Linear-time shift-reduce constituency parsing.
pub mod cli;
pub mod error;
pub mod tree;
pub mod treebank;
pub use error::{Error, Place, Result};
