//! Networks that only compute results, in 8-bit integers: weights are packed once, and nothing is recorded.
//!
//! - [`lanes`]: numbers that are computed together.
//! - [`instructions`]: which instructions the processor has, and the product of bytes with each.
//! - [`loops`]: the inner loops, compiled once for each instruction set.
//! - [`matrix`]: packed matrices, and rows of inputs for them.
//! - [`lstm`]: packed LSTMs over whole sentences.
//! - [`decision`]: a hidden layer whose products are known, and its scores.
//!
//! Weights are integers from -127 to 127 with a scale for each output. So are inputs, with a scale for each row; the
//! outputs of an LSTM, which lie between -1 and 1, have the fixed scale [`lanes::HIDDEN_SCALE`]. Sums of products are
//! exact, and what is done in floating point (scales, biases, gates, sums of vectors) is done number by number in a
//! fixed order without fused operations. So a sentence has the same scores with every instruction set, number of
//! threads, and among any other sentences.

pub mod decision;
pub mod instructions;
pub mod lanes;
mod loops;
pub mod lstm;
pub mod matrix;

pub use decision::Decision;
pub use instructions::InstructionSet;
pub use lanes::{PANEL, Panel};
pub use lstm::{PackedLstm, Steps};
pub use matrix::{Matrix, Places, Rows};

#[cfg(test)]
mod tests;
