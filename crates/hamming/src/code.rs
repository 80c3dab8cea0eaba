//! Codes. A code is a sequence of bits, and has a distance from each code with the same number of bits.
//!
//! A code can be represented in three ways, which have the same distances:
//! - A **fingerprint** is a code of 64 bits as a number, usually computed from a text.
//! - In the **bytes** of a code, its first bit is the highest bit of the first byte, and unused bits of the
//!   last byte are zero. Databases store bit strings in this form, such as perceptual hashes of images.
//! - The **words** of a code contain up to 64 of its bits each: see [`CodeCutter`]. Algorithms store many
//!   codes of one length in this form, in a [`CodeSlice`]. A fingerprint consists of a single word.
//!
//! The **distance** of two codes is the number of bits in which they differ. Their **similarity** is the
//! fraction of equal bits. The **radius** of a search is the largest distance that it accepts.

use crate::kernel::for_processors;
use base::{
    Heartbeat, Limit, OutOfMemory, Problem, ProblemKind, beat_every, greatest_common_divisor, reserve,
};

/// Bits of a fingerprint.
pub const BITS: u32 = 64;

/// The most bits of a code that is cut into words, as in an index. The comparison of two codes has no such
/// limit.
pub const MAX_BITS: u32 = 8192;

/// How many codes are copied between two heartbeats.
const STRIDE: usize = 1 << 16;

/// The number of bits that a code may have.
pub const LENGTH: Limit = Limit::new("bits", 0, i32::MAX as i64);

/// Returns a problem if codes have more bits than [`MAX_BITS`].
pub fn check_width(bits: u32) -> Result<(), Problem> {
    if bits <= MAX_BITS {
        return Ok(());
    }
    let message = format!("bit string length exceeds the maximum allowed ({MAX_BITS})");
    Err(Problem::new(ProblemKind::TooLarge, message)
        .with_detail(format!("The bit string has {bits} bits."))
        .with_hint("Comparisons of two bit strings, and joins by their distance, have no such limit."))
}

/// The number of bits in which two fingerprints differ, 0 to 64.
#[inline]
pub fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// Whether two fingerprints differ in at most `radius` bits. A negative radius is never satisfied.
#[inline]
pub fn within(a: u64, b: u64, radius: i32) -> bool {
    distance(a, b) as i32 <= radius
}

