//! Instruction sets: which of them the processor has, and the products of bytes in each.

use bytemuck::Zeroable;

use super::lanes::{ByteLanes, IntLanes, Quad};
use crate::neural::lanes::LANES;
use crate::{Error, Result};

/// The environment variable that names an instruction set.
const VARIABLE: &str = "SRPARSE_INSTRUCTIONS";

/// An instruction set for the inner loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionSet(pub(super) Kind);

/// The instruction sets; values exist only for those that the processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    #[cfg(target_arch = "x86_64")]
    Vnni,
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl InstructionSet {
    /// The instruction sets of this processor, the fastest first.
    pub fn available() -> impl Iterator<Item = Self> {
        let portable = std::iter::once(Kind::Portable);
        #[cfg(target_arch = "x86_64")]
        let all = {
            use std::arch::is_x86_feature_detected as has;
            let avx2 = has!("avx2");
            let vnni = avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512vnni");
            let avx_vnni = avx2 && has!("avxvnni");
            let fast = [(Kind::Vnni, vnni), (Kind::AvxVnni, avx_vnni), (Kind::Avx2, avx2)];
            fast.into_iter().filter_map(|(kind, has)| has.then_some(kind)).chain(portable)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let all = portable;
        all.map(Self)
    }

    /// The fastest one, or the one that the environment variable `SRPARSE_INSTRUCTIONS` names: `vnni` (AVX-512),
    /// `avx-vnni`, `avx2` or `portable`.
    ///
    /// # Errors
    /// When the processor has no instruction set of this name.
    pub fn wanted() -> Result<Self> {
        let Some(wanted) = std::env::var_os(VARIABLE).filter(|wanted| !wanted.is_empty()) else {
            return Ok(Self::fastest());
        };
        Self::available().find(|set| wanted == set.name()).ok_or_else(|| {
            let known: Vec<&str> = Self::available().map(Self::name).collect();
            let (wanted, known) = (wanted.display(), known.join(", "));
            let problem =
                format!("this processor has no instruction set `{wanted}`: give one of {known}");
            Error::config(VARIABLE, problem)
        })
    }

    /// The same; the fastest one if that is an error.
    pub fn detect() -> Self {
        Self::wanted().unwrap_or(Self::fastest())
    }

    fn fastest() -> Self {
        Self::available().next().unwrap_or(Self(Kind::Portable))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Kind::Vnni => "vnni",
            #[cfg(target_arch = "x86_64")]
            Kind::AvxVnni => "avx-vnni",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            Kind::Portable => "portable",
        }
    }
}

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

/// The same with sums of pairs in 16 bits, which two products of values from -127 to 127 cannot overflow. The
/// instruction multiplies signed by unsigned bytes: weights with the signs of the inputs by the sizes of the inputs.
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2 {
    use std::arch::x86_64 as intel;

    use super::{ByteLanes, Quad, Sums};

    /// The number of inputs that are prepared at a time, in quads.
    const CHUNK: usize = 64;

    /// The sums of the 16 outputs of a group.
    type Group = [intel::__m256i; 2];

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in crate::neural::inference) fn sums<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        _excess: &Sums,
    ) -> [Sums; N] {
        let mut sums = [[[intel::_mm256_setzero_si256(); 2]; 4]; N];
        let (mut signed, mut sizes) = ([[[0i8; 4]; N]; CHUNK], [[[0u8; 4]; N]; CHUNK]);
        for (x, weights) in x.chunks(CHUNK).zip(weights.chunks(CHUNK)) {
            let (signed, sizes) = (&mut signed[..x.len()], &mut sizes[..x.len()]);
            let both = signed.as_flattened_mut().as_flattened_mut().iter_mut();
            let both = both.zip(sizes.as_flattened_mut().as_flattened_mut());
            for (x, (signed, size)) in x.as_flattened().as_flattened().iter().zip(both) {
                *signed = (x ^ 0x80) as i8;
                *size = signed.unsigned_abs();
            }
            match N {
                1 => add(signed, sizes, weights, 0, &mut sums),
                // The sums of one group of all rows fit into the registers.
                _ => (0..4).for_each(|group| {
                    let mut of_group = sums.map(|sums| [sums[group]]);
                    add(signed, sizes, weights, group, &mut of_group);
                    sums.iter_mut().zip(of_group).for_each(|(sums, [sum])| sums[group] = sum);
                }),
            }
        }
        sums.map(|sums| sums.map(bytemuck::cast))
    }

    /// Adds the products for the groups from `first` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add<const N: usize, const GROUPS: usize>(
        signed: &[[[i8; 4]; N]],
        sizes: &[[[u8; 4]; N]],
        weights: &[[ByteLanes; 4]],
        first: usize,
        to: &mut [[Group; GROUPS]; N],
    ) {
        let (one, mut sums) = (intel::_mm256_set1_epi16(1), *to);
        for ((x, sizes), weights) in signed.iter().zip(sizes).zip(weights) {
            for row in 0..N {
                let x = intel::_mm256_set1_epi32(bytemuck::cast(x[row]));
                let size = intel::_mm256_set1_epi32(bytemuck::cast(sizes[row]));
                for group in 0..GROUPS {
                    let halves: &Group = bytemuck::cast_ref(&weights[first + group]);
                    for half in 0..2 {
                        let signed = intel::_mm256_sign_epi8(halves[half], x);
                        let pairs = intel::_mm256_maddubs_epi16(size, signed);
                        let quads = intel::_mm256_madd_epi16(pairs, one);
                        let sum = &mut sums[row][group][half];
                        *sum = intel::_mm256_add_epi32(*sum, quads);
                    }
                }
            }
        }
        *to = sums;
    }
}

