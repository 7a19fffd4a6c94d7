//! Bytes, sums and numbers that are computed together.

use bytemuck::{Pod, Zeroable};

use crate::neural::lanes::{LANES, Lanes};
use crate::neural::quantized::LARGEST;

/// Numbers of a [`Panel`].
pub const PANEL: usize = 4 * LANES;
/// Rows that are multiplied together.
pub const ROWS: usize = 4;
/// What an input of 1 stands for if it is the output of an LSTM.
pub const HIDDEN_SCALE: f32 = 1.0 / LARGEST;

/// Four inputs, to each of which 128 is added.
pub type Quad = [u8; 4];
/// Inputs that are 0.
pub const ZEROS: Quad = [128; 4];

/// A sum for each of 16 outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C, align(64))]
pub struct IntLanes(pub [i32; LANES]);

/// The weights of four inputs for each of 16 outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable, Pod)]
#[repr(C, align(64))]
pub struct ByteLanes(pub [[i8; 4]; LANES]);

/// Four columns of lanes: the outputs that are added up together. Of an LSTM they are the four gates of 16 units.
pub type Panel = [Lanes; 4];

/// From the sums of a panel to numbers.
#[derive(Debug, Clone, Copy, Zeroable)]
pub struct Scaling {
    /// What an excess of 128 in each input adds to the sums.
    pub excess: [IntLanes; 4],
    /// What a weight of 1 stands for.
    pub scale: Panel,
    /// Added to the product.
    pub bias: Panel,
}
