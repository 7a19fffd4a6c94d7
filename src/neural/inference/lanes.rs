//! The inner loops of inference, compiled once for each instruction set.

use bytemuck::{Pod, Zeroable};

use crate::neural::kernel;

/// Numbers that are computed together.
pub const LANES: usize = 16;
/// Numbers of a [`Panel`].
pub const PANEL: usize = 4 * LANES;
/// Rows that are multiplied together.
pub const ROWS: usize = 4;

/// Numbers that are computed together, on a cache line of their own.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C, align(64))]
pub struct Lanes(pub [f32; LANES]);

/// Four columns of lanes: the outputs that are added up together. Of an LSTM they are the four gates of 16 units.
pub type Panel = [Lanes; 4];

/// One input of each of the rows that are multiplied together.
pub type Tile = [f32; ROWS];

/// The instructions that the inner loops use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionSet(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl InstructionSet {
    /// Those that this processor has, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        let portable = std::iter::once(Kind::Portable);
        #[cfg(target_arch = "x86_64")]
        let all = {
            use std::arch::is_x86_feature_detected as has;
            let avx2 = has!("avx2") && has!("fma");
            let avx512 = avx2 && has!("avx512f");
            let fast = [(Kind::Avx512, avx512), (Kind::Avx2, avx2)];
            fast.into_iter().filter_map(|(kind, has)| has.then_some(kind)).chain(portable)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let all = portable;
        all.map(Self)
    }

    /// The fastest one, or the one that the environment variable `SRPARSE_INSTRUCTIONS` names: `avx512`, `avx2` or
    /// `portable`.
    pub fn detect() -> Self {
        let wanted = std::env::var("SRPARSE_INSTRUCTIONS").unwrap_or_default();
        let fastest = Self::available().next().unwrap_or(Self(Kind::Portable));
        Self::available().find(|set| set.name() == wanted).unwrap_or(fastest)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            Kind::Portable => "portable",
        }
    }
}

/// Makes a function for each instruction set of one body, and one that chooses. `$fused` adds a product; `$groups`
/// is the number of lanes of four rows that fit into the registers.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*), |$fused:ident, $groups:ident| $body:block) => {
        $(#[$doc])*
        pub fn $name(set: InstructionSet, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            fn avx512($($arg: $type),*) {
                let $fused = |a: f32, b: f32, sum: f32| a.mul_add(b, sum);
                const $groups: usize = 4;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $type),*) {
                let $fused = |a: f32, b: f32, sum: f32| a.mul_add(b, sum);
                const $groups: usize = 1;
                $body
            }
            fn portable($($arg: $type),*) {
                let $fused = |a: f32, b: f32, sum: f32| a * b + sum;
                const $groups: usize = 1;
                $body
            }
            // An instruction set is only made when the processor has it.
            #[allow(unsafe_code)]
            match set.0 {
                #[cfg(target_arch = "x86_64")]
                Kind::Avx512 => unsafe { avx512($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                Kind::Avx2 => unsafe { avx2($($arg),*) },
                Kind::Portable => portable($($arg),*),
            }
        }
    };
}

/// Adds the products of one row with a panel's weights to the panel's sums.
#[inline(always)]
fn add_row(x: &[f32], weights: &[Panel], sums: &mut Panel, fused: impl Fn(f32, f32, f32) -> f32) {
    let mut all = *sums;
    for (&x, weights) in x.iter().zip(weights) {
        for (sums, weights) in all.iter_mut().zip(weights) {
            for (sum, &weight) in sums.0.iter_mut().zip(&weights.0) {
                *sum = fused(x, weight, *sum);
            }
        }
    }
    *sums = all;
}

