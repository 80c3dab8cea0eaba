//! Distances between fingerprints: how many of the 64 bits differ.

use crate::codes;
use limits::{Limit, Problem};

/// Bits of a fingerprint.
pub const BITS: u32 = 64;

/// The radii of clusters and near pairs, in bits. A search takes any number, also one that finds nothing or all.
pub const RADIUS: Limit = Limit::new("radius", 0, BITS as i64);

/// The number of bits in which two fingerprints differ, 0 to 64.
#[inline]
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// Whether two fingerprints differ in at most `radius` bits; no two do when `radius` is negative.
#[inline]
pub fn within(a: u64, b: u64, radius: i32) -> bool {
    distance(a, b) as i32 <= radius
}

/// The share of equal bits: 1 for equal fingerprints, about 0.5 for unrelated ones.
#[inline]
pub fn similarity(a: u64, b: u64) -> f64 {
    1.0 - f64::from(distance(a, b)) / f64::from(BITS)
}

/// The largest distance at which two fingerprints are at least `similarity` alike: 0.90 gives 6.
///
/// This is the rule of the Similarity Index paper, `64 - similarity * 64`, rounded down.
pub fn radius(similarity: f64) -> Result<i32, Problem> {
    codes::radius(similarity, BITS)
}

/// The largest distance that is at most `limit`, or below it if that is not inclusive; -1 if there is none.
/// It does not depend on how many bits there are.
///
/// NaN is greater than every number, as in SQL.
pub fn radius_below(limit: f64, inclusive: bool) -> i32 {
    if limit.is_nan() {
        return i32::MAX;
    }
    let largest = if inclusive { limit.floor() } else { limit.ceil() - 1.0 };
    largest.clamp(-1.0, f64::from(i32::MAX)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_papers_examples() {
        assert_eq!(distance(0xa3db_f34f_76ea_0510, 0xa39b_f85f_76ea_1510), 6);
        assert_eq!(radius(0.90), Ok(6));
    }

    #[test]
    fn radius_is_exact_at_every_multiple_of_one_64th() {
        for d in 0..=64 {
            assert_eq!(radius(1.0 - f64::from(d) / 64.0), Ok(d));
        }
        assert_eq!(radius(1e-20), Ok(63), "no bit equal is not similar at all");
        for wrong in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert!(radius(wrong).is_err(), "{wrong}");
        }
    }

    /// Looks at one bit after the other.
    fn naive_distance(a: u64, b: u64) -> u32 {
        (0..64).map(|bit| u32::from((a >> bit) & 1 != (b >> bit) & 1)).sum()
    }

    /// Numbers near the distances, their neighbours, and any others.
    fn any_limit() -> impl Strategy<Value = f64> {
        let number = prop_oneof![
            (-2i32..=66).prop_map(f64::from),
            (-2i32..=66).prop_map(|d| f64::from(d) + 0.5),
            0.0f64..=1.0,
            any::<f64>(),
        ];
        (number, -1i32..=1).prop_map(|(number, step)| match step {
            -1 => number.next_down(),
            0 => number,
            _ => number.next_up(),
        })
    }

    proptest! {
        #[test]
        fn distance_counts_differing_bits(a: u64, b: u64, radius in -1i32..66) {
            prop_assert_eq!(distance(a, b), naive_distance(a, b));
            prop_assert_eq!(within(a, b, radius), naive_distance(a, b) as i32 <= radius);
        }

        #[test]
        fn radius_admits_exactly_what_is_similar_enough(a: u64, b: u64, wanted in 0.0f64..=1.0) {
            prop_assert_eq!(within(a, b, radius(wanted).unwrap()), similarity(a, b) >= wanted);
        }

        #[test]
        fn radii_admit_what_the_comparison_does(limit in any_limit()) {
            // No distance is NaN.
            let above_all = limit.is_nan();
            for d in 0..=64 {
                let distance = f64::from(d);
                prop_assert_eq!(d <= radius_below(limit, true), distance <= limit || above_all);
                prop_assert_eq!(d <= radius_below(limit, false), distance < limit || above_all);
            }
        }
    }
}