/// The distance of two codes in words.
#[inline(always)]
pub fn distance_of_words(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

for_processors! {
    /// The distance of two codes of the same length in bytes.
    pub fn distance_of_bytes(a: &[u8], b: &[u8]) -> u32 {
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
        let words = a.iter().zip(b).map(|(&a, &b)| (u64::from_ne_bytes(a) ^ u64::from_ne_bytes(b)).count_ones());
        let rest = a_rest.iter().zip(b_rest).map(|(a, b)| (a ^ b).count_ones());
        words.sum::<u32>() + rest.sum::<u32>()
    }
}

/// The fraction of equal bits of two codes with this distance. It is 1 for equal codes and for codes without
/// bits, and about 0.5 for unrelated codes. It is rounded once, so 93 of 100 bits give the number that is
/// written as 0.93.
pub fn similarity(distance: u32, bits: u32) -> f64 {
    if bits == 0 { 1.0 } else { f64::from(bits - distance) / f64::from(bits) }
}

/// The largest distance of codes with this number of bits whose similarity is at least `similarity`: 25 for
/// 0.90 and 256 bits.
///
/// For fingerprints this is the rule of the Similarity Index paper, `64 - similarity * 64`, rounded down.
pub fn radius(similarity: f64, bits: u32) -> Result<i32, Problem> {
    if !(0.0..=1.0).contains(&similarity) {
        return Err(Problem::out_of_range("similarity", similarity, 0, 1)
            .with_hint("A similarity is a fraction: write 0.90 for 90 %."));
    }
    Ok(radius_of_similarity(similarity, true, bits))
}

/// The largest distance whose similarity is at least `limit`, or greater than `limit` if it is not inclusive;
/// -1 if there is none.
///
/// A similarity is rounded if the number of bits is not a power of two. Then the computed radius may be wrong
/// by one, so it is verified by the comparison itself. NaN is greater than every number, as in SQL.
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

/// The largest distance that is at most `limit`, or less than `limit` if it is not inclusive; -1 if there is
/// none. It is the same for all numbers of bits.
///
/// NaN is greater than every number, as in SQL.
pub fn radius_below(limit: f64, inclusive: bool) -> i32 {
    if limit.is_nan() {
        return i32::MAX;
    }
    let largest = if inclusive { limit.floor() } else { limit.ceil() - 1.0 };
    largest.clamp(-1.0, f64::from(i32::MAX)) as i32
}

/// The fraction of all codes with this number of bits that are in a ball.
pub fn volume(bits: u32, radius: u32) -> f64 {
    if radius >= bits { 1.0 } else { volumes(bits).nth(radius as usize).unwrap_or(1.0) }
}

/// The fraction of all codes with this number of bits that are in a ball, for each radius from 0 to the
/// number of bits.
pub fn volumes(bits: u32) -> impl Iterator<Item = f64> {
    // The numbers of codes at a distance, and within it, are kept as multiples of a power of two, since they
    // may exceed the largest floating-point number.
    const STEP: i32 = 512;
    let mut shell = 1.0;
    let mut sum = 0.0;
    let mut exponent = -f64::from(bits);
    (0..=bits).map(move |differing| {
        sum += shell;
        let volume = (sum * f64::exp2(exponent)).min(1.0);
        shell *= f64::from(bits - differing) / f64::from(differing + 1);
        if shell > 2f64.powi(STEP) {
            shell /= 2f64.powi(STEP);
            sum /= 2f64.powi(STEP);
            exponent += f64::from(STEP);
        }
        volume
    })
}

/// Codes with the same number of words, in one slice. A fingerprint is a code of one word.
#[derive(Clone, Copy, Debug)]
pub struct CodeSlice<'a> {
    words: &'a [u64],
    width: usize,
}

impl<'a> CodeSlice<'a> {
    /// Codes of `width` words.
    ///
    /// # Panics
    /// If the last code is not complete.
    pub fn new(words: &'a [u64], width: usize) -> Self {
        assert!(words.len().is_multiple_of(width), "each code has {width} words");
        Self { words, width }
    }

    /// Codes of one word.
    pub fn fingerprints(values: &'a [u64]) -> Self {
        Self { words: values, width: 1 }
    }

    /// The number of codes.
    pub fn len(self) -> usize {
        self.words.len() / self.width
    }

    /// Whether there are no codes.
    pub fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    /// The number of words of a code.
    pub fn width(self) -> usize {
        self.width
    }

    /// One code, as words.
    #[inline]
    pub fn get(self, place: u32) -> &'a [u64] {
        let first = place as usize * self.width;
        &self.words[first..first + self.width]
    }

    /// All codes, in order.
    #[inline]
    pub fn iter(self) -> std::slice::ChunksExact<'a, u64> {
        self.words.chunks_exact(self.width)
    }

    /// The words of all codes, one behind the other.
    pub fn words(self) -> &'a [u64] {
        self.words
    }

    /// Copies the codes at these `count` places.
    pub fn gather(
        self,
        places: impl Iterator<Item = u32>,
        count: usize,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Vec<u64>, OutOfMemory> {
        let mut words = Vec::new();
        reserve(&mut words, count.saturating_mul(self.width))?;
        for (number, place) in places.enumerate() {
            beat_every(STRIDE, number, heartbeat);
            words.extend_from_slice(self.get(place));
        }
        Ok(words)
    }
}

