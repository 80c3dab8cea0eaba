//! The keys of features, and the bins whose values they lower.

use crate::hash::mix;

/// The value of an empty bin; -1 in SQL.
pub(super) const EMPTY: u32 = u32::MAX;
/// Instead of the least key of a bin, if it has none.
pub(super) const NO_KEY: u64 = u64::MAX;

/// The key of a feature, in the upper half, and its bin among so many, in the lower half. So of two features
/// in a bin, the one with the lesser key is less.
#[inline(always)]
pub(super) fn key_and_bin(feature: u64, bins: u32) -> u64 {
    let mixed = mix(feature);
    let bin = ((mixed >> 32) * u64::from(bins)) >> 32;
    mixed << 32 | bin
}

/// Lowers the value of a bin to the key, if the key is less. Most features lower nothing. The store is
/// unconditional, since no store has to wait for another one.
#[inline(always)]
pub(super) fn lower(key_and_bin: u64, least: &mut [u64]) {
    let value = &mut least[key_and_bin as u32 as usize];
    *value = key_and_bin.min(*value);
}

/// The value of a bin in a signature, by its least key.
#[inline]
pub(super) fn value(least: u64) -> i32 {
    let key = (least >> 32) as u32;
    let bin = least as u32;
    debug_assert!(least == NO_KEY || bin != NO_KEY as u32, "the number of a bin is less than 2^32 - 1");
    // The greatest key would mean an empty bin. Numbers of 32 bits are compared, four at a time.
    let value = if bin == NO_KEY as u32 { EMPTY } else { key.min(EMPTY - 1) };
    value as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The greatest key would mean an empty bin. This feature's hash has that key.
    #[test]
    fn no_feature_leaves_its_bin_empty() {
        let feature = 0xc348_c88e_b271_b06f;
        assert_eq!(mix(feature), u64::from(EMPTY));
        let mut least = [NO_KEY; 2];
        lower(key_and_bin(feature, 2), &mut least);
        assert_eq!(least.map(value), [-2, -1]);
    }
}
