//! Thresholds: how many values a sketch must have in common with a query to have a share of common values.
//!
//! An index finds which values of a query a sketch has, and the sketch's size class. So it counts the common
//! values, and [`Threshold::least_shared`] says how many a sketch needs.

use super::overlap::Overlap;
use super::sizes::SizeClass;

/// The kind of share of a sketch and a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Common values as a fraction of all values of both.
    Similarity,
    /// Common values as a fraction of the query's values.
    OfQuery,
    /// Common values as a fraction of the sketch's values.
    OfSketch,
}

/// The share that a sketch must have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// The kind of share.
    pub measure: Measure,
    /// The least share. It may be any number, or NaN, which no sketch satisfies.
    pub least: f64,
}

/// How many values a sketch needs in common with the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeastShared {
    /// Possibly none: every sketch may have the share.
    Unknown,
    /// Exactly this number: every sketch with as many has the share.
    Exactly(usize),
    /// It depends on the size of the sketch: see [`Threshold::least_shared_by_size`].
    BySize,
    /// No sketch has the share.
    Never,
}

impl Threshold {
    /// Whether a sketch has the share; `None` if the share is undefined. The overlap must be of the sketch
    /// with the query, in this order.
    pub fn is_met(self, overlap: Overlap) -> Option<bool> {
        let share = match self.measure {
            Measure::Similarity => overlap.similarity(),
            Measure::OfQuery => overlap.exchanged().containment(),
            Measure::OfSketch => overlap.containment(),
        };
        share.map(|share| share >= self.least)
    }

    /// How many common values a sketch needs with a query of `values` distinct values.
    pub fn least_shared(self, values: usize) -> LeastShared {
        match self.measure {
            _ if self.least.is_nan() || self.least > 1.0 => LeastShared::Never,
            // The share of an empty query is 0 or undefined.
            Measure::OfQuery if values == 0 => LeastShared::Never,
            _ if self.least <= 0.0 => LeastShared::Unknown,
            _ if values == 0 => LeastShared::Never,
            Measure::OfQuery => LeastShared::Exactly(self.least_of(values, values, values)),
            Measure::Similarity | Measure::OfSketch => LeastShared::BySize,
        }
    }

    /// The size classes that can have the share. Each comes with the number of common values that its
    /// smallest sketch needs with a query of `values` distinct values. Larger sketches need at least as many.
    ///
    /// May only be called if [`Self::least_shared`] returns [`LeastShared::BySize`].
    pub fn least_shared_by_size(self, values: usize) -> impl Iterator<Item = (SizeClass, usize)> {
        let smallest = match self.measure {
            // The smallest sketch has no other values than the query.
            Measure::Similarity => least(values, |size| self.is_enough(size, values, size)),
            Measure::OfSketch | Measure::OfQuery => 1,
        };
        SizeClass::of(smallest).and_later().map_while(move |class| {
            let size = class.least().max(smallest);
            let most = size.min(values);
            self.is_enough(size, values, most).then(|| (class, self.least_of(size, values, most)))
        })
    }

    /// Whether a sketch of `size` values has the share, if `shared` of them are in common with a query of
    /// `values` values.
    fn is_enough(self, size: usize, values: usize, shared: usize) -> bool {
        self.is_met(Overlap { a: size, b: values, shared }) == Some(true)
    }

    /// How many common values a sketch needs with the query. `most` must be enough.
    fn least_of(self, size: usize, values: usize, most: usize) -> usize {
        least(most, |shared| self.is_enough(size, values, shared))
    }
}

