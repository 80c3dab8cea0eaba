//! Plans: the segments of bits that find all pairs, and their cost for the rows of a join.

use super::radii::CodeRadius;
use super::segment_cost::{JoinSize, cost_of_check, cost_of_segment, length_of, threshold_of};
use crate::buckets::{BitChoice, Parities, PlacedCodes};
use crate::code::{CodeSlice, volume};
use crate::hash::scattered;
use base::{OutOfMemory, collect, push};

/// The most pairs of rows that are sampled to plan a join of codes of several words.
const MAX_SAMPLE: usize = 1 << 12;

/// The rows to join: rows on the left with rows on the right, or with each other if there is no right side.
pub struct JoinSides<'a> {
    pub(super) left: PlacedCodes<'a>,
    pub(super) right: Option<PlacedCodes<'a>>,
}

impl<'a> JoinSides<'a> {
    /// Joins the codes of two sides.
    pub fn between(codes: [CodeSlice<'a>; 2]) -> Self {
        let [left, right] = codes.map(|codes| PlacedCodes { codes, places: None });
        Self { left, right: Some(right) }
    }

    /// Joins codes with each other.
    pub fn among(codes: CodeSlice<'a>) -> Self {
        Self { left: PlacedCodes { codes, places: None }, right: None }
    }

    /// Describes how the rows differ.
    pub(super) fn differences(&self) -> Result<RowDifferences, OutOfMemory> {
        let mut differences = RowDifferences { varying: self.varying(), sampled: Vec::new() };
        let left = self.left.codes;
        let right = self.right.unwrap_or(self.left).codes;
        if left.width() > 1 && !right.is_empty() {
            let random = |number: usize, rows: usize| (scattered(number as u64) % rows as u64) as u32;
            let places = (0..left.len().min(MAX_SAMPLE))
                .map(|number| [random(2 * number, left.len()), random(2 * number + 1, right.len())]);
            // If a table is joined with itself, this would be a row and itself. Few such pairs would count as
            // many in a large table.
            let places = places.filter(|[a, b]| a != b);
            let pairs = places.map(|[a, b]| [left.get(a), right.get(b)]);
            let pairs: Vec<[&[u64]; 2]> = collect(pairs, left.len().min(MAX_SAMPLE))?;
            let of_word = |word: usize| collect(pairs.iter().map(|[a, b]| a[word] ^ b[word]), pairs.len());
            differences.sampled = (0..left.width()).map(of_word).collect::<Result<_, _>>()?;
        }
        Ok(differences)
    }

    /// For each word, the bits in which not all rows are equal.
    fn varying(&self) -> Vec<u64> {
        let all = || self.left.codes.iter().chain(self.right.iter().flat_map(|right| right.codes.iter()));
        let first = all().next().unwrap_or_default();
        let mut varying = vec![0; self.left.codes.width()]; // Bounded: a code.
        for code in all() {
            varying
                .iter_mut()
                .zip(code)
                .zip(first)
                .for_each(|((varying, word), first)| *varying |= word ^ first);
        }
        varying
    }
}

/// How the rows differ.
pub(super) struct RowDifferences {
    /// For each word, the bits in which not all rows are equal.
    pub(super) varying: Vec<u64>,
    /// For each word, the differences of a sample of pairs, which show whether many rows have nearly the same
    /// word. Codes of one word need no sample, since all their bits have to be used.
    pub(super) sampled: Vec<Vec<u64>>,
}

impl RowDifferences {
    /// The fraction of the pairs that differ in at most `limit` of these bits of a word. It is at least
    /// `scattered`, the fraction for scattered rows, since a sample cannot show smaller fractions.
    fn fraction(&self, word: usize, mask: u64, limit: u32, scattered: f64) -> f64 {
        let Some(sampled) = self.sampled.get(word) else { return scattered };
        let near = sampled.iter().filter(|difference| (*difference & mask).count_ones() <= limit).count();
        f64::max(scattered, near as f64 / sampled.len().max(1) as f64)
    }

    /// The same for one of several codes, but sampled pairs that another code separates differ in all bits.
    /// Their distance by that code is beyond its radius by a quarter of the way to the distance of scattered
    /// rows.
    pub(super) fn not_separated(&self, codes: &[CodeRadius], number: usize) -> Result<Self, OutOfMemory> {
        let separates = |pair: usize, CodeRadius { words, radius }: &CodeRadius| {
            let distance: u32 = words.clone().map(|word| self.sampled[word][pair].count_ones()).sum();
            let bits: u32 = self.varying[words.clone()].iter().map(|varying| varying.count_ones()).sum();
            8 * u64::from(distance) > 6 * u64::from(*radius) + u64::from(bits)
        };
        let others = || codes.iter().enumerate().filter(|other| other.0 != number);
        let is_separated = |pair: usize| others().any(|(_, other)| separates(pair, other));
        let of_word = |sampled: &Vec<u64>| {
            let pairs = sampled.iter().enumerate();
            let pairs = pairs.map(|(pair, &bits)| if is_separated(pair) { u64::MAX } else { bits });
            collect(pairs, sampled.len())
        };
        let sampled = self.sampled.iter().map(of_word).collect::<Result<_, _>>()?;
        Ok(Self { varying: self.varying.clone(), sampled })
    }

