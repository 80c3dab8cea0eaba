//! MinHash signatures: what share of them agrees estimates the similarity of two texts.
//!
//! Broder, "On the resemblance and containment of documents", 1997. The i-th value is the least that any
//! feature of the text has under the i-th hash. Two texts agree in a value with the probability that their
//! least feature is a shared one, which is their similarity. The hashes of a feature are made of one hash
//! of 64 bits, mixed with a different key each time.
//!
//! Guarantee: the share of agreeing values among n is an unbiased estimate of the similarity J, with a
//! variance of J(1 - J)/n. Cost: n mixed hashes for each occurrence of a feature; memory for n values.
//!
//! [`bins`] makes signatures with one hash for each occurrence, and [`signature`] what is made of both kinds.

mod bins;
mod signature;

pub use bins::BINS;
pub use signature::{BANDS, bands, bits, merge, similarity};

use crate::features::{Batch, Scheme, Shingler};
use crate::hash::{GOLDEN_RATIO, MIX_FACTORS};
use limits::{Heartbeat, Limit, OutOfMemory, Problem, collect};
use std::iter::repeat_n;

/// The most values in a signature.
const MAX_HASHES: i64 = 4096;
/// Values in a signature.
pub const HASHES: Limit = Limit::new("hashes", 1, MAX_HASHES);
/// Bits that are made of a text, one of each value.
pub const BITS: Limit = Limit::new("bits", 1, MAX_HASHES);
/// Values in a signature that somebody passes.
const LENGTH: Limit = Limit::new("length of signature", 0, MAX_HASHES);
/// Before there is a value; in SQL, -1.
const EMPTY: u32 = u32::MAX;

/// Values that are lowered together, which fit into the registers.
const GROUP: usize = 32;

/// Makes signatures; keeps its memory from text to text.
#[derive(Debug, Default)]
pub struct MinHasher {
    shingler: Shingler,
}