/// Cuts codes into words. The distance of two codes is the sum of the distances of their words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeCutter {
    bits: u32,
    /// How far apart two neighbouring bits of a word are in the code.
    stride: u32,
}

impl CodeCutter {
    /// The cutter for fingerprints, which does not change them.
    pub const FINGERPRINTS: Self = Self { bits: BITS, stride: 1 };

    /// The cutter for codes with this number of bits, or for the first [`MAX_BITS`] bits of longer codes.
    pub fn new(bits: u32) -> Self {
        let bits = bits.min(MAX_BITS);
        Self { bits, stride: stride(bits) }
    }

    /// The number of bits of a code.
    #[inline]
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The number of words of a code. A code without bits has one word, which is 0.
    #[inline]
    pub fn width(self) -> usize {
        self.bits.div_ceil(u64::BITS).max(1) as usize
    }

    /// The number of bits in the words before this one.
    #[inline]
    fn bits_before(self, word: usize) -> u32 {
        (word as u64 * u64::from(self.bits) / self.width() as u64) as u32
    }

    /// The number of bits of a word. They are its lowest bits.
    #[inline]
    pub fn bits_of(self, word: usize) -> u32 {
        self.bits_before(word + 1) - self.bits_before(word)
    }

    /// Cuts a code, given as bytes, into words. All words have nearly the same number of bits, and the bits
    /// of each word come from all over the code.
    #[inline]
    pub fn words_of(self, code: &[u8]) -> impl Iterator<Item = u64> {
        let mut reader = self.reader(code);
        (0..self.width()).map(move |word| reader.next(self.bits_of(word)))
    }

    /// Reads the bits of a code in the order of the words' bits.
    #[inline]
    pub fn reader(self, code: &[u8]) -> BitReader<'_> {
        BitReader { code, bits: self.bits as usize, stride: self.stride as usize, place: 0 }
    }

    /// The places in the code of all bits, in the order of the words' bits.
    #[inline]
    pub fn places(self) -> impl Iterator<Item = usize> {
        let bits = self.bits as usize;
        let stride = self.stride as usize;
        std::iter::successors(Some(0), move |place| {
            let next = place + stride;
            Some(if next >= bits { next - bits } else { next })
        })
    }
}

/// Reads the bits of a code, in the order of the words' bits.
pub struct BitReader<'a> {
    code: &'a [u8],
    bits: usize,
    stride: usize,
    place: usize,
}

impl BitReader<'_> {
    /// The next `count` bits, at most 64. The last of them is the lowest bit of the result.
    #[inline]
    pub fn next(&mut self, count: u32) -> u64 {
        let mut place = self.place;
        let mut read = 0;
        for _ in 0..count {
            read = read << 1 | u64::from(self.code[place / 8] >> (!place % 8) & 1);
            place += self.stride;
            place -= if place >= self.bits { self.bits } else { 0 };
        }
        self.place = place;
        read
    }
}

