//! Hash functions. A change here breaks stored fingerprints and sketches: the vectors of `tests/` would fail.
//!
//! Features are hashed by XXH3 with 64 bits and no seed, unless the definition of a scheme or a sketch names
//! another function. Where a hash is placed in a table depends on [`secret`] instead, and no result does.

pub(crate) mod minima;
pub(crate) mod probing_table;
pub(crate) mod rabin;
pub(crate) mod rolling;
pub(crate) mod secret;

pub(crate) use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// 2^64 divided by the golden ratio. Multiples of this odd number are evenly distributed.
pub(crate) const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
/// The odd factors of [`mix`].
pub(crate) const MIX_FACTORS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

/// SplitMix64's finalizer (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014): every
/// bit of the result depends on every bit of the value, and different values have different results.
#[inline(always)]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(MIX_FACTORS[0]);
    let value = (value ^ value >> 27).wrapping_mul(MIX_FACTORS[1]);
    value ^ value >> 31
}

/// The inverses of [`MIX_FACTORS`] modulo 2^64.
const UNMIX_FACTORS: [u64; 2] = [0x96de_1b17_3f11_9089, 0x3196_42b2_d24d_8ec3];

/// The value that [`mix`] turns into this one.
#[inline(always)]
pub(crate) fn unmix(mixed: u64) -> u64 {
    let value = (mixed ^ mixed >> 31 ^ mixed >> 62).wrapping_mul(UNMIX_FACTORS[1]);
    let value = (value ^ value >> 27 ^ value >> 54).wrapping_mul(UNMIX_FACTORS[0]);
    value ^ value >> 30 ^ value >> 60
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn unmix_is_the_inverse_of_mix(value: u64) {
            prop_assert_eq!(unmix(mix(value)), value);
            prop_assert_eq!(mix(unmix(value)), value);
        }
    }
}
