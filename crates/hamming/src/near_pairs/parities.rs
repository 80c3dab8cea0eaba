//! A further segment of a code, whose bits are the parities of the other segments.
//!
//! If no segment finds two codes, they differ in more bits of each segment than its threshold `t`: in `t + 1`
//! bits at least, and in `t + 2` if the number of these bits is even where `t + 1` is odd, or the reverse. So
//! if that is the case in `n` segments, the codes differ in `n` bits more than the segments reach. Whether
//! the number is even is known from two bits: from whether each of the codes has an even number of bits in
//! the segment. These bits, one for each segment, are again the bits of a segment. It finds the pairs with
//! few such `n`, and reaches one bit farther than it has flips. Flips are counted from a **center**, the
//! difference of two codes that differ in exactly `t + 1` bits of every segment.
//!
//! An example: at radius 50, segments have to reach 51. If 16 segments of 16 bits have two flips each, they
//! reach 48. Three of them need a third flip, which finds 560 of 65,536 scattered pairs for each. Or the
//! parities reach the other three bits with two flips, which find 137 of 65,536 pairs.
//!
//! # The limits of words
//!
//! Rows are first compared by a word, within a limit. Without parities, it is one less than the reach of the
//! word's segments. With parities, a segment also has to find pairs that differ in more bits of its word. The
//! limit of a word with reach `r` is `r - 1 + farther`, where `farther` is the number of the word's segments,
//! or the number of flips `f` of the parities, if that is less. So if the word does not find a pair,
//!
//! - all its segments are beyond their thresholds, and the codes differ in `r + n` bits of the word, where
//!   `n` counts its segments whose parities differ from the center, or
//! - the word is beyond its limit, and they differ in `r + farther` bits. If the word has more than `f`
//!   segments, these are `r + f`. Otherwise `farther` is the number of its segments, so that they are at
//!   least `r + n`, as before.
//!
//! Let no word find a near pair. The radius allows for `f` bits more than the words reach. If the codes
//! differ in `r + f` bits of a word, they differ in exactly `r` bits of each of the other words, which are
//! within their limits. So no parity of the other words differs from the center; those of this word may
//! differ **alone**, however many they are. Otherwise, `f` parities differ from it, or fewer. The segment of
//! the parities finds both, and comes last. Its limit need not be larger than what the radius leaves to its
//! word, since each of the others differs in at least its reach.
//!
//! If `f` is 0, or if rows that memory has no room for could not be divided
//! ([`PairDivision`](super::PairDivision)), no word may differ alone, and `farther` is up to `f + 1`.

use super::plan::{BitSegment, JoinPlan, groups_of};
use super::segment_cost::MAX_SEGMENT_BITS;
use crate::buckets::{BitChoice, Parities};

impl JoinPlan {
    /// Adds the parities of the segments, so that the plan reaches `more` bits farther. Rows are first
    /// compared by this word of the code.
    ///
    /// `None` if there are too few segments for so many flips, or too many for the bits of one.
    pub(super) fn with_parities(mut self, word: usize, more: u32) -> Option<Self> {
        let count = self.segments.len() as u32;
        if count < more || count > MAX_SEGMENT_BITS {
            return None;
        }
        let of_word = self.segments.iter().filter(|segment| segment.word == word);
        let reach_of_word: u32 = of_word.map(|segment| segment.threshold + 1).sum();
        // Bounded: a segment of the parities has a bit for each of them.
        let sets = self.segments.iter().map(|segment| (segment.word, segment.bits.mask)).collect();
        let center = (0..)
            .zip(&self.segments)
            .fold(0, |center, (number, segment)| center | u64::from((segment.threshold + 1) % 2) << number);
        let flips = more - 1;
        let bits = (1 << count) - 1;
        let mut alone = self.parities_of_words();
        alone.retain(|of_word| of_word.count_ones() > flips);
        // A pass of a divided join needs a group of bits in which the codes agree.
        let leaves_a_group = |of_word: &u64| groups_of(bits, more).any(|group| group & of_word == 0);
        let may_differ_alone = flips > 0 && alone.iter().all(leaves_a_group);
        if !may_differ_alone {
            alone.clear();
        }
        let farthest = if may_differ_alone { flips } else { more };
        for of_word in self.segments.chunk_by_mut(|a, b| a.word == b.word) {
            let farther = farthest.min(of_word.len() as u32);
            of_word.iter_mut().for_each(|segment| segment.limit += farther);
        }
        let parities = BitSegment {
            word,
            parities: Some(Parities { sets }),
            bits: BitChoice::of_mask(bits),
            center,
            threshold: flips,
            alone,
            limit: reach_of_word + flips,
            equal: 0,
            differing: Vec::new(),
        };
        self.segments.push(parities);
        Some(self)
    }

