//! The products of bytes, in each instruction set.

use bytemuck::Zeroable;

use super::lanes::{ByteLanes, IntLanes, Quad};
use crate::neural::lanes::LANES;

#[cfg(target_arch = "aarch64")]
pub(super) mod arm;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) mod wasm;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

/// The sums of the outputs of a panel.
pub(super) type Sums = [IntLanes; 4];

/// The products of `N` rows with the weights of a panel, summed up. `x` has four inputs of every row at a time;
/// `excess` is what the offset of the inputs would add to the sums.
pub(super) mod portable {
    use super::{ByteLanes, IntLanes, LANES, Quad, Sums, Zeroable};

    #[inline(always)]
    pub(in crate::neural::inference) fn sums<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        _excess: &Sums,
    ) -> [Sums; N] {
        let mut sums = [Sums::zeroed(); N];
        for group in 0..4 {
            for (x, weights) in x.iter().zip(weights) {
                for row in 0..N {
                    add(x[row], &weights[group], &mut sums[row][group]);
                }
            }
        }
        sums
    }

    /// Adds the products of four inputs. Shifts of whole words are vectorized on any processor.
    #[inline(always)]
    fn add(x: Quad, weights: &ByteLanes, sums: &mut IntLanes) {
        let [a, b, c, d] = x.map(|x| i32::from((x ^ 0x80) as i8));
        let words: [u32; LANES] = bytemuck::cast(*weights);
        for (sum, word) in sums.0.iter_mut().zip(words.map(u32::from_le)) {
            // In 16 bits, whose multiplication is faster than that of 32 bits.
            let byte = |shift: u32| i32::from(((word << shift) as i32 >> 24) as i16);
            *sum += (a * byte(24) + b * byte(16)) + (c * byte(8) + d * byte(0));
        }
    }
}

/// Makes one function for each instruction set, of the same body, in which `$bytes` is the module of the set.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*), |$bytes:ident| $body:block) => {
        $(#[$doc])*
        pub(super) fn $name(set: $crate::neural::inference::InstructionSet, $($arg: $type),*) {
            $crate::neural::instructions::compiled_for! {
                set.0, ($($arg: $type),*) -> (), ($($arg),*), $body,
                portable { #[allow(unused_imports)] use $crate::neural::inference::bytes::portable as $bytes; },
                #[cfg(target_arch = "x86_64")]
                vnni [Vnni] "avx512f,avx512bw,avx512vnni,avx2" {
                    #[allow(unused_imports)] use $crate::neural::inference::bytes::x86::vnni as $bytes;
                },
                #[cfg(target_arch = "x86_64")]
                avx_vnni [AvxVnni] "avxvnni,avx2" {
                    #[allow(unused_imports)] use $crate::neural::inference::bytes::x86::avx_vnni as $bytes;
                },
                #[cfg(target_arch = "x86_64")]
                avx2 [Avx512 | Avx2] "avx2" {
                    #[allow(unused_imports)] use $crate::neural::inference::bytes::x86::avx2 as $bytes;
                },
                #[cfg(target_arch = "aarch64")]
                i8mm [I8mm] "neon,dotprod,i8mm" {
                    #[allow(unused_imports)] use $crate::neural::inference::bytes::arm::i8mm as $bytes;
                },
                #[cfg(target_arch = "aarch64")]
                dotprod [Dotprod] "neon,dotprod" {
                    #[allow(unused_imports)] use $crate::neural::inference::bytes::arm::dotprod as $bytes;
                },
                #[cfg(target_arch = "aarch64")]
                neon [Neon] "neon" {
                    #[allow(unused_imports)] use $crate::neural::inference::bytes::arm::neon as $bytes;
                },
                #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
                simd128 [Simd128] "simd128" {
                    #[allow(unused_imports)] use $crate::neural::inference::bytes::wasm as $bytes;
                }
            }
        }
    };
}
pub(super) use dispatched;
