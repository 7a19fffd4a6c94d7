//! Neural networks on one CPU: parameters, a tape for backpropagation, optimizers.
//!
//! - [`kernel`]: products of matrices and vectors.
//! - [`params`]: matrices and embedding tables, and their gradients.
//! - [`tape`]: the computations of a network for one sentence, recorded for backpropagation.
//! - [`optimizer`]: parameter updates from gradients.
//! - [`inference`]: forward passes only, with packed 8-bit weights.
//!
//! Vectors are rows. A matrix of shape (inputs, outputs) is stored row by row, so that a product with a vector
//! adds up rows, and is `x W + b`. Nothing here knows of parsing.

pub mod inference;
pub mod kernel;
pub mod optimizer;
pub mod params;
pub mod tape;

pub use optimizer::{Decay, MovingAverage, Optimizer, OptimizerParams, OptimizerState};
pub use params::{Gradients, Param, Params};
pub use tape::{Cell, Lstm, Tape, Var};
