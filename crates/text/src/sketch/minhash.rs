//! MinHash signatures: what share of them agrees estimates the resemblance of two texts.
//!
//! Broder, "On the resemblance and containment of documents", 1997. The i-th value is the least that any
//! feature of the text has under the i-th hash. Two texts agree in a value with the probability that their
//! least feature is a shared one, which is their resemblance. The hashes of a feature are made of one hash
//! of 64 bits, mixed with a different key each time.
//!
//! Guarantee: the share of agreeing values among n is an unbiased estimate of the resemblance J, with a
//! variance of J(1 - J)/n. Cost: n mixed hashes for each occurrence of a feature; memory for n values.

use crate::features::{Batch, Scheme, Shingler};
use crate::hash::xxh3_64;
use limits::{Heartbeat, Kind, Limit, Problem};

/// The most values in a signature.
const MAX_HASHES: i64 = 4096;
/// Values in a signature.
pub const HASHES: Limit = Limit::new("hashes", 1, MAX_HASHES);
/// Parts that a signature is cut into.
pub const BANDS: Limit = Limit::new("bands", 1, MAX_HASHES);
/// Values in a signature that is to be cut into bands.
const LENGTH: Limit = Limit::new("length of signature", 0, MAX_HASHES);

/// Multiples of this odd number set the hashes of a feature apart.
const KEY: u64 = 0x9e37_79b9_7f4a_7c15;
/// Values that are lowered together, which fit into the registers.
const GROUP: usize = 32;
/// Odd factors that mix the bits of a hash.
const MIX: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

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
        let mut least = vec![u32::MAX; HASHES.of(hashes)?];
        let mut any = false;
        let mut consumer = |features: &[u64]| {
            heartbeat.beat();
            any |= !features.is_empty();
            lower(&mut least, features);
        };
        let mut batch = Batch::new(&mut consumer);
        self.shingler.hash_features(text, scheme, &mut batch);
        batch.flush();
        Ok(any.then(|| least.into_iter().map(|value| value as i32).collect()))
    }
}

/// Lowers every value to the least hash of the same number that a feature has, where that is less. It is
/// compiled for several kinds of processors: with AVX-512 eight hashes are made at a time.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn lower(least: &mut [u32], features: &[u64]) {
    for (group, values) in (0..).zip(least.chunks_mut(GROUP)) {
        let mut group_least = [u32::MAX; GROUP];
        let keys: [u64; GROUP] = std::array::from_fn(|at| KEY.wrapping_mul((group * GROUP + at + 1) as u64));
        for &feature in features {
            for (value, key) in group_least.iter_mut().zip(keys) {
                let mixed = (feature ^ key).wrapping_mul(MIX[0]);
                let mixed = (mixed ^ mixed >> 32).wrapping_mul(MIX[1]);
                *value = (*value).min((mixed >> 32) as u32);
            }
        }
        values.iter_mut().zip(group_least).for_each(|(value, least)| *value = least.min(*value));
    }
}

/// The share of values in which two signatures agree; `None` if they have no values.
pub fn similarity(a: &[i32], b: &[i32]) -> Option<f64> {
    let agreeing = a.iter().zip(b).filter(|(a, b)| a == b).count();
    (!a.is_empty()).then(|| agreeing as f64 / a.len() as f64)
}

