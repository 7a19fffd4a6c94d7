//! Bytes, sums and numbers that are computed together.

use bytemuck::{Pod, Zeroable};

use crate::neural::lanes::{LANES, Lanes};
use crate::neural::quantized::LARGEST;

/// Numbers of a [`Panel`].
pub const PANEL: usize = 4 * LANES;
/// The number of rows that are multiplied together.
pub const ROWS: usize = 4;
/// What an input of 1 stands for if it is the output of an LSTM.
pub const HIDDEN_SCALE: f32 = 1.0 / LARGEST;

/// Four quantized inputs, offset by 128.
pub type Quad = [u8; 4];
/// Inputs of 0.
pub const ZEROS: Quad = [128; 4];

/// A sum for each of 16 outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C, align(64))]
pub struct IntLanes(pub [i32; LANES]);

/// The quantized weights of four inputs for each of 16 outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C, align(64))]
pub struct ByteLanes(pub [[i8; 4]; LANES]);

/// Four vectors: the outputs that are computed together. In an LSTM these are the four gates of 16 units.
pub type Panel = [Lanes; 4];

/// The conversion of the integer sums of a panel to floats.
#[derive(Debug, Clone, Copy, Zeroable)]
pub struct Scaling {
    /// The contribution of the offset of 128 in each input to the sums.
    pub excess: [IntLanes; 4],
    /// The scale of the weights of each output.
    pub scale: Panel,
    /// The bias of each output.
    pub bias: Panel,
}