/// The least number from 1 to `most` that is enough. `most` is enough, as is all above a number that is.
fn least(most: usize, is_enough: impl Fn(usize) -> bool) -> usize {
    let mut too_few = 0;
    let mut enough = most;
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if is_enough(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    enough
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const MEASURES: [Measure; 3] = [Measure::Similarity, Measure::OfQuery, Measure::OfSketch];

    fn any_share() -> impl Strategy<Value = f64> {
        let odd = prop::sample::select(vec![f64::NAN, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, 1.5]);
        prop_oneof![odd, 0.0..1.0, (1..8u32, 1..8u32).prop_map(|(a, b)| f64::from(a) / f64::from(b))]
    }

    /// Whether an index finds a sketch by its counts, and whether the counts prove that it matches.
    fn naive_search(threshold: Threshold, size: usize, values: usize, shared: usize) -> (bool, bool) {
        match threshold.least_shared(values) {
            LeastShared::Unknown => (true, false),
            LeastShared::Exactly(count) => (shared >= count, true),
            LeastShared::BySize => {
                let least =
                    threshold.least_shared_by_size(values).find(|&(class, _)| class == SizeClass::of(size));
                (least.is_some_and(|(_, count)| shared >= count), false)
            }
            LeastShared::Never => (false, true),
        }
    }

    proptest! {
        #[test]
        fn no_sketch_that_has_the_share_is_missed(
            sketch in prop::collection::btree_set(0i64..40, 0..40),
            query in prop::collection::btree_set(0i64..40, 0..40),
            least in any_share(),
        ) {
            let a: Vec<i64> = sketch.iter().copied().collect();
            let b: Vec<i64> = query.iter().copied().collect();
            let shared = sketch.intersection(&query).count();
            for measure in MEASURES {
                let threshold = Threshold { measure, least };
                let is_met = threshold.is_met(Overlap::of(&a, &b, &mut || ()).unwrap()) == Some(true);
                let (is_found, is_exact) = naive_search(threshold, a.len(), b.len(), shared);
                prop_assert!(is_found || !is_met, "{:?}", measure);
                prop_assert!(!is_exact || is_found == is_met, "{:?}", measure);
            }
        }

        #[test]
        fn counts_by_size_are_those_of_every_size(
            values in 1..400usize,
            least in prop_oneof![f64::MIN_POSITIVE..1.0, 0.1..1.0, Just(1.0), Just(0.5)],
        ) {
            for measure in [Measure::Similarity, Measure::OfSketch] {
                let threshold = Threshold { measure, least };
                let mut naive: Vec<(SizeClass, usize)> = Vec::new();
                for size in 1..2000 {
                    let needed = (1..=size.min(values)).find(|&shared| threshold.is_enough(size, values, shared));
                    let class = SizeClass::of(size);
                    if let Some(needed) = needed && naive.last().is_none_or(|&(last, _)| last != class) {
                        naive.push((class, needed));
                    }
                }
                let found: Vec<_> = threshold.least_shared_by_size(values).collect();
                let below = found.partition_point(|(class, _)| class.least() < 2000);
                prop_assert_eq!(&found[..below], &naive[..], "{:?}", measure);
                prop_assert!(found.is_sorted_by_key(|&(class, needed)| (class, needed)), "{:?}", measure);
                prop_assert!(found.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{:?}", measure);
            }
        }
    }

    #[test]
    fn sizes_bound_what_is_fetched() {
        let classes = |measure, least| -> Vec<(usize, usize)> {
            let threshold = Threshold { measure, least };
            threshold.least_shared_by_size(100).map(|(class, count)| (class.least(), count)).collect()
        };
        let similar = classes(Measure::Similarity, 0.8);
        assert_eq!(similar, [(80, 80), (88, 84), (96, 88), (104, 91), (112, 95), (120, 98)]);
        let part_of_query = classes(Measure::OfSketch, 0.5);
        assert_eq!(part_of_query.first(), Some(&(1, 1)));
        assert_eq!(part_of_query.last(), Some(&(192, 96)));
        assert_eq!(classes(Measure::OfSketch, f64::MIN_POSITIVE).last(), Some(&(1 << 27, 1)));
    }

    #[test]
    fn shares_are_those_of_the_comparison() {
        let whole: BTreeSet<i64> = (0..10).collect();
        let half: Vec<i64> = (0..5).collect();
        let whole: Vec<i64> = whole.into_iter().collect();
        let is_met = |measure, least| {
            Threshold { measure, least }.is_met(Overlap::of(&half, &whole, &mut || ()).unwrap())
        };
        assert_eq!(is_met(Measure::OfQuery, 0.5), Some(true));
        assert_eq!(is_met(Measure::OfQuery, 0.5f64.next_up()), Some(false));
        assert_eq!(is_met(Measure::OfSketch, 1.0), Some(true));
        assert_eq!(is_met(Measure::Similarity, 0.6), Some(false));
    }

    #[test]
    fn a_share_is_counted_up_to_the_last_value() {
        let threshold = Threshold { measure: Measure::OfQuery, least: 0.5 };
        assert_eq!(threshold.least_shared(9), LeastShared::Exactly(5));
        assert_eq!(threshold.least_shared(10), LeastShared::Exactly(5));
        assert_eq!(
            Threshold { least: 1.0, ..threshold }.least_shared(1 << 23),
            LeastShared::Exactly(1 << 23)
        );
    }
}
