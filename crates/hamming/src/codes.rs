//! Codes: strings of bits of any length, such as perceptual hashes of images.
//!
//! A code is passed as its bytes. What it lacks in its last byte is zero.

use crate::kernel::for_processors;
use limits::{Limit, Problem};

/// The number of bits that a code may have.
pub const LENGTH: Limit = Limit::new("bits", 0, i32::MAX as i64);

for_processors! {
    /// The number of bits in which two codes differ, which are of one length.
    pub fn distance(a: &[u8], b: &[u8]) -> u32 {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        let words = a.iter().zip(b).map(|(&a, &b)| (u64::from_ne_bytes(a) ^ u64::from_ne_bytes(b)).count_ones());
        let rest = a_rest.iter().zip(b_rest).map(|(a, b)| (a ^ b).count_ones());
        words.sum::<u32>() + rest.sum::<u32>()
    }
}

/// The share of equal bits of two codes with this distance; 1 if they have no bits.
pub fn similarity(distance: u32, bits: u32) -> f64 {
    if bits == 0 { 1.0 } else { 1.0 - f64::from(distance) / f64::from(bits) }
}

/// The largest distance at which two codes with this number of bits are at least `similarity` alike: 0.90 and
/// 256 bits give 25.
pub fn radius(similarity: f64, bits: u32) -> Result<i32, Problem> {
    if !(0.0..=1.0).contains(&similarity) {
        return Err(Problem::out_of_range("similarity", similarity, 0, 1)
            .with_hint("Similarity is a fraction: 90 % is 0.90."));
    }
    Ok(radius_of_similarity(similarity, true, bits))
}

/// The largest distance whose similarity is at least `limit`, or above it if that is not inclusive; -1 if
/// there is none.
///
/// A similarity is rounded, unless the number of bits is a power of two. So the computed radius may be wrong by
/// one, and the comparison itself decides. NaN is greater than every number, as in SQL.
pub fn radius_of_similarity(limit: f64, inclusive: bool, bits: u32) -> i32 {
    let computed = (1.0 - limit) * f64::from(bits);
    let largest = computed.clamp(-1.0, f64::from(bits)) as i32;
    let admits = |distance: u32| {
        let similarity = similarity(distance, bits);
        similarity > limit || inclusive && similarity == limit
    };
    let from = largest.saturating_add(1).min(bits as i32);
    (0..=from).rev().find(|&distance| admits(distance as u32)).unwrap_or(-1)
}

/// The share of all codes with this number of bits that a ball holds.
pub fn volume(bits: u32, radius: u32) -> f64 {
    if radius >= bits { 1.0 } else { volumes(bits).nth(radius as usize).unwrap_or(1.0) }
}

/// The same for each radius, from 0 to the number of bits.
pub fn volumes(bits: u32) -> impl Iterator<Item = f64> {
    // The codes at each distance, and those within it, as multiples of a power of two. Otherwise they would be too many
    // for a number.
    const STEP: i32 = 512;
    let (mut shell, mut sum, mut exponent) = (1.0, 0.0, -f64::from(bits));
    (0..=bits).map(move |differing| {
        sum += shell;
        let volume = (sum * f64::exp2(exponent)).min(1.0);
        shell *= f64::from(bits - differing) / f64::from(differing + 1);
        if shell > 2f64.powi(STEP) {
            (shell, sum) = (shell / 2f64.powi(STEP), sum / 2f64.powi(STEP));
            exponent += f64::from(STEP);
        }
        volume
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BITS;
    use proptest::prelude::*;

    #[test]
    fn the_longest_and_the_shortest() {
        assert_eq!(distance(&[], &[]), 0);
        assert_eq!(distance(&[0; 12_500], &[0xff; 12_500]), 100_000);
        assert_eq!(similarity(0, 0), 1.0);
        assert_eq!((radius(1.0, 0), radius(0.90, 256), radius(0.0, 576)), (Ok(0), Ok(25), Ok(576)));
        assert_eq!(radius_of_similarity(0.5, true, i32::MAX as u32), i32::MAX / 2);
        for wrong in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert!(radius(wrong, 256).is_err(), "{wrong}");
        }
    }

    #[test]
    fn volumes_of_short_and_long_codes() {
        assert_eq!((volume(0, 0), volume(1, 0), volume(3, 1), volume(3, 7)), (1.0, 0.5, 0.5, 1.0));
        assert_eq!(volume(256, 0), 2f64.powi(-256));
        assert_eq!(volume(64, 6), (0..=6).map(|k| binomial(64, k)).sum::<f64>() / 2f64.powi(64));
        for bits in [63, 575, 8191, 99_999] {
            assert!(
                (volume(bits, bits / 2) - 0.5).abs() < 1e-9,
                "{bits}: half of all are within half of the bits"
            );
            assert!(volume(bits, bits / 2 + bits / 10) > 0.93);
        }
        assert_eq!(volume(8192, 0), 0.0, "less than any number");
        let shares: Vec<f64> = (0..=8192).map(|radius| volume(8192, radius)).collect();
        assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)));
    }

    fn binomial(n: u32, k: u32) -> f64 {
        (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
    }

    /// Two codes of one length.
    fn any_pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        prop::collection::vec(any::<(u8, u8)>(), 0..100).prop_map(|pairs| pairs.into_iter().unzip())
    }

    /// A number of bits, and a limit near one of the similarities, or any other.
    fn any_limit() -> impl Strategy<Value = (u32, f64)> {
        let bits = prop_oneof![0u32..=600, Just(8192)];
        let near = |bits: u32| {
            (-2..=i64::from(bits) + 2, -1i32..=1).prop_map(move |(distance, step)| {
                let limit = 1.0 - distance as f64 / f64::from(bits);
                match step {
                    -1 => limit.next_down(),
                    0 => limit,
                    _ => limit.next_up(),
                }
            })
        };
        bits.prop_flat_map(move |bits| {
            let limit = prop_oneof![4 => near(bits), 1 => any::<f64>(), 1 => Just(f64::INFINITY), 1 => Just(f64::NAN)];
            (Just(bits), limit)
        })
    }

    proptest! {
        #[test]
        fn distance_counts_differing_bits((a, b) in any_pair()) {
            let bit = |code: &[u8], index: usize| (code[index / 8] >> (7 - index % 8)) & 1;
            let naive = (0..8 * a.len()).filter(|&index| bit(&a, index) != bit(&b, index)).count();
            prop_assert_eq!(distance(&a, &b) as usize, naive);
        }

        #[test]
        fn of_64_bits_all_is_as_for_fingerprints(a: u64, b: u64) {
            let of_codes = distance(&a.to_be_bytes(), &b.to_be_bytes());
            prop_assert_eq!(of_codes, crate::distance(a, b));
            prop_assert_eq!(similarity(of_codes, BITS), crate::similarity(a, b));
        }

        #[test]
        fn radii_admit_what_the_comparison_does((bits, limit) in any_limit()) {
            let [inclusive, exclusive] = [true, false].map(|inclusive| radius_of_similarity(limit, inclusive, bits));
            for distance in 0..=bits {
                let similarity = similarity(distance, bits);
                prop_assert_eq!(distance as i32 <= inclusive, similarity >= limit, "{} of {}", distance, bits);
                prop_assert_eq!(distance as i32 <= exclusive, similarity > limit, "{} of {}", distance, bits);
            }
        }
    }
}
