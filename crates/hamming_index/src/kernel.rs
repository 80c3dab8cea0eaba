//! Compares a query with all keys of a page.
//!
//! One plain loop, compiled for several kinds of processors; which one runs is decided when it is called.
//! With AVX-512's VPOPCNTDQ eight fingerprints are compared at a time. Elsewhere (aarch64) it is compiled once.

use multiversion::multiversion;

/// Keys looked at together. Hits are rare, so that only groups with a hit are looked at one by one.
const GROUP: usize = 64;

/// Appends the places of all keys that differ from the query in at most `radius` bits.
#[multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512bw+avx512vpopcntdq+popcnt",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt"
))]
pub fn near(keys: &[[u8; 8]], query: u64, radius: u32, hits: &mut Vec<u16>) {
    let distance = |key: &[u8; 8]| (u64::from_ne_bytes(*key) ^ query).count_ones();
    for (group, keys) in keys.chunks(GROUP).enumerate() {
        let any = keys.iter().fold(false, |any, key| any | (distance(key) <= radius));
        if any {
            let near = keys.iter().enumerate().filter(|(_, key)| distance(key) <= radius);
            hits.extend(near.map(|(index, _)| (group * GROUP + index) as u16));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_plain_loop_finds(keys in prop::collection::vec(any::<u64>(), 0..600), query: u64, radius in 0u32..65) {
            let bytes: Vec<[u8; 8]> = keys.iter().map(|key| key.to_ne_bytes()).collect();
            let mut hits = Vec::new();
            near(&bytes, query, radius, &mut hits);
            let plain = keys.iter().enumerate().filter(|(_, key)| (*key ^ query).count_ones() <= radius);
            prop_assert_eq!(hits, plain.map(|(index, _)| index as u16).collect::<Vec<_>>());
        }
    }
}
