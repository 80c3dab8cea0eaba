//! Compares a query with all keys of a page.

use hamming::kernel::{each_near, for_processors};

for_processors! {
    /// Appends the slots of all keys that differ from the query in at most `radius` bits.
    pub fn near(keys: &[[u8; 8]], query: u64, radius: u32, hits: &mut Vec<u16>) {
        let is_near = |key: &[u8; 8]| (u64::from_ne_bytes(*key) ^ query).count_ones() <= radius;
        each_near(keys, is_near, |slot| hits.push(slot as u16));
    }
}

for_processors! {
    /// Appends the slots, with their distances, of all codes that differ from the center in at most `radius`
    /// bits. Their first words lie one after the other, and the others at `tail` in the `rest` bytes of each
    /// slot, the last slot first.
    pub fn near_codes(
        keys: &[[u8; 8]],
        rests: &[u8],
        (rest, tail): (usize, usize),
        center: &[u64],
        radius: u32,
        hits: &mut Vec<(u16, u32)>,
    ) {
        let Some((&first, others)) = center.split_first() else { return };
        for (slot, (key, rest)) in keys.iter().zip(rests.rchunks_exact(rest)).enumerate() {
            let words = rest[tail..].as_chunks::<8>().0.iter().zip(others);
            let differing = words.map(|(&word, other)| (u64::from_ne_bytes(word) ^ other).count_ones());
            let distance = (u64::from_ne_bytes(*key) ^ first).count_ones() + differing.sum::<u32>();
            if distance <= radius {
                hits.push((slot as u16, distance));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_plain_loop_finds(
            keys in prop::collection::vec(any::<u64>(), 0..600),
            query: u64,
            radius in 0u32..65,
        ) {
            let bytes: Vec<[u8; 8]> = keys.iter().map(|key| key.to_ne_bytes()).collect();
            let mut hits = Vec::new();
            near(&bytes, query, radius, &mut hits);
            let plain = keys.iter().enumerate().filter(|(_, key)| (*key ^ query).count_ones() <= radius);
            prop_assert_eq!(hits, plain.map(|(slot, _)| slot as u16).collect::<Vec<_>>());
        }
    }
}
