//! Forward passes in 8-bit integers: weights are packed once, and nothing is recorded.
//!
//! - [`lanes`]: vectors of numbers.
//! - `bytes`: the product of bytes in each instruction set.
//! - `loops`: the inner loops, compiled once for each instruction set.
//! - [`matrix`]: packed matrices, and rows of inputs for them.
//! - [`lstm`]: packed LSTMs over whole sentences; [`stacked`]: several layers, one step at a time.
//! - [`transformer`]: packed transformers over whole sentences.
//! - [`decision`]: the hidden layer of a decision, from precomputed products, and its scores.
//!
//! Weights are integers from -127 to 127 with a scale for each output. Inputs are such integers with a scale for
//! each row; the outputs of an LSTM, which lie between -1 and 1, have the fixed scale [`lanes::HIDDEN_SCALE`].
//! Sums of products are exact. Floating-point computations (scales, biases, gates, sums of vectors) are done
//! element by element in a fixed order without fused operations. So the scores of a sentence do not depend on the
//! instruction set, the number of threads, or the other sentences.

mod bytes;
pub mod decision;
pub mod lanes;
mod loops;
pub mod lstm;
pub mod matrix;
pub mod stacked;
pub mod transformer;

pub use crate::neural::instructions::InstructionSet;
pub use decision::Decision;
pub use lanes::{HIDDEN_SCALE, PANEL, Panel};
pub use lstm::{PackedLstm, Steps};
pub use matrix::{Inputs, Matrix, PaddedLayout, Rows, WINDOW, windows};
pub use stacked::{StackedLstm, StackedState};
pub use transformer::{PackedTransformer, TransformerScratch};

#[cfg(test)]
mod tests;