/// One hash of each band of a signature, sorted and distinct: similar texts probably share one.
///
/// Texts of resemblance J share one with the probability 1 - (1 - J^r)^b, for b bands of r values.
pub fn bands(signature: &[i32], bands: usize) -> Result<Vec<i64>, Problem> {
    let bands = BANDS.of(bands)?;
    let values = signature.len();
    if !values.is_multiple_of(bands) {
        let message = format!("signature of {values} values cannot be cut into {bands} equal bands");
        return Err(Problem::new(Kind::InvalidValue, message)
            .with_hint(format!("Choose a number of bands that divides {values}.")));
    }
    LENGTH.of::<usize>(values)?;
    if signature.is_empty() {
        return Ok(Vec::new());
    }
    let hash = |(band, values): (usize, &[i32])| {
        let mut bytes = (band as u32).to_le_bytes().to_vec();
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        xxh3_64(&bytes) as i64
    };
    let mut hashes: Vec<i64> = signature.chunks(signature.len() / bands).enumerate().map(hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    Ok(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn signature(text: &str, hashes: usize, scheme: &str) -> Option<Vec<i32>> {
        MinHasher::default().signature(text, hashes, scheme.parse().unwrap(), &mut || ()).unwrap()
    }

    /// A text of the words with these numbers.
    fn text(words: impl Iterator<Item = usize>) -> String {
        words.map(|word| format!("w{word} ")).collect()
    }

    #[test]
    fn no_features_no_signature() {
        assert_eq!(signature("", 128, "word:3"), None);
        assert_eq!(signature("x", 16, "word:3").map(|values| values.len()), Some(16));
        assert!(MinHasher::default().signature("x", 0, Scheme::Doc1, &mut || ()).is_err());
        assert_eq!(similarity(&[], &[]), None);
    }

    /// 200 pairs of texts with 100 words each, of which they share a known number: the mean error must be
    /// near 0, and its spread that of independent hashes.
    #[test]
    fn similarity_is_an_unbiased_estimate_of_resemblance() {
        for shared in [10usize, 50, 90] {
            let resemblance = shared as f64 / (200 - shared) as f64;
            let errors: Vec<f64> = (0..200)
                .map(|pair| {
                    let first = pair * 1000;
                    let a = signature(&text(first..first + 100), 128, "word:1").unwrap();
                    let b =
                        signature(&text(first + 100 - shared..first + 200 - shared), 128, "word:1").unwrap();
                    similarity(&a, &b).unwrap() - resemblance
                })
                .collect();
            let mean = errors.iter().sum::<f64>() / 200.0;
            let variance = errors.iter().map(|error| error * error).sum::<f64>() / 200.0;
            let expected = resemblance * (1.0 - resemblance) / 128.0;
            // Five standard errors of a mean of 200; the variance of a variance is about its square / 100.
            assert!(mean.abs() < 5.0 * (expected / 200.0).sqrt(), "{shared}: mean error {mean}");
            assert!((variance / expected - 1.0).abs() < 0.5, "{shared}: {variance} instead of {expected}");
        }
    }

    /// 3,000 pairs of short texts, of which the hashes of a band would agree too often if they were not
    /// independent.
    #[test]
    fn bands_agree_as_often_as_they_should() {
        let (shared, words, pairs) = (5usize, 10usize, 3000);
        let resemblance = shared as f64 / (2 * words - shared) as f64;
        let agreeing = (0..pairs)
            .filter(|pair| {
                let first = pair * 1000;
                let a = signature(&text(first..first + words), 64, "word:1").unwrap();
                let b = signature(&text(first + words - shared..first + 2 * words - shared), 64, "word:1")
                    .unwrap();
                let (a, b) = (bands(&a, 16).unwrap(), bands(&b, 16).unwrap());
                a.iter().any(|hash| b.contains(hash))
            })
            .count() as f64;
        let expected = pairs as f64 * (1.0 - (1.0 - resemblance.powi(4)).powi(16));
        assert!((agreeing - expected).abs() < 5.0 * expected.sqrt(), "{agreeing} instead of {expected}");
    }

    #[test]
    fn bands_are_equal_parts() {
        let a: Vec<i32> = (0..12).collect();
        assert_eq!(bands(&a, 4).unwrap().len(), 4);
        assert_eq!(
            bands(&a, 5).unwrap_err().message,
            "signature of 12 values cannot be cut into 5 equal bands"
        );
        assert!(bands(&a, 0).is_err());
        let mut b = a.clone();
        b[0] = 99;
        let (a, b) = (bands(&a, 4).unwrap(), bands(&b, 4).unwrap());
        assert_eq!(a.iter().filter(|hash| b.contains(hash)).count(), 3);
        // The same values in another band are another hash.
        assert_eq!(bands(&[7, 7, 7], 3).unwrap().len(), 3);
    }

    proptest! {
        #[test]
        fn values_are_least_hashes(words in prop::collection::vec(0usize..5000, 1..1000), hashes in 1usize..200) {
            let hash = |word: &usize, i: u64| {
                let mixed = (xxh3_64(format!("w{word}").as_bytes()) ^ i.wrapping_mul(KEY)).wrapping_mul(MIX[0]);
                ((mixed ^ mixed >> 32).wrapping_mul(MIX[1]) >> 32) as u32
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