    /// The fraction of the pairs that a segment compares, which is at least `scattered`.
    fn compared(&self, segment: &BitSegment, scattered: f64) -> f64 {
        if segment.parities.is_none() {
            return self.fraction(segment.word, segment.bits.mask, segment.threshold, scattered);
        }
        let Some(pairs) = self.sampled.first().map(Vec::len) else { return scattered };
        let is_compared = |&pair: &usize| segment.has_near(segment.word_of(|word| self.sampled[word][pair]));
        let near = (0..pairs).filter(is_compared).count();
        f64::max(scattered, near as f64 / pairs.max(1) as f64)
    }

    /// The cost of comparing the whole codes of rows whose words are within the limit. It is 0 for codes of
    /// one word, which was compared before.
    fn cost_of_checks(&self, size: &JoinSize, word: usize, limit: u32) -> f64 {
        let scattered = volume(self.varying[word].count_ones(), limit);
        size.pairs * self.fraction(word, u64::MAX, limit, scattered) * cost_of_check(self.varying.len())
    }
}

/// The bits of a word by which rows are sorted into buckets, and how many of these bits may differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BitSegment {
    /// The word by which rows are compared, and which has the bits if they are not parities.
    pub(super) word: usize,
    /// How the bits are computed, if they are parities of bits of all words.
    pub(super) parities: Option<Parities>,
    pub(super) bits: BitChoice,
    /// The difference from which differing bits are counted: 0 unless the bits are parities.
    pub(super) center: u64,
    pub(super) threshold: u32,
    /// Sets of bits that may all differ if no other bits do, although they are more than the threshold.
    pub(super) alone: Vec<u64>,
    /// How many bits of the whole word may differ.
    pub(super) limit: u32,
    /// Bits in which two codes must differ exactly as the center does, since rows have been divided by them.
    pub(super) equal: u64,
    /// Sets of bits. Two codes that differ in one of these sets as the center does are found by an earlier
    /// pass.
    pub(super) differing: Vec<u64>,
}

impl BitSegment {
    fn new(word: usize, mask: u64, threshold: u32, limit: u32) -> Self {
        Self {
            word,
            parities: None,
            bits: BitChoice::of_mask(mask),
            center: 0,
            threshold,
            alone: Vec::new(),
            limit,
            equal: 0,
            differing: Vec::new(),
        }
    }

    /// The word that has the bits of the segment, for a code with these words.
    #[inline]
    pub(super) fn word_of(&self, code: impl Fn(usize) -> u64) -> u64 {
        match &self.parities {
            None => code(self.word),
            Some(parities) => parities.of(code),
        }
    }

    /// Whether the segment finds these two codes if they are near.
    #[inline(always)]
    pub(super) fn finds(&self, [a, b]: [&[u64]; 2]) -> bool {
        let difference = |word: usize| a[word] ^ b[word];
        self.has_near(self.word_of(difference)) && difference(self.word).count_ones() <= self.limit
    }

    /// Whether the bits are bits of this word.
    #[inline(always)]
    pub(super) fn is_of(&self, word: usize) -> bool {
        self.word == word && self.parities.is_none()
    }

    /// Whether the segment finds near codes whose words differ in these bits. Its bits must be bits of its
    /// word.
    #[inline(always)]
    pub(super) fn finds_difference(&self, difference: u64) -> bool {
        debug_assert!(self.parities.is_none(), "parities do not follow from one word");
        self.has_near(difference) && difference.count_ones() <= self.limit
    }

    /// Whether the segment finds all near codes, if no two codes differ in other bits of their words than
    /// these.
    pub(super) fn finds_all(&self, varying: &[u64]) -> bool {
        self.parities.is_none() && self.finds_difference(varying[self.word])
    }

    /// Whether the segment finds two words that differ in these bits, if they are within its limit.
    #[inline(always)]
    pub(super) fn has_near(&self, difference: u64) -> bool {
        let counted = difference ^ self.center;
        let chosen = counted & self.bits.mask;
        let is_alone = |set: &u64| chosen & !set == 0;
        let is_within = chosen.count_ones() <= self.threshold || self.alone.iter().any(is_alone);
        is_within && counted & self.equal == 0
    }

