//! Neural networks on one CPU: parameters, computations forwards and backwards, optimizers.
//!
//! - [`product`] and [`kernel`]: products of matrices and vectors; `functions` of numbers, and `row_functions`.
//! - [`params`]: the matrices and tables that are learned, and their gradients.
//! - [`lstm`]: a step of an LSTM.
//! - [`transformer`]: the weights of a transformer.
//! - [`tape`]: the computations of a network for a batch of sentences, recorded for backpropagation; [`dropout`].
//! - [`optimizer`]: from gradients to better parameters.
//! - [`quantized`]: parameters in 8 bits, as models store them; [`inference`]: results alone, from such.
//!
//! Vectors are rows. A matrix of shape (inputs, outputs) is stored row by row, so that a product with a vector
//! adds up rows, and is `x W + b`. Nothing here knows of parsing.

pub mod dropout;
mod functions;
pub mod inference;
pub mod instructions;
pub mod kernel;
pub mod lanes;
pub mod lstm;
pub mod optimizer;
pub mod params;
pub mod product;
pub mod quantized;
mod row_functions;
pub mod tape;
pub mod transformer;

pub use dropout::{Dropout, ForwardPass};
pub use lstm::Lstm;
pub use optimizer::{Decay, MovingAverage, Optimizer, OptimizerParams, OptimizerState};
pub use params::{Gradients, Param, Params, RowTables};
pub use quantized::Quantized;
pub use tape::{Cell, Tape, Var};
