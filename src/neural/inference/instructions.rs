//! Instruction sets: which of them the processor has, and the product of bytes in each.

use super::lanes::{ByteLanes, IntLanes, Quad};
use crate::neural::lanes::LANES;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as intel;

/// An instruction set for the inner loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructionSet(pub(super) Kind);

/// The instruction sets; values exist only for those that the processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    #[cfg(target_arch = "x86_64")]
    Vnni,
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
            let fast = [(Kind::Vnni, vnni), (Kind::Avx2, avx2)];
            fast.into_iter().filter_map(|(kind, has)| has.then_some(kind)).chain(portable)
        };
        #[cfg(not(target_arch = "x86_64"))]
        let all = portable;
        all.map(Self)
    }

    /// The fastest one, or the one that the environment variable `SRPARSE_INSTRUCTIONS` names: `vnni`, `avx2` or
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
            Kind::Vnni => "vnni",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            Kind::Portable => "portable",
        }
    }
}

/// Adds the products of four inputs with the weights of 16 outputs to their sums. Shifts of whole words are
/// vectorized on any processor.
#[inline(always)]
pub(super) fn dot_portable(x: Quad, weights: &ByteLanes, mut sums: IntLanes) -> IntLanes {
    let [a, b, c, d] = x.map(|x| i32::from((x ^ 0x80) as i8));
    let words: [u32; LANES] = bytemuck::cast(*weights);
    for (sum, word) in sums.0.iter_mut().zip(words.map(u32::from_le)) {
        // In 16 bits, whose multiplication is faster than that of 32 bits.
        let byte = |shift: u32| i32::from(((word << shift) as i32 >> 24) as i16);
        *sum += (a * byte(24) + b * byte(16)) + (c * byte(8) + d * byte(0));
    }
    sums
}

/// The same with sums of pairs in 16 bits, which two products of values from -127 to 127 cannot overflow.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn dot_avx2(x: Quad, weights: &ByteLanes, sums: IntLanes) -> IntLanes {
    let x = intel::_mm256_set1_epi32(i32::from_ne_bytes(x));
    let x = intel::_mm256_xor_si256(x, intel::_mm256_set1_epi8(i8::MIN));
    let size = intel::_mm256_abs_epi8(x);
    let halves: [[intel::__m256i; 2]; 2] = [bytemuck::cast(*weights), bytemuck::cast(sums)];
    let half = |at: usize| {
        let signed = intel::_mm256_sign_epi8(halves[0][at], x);
        let pairs = intel::_mm256_maddubs_epi16(size, signed);
        let quads = intel::_mm256_madd_epi16(pairs, intel::_mm256_set1_epi16(1));
        intel::_mm256_add_epi32(halves[1][at], quads)
    };
    bytemuck::cast([half(0), half(1)])
}

/// The same with inputs offset by 128.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2")]
pub(super) fn dot_vnni(x: Quad, weights: &ByteLanes, sums: IntLanes) -> IntLanes {
    let x = intel::_mm512_set1_epi32(i32::from_ne_bytes(x));
    bytemuck::cast(intel::_mm512_dpbusd_epi32(bytemuck::cast(sums), x, bytemuck::cast(*weights)))
}

/// Compiles one body for each instruction set, with a function that dispatches. In the body, `$dot` adds products
/// to sums, `$excess` is whether inputs are offset, and `$groups` the number of lanes for which the sums of four
/// rows fit into the registers.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*),
     |$dot:ident, $excess:ident, $groups:ident| $body:block) => {
        $(#[$doc])*
        pub(super) fn $name(set: InstructionSet, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx2")]
            fn vnni($($arg: $type),*) {
                let $dot = |x, weights: &_, sums| instructions::dot_vnni(x, weights, sums);
                const $excess: bool = true;
                const $groups: usize = 4;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($arg: $type),*) {
                let $dot = |x, weights: &_, sums| instructions::dot_avx2(x, weights, sums);
                const $excess: bool = false;
                const $groups: usize = 1;
                $body
            }
            fn portable($($arg: $type),*) {
                let $dot = instructions::dot_portable;
                const $excess: bool = false;
                const $groups: usize = 1;
                $body
            }
            // SAFETY: values of an instruction set exist only if the processor has it.
            #[allow(unsafe_code)]
            match set.0 {
                #[cfg(target_arch = "x86_64")]
                instructions::Kind::Vnni => unsafe { vnni($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                instructions::Kind::Avx2 => unsafe { avx2($($arg),*) },
                instructions::Kind::Portable => portable($($arg),*),
            }
        }
    };
}
pub(super) use dispatched;
