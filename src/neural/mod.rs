//! Neural networks on one CPU: parameters, two ways to compute forwards and backwards, optimisers.
//!
//! - [`product`] and [`kernel`]: products of matrices, and functions of vectors.
//! - [`params`]: the matrices and tables that are learned, and their gradients.
//! - [`lstm`]: a step of an LSTM.
//! - [`layers`]: layers over a batch of sentences that step together.
//! - [`tape`]: what a network of any shape computes for one sentence, written down so that gradients can be read off it.
//! - [`optimizer`]: from gradients to better parameters.
//! - [`quantized`]: parameters in 8 bits, as models store them; [`inference`]: results alone, from such.
//!
//! Vectors are rows. A matrix of shape (inputs, outputs) is stored row by row, so that a product with a vector
//! adds up rows, and is `x W + b`. Nothing here knows of parsing.

mod dispatch;
pub mod inference;
pub mod kernel;
pub mod lanes;
pub mod layers;
pub mod lstm;
pub mod optimizer;
pub mod params;
pub mod product;
pub mod quantized;
pub mod tape;
pub mod transformer;

pub use lstm::Lstm;
pub use optimizer::{Decay, MovingAverage, Optimizer, OptimizerParams, OptimizerState};
pub use params::{Gradients, Param, Params, Tables};
pub use quantized::Quantized;
pub use tape::{Cell, Tape, Var};
