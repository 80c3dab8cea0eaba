//! Comparisons of sketches, which are sets of hashes that represent texts.
//!
//! Broder, "On the resemblance and containment of documents", 1997. Cost: linear time for stored sketches,
//! which are sorted; other arrays are copied and sorted first.

use super::sort::{drop_repeated, sort_values};
use base::{Heartbeat, OutOfMemory, copied};
use std::borrow::Cow;

/// How many values are looked up, or merged, between two heartbeats.
const LOOK_UPS: usize = 1 << 14;

/// Whether two arrays have a common value. They need not be sorted, and values may be repeated.
///
/// Cost: linear time if both are sorted. Otherwise the shorter array is copied and sorted, and each value of
/// the other one is looked up in it.
pub fn overlaps(a: &[i64], b: &[i64], heartbeat: &mut dyn Heartbeat) -> Result<bool, OutOfMemory> {
    if is_sorted_by(a, i64::le, heartbeat) && is_sorted_by(b, i64::le, heartbeat) {
        return Ok(merge(a, b, 1, heartbeat) > 0);
    }
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut set = copied(short, heartbeat)?;
    sort_values(&mut set, heartbeat);
    for values in long.chunks(LOOK_UPS) {
        heartbeat.beat();
        if values.iter().any(|value| set.binary_search(value).is_ok()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Merges two sorted arrays until `enough` values are common to both. Returns the number of common values.
fn merge(mut a: &[i64], mut b: &[i64], enough: usize, heartbeat: &mut dyn Heartbeat) -> usize {
    let mut shared = 0;
    while !a.is_empty() && !b.is_empty() && shared < enough {
        heartbeat.beat();
        for _ in 0..LOOK_UPS {
            let (Some(x), Some(y)) = (a.first(), b.first()) else { break };
            shared += usize::from(x == y);
            (a, b) = (&a[usize::from(x <= y)..], &b[usize::from(y <= x)..]);
        }
    }
    shared
}

/// Whether each value and the next one are in this order.
fn is_sorted_by(values: &[i64], order: fn(&i64, &i64) -> bool, heartbeat: &mut dyn Heartbeat) -> bool {
    (0..values.len()).step_by(LOOK_UPS).all(|first| {
        heartbeat.beat();
        values[first..values.len().min(first + LOOK_UPS + 1)].is_sorted_by(order)
    })
}

/// The sizes of two sketches, and the number of their common values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) shared: usize,
}

impl Overlap {
    /// Compares two sketches as sets. They need not be sorted, and repeated values count once.
    pub fn of(a: &[i64], b: &[i64], heartbeat: &mut dyn Heartbeat) -> Result<Self, OutOfMemory> {
        let a = as_set(a, heartbeat)?;
        let b = as_set(b, heartbeat)?;
        Ok(Self { a: a.len(), b: b.len(), shared: merge(&a, &b, usize::MAX, heartbeat) })
    }

    /// The overlap of the same sketches in the other order.
    #[must_use]
    pub fn exchanged(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }

    /// Common values as a fraction of all values of both sketches (Broder's resemblance, the Jaccard index);
    /// `None` if both are empty.
    pub fn similarity(self) -> Option<f64> {
        share(self.shared, self.a + self.b - self.shared)
    }

    /// Common values as a fraction of the values of the first sketch (Broder's containment of the first text
    /// in the second); `None` if the first sketch is empty.
    pub fn containment(self) -> Option<f64> {
        share(self.shared, self.a)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The values, sorted and distinct as in a stored sketch. They are copied only if they are not.
pub fn as_set<'v>(values: &'v [i64], heartbeat: &mut dyn Heartbeat) -> Result<Cow<'v, [i64]>, OutOfMemory> {
    if is_sorted_by(values, i64::lt, heartbeat) {
        return Ok(Cow::Borrowed(values));
    }
    let mut set = copied(values, heartbeat)?;
    sort_values(&mut set, heartbeat);
    drop_repeated(&mut set, 0);
    Ok(Cow::Owned(set))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn unsorted_arrays_have_a_pulse() {
        let odd: Vec<i64> = (0..100_000).rev().map(|value| 2 * value + 1).collect();
        let even: Vec<i64> = (0..100_000).map(|value| 2 * value).collect();
        let mut beats = 0;
        assert_eq!(overlaps(&odd, &even, &mut || beats += 1), Ok(false));
        assert!(beats >= odd.len() / LOOK_UPS, "{beats} heartbeats");
    }

    #[test]
    fn empty_sketches_have_no_answer() {
        assert_eq!(Overlap::of(&[], &[], &mut || ()).unwrap().similarity(), None);
        assert_eq!(Overlap::of(&[], &[1], &mut || ()).unwrap().similarity(), Some(0.0));
        assert_eq!(Overlap::of(&[], &[1], &mut || ()).unwrap().containment(), None);
        assert_eq!(Overlap::of(&[1], &[], &mut || ()).unwrap().containment(), Some(0.0));
    }

    proptest! {
        #[test]
        fn arrays_overlap_if_their_sets_do(
            mut a in prop::collection::vec(-40i64..40, 0..20),
            mut b in prop::collection::vec(-40i64..40, 0..20),
            is_sorted in any::<bool>(),
        ) {
            if is_sorted {
                a.sort_unstable();
                b.sort_unstable();
            }
            let x: BTreeSet<_> = a.iter().collect();
            let y: BTreeSet<_> = b.iter().collect();
            prop_assert_eq!(overlaps(&a, &b, &mut || ()), Ok(!x.is_disjoint(&y)));
        }

        #[test]
        fn overlap_is_that_of_the_sets(
            a in prop::collection::vec(-8i64..8, 0..20),
            b in prop::collection::vec(-8i64..8, 0..20),
        ) {
            let x: BTreeSet<_> = a.iter().collect();
            let y: BTreeSet<_> = b.iter().collect();
            let shared = x.intersection(&y).count();
            let all = x.union(&y).count();
            let overlap = Overlap::of(&a, &b, &mut || ()).unwrap();
            prop_assert_eq!(overlap.similarity(), (all > 0).then(|| shared as f64 / all as f64));
            prop_assert_eq!(overlap.containment(), (!x.is_empty()).then(|| shared as f64 / x.len() as f64));
        }
    }
}
