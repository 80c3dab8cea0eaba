//! Fingerprints of features that the user has extracted and weighted.
//!
//! They are computed like other fingerprints (`bit_counts.rs`), but a feature adds its weight instead of 1,
//! and every occurrence counts.
//!
//! Guarantee: the result depends neither on the order of the features nor on how parallel workers divide
//! them. Weights are stored in units of 2^-24, so sums are exact. Cost: 64 additions for each feature, and 1
//! KB of memory.

use crate::hash::xxh3_64;
use base::Problem;

/// The largest weight of a feature.
pub const MAX_WEIGHT: f64 = 1e9;
/// The units of a weight of 1.
const UNITS: f64 = (1u64 << 24) as f64;

/// The sums for a fingerprint: for each bit, the weights of the features whose hash has it set; followed by
/// the weights of all features. Each sum is a little-endian u128, so the sums are bytes that can be sent to
/// another machine.
pub type Sums = [[u8; 16]; 65];
/// The sums without features.
pub const NOTHING: Sums = [[0; 16]; 65];
/// The size of the sums in bytes.
pub const BYTES: usize = size_of::<Sums>();

fn increase(sum: &mut [u8; 16], more: u128) {
    *sum = u128::from_le_bytes(*sum).wrapping_add(more).to_le_bytes();
}

/// Adds a feature with its weight, from 0 to [`MAX_WEIGHT`].
pub fn add(sums: &mut Sums, feature: &[u8], weight: f64) -> Result<(), Problem> {
    if !(0.0..=MAX_WEIGHT).contains(&weight) {
        return Err(Problem::out_of_range("weight", weight, 0, MAX_WEIGHT));
    }
    let units = (weight * UNITS).round() as u128;
    let hash = xxh3_64(feature);
    let [set @ .., all] = sums;
    for (bit, sum) in set.iter_mut().enumerate() {
        increase(sum, units * u128::from(hash >> bit & 1));
    }
    increase(all, units);
    Ok(())
}

/// Adds other sums.
pub fn merge(sums: &mut Sums, other: &Sums) {
    sums.iter_mut().zip(other).for_each(|(sum, more)| increase(sum, u128::from_le_bytes(*more)));
}

/// The bits that are set in more than half of the weight; `None` if there is no weight.
pub fn majority(sums: &Sums) -> Option<u64> {
    let [set @ .., all] = sums.map(u128::from_le_bytes);
    let bits = set.iter().rev().fold(0, |bits, &sum| bits << 1 | u64::from(sum > all / 2));
    (all > 0).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::SimHasher;
    use proptest::prelude::*;

    fn fingerprint(features: &[(&str, f64)]) -> Option<u64> {
        let mut sums = NOTHING;
        features.iter().for_each(|&(feature, weight)| add(&mut sums, feature.as_bytes(), weight).unwrap());
        majority(&sums)
    }

    #[test]
    fn weights_decide() {
        assert_eq!(fingerprint(&[]), None);
        assert_eq!(fingerprint(&[("a", 0.0)]), None);
        assert_eq!(fingerprint(&[("a", 1.0)]), Some(xxh3_64(b"a")));
        assert_eq!(fingerprint(&[("a", 2.5), ("b", 1.0), ("c", 1.0)]), Some(xxh3_64(b"a")));
        for weight in [-1.0, f64::NAN, f64::INFINITY, 1.1e9] {
            assert!(add(&mut NOTHING.clone(), b"a", weight).is_err(), "{weight}");
        }
    }

    proptest! {
        #[test]
        fn distinct_features_of_weight_1_are_a_scheme(
            words in prop::collection::btree_set("[a-z]{1,5}", 1..40),
        ) {
            let text = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
            let features: Vec<(&str, f64)> = words.iter().map(|word| (word.as_str(), 1.0)).collect();
            let expected = SimHasher::default().fingerprint(&text, "word:1".parse().unwrap(), &mut || ()).unwrap();
            prop_assert_eq!(fingerprint(&features), expected);
        }

        #[test]
        fn neither_order_nor_parts_matter(
            features in prop::collection::vec(("[a-e]{1,2}", 0f64..1e9), 1..40),
            cut in 0usize..40,
        ) {
            let sum = |features: &[(String, f64)]| {
                let mut sums = NOTHING;
                features.iter().for_each(|(name, weight)| add(&mut sums, name.as_bytes(), *weight).unwrap());
                sums
            };
            let (left, right) = features.split_at(cut.min(features.len()));
            let mut parts = sum(right);
            merge(&mut parts, &sum(left));
            prop_assert_eq!(parts, sum(&features));
        }
    }
}
