//! The fingerprint of `doc2` and of schemes with `perm:`: hashes choose 64 features, each of which gives one
//! bit (`docs/developers/doc2.md`).
//!
//! One-permutation hashing (Li, Owen and Zhang, 2012) with one bit per bin (Li and König, "b-Bit Minwise
//! Hashing", 2010): the hash of a feature chooses a bin and a key. The feature with the least key of a bin
//! decides one bit. So two texts agree in a bit if they choose the same feature, whose probability is the
//! resemblance of their features, and otherwise in half of the cases.
//!
//! Each bin has eight cells. Only a table of the least key of each cell is stored of a text. Order and
//! repetitions of features do not change it, so no set of distinct features is needed. Two tables are merged
//! by taking the lesser key of each cell. Cost: linear time for any text, and 4 KB of memory.

use crate::features::pairs::{KEY, KEY_BITS};
use crate::features::{Consumer, FeatureRule, Scheme, Shingler};
use crate::hash::{mix, unmix};
use base::{Heartbeat, OutOfMemory};

/// The fingerprint of a text by a scheme with one permutation; `None` if the text has no features.
pub(super) fn fingerprint(
    text: &str,
    scheme: Scheme,
    shingler: &mut Shingler,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Option<u64>, OutOfMemory> {
    let mut consumer = KeyConsumer { keys: LeastKeys::default(), heartbeat };
    if scheme.rule() == FeatureRule::WordsAndPairs {
        shingler.hash_features_of_doc2(text, scheme, &mut consumer)?;
    } else {
        shingler.hash_features(text, scheme, &mut |hashes| {
            consumer.pause();
            hashes.iter().for_each(|&hash| consumer.take(hash));
        })?;
    }
    Ok(consumer.keys.fingerprint())
}

struct KeyConsumer<'a> {
    keys: LeastKeys,
    heartbeat: &'a mut dyn Heartbeat,
}

impl Consumer<u64> for KeyConsumer<'_> {
    #[inline(always)]
    fn take(&mut self, hash: u64) {
        self.keys.add(hash);
    }

    fn pause(&mut self) {
        self.heartbeat.beat();
    }
}

/// The number of bins: one for each bit of the fingerprint.
const BINS: usize = 64;
/// The number of cells, which the bits of a hash above the key choose.
const CELLS: usize = 1 << (u64::BITS - KEY_BITS);
/// The value of a cell without features. It is greater than any key.
const EMPTY: u64 = u64::MAX;

/// The least key of every cell.
#[derive(Clone, Debug)]
pub(crate) struct LeastKeys([u64; CELLS]);

impl Default for LeastKeys {
    fn default() -> Self {
        Self([EMPTY; CELLS])
    }
}

impl LeastKeys {
    #[inline(always)]
    pub(crate) fn add(&mut self, feature: u64) {
        let cell = &mut self.0[(feature >> KEY_BITS) as usize];
        *cell = (*cell).min(feature & KEY);
    }

    /// The key that decides each bit; `None` if there are no features.
    pub(crate) fn deciding(&self) -> Option<[u64; BINS]> {
        let mut deciding = [EMPTY; BINS];
        find_least(&mut deciding, &self.0);
        if deciding.contains(&EMPTY) {
            let mut keys = [EMPTY; CELLS];
            let keys = self.keys(&mut keys);
            if keys.is_empty() {
                return None;
            }
            debug_assert!(keys.iter().all(|&key| key <= KEY), "the number of a bin is above a key");
            fill_empty_bins(&mut deciding, keys);
        }
        Some(deciding)
    }

    /// The keys of the cells that have features. Which cells these are cannot be predicted, so every cell is
    /// written, and overwritten by the next one if it is empty.
    fn keys<'a>(&self, keys: &'a mut [u64; CELLS]) -> &'a [u64] {
        let mut count = 0;
        for &key in &self.0 {
            keys[count] = key;
            count += usize::from(key != EMPTY);
        }
        &keys[..count]
    }

    /// The fingerprint; `None` if there are no features.
    pub(crate) fn fingerprint(&self) -> Option<u64> {
        let bits = |bits, (bin, key): (usize, &u64)| bits | (mix(*key) >> bin & 1) << bin;
        self.deciding().map(|keys| keys.iter().enumerate().fold(0, bits))
    }
}