/// How far apart neighbouring bits of a word are in the code: about the golden section of its length, so that
/// the bits of a part of a word come from all over the code. The distance and the length have no common
/// divisor, so that each bit is used once.
///
/// Neighbouring bits of an image's hash often agree, for example in a white margin. With 2,471 drawings and
/// dHash of 256 bits, words of neighbouring bits were near by chance 15 to 45 times as often as these words.
fn stride(bits: u32) -> u32 {
    let have_no_divisor = |stride: u32| greatest_common_divisor(bits.into(), stride.into()) == 1;
    let golden = (u64::from(bits) * 618 / 1000) as u32;
    (golden..bits).find(|&stride| have_no_divisor(stride)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near_pairs::tests::FEWER;
    use proptest::prelude::*;

    #[test]
    fn the_papers_examples() {
        assert_eq!(distance(0xa3db_f34f_76ea_0510, 0xa39b_f85f_76ea_1510), 6);
        assert_eq!(radius(0.90, BITS), Ok(6));
    }

    #[test]
    fn radius_is_exact_at_every_multiple_of_one_64th() {
        for d in 0..=64 {
            assert_eq!(radius(1.0 - f64::from(d) / 64.0, BITS), Ok(d));
        }
        assert_eq!(radius(1e-20, BITS), Ok(63), "no bit equal is not similar at all");
        for wrong in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert!(radius(wrong, BITS).is_err(), "{wrong}");
        }
    }

    /// Whether `value`, a double from 2^-11 to 1, is nearest to `equal / bits`, in integers alone.
    fn is_nearest(value: f64, equal: u32, bits: u32) -> bool {
        let places = 1075 - (value.to_bits() >> 52) as u32;
        let mantissa = u128::from(value.to_bits() & ((1 << 52) - 1) | 1 << 52);
        2 * (mantissa * u128::from(bits)).abs_diff(u128::from(equal) << places) <= u128::from(bits)
    }

    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn similarity_is_the_nearest_double_and_has_its_radius() {
        for bits in 1..=2000 {
            for equal in 1..=bits {
                let share = f64::from(equal) / f64::from(bits);
                assert!(is_nearest(similarity(bits - equal, bits), equal, bits), "{equal} of {bits}");
                assert_eq!(radius(share, bits), Ok((bits - equal) as i32), "{equal} of {bits}");
            }
        }
        for (bits, digits) in [(10, 1), (100, 2), (1000, 3)] {
            for equal in 0..bits {
                let literal: f64 = format!("0.{equal:0digits$}").parse().unwrap();
                assert_eq!(radius(literal, bits), Ok((bits - equal) as i32), "{literal} of {bits}");
            }
        }
    }

    /// Compares bit by bit.
    fn naive_distance(a: u64, b: u64) -> u32 {
        (0..64).map(|bit| u32::from((a >> bit) & 1 != (b >> bit) & 1)).sum()
    }

    /// Numbers at and next to the distances, and any other numbers.
    fn any_distance_limit() -> impl Strategy<Value = f64> {
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

    #[test]
    fn the_longest_and_the_shortest() {
        assert_eq!(distance_of_bytes(&[], &[]), 0);
        assert_eq!(distance_of_bytes(&[0; 12_500], &[0xff; 12_500]), 100_000);
        assert_eq!(similarity(0, 0), 1.0);
        assert_eq!((radius(1.0, 0), radius(0.90, 256), radius(0.0, 576)), (Ok(0), Ok(25), Ok(576)));
        assert_eq!(radius_of_similarity(0.5, true, i32::MAX as u32), i32::MAX / 2);
        for wrong in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert!(radius(wrong, 256).is_err(), "{wrong}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
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
        let fractions: Vec<f64> = (0..=8192).map(|radius| volume(8192, radius)).collect();
        assert!(fractions.is_sorted() && fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
    }

    fn binomial(n: u32, k: u32) -> f64 {
        (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
    }

    /// Two codes of one length.
    fn any_pair() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        prop::collection::vec(any::<(u8, u8)>(), 0..100 / FEWER.min(10))
            .prop_map(|pairs| pairs.into_iter().unzip())
    }

    /// A number of bits, and a limit at or next to one of its similarities, or any other limit.
    fn any_similarity_limit() -> impl Strategy<Value = (u32, f64)> {
        let bits = prop_oneof![0u32..=600, Just(8192)];
        let near = |bits: u32| {
            (-2..=i64::from(bits) + 2, -1i32..=1).prop_map(move |(distance, step)| {
                let limit = (i64::from(bits) - distance) as f64 / f64::from(bits);
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

    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn the_shortest_and_a_long_one() {
        assert_eq!(CodeCutter::new(0).words_of(&[]).collect::<Vec<u64>>(), [0]);
        assert_eq!(CodeCutter::new(1).words_of(&[0x80]).collect::<Vec<u64>>(), [1]);
        for (bits, of_words) in [(MAX_BITS, MAX_BITS), (u32::MAX, MAX_BITS)] {
            let words = CodeCutter::new(bits).words_of(&[0xff; 1_250_000]);
            assert_eq!(words.map(u64::count_ones).sum::<u32>(), of_words);
        }
        assert!(check_width(MAX_BITS).is_ok() && check_width(MAX_BITS + 1).is_err());
    }

    proptest! {
        #[test]
        fn distance_counts_differing_bits(a: u64, b: u64, radius in -1i32..66) {
            prop_assert_eq!(distance(a, b), naive_distance(a, b));
            prop_assert_eq!(within(a, b, radius), naive_distance(a, b) as i32 <= radius);
        }

        #[test]
        fn radius_admits_exactly_what_is_similar_enough(a: u64, b: u64, wanted in 0.0f64..=1.0) {
            prop_assert_eq!(within(a, b, radius(wanted, BITS).unwrap()), similarity(distance(a, b), BITS) >= wanted);
        }

        #[test]
        fn radii_admit_what_a_comparison_of_distances_does(limit in any_distance_limit()) {
            // No distance is NaN.
            let above_all = limit.is_nan();
            for d in 0..=64 {
                let distance = f64::from(d);
                prop_assert_eq!(d <= radius_below(limit, true), distance <= limit || above_all);
                prop_assert_eq!(d <= radius_below(limit, false), distance < limit || above_all);
            }
        }

        #[test]
        fn distance_of_bytes_counts_differing_bits((a, b) in any_pair()) {
            let bit = |code: &[u8], index: usize| (code[index / 8] >> (7 - index % 8)) & 1;
            let naive = (0..8 * a.len()).filter(|&index| bit(&a, index) != bit(&b, index)).count();
            prop_assert_eq!(distance_of_bytes(&a, &b) as usize, naive);
        }

        #[test]
        fn of_64_bits_all_is_as_for_fingerprints(a: u64, b: u64) {
            let of_codes = distance_of_bytes(&a.to_be_bytes(), &b.to_be_bytes());
            prop_assert_eq!(of_codes, distance(a, b));
            }

        #[test]
        fn radii_admit_what_a_comparison_of_similarities_does((bits, limit) in any_similarity_limit()) {
            let [inclusive, exclusive] = [true, false].map(|inclusive| radius_of_similarity(limit, inclusive, bits));
            for distance in 0..=bits {
                let similarity = similarity(distance, bits);
                prop_assert_eq!(distance as i32 <= inclusive, similarity >= limit, "{} of {}", distance, bits);
                prop_assert_eq!(distance as i32 <= exclusive, similarity > limit, "{} of {}", distance, bits);
            }
        }

        #[test]
        fn distances_are_those_of_the_strings(
            (bits, a, b) in (0u32..700).prop_flat_map(|bits| {
                let string = || prop::collection::vec(any::<u8>(), bits.div_ceil(8) as usize);
                (Just(bits), string(), string())
            }),
        ) {
            let cutter = CodeCutter::new(bits);
            let cleared = |mut string: Vec<u8>| {
                let unused = 8 * string.len() as u32 - bits;
                string.last_mut().into_iter().for_each(|last| *last = *last >> unused << unused);
                string
            };
            let a = cleared(a);
            let b = cleared(b);
            let words = |string: &[u8]| cutter.words_of(string).collect::<Vec<u64>>();
            prop_assert_eq!(words(&a).len(), cutter.width());
            prop_assert_eq!(distance_of_words(&words(&a), &words(&b)), distance_of_bytes(&a, &b));
            let ones = words(&cleared(vec![0xff; bits.div_ceil(8) as usize]));
            let widths: Vec<u32> = ones.iter().map(|word| word.count_ones()).collect();
            prop_assert!(widths.iter().all(|width| width.abs_diff(widths[0]) <= 1));
        }
    }
}
