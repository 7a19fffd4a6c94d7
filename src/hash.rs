//! Hashes with fixed values.
//!
//! Where a hash decides the place of a weight in a model, or is itself stored, its value is part of the format:
//! these functions must never change. Maps in memory use the hasher of `rustc-hash`.

/// 2⁶⁴ divided by the golden ratio, odd: multiplication by it spreads bits upwards (Fibonacci hashing).
pub(crate) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
/// The multipliers of SplitMix64's finalizer (Steele, Lea and Flood 2014).
const FINAL: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// Mixes a value into a hash, whose bits are rotated by `ROTATION`.
#[inline]
pub(crate) fn mix<const ROTATION: u32>(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(ROTATION) ^ value).wrapping_mul(MULTIPLIER)
}

/// Spreads the high bits of a mixed hash over all bits; never 0.
#[inline]
pub(crate) fn finish(hash: u64) -> u64 {
    fold::<29>(hash).wrapping_mul(FINAL[0]) | 1
}

/// SplitMix64: a hash of a number; sums of such hashes identify sets.
#[inline]
pub(crate) fn split_mix(number: u64) -> u64 {
    let hash = number.wrapping_add(1).wrapping_mul(MULTIPLIER);
    let hash = fold::<30>(hash).wrapping_mul(FINAL[0]);
    fold::<31>(fold::<27>(hash).wrapping_mul(FINAL[1]))
}

/// The high bits of a 32-bit number after multiplication by 2³² divided by the golden ratio.
#[inline]
pub(crate) fn multiply(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1)
}

/// Adds the high bits to the low ones.
#[inline]
fn fold<const SHIFT: u32>(hash: u64) -> u64 {
    hash ^ (hash >> SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_part_of_the_model_format() {
        assert_eq!(split_mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix::<23>(1, 2), (0x80_0002u64).wrapping_mul(MULTIPLIER));
        assert_eq!(finish(0), 1);
        assert_eq!(finish(1 << 29), ((1u64 << 29) ^ 1).wrapping_mul(FINAL[0]) | 1);
    }
}