    /// The differences (XOR) between the numbers of two buckets that are compared.
    pub(super) fn flips(&self) -> Result<Vec<u32>, OutOfMemory> {
        let center = self.bits.of(self.center);
        let equal = self.bits.of(self.equal);
        let is_new = |counted: u32| self.differing.iter().all(|&bits| counted & self.bits.of(bits) != 0);
        let is_alone = |counted: u32| self.alone.iter().any(|&set| counted & !self.bits.of(set) == 0);
        let is_compared = |&flip: &u32| {
            let counted = flip ^ center;
            let is_within = counted.count_ones() <= self.threshold || is_alone(counted);
            is_within && counted & equal == 0 && is_new(counted)
        };
        let mut flips = Vec::new();
        for flip in (0..self.bits.buckets()).filter(is_compared) {
            push(&mut flips, flip)?;
        }
        Ok(flips)
    }

    /// The cost of comparing all rows by the word of this segment, and the whole codes of rows within its
    /// limit.
    pub(super) fn cost_of_all(&self, size: &JoinSize, differences: &RowDifferences) -> f64 {
        size.pairs + differences.cost_of_checks(size, self.word, self.limit)
    }

    /// The fraction of the pairs that the segment finds although their rows are not scattered.
    pub(super) fn crowd(&self, differences: &RowDifferences) -> f64 {
        differences.compared(self, 0.0)
    }

    /// The cost of finding pairs by this segment, in comparisons of words.
    fn cost(&self, size: &JoinSize, differences: &RowDifferences) -> f64 {
        cost_of_segment(size, self.bits.mask.count_ones(), self.threshold, |scattered| {
            differences.compared(self, scattered)
        })
    }
}

/// Segments that together find all pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct JoinPlan {
    pub(super) segments: Vec<BitSegment>,
}

impl JoinPlan {
    pub(super) fn cost(&self, size: &JoinSize, differences: &RowDifferences) -> f64 {
        let of_segments: f64 = self.segments.iter().map(|segment| segment.cost(size, differences)).sum();
        let of_words = self.segments.chunk_by(|a, b| a.word == b.word);
        of_segments
            + of_words
                .map(|segments| differences.cost_of_checks(size, segments[0].word, segments[0].limit))
                .sum::<f64>()
    }

    /// A plan with one bucket for all rows, which compares all rows with all.
    pub(super) fn one_bucket(word: usize, radius: u32) -> Self {
        Self { segments: vec![BitSegment::new(word, 0, 0, radius)] }
    }

    /// Cuts the varying bits of a word into `count` segments of nearly equal width. The first segments are
    /// the widest, and the first to get one more flip. If the reach is at most `count`, only the first
    /// `reach` segments are used.
    ///
    /// The reach is at most the number of varying bits. So each segment has fewer flips than bits, and
    /// separates rows.
    pub(super) fn of_segments(word: usize, count: u32, varying: u64, reach: u32) -> Self {
        let used = count.min(reach);
        let mut segments = Vec::new();
        for (number, mask) in (0..used).zip(groups_of(varying, count)) {
            let threshold = threshold_of(number, reach, used);
            debug_assert!(
                threshold < mask.count_ones(),
                "a segment with as many flips as bits separates no rows"
            );
            segments.push(BitSegment::new(word, mask, threshold, reach - 1));
        }
        let plan = Self { segments };
        debug_assert_eq!(plan.reach(), reach, "the segments of a word reach as far as the word");
        plan
    }

    /// How many bits the segments allow for together. If two codes differed in more bits than each segment
    /// allows for, they would differ in at least as many.
    pub(super) fn reach(&self) -> u32 {
        self.segments.iter().map(|segment| segment.threshold + 1).sum()
    }
}

/// Cuts the bits of a mask into groups of nearly equal size, the lowest bits first.
pub(super) fn groups_of(mask: u64, count: u32) -> impl Iterator<Item = u64> {
    let bits = mask.count_ones();
    (0..count).scan(mask, move |rest, number| {
        let length = length_of(number, bits, count);
        let group = lowest(*rest, length);
        debug_assert_eq!(group.count_ones(), length, "the mask has the bits of its groups");
        *rest &= !group;
        Some(group)
    })
}