/// The sums of the four rows of some tiles, for the lanes of a panel from `first` on.
#[inline(always)]
fn tile_sums<const GROUPS: usize>(
    tiles: &[Tile],
    weights: &[Panel],
    bias: &Panel,
    first: usize,
    fused: impl Fn(f32, f32, f32) -> f32,
) -> [[Lanes; GROUPS]; ROWS] {
    let bias: [Lanes; GROUPS] = std::array::from_fn(|group| bias[first + group]);
    let mut sums = [bias; ROWS];
    for (tile, weights) in tiles.iter().zip(weights) {
        for (sums, &x) in sums.iter_mut().zip(tile) {
            for group in 0..GROUPS {
                for lane in 0..LANES {
                    let sum = &mut sums[group].0[lane];
                    *sum = fused(x, weights[first + group].0[lane], *sum);
                }
            }
        }
    }
    sums
}

dispatched! {
    /// Writes `X W + b` into `y`: `inputs` tiles for each four rows of `x`, as many panels of weights for each panel of
    /// the bias, and rows of as many panels of results as the bias has.
    products(x: &[Tile], weights: &[Panel], bias: &[Panel], y: &mut [Panel]), |fused, GROUPS| {
        let inputs = weights.len() / bias.len();
        for (panel, weights) in weights.chunks_exact(inputs).enumerate() {
            for (tiles, y) in x.chunks_exact(inputs).zip(y.chunks_exact_mut(ROWS * bias.len())) {
                for first in (0..4).step_by(GROUPS) {
                    let sums = tile_sums::<GROUPS>(tiles, weights, &bias[panel], first, fused);
                    for (row, sums) in sums.iter().enumerate() {
                        y[row * bias.len() + panel][first..first + GROUPS].copy_from_slice(sums);
                    }
                }
            }
        }
    }
}

dispatched! {
    /// Writes `x W + b` into `y` for one row.
    product(x: &[f32], weights: &[Panel], bias: &[Panel], y: &mut [Panel]), |fused, _GROUPS| {
        for ((weights, bias), y) in weights.chunks_exact(x.len()).zip(bias).zip(y) {
            *y = *bias;
            add_row(x, weights, y, fused);
        }
    }
}

dispatched! {
    /// Takes one step of an LSTM. `gates` holds what goes into them from the inputs, `before` the outputs of the step
    /// before (none at the first), `memory` the cells, which are updated.
    step(gates: &[Panel], before: &[f32], weights: &[Panel], memory: &mut [Lanes], output: &mut [Lanes]),
    |fused, _GROUPS| {
        let rows = weights.len() / gates.len();
        for (panel, (gates, output)) in gates.iter().zip(output).enumerate() {
            let mut sums = *gates;
            add_row(before, &weights[panel * rows..(panel + 1) * rows], &mut sums, fused);
            activate(&sums, &mut memory[panel], output);
        }
    }
}

/// From the inputs of the gates (input, forget, output, and what goes into the memory) to memory and output.
#[inline(always)]
fn activate([input, forget, out, fresh]: &Panel, memory: &mut Lanes, output: &mut Lanes) {
    for lane in 0..LANES {
        let kept = kernel::logistic(forget.0[lane]) * memory.0[lane];
        memory.0[lane] = kernel::logistic(input.0[lane]) * kernel::tangent(fresh.0[lane]) + kept;
    }
    for lane in 0..LANES {
        output.0[lane] = kernel::logistic(out.0[lane]) * kernel::tangent(memory.0[lane]);
    }
}

dispatched! {
    /// Writes the sum of rows into `y`, and 0 where it is negative.
    rectified_sum(rows: &[&[Panel]], y: &mut [Panel]), |_fused, _GROUPS| {
        for (panel, y) in y.iter_mut().enumerate() {
            let mut sums: Panel = Zeroable::zeroed();
            for row in rows {
                for (sums, row) in sums.iter_mut().zip(&row[panel]) {
                    for (sum, value) in sums.0.iter_mut().zip(&row.0) {
                        *sum += value;
                    }
                }
            }
            *y = sums.map(|sums| Lanes(sums.0.map(|sum| sum.max(0.0))));
        }
    }
}
