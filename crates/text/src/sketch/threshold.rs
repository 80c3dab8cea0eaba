//! Sketches that have at least a share of their values in common with a query: what has to be known to tell.
//!
//! An index knows which values of a query a sketch has, but not how many values the sketch has. So it counts
//! the values in common. [`Threshold::least_shared`] is the count below which a sketch cannot reach the
//! share.

use super::overlap::Overlap;

/// Which share of values is meant, of a sketch and a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Common values among all values of both.
    Resemblance,
    /// Common values among those of the query.
    OfQuery,
    /// Common values among those of the sketch.
    OfSketch,
}

/// A share that a sketch has to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Which share.
    pub measure: Measure,
    /// The least share: any number, or NaN, which nothing reaches.
    pub least: f64,
}

/// What the number of common values says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeastShared {
    /// The sketch reaches the share if it has this many values in common with the query, and only then.
    Exactly(usize),
    /// It has to have this many, and may still fail.
    AtLeast(usize),
    /// No sketch reaches the share.
    Unreachable,
}

impl Threshold {
    /// Whether a sketch reaches the share; `None` if it has no such share. The overlap is that of the sketch
    /// with the query, in this order.
    pub fn is_reached(self, overlap: Overlap) -> Option<bool> {
        let share = match self.measure {
            Measure::Resemblance => overlap.resemblance(),
            Measure::OfQuery => overlap.exchanged().containment(),
            Measure::OfSketch => overlap.containment(),
        };
        share.map(|share| share >= self.least)
    }

    /// What the number of values in common with a query of `values` distinct values says.
    pub fn least_shared(self, values: usize) -> LeastShared {
        let is_enough = |shared: usize| shared as f64 / values as f64 >= self.least;
        match self.measure {
            _ if self.least.is_nan() || self.least > 1.0 => LeastShared::Unreachable,
            // Shares of an empty query are 0, or there is none.
            Measure::OfQuery if values == 0 => LeastShared::Unreachable,
            _ if self.least <= 0.0 => match self.measure {
                Measure::OfQuery => LeastShared::Exactly(0),
                _ => LeastShared::AtLeast(0),
            },
            _ if values == 0 => LeastShared::Unreachable,
            Measure::OfSketch => LeastShared::AtLeast(1),
            // Both have at least as many values as the query alone, so the resemblance is at most this share.
            Measure::Resemblance => LeastShared::AtLeast(least(values, is_enough)),
            Measure::OfQuery => LeastShared::Exactly(least(values, is_enough)),
        }
    }
}

/// The least number up to `values` that is enough, as all greater ones are, and the last one is.
fn least(values: usize, is_enough: impl Fn(usize) -> bool) -> usize {
    let (mut too_few, mut enough) = (0, values);
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

    const MEASURES: [Measure; 3] = [Measure::Resemblance, Measure::OfQuery, Measure::OfSketch];

    fn any_share() -> impl Strategy<Value = f64> {
        let odd = prop::sample::select(vec![f64::NAN, -1.0, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, 1.5]);
        prop_oneof![odd, 0.0..1.0, (1..8u32, 1..8u32).prop_map(|(a, b)| f64::from(a) / f64::from(b))]
    }

    proptest! {
        #[test]
        fn counts_tell_what_is_promised(
            sketch in prop::collection::btree_set(0i64..12, 0..12),
            query in prop::collection::btree_set(0i64..12, 0..12),
            least in any_share(),
        ) {
            let (a, b): (Vec<i64>, Vec<i64>) = (sketch.iter().copied().collect(), query.iter().copied().collect());
            let shared = sketch.intersection(&query).count();
            for measure in MEASURES {
                let threshold = Threshold { measure, least };
                let is_reached = threshold.is_reached(Overlap::of(&a, &b).unwrap()) == Some(true);
                match threshold.least_shared(b.len()) {
                    LeastShared::Exactly(count) => prop_assert_eq!(is_reached, shared >= count, "{:?}", measure),
                    LeastShared::AtLeast(count) => prop_assert!(!is_reached || shared >= count, "{:?}", measure),
                    LeastShared::Unreachable => prop_assert!(!is_reached, "{:?}", measure),
                }
            }
        }
    }

    #[test]
    fn shares_are_those_of_the_comparison() {
        let whole: BTreeSet<i64> = (0..10).collect();
        let (half, whole): (Vec<i64>, Vec<i64>) = ((0..5).collect(), whole.into_iter().collect());
        let reached =
            |measure, least| Threshold { measure, least }.is_reached(Overlap::of(&half, &whole).unwrap());
        assert_eq!(reached(Measure::OfQuery, 0.5), Some(true));
        assert_eq!(reached(Measure::OfQuery, 0.5f64.next_up()), Some(false));
        assert_eq!(reached(Measure::OfSketch, 1.0), Some(true));
        assert_eq!(reached(Measure::Resemblance, 0.6), Some(false));
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
