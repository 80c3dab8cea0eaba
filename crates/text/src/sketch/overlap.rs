//! Comparison of sketches: sets of hashes that stand for a text.
//!
//! Broder, "On the resemblance and containment of documents", 1997. Cost: linear time for sketches as they
//! are stored, which are sorted; other arrays are copied and sorted first.

use std::borrow::Cow;

/// How much two sketches have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap {
    a: usize,
    b: usize,
    shared: usize,
}

impl Overlap {
    /// Compares two sketches as sets; they need not be sorted, and repeated values count once.
    pub fn of(a: &[i64], b: &[i64]) -> Self {
        let (a, b) = (as_set(a), as_set(b));
        Self { a: a.len(), b: b.len(), shared: count_shared(&a, &b) }
    }

    /// Shared values among all values of both (Broder's resemblance, the Jaccard index); `None` if
    /// both sketches are empty.
    pub fn resemblance(self) -> Option<f64> {
        share(self.shared, self.a + self.b - self.shared)
    }

    /// Shared values among those of the first sketch (Broder's containment of the first text in the
    /// second); `None` if the first sketch is empty.
    pub fn containment(self) -> Option<f64> {
        share(self.shared, self.a)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The values sorted and distinct, as sketches are stored; copied only if they are not.
fn as_set(values: &[i64]) -> Cow<'_, [i64]> {
    if values.is_sorted_by(|a, b| a < b) {
        return Cow::Borrowed(values);
    }
    let mut set = values.to_vec();
    set.sort_unstable();
    set.dedup();
    Cow::Owned(set)
}

/// Merges two sorted sets.
fn count_shared(mut a: &[i64], mut b: &[i64]) -> usize {
    let mut shared = 0;
    while let (Some(x), Some(y)) = (a.first(), b.first()) {
        shared += usize::from(x == y);
        (a, b) = (&a[usize::from(x <= y)..], &b[usize::from(y <= x)..]);
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn empty_sketches_have_no_answer() {
        assert_eq!(Overlap::of(&[], &[]).resemblance(), None);
        assert_eq!(Overlap::of(&[], &[1]).resemblance(), Some(0.0));
        assert_eq!(Overlap::of(&[], &[1]).containment(), None);
        assert_eq!(Overlap::of(&[1], &[]).containment(), Some(0.0));
    }

    proptest! {
        #[test]
        fn overlap_is_that_of_the_sets(
            a in prop::collection::vec(-8i64..8, 0..20),
            b in prop::collection::vec(-8i64..8, 0..20),
        ) {
            let (x, y): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
            let (shared, all) = (x.intersection(&y).count(), x.union(&y).count());
            let overlap = Overlap::of(&a, &b);
            prop_assert_eq!(overlap.resemblance(), (all > 0).then(|| shared as f64 / all as f64));
            prop_assert_eq!(overlap.containment(), (!x.is_empty()).then(|| shared as f64 / x.len() as f64));
        }
    }
}
