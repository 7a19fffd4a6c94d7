//! Linear-time shift-reduce constituency parsing.
pub mod classifier;
pub mod error;
pub mod feature;
pub mod memory;
pub mod oracle;
pub mod symbols;
pub mod transition;
pub mod tree;
pub use error::{Error, Place, Result};
