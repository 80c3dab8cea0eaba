//! Hash functions. A change here breaks stored fingerprints and sketches: the vectors of `tests/` would fail.
//!
//! XXH3 with 64 bits and no seed hashes every feature, unless a scheme or a sketch is defined by another
//! function.

pub(crate) mod rabin;
pub(crate) mod rolling;

pub(crate) use xxhash_rust::xxh3::xxh3_64;