/// Finds the least key of each bin. AVX2 and AVX-512 compare four or eight keys at a time.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn find_least(deciding: &mut [u64; BINS], cells: &[u64; CELLS]) {
    let (bins, _) = cells.as_chunks::<{ CELLS / BINS }>();
    for (least, cells) in deciding.iter_mut().zip(bins) {
        *least = cells.iter().fold(EMPTY, |least, &key| least.min(key));
    }
}

/// Gives each bin without features the first key in the bin's order, which depends on the bin. Keys with
/// different mixed values are different, so the least value is enough to find the key, and the loop is one
/// that AVX2 and AVX-512 execute for four or eight keys at a time.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn fill_empty_bins(deciding: &mut [u64; BINS], keys: &[u64]) {
    for (bin, least) in (0..).zip(deciding).filter(|(_, least)| **least == EMPTY) {
        let bin: u64 = bin << (u64::BITS - BINS.ilog2());
        let first = keys.iter().fold(u64::MAX, |first, &key| first.min(mix(key | bin)));
        *least = unmix(first) ^ bin;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(features: &[u64]) -> LeastKeys {
        let mut table = LeastKeys::default();
        features.iter().for_each(|&feature| table.add(feature));
        table
    }

    /// The definition: of the features in a bin's cells, the one with the least key; if there is none, of the
    /// keys in the table the first one in the bin's order.
    fn by_definition(features: &[u64]) -> Option<u64> {
        let keys_of = |cells: std::ops::Range<u64>| -> Vec<u64> {
            let least = |cell| features.iter().filter(|&&f| f >> 55 == cell).map(|f| f % (1 << 55)).min();
            cells.filter_map(least).collect()
        };
        let all = keys_of(0..512);
        let bits = (0..64).map(|bin| {
            let in_bin = keys_of(8 * bin..8 * bin + 8).into_iter().min();
            let key = in_bin.or_else(|| all.iter().copied().min_by_key(|key| mix(bin << 58 | key)));
            key.map(|key| (mix(key) >> bin & 1) << bin)
        });
        bits.sum()
    }

    proptest! {
        #[test]
        fn fingerprints_are_as_defined(features in prop::collection::vec(any::<u64>(), 0..400)) {
            prop_assert_eq!(table(&features).fingerprint(), by_definition(&features));
        }

        #[test]
        fn order_and_repetition_do_not_matter(
            (features, shuffled) in prop::collection::vec(any::<u64>(), 1..300)
                .prop_flat_map(|features| (Just(features.clone()), Just(features).prop_shuffle())),
        ) {
            let twice = [features.clone(), shuffled].concat();
            prop_assert_eq!(table(&features).fingerprint(), table(&twice).fingerprint());
        }
    }

    /// 400 pairs of sets with a known similarity. If half of the features are common, two thirds of the bits
    /// must agree, within five standard errors, for large sets and for sets that leave bins empty.
    #[test]
    fn bits_agree_as_often_as_features_resemble_each_other() {
        for features in [3u64, 30, 3000] {
            let pairs = 400;
            let agreeing: u32 = (0..pairs)
                .map(|pair| {
                    let set = |range: std::ops::Range<u64>| -> Vec<u64> {
                        range.map(|n| mix((pair << 32) + n + 1)).collect()
                    };
                    let a = set(0..2 * features);
                    let b = set(features..3 * features);
                    (table(&a).fingerprint().unwrap() ^ table(&b).fingerprint().unwrap()).count_zeros()
                })
                .sum();
            let bits = f64::from(64 * pairs as u32);
            let resemblance = 1.0 / 3.0;
            let expected = (1.0 + resemblance) / 2.0;
            let share = f64::from(agreeing) / bits;
            // The bits of a small set depend on each other: only as many are independent as it has features.
            let independent = bits.min((pairs * 3 * features) as f64);
            let error = (expected * (1.0 - expected) / independent).sqrt();
            assert!((share - expected).abs() < 5.0 * error, "{features}: {share}, not {expected}");
        }
    }
}
