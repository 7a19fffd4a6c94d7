//! The products of bytes with the instructions of x86-64.

/// With sums of pairs in 16 bits, which two products of values from -127 to 127 cannot overflow. The
/// instruction multiplies signed by unsigned bytes: weights with the signs of the inputs by the sizes of the inputs.
pub(in crate::neural::inference) mod avx2 {
    use std::arch::x86_64 as intel;

    use crate::neural::inference::bytes::Sums;
    use crate::neural::inference::lanes::{ByteLanes, Quad};

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
pub(in crate::neural::inference) mod vnni {
    use std::arch::x86_64 as intel;

    use crate::neural::inference::bytes::Sums;
    use crate::neural::inference::lanes::{ByteLanes, Quad};

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
pub(in crate::neural::inference) mod avx_vnni {
    use std::arch::x86_64 as intel;

    use crate::neural::inference::bytes::Sums;
    use crate::neural::inference::lanes::{ByteLanes, Quad};

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
