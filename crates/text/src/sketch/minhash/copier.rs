//! Lowers bins by copies of features: a feature counts as many times as it weighs.
//!
//! Most of the time of a weighted signature is spent here. So the copies of many features are hashed
//! together, four or eight at a time, and a feature that was copied a short time ago is not copied again,
//! since it would lower nothing. In texts of 2.8 kB, these are two of five.

use super::keys::{key_and_bin, lower};
use crate::hash::GOLDEN_RATIO;
use crate::sketch::rarity::FeatureWeights;

/// The number of features whose copies are hashed together.
const FEATURES: usize = 64;
/// The number of copies of a feature that are made together. The features of few corpora weigh more.
const COPIES: usize = 32;
/// The number of copies that are hashed while those before them lower bins.
const GROUP: usize = 16;
/// The number of features that are remembered.
const RECENT: usize = 512;

/// The differences of copies from their feature.
const STEPS: [u64; COPIES] = {
    let mut steps = [0; COPIES];
    let mut number = 0;
    while number < COPIES {
        steps[number] = step(number);
        number += 1;
    }
    steps
};

/// The difference of the copy with this number from its feature. Number 0 is the feature itself.
const fn step(number: usize) -> u64 {
    GOLDEN_RATIO.wrapping_mul(number as u64)
}

/// Lowers the bins of texts, and reuses its memory for the next text.
#[derive(Clone, Debug)]
pub(super) struct Copier {
    copies: [u64; FEATURES * COPIES],
    /// Features of the text that were taken a short time ago, each at a place that its lowest bits choose.
    recent: [u64; RECENT],
}

impl Default for Copier {
    fn default() -> Self {
        Self { copies: [0; _], recent: [0; _] }
    }
}

impl Copier {
    /// Begins a text. Each place gets a feature of another place, so that no feature is found there.
    pub(super) fn begin(&mut self) {
        self.recent = [0; _];
        self.recent[0] = 1;
    }

    /// Lowers the values of the bins of these features.
    pub(super) fn lower_all(&mut self, least: &mut [u64], features: &[u64]) {
        for features in features.chunks(self.copies.len()) {
            self.copies[..features.len()].copy_from_slice(features);
            lower_first(&mut self.copies, features.len(), least);
        }
    }

    /// Lowers the values of the bins of as many copies of each feature as it weighs.
    pub(super) fn lower_by_weight(
        &mut self,
        least: &mut [u64],
        features: &[u64],
        weights: &FeatureWeights<'_>,
    ) {
        for features in features.chunks(FEATURES) {
            let count = copy(self, least, features, weights);
            lower_first(&mut self.copies, count, least);
        }
    }

    /// Remembers a feature. Returns whether it was remembered already.
    #[inline(always)]
    fn is_repeated(&mut self, feature: u64) -> bool {
        let place = &mut self.recent[feature as usize % RECENT];
        let is_repeated = *place == feature;
        *place = feature;
        is_repeated
    }
}

/// Makes the first [`COPIES`] copies of each feature, and returns their number. Those beyond lower bins at
/// once.
///
/// Which features are repeated, and what they weigh, cannot be predicted, so no branch depends on it.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn copy(copier: &mut Copier, least: &mut [u64], features: &[u64], weights: &FeatureWeights<'_>) -> usize {
    debug_assert!(features.len() <= FEATURES, "room for {FEATURES} features");
    let bins = least.len() as u32;
    let mut count = 0;
    for &feature in features {
        let weight = usize::from(weights.of(feature)) * usize::from(!copier.is_repeated(feature));
        for (copy, step) in copier.copies[count..][..COPIES].iter_mut().zip(STEPS) {
            *copy = feature.wrapping_add(step);
        }
        // Copies beyond the weight are overwritten by those of the next feature.
        count += weight.min(COPIES);
        for number in COPIES..weight {
            lower(key_and_bin(feature.wrapping_add(step(number)), bins), least);
        }
    }
    count
}

/// Lowers the values of the bins of the first `count` copies.
///
/// While the processor hashes a group of copies in vectors, it lowers the bins of the group before, whose
/// hashes are in memory by then. To take them out of vectors one by one would be slower.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn lower_first(copies: &mut [u64], count: usize, least: &mut [u64]) {
    let Some(&last) = copies[..count].last() else {
        return;
    };
    // A copy that is repeated lowers nothing.
    let whole = count.next_multiple_of(GROUP);
    copies[count..whole].fill(last);
    let bins = least.len() as u32;
    let (groups, _) = copies[..whole].as_chunks_mut();
    let mut before: Option<&[u64; GROUP]> = None;
    for group in groups {
        for copy in group.iter_mut() {
            *copy = key_and_bin(*copy, bins);
        }
        before.into_iter().flatten().for_each(|&key_and_bin| lower(key_and_bin, least));
        before = Some(group);
    }
    before.into_iter().flatten().for_each(|&key_and_bin| lower(key_and_bin, least));
}

#[cfg(test)]
mod tests {
    use super::super::keys::{EMPTY, NO_KEY, value};
    use super::*;
    use crate::hash::mix;
    use proptest::prelude::*;

    /// Weights in which a cell weighs what its number says, so that weights above [`COPIES`] occur, too.
    fn weights(divisor: u8) -> Vec<u8> {
        let mut bytes = b"weights1".to_vec();
        bytes.extend(b"word:2");
        bytes.resize(40, 0);
        bytes.extend((0..1u32 << 15).map(|cell| cell as u8 / divisor));
        bytes
    }

    /// The definition: the least key of the copies in each bin.
    fn by_definition(features: &[u64], number: usize, weight: impl Fn(u64) -> u8) -> Vec<i32> {
        let mut expected = vec![EMPTY; number];
        for &feature in features {
            for copy in 0..u64::from(weight(feature)) {
                let hash = mix(feature.wrapping_add(copy.wrapping_mul(GOLDEN_RATIO)));
                let bin = (u128::from(hash >> 32) * number as u128) >> 32;
                let least = &mut expected[bin as usize];
                *least = (*least).min((hash as u32).min(EMPTY - 1));
            }
        }
        expected.into_iter().map(|key| key as i32).collect()
    }

    proptest! {
        /// Features and copies at the borders of groups, repeated ones, and weights of up to 255, in several
        /// parts of several texts.
        #[test]
        fn copies_lower_the_bins_of_their_hashes(
            texts in prop::collection::vec(
                prop::collection::vec(prop_oneof![any::<u64>(), 0..9u64, (0..9u64).prop_map(|n| n << 9)], 0..400),
                1..4,
            ),
            number in prop_oneof![Just(256usize), 1..300usize],
            divisor in 1..=9u8,
            part in 1..200usize,
        ) {
            let bytes = weights(divisor);
            let weights = FeatureWeights::read(&bytes).unwrap();
            let mut copier = Copier::default();
            for features in texts {
                copier.begin();
                let mut least = vec![NO_KEY; number];
                features.chunks(part).for_each(|part| copier.lower_by_weight(&mut least, part, &weights));
                let values: Vec<i32> = least.into_iter().map(value).collect();
                prop_assert_eq!(values, by_definition(&features, number, |feature| weights.of(feature)));
                let mut least = vec![NO_KEY; number];
                copier.lower_all(&mut least, &features);
                let values: Vec<i32> = least.into_iter().map(value).collect();
                prop_assert_eq!(values, by_definition(&features, number, |_| 1));
            }
        }
    }
}