impl MinHasher {
    /// The signature of a text, with this number of values, or `None` if it has no features.
    pub fn signature(
        &mut self,
        text: &str,
        hashes: usize,
        scheme: Scheme,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Option<Vec<i32>>, Problem> {
        let hashes = HASHES.of(hashes)?;
        let empty = collect(repeat_n(EMPTY, hashes), hashes)?;
        Ok(self.collect(text, scheme, heartbeat, empty, lower)?)
    }

    /// Lowers the values for the features of a text, batch by batch. `None` if the text has no features.
    fn collect(
        &mut self,
        text: &str,
        scheme: Scheme,
        heartbeat: &mut dyn Heartbeat,
        mut least: Vec<u32>,
        mut lower: impl FnMut(&mut [u32], &[u64]),
    ) -> Result<Option<Vec<i32>>, OutOfMemory> {
        let mut any = false;
        let mut consumer = |features: &[u64]| {
            heartbeat.beat();
            any |= !features.is_empty();
            lower(&mut least, features);
        };
        let mut batch = Batch::new(&mut consumer);
        self.shingler.hash_features(text, scheme, &mut batch)?;
        batch.flush();
        Ok(any.then(|| least.into_iter().map(|value| value as i32).collect()))
    }
}

/// Lowers every value to the least hash of the same number that a feature has, where that is less. Multiples
/// of [`GOLDEN_RATIO`] set the hashes of a feature apart. The function is compiled for several kinds of
/// processors: with AVX-512 eight hashes are made at a time.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn lower(least: &mut [u32], features: &[u64]) {
    for (group, values) in (0..).zip(least.chunks_mut(GROUP)) {
        let mut group_least = [EMPTY; GROUP];
        let keys: [u64; GROUP] =
            std::array::from_fn(|at| GOLDEN_RATIO.wrapping_mul((group * GROUP + at + 1) as u64));
        for &feature in features {
            for (value, key) in group_least.iter_mut().zip(keys) {
                let mixed = (feature ^ key).wrapping_mul(MIX_FACTORS[0]);
                let mixed = (mixed ^ mixed >> 32).wrapping_mul(MIX_FACTORS[1]);
                *value = (*value).min((mixed >> 32) as u32);
            }
        }
        values.iter_mut().zip(group_least).for_each(|(value, least)| *value = least.min(*value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::xxh3_64;
    use proptest::prelude::*;

    pub(super) fn signature(text: &str, hashes: usize, scheme: &str) -> Option<Vec<i32>> {
        MinHasher::default().signature(text, hashes, scheme.parse().unwrap(), &mut || ()).unwrap()
    }

    /// A text of the words with these numbers.
    pub(super) fn text(words: impl Iterator<Item = usize>) -> String {
        words.map(|word| format!("w{word} ")).collect()
    }

    #[test]
    fn no_features_no_signature() {
        assert_eq!(signature("", 128, "word:3"), None);
        assert_eq!(signature("x", 16, "word:3").map(|values| values.len()), Some(16));
        assert!(MinHasher::default().signature("x", 0, Scheme::DOC2, &mut || ()).is_err());
        assert_eq!(similarity(&[], &[]), None);
    }

    /// 200 pairs of texts with this number of words, of which they share a known number: the mean error of
    /// the estimates must be near 0, and its spread at most that of this number of independent values.
    pub(super) fn assert_unbiased<S>(
        words: usize,
        shared: usize,
        values: usize,
        sketch: impl Fn(&str) -> S,
        estimate: impl Fn(&S, &S) -> f64,
    ) {
        let resemblance = shared as f64 / (2 * words - shared) as f64;
        let errors: Vec<f64> = (0..200)
            .map(|pair| {
                let first = pair * 10_000;
                let a = sketch(&text(first..first + words));
                let b = sketch(&text(first + words - shared..first + 2 * words - shared));
                estimate(&a, &b) - resemblance
            })
            .collect();
        let mean = errors.iter().sum::<f64>() / 200.0;
        let variance = errors.iter().map(|error| error * error).sum::<f64>() / 200.0;
        let expected = resemblance * (1.0 - resemblance) / values as f64;
        // Five standard errors of a mean of 200; the variance of a variance is about its square / 100.
        assert!(mean.abs() < 5.0 * (expected / 200.0).sqrt(), "{words}, {shared}: mean error {mean}");
        assert!(variance / expected < 1.5, "{words}, {shared}: {variance} instead of {expected}");
    }

    #[test]
    fn similarity_is_an_unbiased_estimate_of_resemblance() {
        for shared in [10, 50, 90] {
            let signature = |text: &str| signature(text, 128, "word:1").unwrap();
            assert_unbiased(100, shared, 128, signature, |a, b| similarity(a, b).unwrap());
        }
    }

    proptest! {
        #[test]
        fn values_are_least_hashes(words in prop::collection::vec(0usize..5000, 1..1000), hashes in 1usize..200) {
            let hash = |word: &usize, i: u64| {
                let mixed = (xxh3_64(format!("w{word}").as_bytes()) ^ i.wrapping_mul(GOLDEN_RATIO)).wrapping_mul(MIX_FACTORS[0]);
                ((mixed ^ mixed >> 32).wrapping_mul(MIX_FACTORS[1]) >> 32) as u32
            };
            let least = |i| words.iter().map(|word| hash(word, i)).min().map(|least| least as i32);
            let expected: Vec<i32> = (1..=hashes as u64).filter_map(least).collect();
            prop_assert_eq!(signature(&text(words.iter().copied()), hashes, "word:1"), Some(expected));
        }

        #[test]
        fn order_and_repetition_do_not_matter(words in prop::collection::vec(0usize..50, 1..40)) {
            let mut sorted = words.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(
                signature(&text(words.into_iter()), 16, "word:1"),
                signature(&text(sorted.into_iter()), 16, "word:1")
            );
        }
    }
}
