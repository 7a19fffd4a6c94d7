//! Vectors of numbers for the inner loops.

use bytemuck::{Pod, Zeroable};

/// The number of lanes of a vector.
pub const LANES: usize = 16;
/// The number of values in a [`Panel`].
pub const PANEL: usize = 4 * LANES;
/// The number of rows that are multiplied together.
pub const ROWS: usize = 4;
/// The largest quantized weight and the largest quantized input.
pub const LARGEST: f32 = 127.0;
/// The scale of the outputs of an LSTM: the value of a quantized input of 1.
pub const HIDDEN_SCALE: f32 = 1.0 / LARGEST;

/// Four quantized inputs, offset by 128.
pub type Quad = [u8; 4];
/// Inputs of 0.
pub const ZEROS: Quad = [128; 4];

/// A number for each of 16 outputs.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; LANES]);

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
