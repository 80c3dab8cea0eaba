//! Hash functions. A change here breaks stored fingerprints and sketches: the vectors of `tests/` would fail.
//!
//! XXH3 with 64 bits and no seed hashes every feature, unless a scheme or a sketch is defined by another
//! function.

pub(crate) mod rabin;
pub(crate) mod rolling;

pub(crate) use xxhash_rust::xxh3::xxh3_64;

/// SplitMix64's finalizer (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014): every bit of the
/// result depends on every bit of the value, and different values have different results.
#[inline(always)]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}
