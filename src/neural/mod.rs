//! Neural networks on one CPU: parameters, a tape that computes forwards and backwards, optimisers.
//!
//! - [`kernel`]: products of matrices and vectors.
//! - [`params`]: the matrices and tables that are learned, and their gradients.
//! - [`tape`]: what a network computes for one sentence, written down so that gradients can be read off it.
//! - [`optimizer`]: from gradients to better parameters.
//! - [`inference`]: results alone, from packed 8-bit weights.
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
