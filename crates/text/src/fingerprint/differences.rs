//! The words that only one of two texts has, and which of them differ most often among pairs of texts.
//!
//! A feature with digits and without letters counts as [`NUMBER`]: numbers differ between all rows, and only
//! the fact that they differ matters. Guarantee: counts are exact. Cost: memory for the distinct features of
//! two texts, which `explain` limits, and for all features that differ.

use super::explain::{self, Feature};
use crate::features::Scheme;
use base::{Heartbeat, OutOfMemory, Problem, beat_every, collect, grow_map, push, sort};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Replaces every number.
const NUMBER: &str = "#";
/// How many features are processed between two heartbeats.
const STRIDE: usize = 1 << 12;

/// A feature that only one of two texts has.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The feature, or `#` for a number.
    pub feature: String,
    /// Whether the first text has it.
    pub is_of_first: bool,
}

/// The distinct features that only one of the texts has: those of the first text, followed by those of the
/// second, in the order of their text.
pub fn differences(
    a: &str,
    b: &str,
    scheme: Scheme,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<Difference>, Problem> {
    let a = explain::features(a, scheme, heartbeat)?;
    let b = explain::features(b, scheme, heartbeat)?;
    let hashes = |features: &[Feature], heartbeat: &mut dyn Heartbeat| {
        let mut hashes = collect(features.iter().map(|feature| feature.hash), features.len())?;
        sort(&mut hashes, heartbeat, |&hash| hash);
        Ok::<_, OutOfMemory>(hashes)
    };
    let of_a = hashes(&a, heartbeat)?;
    let of_b = hashes(&b, heartbeat)?;
    let mut found = Vec::new();
    for (features, others, is_of_first) in [(a, of_b, true), (b, of_a, false)] {
        let mut has_number = false;
        for (number, Feature { text, hash, .. }) in features.into_iter().enumerate() {
            beat_every(STRIDE, number, heartbeat);
            if others.binary_search(&hash).is_ok() {
                continue;
            }
            if !is_number(&text) {
                push(&mut found, Difference { feature: text, is_of_first })?;
            } else if !std::mem::replace(&mut has_number, true) {
                push(&mut found, Difference { feature: NUMBER.to_owned(), is_of_first })?;
            }
        }
    }
    Ok(found)
}

fn is_number(feature: &str) -> bool {
    feature.chars().any(char::is_numeric) && !feature.chars().any(char::is_alphabetic)
}

/// A feature that differs in some pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequentDifference {
    /// The feature, or `#` for a number.
    pub feature: String,
    /// The number of pairs of which only one text has it.
    pub pairs: u64,
    /// The number of the first such pair.
    pub first: usize,
    /// The fraction of all differences of all pairs that this feature and more frequent features make up.
    pub of_all: f64,
}

/// Counts for each feature the pairs in which it differs.
#[derive(Debug, Default)]
pub struct DifferenceCounter {
    /// For each feature: the number of pairs, the first pair, and the last pair.
    counts: HashMap<String, (u64, usize, usize)>,
    pairs: usize,
}

impl DifferenceCounter {
    /// Adds the differences of a pair. A feature that is listed for both texts, such as a number, counts
    /// once.
    pub fn add(&mut self, differences: Vec<Difference>) -> Result<(), OutOfMemory> {
        let pair = self.pairs;
        self.pairs += 1;
        grow_map(&mut self.counts, differences.len())?;
        for Difference { feature, .. } in differences {
            let (pairs, _, last) = self.counts.entry(feature).or_insert((0, pair, usize::MAX));
            *pairs += u64::from(*last != pair);
            *last = pair;
        }
        Ok(())
    }

    /// The number of pairs.
    pub fn pairs(&self) -> usize {
        self.pairs
    }

    /// The features that differ, the most frequent ones first.
    pub fn most_frequent(
        self,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<FrequentDifference>, OutOfMemory> {
        let count = self.counts.len();
        let counted = self.counts.into_iter().map(|(feature, (pairs, first, _))| FrequentDifference {
            feature,
            pairs,
            first,
            of_all: 0.0,
        });
        let mut found = collect(counted, count)?;
        // Features are distinct, so the order is always the same.
        found.sort_unstable_by(|a, b| (Reverse(a.pairs), &a.feature).cmp(&(Reverse(b.pairs), &b.feature)));
        heartbeat.beat();
        let all: u64 = found.iter().map(|difference| difference.pairs).sum();
        let mut sum = 0;
        for difference in &mut found {
            sum += difference.pairs;
            difference.of_all = sum as f64 / all as f64;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(a: &str, b: &str) -> Vec<(String, bool)> {
        let found = differences(a, b, "word:1".parse().unwrap(), &mut || ()).unwrap();
        found.into_iter().map(|difference| (difference.feature, difference.is_of_first)).collect()
    }

    #[test]
    fn numbers_are_one_difference() {
        let found = of("Order 12 of 3.5 kg, No 7", "order 13 and 14 of x1, no 7");
        let expected = [("#", true), ("kg", true), ("#", false), ("and", false), ("x1", false)];
        assert_eq!(found, expected.map(|(feature, is_of_first)| (feature.to_owned(), is_of_first)));
    }

    #[test]
    fn a_feature_counts_once_a_pair() {
        let mut counter = DifferenceCounter::default();
        for (a, b) in [("1 red", "2 red"), ("3 red", "4 blue"), ("same", "same")] {
            counter.add(differences(a, b, "word:1".parse().unwrap(), &mut || ()).unwrap()).unwrap();
        }
        assert_eq!(counter.pairs(), 3);
        let found = counter.most_frequent(&mut || ()).unwrap();
        let found: Vec<_> = found.iter().map(|d| (d.feature.as_str(), d.pairs, d.first, d.of_all)).collect();
        assert_eq!(found, [("#", 2, 0, 0.5), ("blue", 1, 1, 0.75), ("red", 1, 1, 1.0)]);
    }

    proptest! {
        #[test]
        fn differences_are_those_of_sets(a in "[a-e ]{0,40}", b in "[a-e ]{0,40}") {
            let [x, y] = [&a, &b].map(|text| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>());
            let found: BTreeSet<_> = of(&a, &b).into_iter().collect();
            let only = |these: &BTreeSet<String>, those: &BTreeSet<String>, is_of_first| {
                these.difference(those).map(|word| (word.clone(), is_of_first)).collect::<Vec<_>>()
            };
            prop_assert_eq!(found, only(&x, &y, true).into_iter().chain(only(&y, &x, false)).collect());
        }
    }
}
