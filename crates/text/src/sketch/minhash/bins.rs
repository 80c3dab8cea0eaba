//! Signatures by one-permutation hashing, which hashes a feature once instead of once for each value.
//!
//! Li, Owen and Zhang, "One Permutation Hashing", 2012. The hash of a feature chooses a bin and a key, and
//! each bin keeps its least key. A bin without features is empty. To make bits of a signature, an
//! empty bin takes the value of another bin, as in Shrivastava, "Optimal Densification for Fast and Accurate
//! Minwise Hashing", 2017.
//!
//! Guarantee: the fraction of equal bins, without bins that are empty in both signatures, is an unbiased
//! estimate of the similarity J. Its variance is at most J(1 - J)/n for n bins. Cost: linear time for any
//! number of bins.

use super::copier::Copier;
use super::keys::EMPTY;
use super::{LENGTH, MAX_VALUES, MinHasher};
use crate::features::Scheme;
use crate::hash::mix;
use crate::sketch::rarity::FeatureWeights;
use base::{Heartbeat, Limit, Problem, collect};
use std::borrow::Cow;
use std::cell::RefCell;
use std::iter::repeat_n;

/// The number of bins of a signature.
pub const BINS: Limit = Limit::new("bins", 1, MAX_VALUES);

impl MinHasher {
    /// The signature of a text, with one value per bin; `None` if the text has no features.
    pub fn bins(
        &mut self,
        text: &str,
        bins: usize,
        scheme: Scheme,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Option<Vec<i32>>, Problem> {
        self.collect(text, bins, scheme, heartbeat, Copier::lower_all)
    }

    /// The signature of a text in which each feature counts as many times as it weighs; `None` if no feature
    /// has a weight.
    pub fn weighted_bins(
        &mut self,
        text: &str,
        bins: usize,
        weights: &FeatureWeights<'_>,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Option<Vec<i32>>, Problem> {
        self.copier.begin();
        let scheme = weights.scheme;
        self.collect(text, bins, scheme, heartbeat, |copier, least, features| {
            copier.lower_by_weight(least, features, weights)
        })
    }
}

/// The signature, with values in empty bins.
///
/// Every bin has an order of all bins, and takes the value of the first bin in its order that is not empty. A
/// bin that is empty in two signatures has the same order in both, so it agrees as often as other bins. Time:
/// the number of empty bins, and the square of the number of bins once; if most are empty, that of the empty
/// bins by the others.
pub(super) fn fill<'a>(
    signature: &'a [i32],
    heartbeat: &mut dyn Heartbeat,
) -> Result<Cow<'a, [i32]>, Problem> {
    LENGTH.of::<usize>(signature.len())?;
    if !signature.iter().any(is_empty) {
        return Ok(signature.into());
    }
    let with_value = (0u64..).zip(signature).filter(|(_, value)| !is_empty(value)).map(|(bin, _)| bin);
    let with_value = collect(with_value, signature.len())?;
    // If few bins have a value, it is faster to compare them than to find the beginnings of orders.
    let is_dense = with_value.len() >= signature.len() / SPARSE;
    ORDERS.with_borrow_mut(|orders| {
        if is_dense {
            orders.begin(signature.len())?;
        }
        let fill = |(bin, &value): (usize, &i32)| {
            if !is_empty(&value) {
                return value;
            }
            heartbeat.beat();
            let is_full = |&&other: &&u16| !is_empty(&signature[usize::from(other)]);
            if let Some(&first) = if is_dense { orders.of(bin).iter().find(is_full) } else { None } {
                return signature[usize::from(first)];
            }
            let first = with_value.iter().min_by_key(|&&other| place(bin, other));
            first.map_or(value, |&other| signature[other as usize])
        };
        Ok(collect(signature.iter().enumerate().map(fill), signature.len())?.into())
    })
}

/// The place of a bin in another bin's order.
fn place(bin: usize, other: u64) -> u64 {
    mix((bin as u64) << 32 | other)
}

/// The number of bins of an order that are stored. If half of the bins are empty, all of these are once in
/// 65,536 times; if all but one of [`SPARSE`] are empty, once in 100 times.
const KEPT: usize = 16;
const SPARSE: usize = 4;

/// The first bins of each bin's order, for signatures of one length.
#[derive(Default)]
struct Orders(Vec<Option<[u16; KEPT]>>);

thread_local! {
    static ORDERS: RefCell<Orders> = RefCell::default();
}

impl Orders {
    /// Forgets the orders of signatures of another length.
    fn begin(&mut self, bins: usize) -> Result<(), Problem> {
        if self.0.len() != bins {
            self.0 = Vec::new();
            self.0 = collect(repeat_n(None, bins), bins)?;
        }
        Ok(())
    }

    fn of(&mut self, bin: usize) -> &[u16; KEPT] {
        let bins = self.0.len() as u64;
        self.0[bin].get_or_insert_with(|| {
            // An order of fewer bins ends with the bin itself, which is empty.
            let mut first = [(u64::MAX, bin as u16); KEPT];
            for other in 0..bins {
                let place = place(bin, other);
                if place < first[KEPT - 1].0 {
                    let rank = first.partition_point(|&(before, _)| before < place);
                    first.copy_within(rank..KEPT - 1, rank + 1);
                    first[rank] = (place, other as u16);
                }
            }
            first.map(|(_, other)| other)
        })
    }
}