    /// For each word, the parities of its segments, as bits of the word that has all parities.
    fn parities_of_words(&self) -> Vec<u64> {
        let mut first = 0;
        let of_words = self.segments.chunk_by(|a, b| a.word == b.word).map(|of_word| {
            let bits = ((1 << of_word.len()) - 1) << first;
            first += of_word.len();
            bits
        });
        of_words.collect() // Bounded: a word for each word of a code.
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{CodeSlice, distance_of_words};
    use crate::hash::scattered;
    use crate::near_pairs::plan::tests::even;
    use crate::near_pairs::segment_cost::JoinSize;
    use crate::near_pairs::tests::{FEWER, pairs_of_division, portions};
    use crate::near_pairs::{CodeRadii, JoinSides, PairDivision, PairSearch};
    use base::OutOfMemory;
    use proptest::prelude::*;

    /// Segments of several words, and parities. Each word is given by how many segments it is cut into, and
    /// by its reach.
    fn plan(words: &[(u32, u32)], more: u32) -> Option<JoinPlan> {
        let mut plan = JoinPlan::default();
        for (word, &(count, reach)) in words.iter().enumerate() {
            plan.segments.extend(JoinPlan::of_segments(word, count, u64::MAX, reach).segments);
        }
        plan.with_parities(words.len() / 2, more)
    }

    fn any_words() -> impl Strategy<Value = Vec<(u32, u32)>> {
        // The segments have at most 16 bits, and few flips.
        let word = (4u32..=8, 0u32..=16).prop_map(|(count, reach)| (count, reach.min(2 * count)));
        prop::collection::vec(word, 2..=3)
    }

    /// Codes that are near the first of them, at the radius, and that most segments miss by one bit: they
    /// differ in one bit more than the threshold of each segment, and some of the bits were moved. In half of
    /// the codes, one word has all the other bits by which they differ, and bits were moved within this word.
    fn missed_codes(plan: &JoinPlan, width: usize, count: u64, moved: u64, seed: u64) -> Vec<u64> {
        let first: Vec<u64> = (0..width as u64).map(|word| scattered(seed ^ word)).collect();
        let mut codes = first.clone();
        for row in 1..count {
            let mut code = first.clone();
            let mut number = 0;
            let mut random = |below: u64| {
                number += 1;
                scattered(seed ^ row << 32 ^ number << 16) % below
            };
            let mut turn = |code: &mut [u64], word: usize, mask: u64, is_equal: bool| loop {
                let bit = 1 << random(64);
                let differs = (code[word] ^ first[word]) & bit != 0;
                if mask & bit != 0 && differs != is_equal {
                    code[word] ^= bit;
                    return;
                }
            };
            let others = plan.segments.iter().filter(|segment| segment.parities.is_none());
            for segment in others.clone() {
                (0..=segment.threshold).for_each(|_| turn(&mut code, segment.word, segment.bits.mask, true));
            }
            let more = plan.reach() - others.map(|segment| segment.threshold + 1).sum::<u32>() - 1;
            let alone = (row % 2 == 0).then_some(row as usize / 2 % width);
            (0..more as usize).for_each(|bit| turn(&mut code, alone.unwrap_or(bit % width), u64::MAX, true));
            for bit in 0..scattered(seed ^ row) % (moved + 1) {
                let from = alone.unwrap_or((scattered(row ^ bit) % width as u64) as usize);
                let to = alone.unwrap_or((row + bit) as usize % width);
                if code[from] != first[from] {
                    turn(&mut code, from, u64::MAX, false);
                    turn(&mut code, to, u64::MAX, true);
                }
            }
            codes.extend(code);
        }
        codes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000 / FEWER as u32))]

        /// The reason why plans with parities are exact.
        #[test]
        fn some_segment_finds_what_is_near(
            words in any_words(),
            more in 1u32..=6,
            moved in 0u64..6,
            seed in any::<u64>(),
        ) {
            let Some(plan) = plan(&words, more) else { return Ok(()) };
            let codes = missed_codes(&plan, words.len(), 20, moved, seed);
            let mut codes = codes.chunks(words.len());
            let first = codes.next().unwrap();
            for code in codes {
                prop_assert_eq!(distance_of_words(first, code), plan.reach() - 1);
                prop_assert!(plan.segments.iter().any(|segment| segment.finds([first, code])));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Each pair is found once: of all rows, of two sides in portions, and of rows divided into parts.
        #[test]
        fn parities_find_each_pair_once(
            words in any_words(),
            more in 1u32..=4,
            moved in 0u64..6,
            seed in any::<u64>(),
            bits in 0u32..6,
            widest in 1u32..12,
            room in 1usize..100,
        ) {
            let Some(plan) = plan(&words, more) else { return Ok(()) };
            let width = words.len();
            let radius = plan.reach() - 1;
            let families = (0..4).map(|family| missed_codes(&plan, width, 12, moved, seed ^ family << 56));
            let others = (0..20 * width as u64).map(|word| scattered(seed ^ word << 40));
            let all: Vec<u64> = families.flatten().chain(others).collect();
            let codes = CodeSlice::new(&all, width);
            let rows = 0..codes.len() as u32;
            let near = |&(a, b): &(u32, u32)| distance_of_words(codes.get(a), codes.get(b)) <= radius;
            let pairs = rows.clone().flat_map(|a| (a + 1..rows.end).map(move |b| (a, b)));
            let expected: Vec<(u32, u32)> = pairs.filter(near).collect();
            let mut found = Vec::new();
            let mut add = |a, b| -> Result<(), OutOfMemory> {
                found.push((a, b));
                Ok(())
            };
            let radii = CodeRadii::from(radius);
            let search = || PairSearch::new(plan.clone(), Vec::new(), radii.clone(), MAX_SEGMENT_BITS);
            search().all(JoinSides::among(codes), &mut || (), &mut add).unwrap();
            found.sort_unstable();
            prop_assert_eq!(&found, &expected);
            let middle = rows.end / 3;
            let (left, right) = all.split_at(width * middle as usize);
            let mut across = portions(search(), [left, right].map(|side| CodeSlice::new(side, width)), room);
            across.sort_unstable();
            let crosses = expected.iter().filter(|&&(a, b)| a < middle && middle <= b);
            prop_assert!(across.iter().map(|&(a, b)| (a, b + middle)).eq(crosses.copied()));
            let division = PairDivision::of_plan(&plan, radii, [bits, widest]).unwrap().unwrap();
            prop_assert_eq!(pairs_of_division(&division, codes), expected);
        }
    }

    /// They replace flips that find more pairs.
    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn parities_are_used_where_they_find_fewer_pairs() {
        let words = 4;
        let rows = 859_091.0;
        let pairs = rows * rows / 2.0;
        let size = JoinSize { rows, left: rows, pairs, widest: MAX_SEGMENT_BITS, divided: 5 };
        let has_parities = |radius: u32| {
            let plan = JoinPlan::of_size(&size, &even(&vec![u64::MAX; words]), &radius.into()).unwrap();
            plan.segments.iter().any(|segment| segment.parities.is_some())
        };
        assert_eq!([31, 50].map(has_parities), [false, true]);
    }
}
