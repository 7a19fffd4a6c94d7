//! The products of bytes with the instructions of arm64.

use std::arch::aarch64 as arm;

use super::Sums;
use crate::neural::inference::lanes::{ByteLanes, Quad};
use crate::neural::lanes::LANES;

/// The weights of four inputs for each of four outputs, or as many sums.
const VECTORS: usize = LANES / 4;

/// The signed inputs of a quad of each of `N` rows, in lanes of 32 bits; lanes beyond `N` are the first one again.
#[inline]
#[target_feature(enable = "neon")]
fn signed<const N: usize>(x: &[Quad; N]) -> arm::int8x16_t {
    let offset = arm::vdupq_n_u8(0x80);
    let all: [Quad; 4] = std::array::from_fn(|row| x[if row < N { row } else { 0 }]);
    arm::vreinterpretq_s8_u8(arm::veorq_u8(bytemuck::cast(all), offset))
}

/// With the sums of four products in one instruction.
pub(in crate::neural::inference) mod dotprod {
    use super::{ByteLanes, LANES, Quad, Sums, VECTORS, arm, signed};

    #[inline]
    #[target_feature(enable = "neon,dotprod")]
    pub(in crate::neural::inference) fn sums<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        _excess: &Sums,
    ) -> [Sums; N] {
        let mut sums = [[[arm::vdupq_n_s32(0); VECTORS]; 4]; N];
        match N {
            // All sums fit into the registers.
            1 => add::<N, 4>(x, weights, 0, &mut sums),
            _ => (0..4).for_each(|group| add::<N, 1>(x, weights, group, &mut sums)),
        }
        sums.map(bytemuck::cast)
    }

    /// Adds the products for the groups from `first` on.
    #[inline]
    #[target_feature(enable = "neon,dotprod")]
    fn add<const N: usize, const GROUPS: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        first: usize,
        to: &mut [[[arm::int32x4_t; VECTORS]; 4]; N],
    ) {
        let mut sums: [[[arm::int32x4_t; VECTORS]; GROUPS]; N] =
            std::array::from_fn(|row| std::array::from_fn(|group| to[row][first + group]));
        for (x, weights) in x.iter().zip(weights) {
            let x = signed(x);
            for group in 0..GROUPS {
                let weights: &[arm::int8x16_t; LANES / 4] =
                    bytemuck::cast_ref(&weights[first + group]);
                for at in 0..VECTORS {
                    for row in 0..N {
                        let sum = &mut sums[row][group][at];
                        *sum = match row {
                            0 => dot::<0>(*sum, weights[at], x),
                            1 => dot::<1>(*sum, weights[at], x),
                            2 => dot::<2>(*sum, weights[at], x),
                            _ => dot::<3>(*sum, weights[at], x),
                        };
                    }
                }
            }
        }
        for (sums, to) in sums.into_iter().zip(to) {
            to[first..first + GROUPS].copy_from_slice(&sums);
        }
    }

    /// Adds the products of the weights of each output with the inputs of a row. The intrinsic function of this
    /// instruction is not stable yet.
    #[inline]
    #[target_feature(enable = "neon,dotprod")]
    fn dot<const ROW: u32>(
        mut sums: arm::int32x4_t,
        weights: arm::int8x16_t,
        x: arm::int8x16_t,
    ) -> arm::int32x4_t {
        // SAFETY: it reads and writes the registers that it names, and the caller has the instruction.
        #[allow(unsafe_code)]
        unsafe {
            std::arch::asm!(
                "sdot {sums:v}.4s, {weights:v}.16b, {x:v}.4b[{row}]",
                sums = inout(vreg) sums,
                weights = in(vreg) weights,
                x = in(vreg) x,
                row = const ROW,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        sums
    }
}

/// With the products of two rows and two outputs, of eight inputs each, in one instruction.
pub(in crate::neural::inference) mod i8mm {
    use super::{ByteLanes, LANES, Quad, Sums, VECTORS, arm, dotprod, signed};
    use bytemuck::Zeroable;

    /// The sums of two rows for four outputs: for two outputs each, of the first row and of the second one.
    type Pair = [arm::int32x4_t; 2];

    #[inline]
    #[target_feature(enable = "neon,dotprod,i8mm")]
    pub(in crate::neural::inference) fn sums<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        excess: &Sums,
    ) -> [Sums; N] {
        if N == 1 {
            return dotprod::sums(x, weights, excess);
        }
        let mut sums = [Sums::zeroed(); N];
        for group in 0..4 {
            let of_group = add(x, weights, group);
            for (row, sums) in sums.iter_mut().enumerate() {
                let vectors: [arm::int32x4_t; VECTORS] = std::array::from_fn(|at| {
                    let [low, high] =
                        of_group[row / 2][at].map(|sums| arm::vreinterpretq_s64_s32(sums));
                    arm::vreinterpretq_s32_s64(match row % 2 {
                        0 => arm::vzip1q_s64(low, high),
                        _ => arm::vzip2q_s64(low, high),
                    })
                });
                sums[group] = bytemuck::cast(vectors);
            }
        }
        sums
    }

    /// The products of a group, for two rows at a time.
    #[inline]
    #[target_feature(enable = "neon,dotprod,i8mm")]
    fn add<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        group: usize,
    ) -> [[Pair; VECTORS]; 2] {
        let mut sums = [[[arm::vdupq_n_s32(0); 2]; VECTORS]; 2];
        for (x, weights) in x.chunks(2).zip(weights.chunks(2)) {
            let none = [arm::vdupq_n_s8(0); VECTORS];
            let vectors = |weights: &[ByteLanes; 4]| -> [arm::int8x16_t; LANES / 4] {
                bytemuck::cast(weights[group])
            };
            let x = pairs(signed(&x[0]), x.get(1).map_or(none[0], |x| signed(x)));
            let (first, second) = (vectors(&weights[0]), weights.get(1).map_or(none, vectors));
            for at in 0..VECTORS {
                let weights = pairs(first[at], second[at]);
                for two in 0..N.div_ceil(2) {
                    for (sums, weights) in sums[two][at].iter_mut().zip(weights) {
                        *sums = product(*sums, x[two], weights);
                    }
                }
            }
        }
        sums
    }

    /// Two quads of each of four rows or outputs, as eight inputs of the first two and of the others.
    #[inline]
    #[target_feature(enable = "neon")]
    fn pairs(first: arm::int8x16_t, second: arm::int8x16_t) -> [arm::int8x16_t; 2] {
        let (first, second) = (arm::vreinterpretq_s32_s8(first), arm::vreinterpretq_s32_s8(second));
        [arm::vzip1q_s32(first, second), arm::vzip2q_s32(first, second)]
            .map(|four| arm::vreinterpretq_s8_s32(four))
    }

    /// Adds the products. The intrinsic function of this instruction is not stable yet.
    #[inline]
    #[target_feature(enable = "neon,dotprod,i8mm")]
    fn product(
        mut sums: arm::int32x4_t,
        x: arm::int8x16_t,
        weights: arm::int8x16_t,
    ) -> arm::int32x4_t {
        // SAFETY: it reads and writes the registers that it names, and the caller has the instruction.
        #[allow(unsafe_code)]
        unsafe {
            std::arch::asm!(
                "smmla {sums:v}.4s, {x:v}.16b, {weights:v}.16b",
                sums = inout(vreg) sums,
                x = in(vreg) x,
                weights = in(vreg) weights,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        sums
    }
}

/// With the products of two quads in 16 bits, which two products of values from -127 to 127 cannot overflow.
pub(in crate::neural::inference) mod neon {
    use super::{ByteLanes, Quad, Sums, VECTORS, arm, signed};

    /// The sums of four outputs: of their first and second pairs of inputs, for two outputs in each vector.
    type Pairs = [arm::int32x4_t; 2];

    #[inline]
    #[target_feature(enable = "neon")]
    pub(in crate::neural::inference) fn sums<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        _excess: &Sums,
    ) -> [Sums; N] {
        let mut sums = [[[arm::vdupq_n_s32(0); VECTORS]; 4]; N];
        for group in 0..4 {
            // Half a group of four rows, whose sums fit into the registers.
            for half in 0..2 {
                add(x, weights, (group, 2 * half), &mut sums);
            }
        }
        sums.map(bytemuck::cast)
    }

    /// Adds the products for two vectors of outputs of a group.
    #[inline]
    #[target_feature(enable = "neon")]
    fn add<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        (group, first): (usize, usize),
        to: &mut [[[arm::int32x4_t; VECTORS]; 4]; N],
    ) {
        let mut sums = [[[arm::vdupq_n_s32(0); 2]; 2]; N];
        let ((pairs, last), (of_pairs, of_last)) = (x.as_chunks::<2>(), weights.as_chunks::<2>());
        for (x, weights) in pairs.iter().zip(of_pairs) {
            let x = [signed(&x[0]), signed(&x[1])];
            let weights = [vectors(&weights[0], group), vectors(&weights[1], group)];
            for at in 0..2 {
                let weights = [weights[0][first + at], weights[1][first + at]];
                for row in 0..N {
                    let x = [of_row(x[0], row), of_row(x[1], row)];
                    add_quads(weights, x, &mut sums[row][at]);
                }
            }
        }
        if let ([x], [weights]) = (last, of_last) {
            let (x, weights, none) = (signed(x), vectors(weights, group), arm::vdupq_n_s8(0));
            for at in 0..2 {
                for row in 0..N {
                    let x = [of_row(x, row), none];
                    add_quads([weights[first + at], none], x, &mut sums[row][at]);
                }
            }
        }
        for (sums, to) in sums.into_iter().zip(to) {
            for (at, [low, high]) in sums.into_iter().enumerate() {
                to[group][first + at] = arm::vpaddq_s32(low, high);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    fn vectors(weights: &[ByteLanes; 4], group: usize) -> &[arm::int8x16_t; VECTORS] {
        bytemuck::cast_ref(&weights[group])
    }

    /// The quad of a row, four times.
    #[inline]
    #[target_feature(enable = "neon")]
    fn of_row(x: arm::int8x16_t, row: usize) -> arm::int8x16_t {
        let x = arm::vreinterpretq_s32_s8(x);
        arm::vreinterpretq_s8_s32(match row {
            0 => arm::vdupq_laneq_s32::<0>(x),
            1 => arm::vdupq_laneq_s32::<1>(x),
            2 => arm::vdupq_laneq_s32::<2>(x),
            _ => arm::vdupq_laneq_s32::<3>(x),
        })
    }

    /// Adds the products of two quads.
    #[inline]
    #[target_feature(enable = "neon")]
    fn add_quads(weights: [arm::int8x16_t; 2], x: [arm::int8x16_t; 2], sums: &mut Pairs) {
        let low = weights.map(|weights| arm::vget_low_s8(weights));
        let x_low = x.map(|x| arm::vget_low_s8(x));
        let products = arm::vmlal_s8(arm::vmull_s8(low[0], x_low[0]), low[1], x_low[1]);
        sums[0] = arm::vpadalq_s16(sums[0], products);
        let products = arm::vmull_high_s8(weights[0], x[0]);
        let products = arm::vmlal_high_s8(products, weights[1], x[1]);
        sums[1] = arm::vpadalq_s16(sums[1], products);
    }
}
