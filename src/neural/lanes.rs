//! Numbers that are computed together.

use bytemuck::{Pod, Zeroable};

/// Numbers that are computed together.
pub const LANES: usize = 16;

/// As many numbers, aligned.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; LANES]);