/// Whether the value means an empty bin.
pub(super) fn is_empty(value: &i32) -> bool {
    *value as u32 == EMPTY
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_unbiased, bins, text};
    use super::super::{bits, similarity};
    use super::*;
    use crate::hash::xxh3_64;
    use proptest::prelude::*;

    fn fill(signature: &[i32]) -> Vec<i32> {
        super::fill(signature, &mut || ()).unwrap().into_owned()
    }

    #[test]
    fn no_features_no_signature() {
        assert_eq!(bins("", 128, "word:3"), None);
        assert_eq!(bins("?!", 128, "doc1"), None);
        let one_feature = bins("x", 16, "word:3").unwrap();
        assert_eq!(one_feature.iter().filter(|value| !is_empty(value)).count(), 1);
        assert_eq!(fill(&one_feature).iter().filter(|value| !is_empty(value)).count(), 16);
        for bins in [0, 4097] {
            assert!(MinHasher::default().bins("x", bins, Scheme::DOC2, &mut || ()).is_err());
        }
    }

    /// Texts of 10 words leave most of 128 bins empty, of 100 words a third, and of 1,000 words none.
    #[test]
    fn similarity_is_an_unbiased_estimate_of_resemblance() {
        for (words, shared) in [(10, 5), (100, 10), (100, 50), (100, 90), (1000, 500)] {
            assert_unbiased(
                words,
                shared,
                128,
                |text| bins(text, 128, "word:1").unwrap(),
                |a, b| similarity(a, b).unwrap(),
            );
        }
    }

    /// Values from the same bin have the same error, so the spread is that of half as many values.
    #[test]
    fn filled_bins_agree_as_often_as_others() {
        for (words, shared) in [(10, 5), (100, 10), (100, 50), (100, 90)] {
            let filled = |text: &str| fill(&bins(text, 128, "word:1").unwrap());
            assert_unbiased(words, shared, 64, filled, |a, b| similarity(a, b).unwrap());
        }
    }

    /// Bits are equal with probability (1 + J)/2.
    #[test]
    fn bits_estimate_resemblance() {
        for (words, shared) in [(10, 5), (100, 50), (1000, 500)] {
            let bits = |text: &str| bits(&bins(text, 256, "word:1").unwrap(), &mut || ()).unwrap();
            let estimate = |a: &Vec<u8>, b: &Vec<u8>| {
                let differing: u32 = a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum();
                1.0 - 2.0 * f64::from(differing) / 256.0
            };
            // The bits of different values are random: the spread is (1 - J²)/256, which is J(1 - J)/64 for
            // 1/3.
            assert_unbiased(words, shared, 64, bits, estimate);
        }
    }

    #[test]
    fn filling_has_a_pulse() {
        let mut beats = 0;
        let signature = bins("one two three", 4096, "word:1").unwrap();
        super::fill(&signature, &mut || beats += 1).unwrap();
        assert!(beats >= 4093, "{beats} heartbeats");
        assert!(super::fill(&[0; 4097], &mut || ()).is_err());
    }

    #[test]
    fn nothing_fills_bins_that_are_all_empty() {
        assert_eq!(fill(&[-1, -1]), [-1, -1]);
        assert_eq!(fill(&[]), [0; 0]);
        assert_eq!(similarity(&[-1, -1], &[-1, -1]), None);
        assert_eq!(similarity(&[-1, -1, 3, 4], &[-1, 5, 3, 7]), Some(1.0 / 3.0));
    }

    proptest! {
        #[test]
        fn values_are_least_keys(words in prop::collection::vec(0usize..5000, 1..1000), number in 1usize..300) {
            let least = |bin: usize| {
                let hashes = words.iter().map(|word| mix(xxh3_64(format!("w{word}").as_bytes())));
                let in_bin = hashes.filter(|hash| (u128::from(hash >> 32) * number as u128) >> 32 == bin as u128);
                in_bin.map(|hash| (hash % (1 << 32)).min((1 << 32) - 2)).min().map_or(-1, |key| key as i32)
            };
            let expected: Vec<i32> = (0..number).map(least).collect();
            prop_assert_eq!(bins(&text(words.iter().copied()), number, "word:1"), Some(expected));
        }

        #[test]
        fn order_and_repetition_do_not_matter(words in prop::collection::vec(0usize..50, 1..40)) {
            let mut sorted = words.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(
                bins(&text(words.into_iter()), 16, "word:1"),
                bins(&text(sorted.into_iter()), 16, "word:1")
            );
        }

        /// Whatever was filled before, an empty bin has the value of the first bin in its order.
        #[test]
        fn orders_are_those_of_all_bins(
            signatures in prop::collection::vec(prop::collection::vec(prop_oneof![2 => Just(-1), 1 => 0..9i32], 1..70), 1..5),
        ) {
            for signature in &signatures {
                let with_value = || (0..signature.len()).filter(|&bin| signature[bin] != -1);
                let value = |bin: usize| match signature[bin] {
                    -1 => with_value().min_by_key(|&other| mix((bin as u64) << 32 | other as u64)).map_or(-1, |o| signature[o]),
                    value => value,
                };
                prop_assert_eq!(fill(signature), (0..signature.len()).map(value).collect::<Vec<_>>());
            }
        }

        /// An empty bin takes the value of another bin, and no value is lost.
        #[test]
        fn filled_values_come_from_other_bins(signature in prop::collection::vec(-1..9i32, 1..100)) {
            let filled = fill(&signature);
            let any = signature.iter().any(|&value| value != -1);
            for (before, after) in signature.iter().zip(&filled) {
                prop_assert!(before == after || *before == -1 && signature.contains(after));
                prop_assert_eq!(*after != -1, any);
            }
        }
    }
}
