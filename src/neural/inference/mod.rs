//! Networks that only compute results: weights are packed once for the processor, and nothing is recorded.
//!
//! - [`lanes`]: the inner loops, compiled once for each instruction set.
//! - [`matrix`]: packed matrices, and their products with many rows or one.
//! - [`lstm`]: packed LSTMs over whole sentences.
//!
//! Numbers are grouped in [`Lanes`] of 16, and four of these in a [`Panel`]. Every sum is taken in the order of its
//! inputs, whatever the number of rows and the instruction set, so a sentence has the same scores alone and among
//! others, and with AVX2 and AVX-512. Processors without fused multiplication round each product too.

pub mod lanes;
pub mod lstm;
pub mod matrix;

pub use lanes::{InstructionSet, LANES, Lanes, PANEL, Panel};
pub use lstm::{PackedLstm, Steps};
pub use matrix::{Matrix, Tiles};