/// The `count` lowest bits of the mask.
pub(super) fn lowest(mask: u64, count: u32) -> u64 {
    let above = (0..count).fold(mask, |rest, _| rest & rest.wrapping_sub(1));
    mask & !above
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::near_pairs::plan_search::{PlanSearch, cost_between};
    use crate::near_pairs::segment_cost::{BUCKET_COST, MAX_SEGMENT_BITS, SORT_COST};
    use proptest::prelude::*;

    /// Rows that differ in these bits; nothing else is known of them.
    pub(crate) fn even(varying: &[u64]) -> RowDifferences {
        RowDifferences { varying: varying.to_vec(), sampled: Vec::new() }
    }

    proptest! {
        /// The reason why plans are exact: each difference of at most `radius` bits is found by some segment.
        #[test]
        fn some_block_finds_what_is_near(
            bits in prop::collection::btree_set(0u32..64, 0..64),
            segments in 3u32..=32,
        ) {
            let difference = bits.iter().fold(0u64, |difference, bit| difference | 1 << bit);
            let plan = JoinPlan::of_segments(0, segments, u64::MAX, bits.len() as u32 + 1);
            prop_assert!(plan.segments.iter().any(|segment| segment.finds_difference(difference)));
            prop_assert!(plan.segments.iter().all(|segment| segment.threshold < segment.bits.mask.count_ones()));
        }

        /// Plans are exact for codes of several words, too, if some bits are equal in all rows.
        #[test]
        fn some_word_finds_what_is_near(
            words in prop::collection::vec((any::<u64>(), any::<u64>()), 1..8),
            rows in 2.0f64..1e8,
            widest in 1..=MAX_SEGMENT_BITS,
        ) {
            let varying: Vec<u64> = words.iter().map(|word| word.0).collect();
            let difference: Vec<u64> = words.iter().map(|(varying, mask)| varying & mask & mask >> 3 & mask >> 7).collect();
            let radius = difference.iter().map(|word| word.count_ones()).sum();
            let size = JoinSize { rows, left: rows, pairs: rows * rows / 2.0, widest, divided: 0 };
            let nothing = vec![0; varying.len()];
            for plan in PlanSearch::new(&size, &even(&varying)).plans(0..varying.len(), radius).iter().flatten() {
                prop_assert!(plan.segments.iter().any(|segment| segment.finds([&difference, &nothing])));
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn plans_for_ten_million() {
        let ten_million =
            JoinSize { rows: 1e7, left: 1e7, pairs: 5e13, widest: MAX_SEGMENT_BITS, divided: 0 };
        let thresholds = |radius: u32| -> Vec<(u32, u32)> {
            JoinPlan::of_size(&ten_million, &even(&[u64::MAX]), &radius.into())
                .unwrap()
                .segments
                .iter()
                .map(|segment| (segment.bits.mask.count_ones(), segment.threshold))
                .collect()
        };
        assert_eq!(thresholds(0), [(22, 0)]);
        assert_eq!(thresholds(3), [(22, 1), (21, 0), (21, 0)]);
        assert_eq!(thresholds(6), [(22, 2), (21, 1), (21, 1)]);
        assert_eq!(thresholds(64), [(0, 0)], "everything is near");
        let hundred = JoinSize { rows: 1e2, left: 1e2, pairs: 5e3, widest: MAX_SEGMENT_BITS, divided: 0 };
        assert_eq!(
            JoinPlan::of_size(&hundred, &even(&[u64::MAX]), &3.into()).unwrap().segments,
            JoinPlan::one_bucket(0, 3).segments,
            "segments are not worth it"
        );
    }

    #[test]
    fn a_join_costs_less_than_all_comparisons() {
        assert_eq!(cost_between(10.0, 20.0, 64, 3), 200.0 + 30.0 * SORT_COST + 1.0 + BUCKET_COST);
        assert!(cost_between(1e6, 1e6, 64, 3) < 1e9);
        assert!(cost_between(1e6, 1e5, 256, 31) < 1e10);
        assert!(cost_between(1e3, 1e3, 64, 64) < 2e6, "everything is near");
    }

    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn plans_for_a_million_codes() {
        let million = JoinSize { rows: 1e6, left: 1e6, pairs: 5e11, widest: MAX_SEGMENT_BITS, divided: 0 };
        let reaches = |varying: &[u64], radius: u32| -> Vec<(usize, u32)> {
            let mut reaches: Vec<(usize, u32)> = JoinPlan::of_size(&million, &even(varying), &radius.into())
                .unwrap()
                .segments
                .iter()
                .map(|segment| (segment.word, segment.limit + 1))
                .collect();
            reaches.dedup();
            reaches
        };
        assert_eq!(reaches(&[u64::MAX; 4], 31), [(0, 8), (1, 8), (2, 8), (3, 8)]);
        assert_eq!(reaches(&[u64::MAX, 0, u64::MAX, u64::MAX], 5), [(0, 2), (2, 2), (3, 2)], "no word 1");
        assert_eq!(reaches(&[u64::MAX, 0xffff], 9), [(0, 9), (1, 1)], "less of a word with fewer bits");
        assert_eq!(reaches(&[u64::MAX; 4], 256), [(0, 257)], "everything is near");
    }
}
