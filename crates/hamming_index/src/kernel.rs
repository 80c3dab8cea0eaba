//! Compares a query with all keys or codes of a page.

use hamming::kernel::{each_near, for_processors};

for_processors! {
    /// Appends the slots of all keys that differ from the query in at most `radius` bits.
    pub fn near(keys: &[[u8; 8]], query: u64, radius: u32, hits: &mut Vec<u16>) {
        let is_near = |key: &[u8; 8]| (u64::from_ne_bytes(*key) ^ query).count_ones() <= radius;
        each_near(keys, is_near, |slot| hits.push(slot as u16));
    }
}

for_processors! {
    /// Appends the slots and distances of all codes that differ from the center in at most `radius` bits.
    /// `words` has the words of the first code, then those of the second, and so on.
    ///
    /// Usual widths have their own loops: a code takes half of the time if the compiler knows its number of
    /// words.
    pub fn near_codes(words: &[[u8; 8]], center: &[u64], radius: u32, hits: &mut Vec<(u16, u32)>) {
        match center.len() {
            0 => {}
            2 => near_codes_of(2, words, center, radius, hits),
            3 => near_codes_of(3, words, center, radius, hits),
            4 => near_codes_of(4, words, center, radius, hits),
            6 => near_codes_of(6, words, center, radius, hits),
            8 => near_codes_of(8, words, center, radius, hits),
            12 => near_codes_of(12, words, center, radius, hits),
            16 => near_codes_of(16, words, center, radius, hits),
            width => near_codes_of(width, words, center, radius, hits),
        }
    }
}

/// Uses plain loops, since iterators are not always inlined into the function for a kind of processor.
#[inline(always)]
fn near_codes_of(width: usize, words: &[[u8; 8]], center: &[u64], radius: u32, hits: &mut Vec<(u16, u32)>) {
    let center = &center[..width];
    for slot in 0..words.len() / width {
        let code = &words[slot * width..][..width];
        let mut distance = 0;
        for place in 0..width {
            distance += (u64::from_ne_bytes(code[place]) ^ center[place]).count_ones();
        }
        if distance <= radius {
            hits.push((slot as u16, distance));
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

        #[test]
        fn finds_the_codes_that_a_plain_loop_finds(
            (center, words) in (1usize..20).prop_flat_map(|width| {
                let words = prop::collection::vec(any::<u64>(), 0..600 / width * width);
                (prop::collection::vec(any::<u64>(), width), words)
            }),
            part in 0.0..1.0,
        ) {
            let bytes: Vec<[u8; 8]> = words.iter().map(|word| word.to_ne_bytes()).collect();
            let distance = |code: &[u64]| hamming::code::distance_of_words(code, &center);
            // Half of the bits of scattered codes differ.
            let radius = (64.0 * part * center.len() as f64) as u32;
            let mut hits = Vec::new();
            near_codes(&bytes, &center, radius, &mut hits);
            let plain = words.chunks_exact(center.len()).map(distance).enumerate();
            let plain = plain.filter(|&(_, distance)| distance <= radius);
            let plain: Vec<_> = plain.map(|(slot, distance)| (slot as u16, distance)).collect();
            prop_assert_eq!(hits, plain);
        }
    }
}