/// The same with inputs offset by 128, whose excess is subtracted first.
#[cfg(target_arch = "x86_64")]
pub(super) mod vnni {
    use std::arch::x86_64 as intel;

    use super::{ByteLanes, Quad, Sums};

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2")]
    pub(in crate::neural::inference) fn sums<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        excess: &Sums,
    ) -> [Sums; N] {
        let start = excess.map(|excess| bytemuck::cast(excess.0.map(|sum| -sum)));
        let mut sums = [start; N];
        for (x, weights) in x.iter().zip(weights) {
            for row in 0..N {
                let x = intel::_mm512_set1_epi32(i32::from_ne_bytes(x[row]));
                for group in 0..4 {
                    let weights = bytemuck::cast(weights[group]);
                    sums[row][group] = intel::_mm512_dpbusd_epi32(sums[row][group], x, weights);
                }
            }
        }
        sums.map(|sums| sums.map(bytemuck::cast))
    }
}

/// The same in 256 bits, for processors without AVX-512.
#[cfg(target_arch = "x86_64")]
pub(super) mod avx_vnni {
    use std::arch::x86_64 as intel;

    use super::{ByteLanes, Quad, Sums};

    /// The sums of the 16 outputs of a group.
    type Group = [intel::__m256i; 2];

    #[inline]
    #[target_feature(enable = "avxvnni,avx2")]
    pub(in crate::neural::inference) fn sums<const N: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        excess: &Sums,
    ) -> [Sums; N] {
        let start = excess.map(|excess| bytemuck::cast(excess.0.map(|sum| -sum)));
        let mut sums = [start; N];
        match N {
            1 => add(x, weights, 0, &mut sums),
            // The sums of one group of all rows fit into the registers.
            _ => (0..4).for_each(|group| {
                let mut of_group = sums.map(|sums| [sums[group]]);
                add(x, weights, group, &mut of_group);
                sums.iter_mut().zip(of_group).for_each(|(sums, [sum])| sums[group] = sum);
            }),
        }
        sums.map(|sums| sums.map(bytemuck::cast))
    }

    /// Adds the products for the groups from `first` on.
    #[inline]
    #[target_feature(enable = "avxvnni,avx2")]
    fn add<const N: usize, const GROUPS: usize>(
        x: &[[Quad; N]],
        weights: &[[ByteLanes; 4]],
        first: usize,
        to: &mut [[Group; GROUPS]; N],
    ) {
        let mut sums = *to;
        for (x, weights) in x.iter().zip(weights) {
            for row in 0..N {
                let x = intel::_mm256_set1_epi32(i32::from_ne_bytes(x[row]));
                for group in 0..GROUPS {
                    let halves: &Group = bytemuck::cast_ref(&weights[first + group]);
                    for half in 0..2 {
                        let sum = &mut sums[row][group][half];
                        *sum = intel::_mm256_dpbusd_avx_epi32(*sum, x, halves[half]);
                    }
                }
            }
        }
        *to = sums;
    }
}

/// Compiles one body for each instruction set, with a function that dispatches. In the body, `$bytes` is the module of
/// the set.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*), |$bytes:ident| $body:block) => {
        $(#[$doc])*
        pub(super) fn $name(set: InstructionSet, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2")]
            fn vnni($($arg: $type),*) {
                #[allow(unused_imports)]
                use instructions::vnni as $bytes;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avxvnni,avx2")]
            fn avx_vnni($($arg: $type),*) {
                #[allow(unused_imports)]
                use instructions::avx_vnni as $bytes;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($arg: $type),*) {
                #[allow(unused_imports)]
                use instructions::avx2 as $bytes;
                $body
            }
            fn portable($($arg: $type),*) {
                #[allow(unused_imports)]
                use instructions::portable as $bytes;
                $body
            }
            // SAFETY: values of an instruction set exist only if the processor has it.
            #[allow(unsafe_code)]
            match set.0 {
                #[cfg(target_arch = "x86_64")]
                instructions::Kind::Vnni => unsafe { vnni($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                instructions::Kind::AvxVnni => unsafe { avx_vnni($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                instructions::Kind::Avx2 => unsafe { avx2($($arg),*) },
                instructions::Kind::Portable => portable($($arg),*),
            }
        }
    };
}
pub(super) use dispatched;
