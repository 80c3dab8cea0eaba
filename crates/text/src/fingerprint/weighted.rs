//! Fingerprints of features that the user has found and weighed.
//!
//! They are made as plain fingerprints are (`bit_counts.rs`), except that a feature adds its weight instead
//! of 1, and counts at each occurrence.
//!
//! Guarantee: neither the order of the features nor the way in which parallel workers share them changes a
//! bit, for weights are kept in units of 2^-24, so sums are exact. Cost: 64 additions for each feature, and
//! 1 KB of memory.

use crate::hash::xxh3_64;
use limits::Problem;

/// The largest weight of a feature.
pub const MAX_WEIGHT: f64 = 1e9;
/// Parts of a weight of 1.
const UNITS: f64 = (1u64 << 24) as f64;

/// The sums of a fingerprint in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedCounts {
    /// For each bit, the weights of the features in whose hash it is set.
    set: [u128; 64],
    /// The weights of all features.
    all: u128,
}

impl Default for WeightedCounts {
    fn default() -> Self {
        Self { set: [0; 64], all: 0 }
    }
}

impl WeightedCounts {
    /// Bytes of the form that [`to_bytes`](Self::to_bytes) writes.
    pub const BYTES: usize = 65 * size_of::<u128>();

    /// Adds a feature with its weight, 0 to [`MAX_WEIGHT`].
    pub fn add(&mut self, feature: &[u8], weight: f64) -> Result<(), Problem> {
        if !(0.0..=MAX_WEIGHT).contains(&weight) {
            return Err(Problem::out_of_range("weight", weight, 0, MAX_WEIGHT));
        }
        let units = (weight * UNITS).round() as u128;
        let hash = xxh3_64(feature);
        for (bit, sum) in self.set.iter_mut().enumerate() {
            *sum += units * u128::from(hash >> bit & 1);
        }
        self.all += units;
        Ok(())
    }

    /// Adds the sums of another.
    pub fn merge(&mut self, other: &Self) {
        self.set.iter_mut().zip(other.set).for_each(|(sum, more)| *sum += more);
        self.all += other.all;
    }

    /// The bits that are set in more than half of the weight; `None` if there is no weight.
    pub fn majority(&self) -> Option<u64> {
        let bits = self.set.iter().rev().fold(0, |bits, &sum| bits << 1 | u64::from(2 * sum > self.all));
        (self.all > 0).then_some(bits)
    }

    /// The sums as bytes, for another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.set.iter().chain([&self.all]).flat_map(|sum| sum.to_le_bytes()).collect()
    }

    /// The sums that [`to_bytes`](Self::to_bytes) wrote; `None` if these bytes are not such.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (sums, []) = bytes.as_chunks() else { return None };
        let sums: Vec<u128> = sums.iter().map(|&bytes| u128::from_le_bytes(bytes)).collect();
        let (&all, set) = sums.split_last()?;
        Some(Self { set: set.try_into().ok()?, all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Scheme;
    use crate::fingerprint::SimHasher;
    use proptest::prelude::*;

    fn fingerprint(features: &[(&str, f64)]) -> Option<u64> {
        let mut counts = WeightedCounts::default();
        features.iter().for_each(|&(feature, weight)| counts.add(feature.as_bytes(), weight).unwrap());
        counts.majority()
    }

    #[test]
    fn weights_decide() {
        assert_eq!(fingerprint(&[]), None);
        assert_eq!(fingerprint(&[("a", 0.0)]), None);
        assert_eq!(fingerprint(&[("a", 1.0)]), Some(xxh3_64(b"a")));
        assert_eq!(fingerprint(&[("a", 2.5), ("b", 1.0), ("c", 1.0)]), Some(xxh3_64(b"a")));
        for weight in [-1.0, f64::NAN, f64::INFINITY, 1.1e9] {
            assert!(WeightedCounts::default().add(b"a", weight).is_err(), "{weight}");
        }
        assert_eq!(WeightedCounts::from_bytes(&[0; 16]), None);
        assert_eq!(WeightedCounts::from_bytes(&[0; WeightedCounts::BYTES + 1]), None);
    }

    proptest! {
        #[test]
        fn distinct_features_of_weight_1_are_a_scheme(
            words in prop::collection::btree_set("[a-z]{1,5}", 1..40),
        ) {
            let text = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
            let features: Vec<(&str, f64)> = words.iter().map(|word| (word.as_str(), 1.0)).collect();
            let expected = SimHasher::default().fingerprint(&text, Scheme::Words(1), &mut || ());
            prop_assert_eq!(fingerprint(&features), expected);
        }

        #[test]
        fn neither_order_nor_parts_matter(
            features in prop::collection::vec(("[a-e]{1,2}", 0f64..1e9), 1..40),
            cut in 0usize..40,
        ) {
            let sum = |features: &[(String, f64)]| {
                let mut counts = WeightedCounts::default();
                features.iter().for_each(|(name, weight)| counts.add(name.as_bytes(), *weight).unwrap());
                counts
            };
            let (left, right) = features.split_at(cut.min(features.len()));
            let mut parts = WeightedCounts::from_bytes(&sum(right).to_bytes()).unwrap();
            parts.merge(&sum(left));
            prop_assert_eq!(parts, sum(&features));
        }
    }
}
