//! The search for the cheapest plan: how many segments each word is cut into, and how the radius is divided
//! among the words.
//!
//! Cost: a cut of a word has at most three kinds of segments, whose costs are read from a table. A word of 64
//! bits has 30 cuts for each part of the radius that it may get. Words with the same number of bits have the
//! same cuts. So a search takes some microseconds, and some more to read the sample of pairs.

use super::plan::{
    JoinPlan, JoinSides, JoinSize, MAX_SEGMENT_BITS, RowDifferences, cost_of_check, cost_of_segment,
    length_of, lowest, threshold_of,
};
use super::radii::{CodeRadii, CodeRadius};
use crate::code::{CodeCutter, volume};
use base::{OutOfMemory, push};
use std::ops::Range;

/// A join that costs at most this, in comparisons of words, is not planned: all rows are compared with all.
/// These are some dozens of rows with wide codes, or some hundreds of fingerprints.
const SMALL_JOIN: f64 = (1 << 17) as f64;
/// The most segments that a word is cut into.
const MAX_SEGMENTS: u32 = u64::BITS / 2;

impl JoinSides<'_> {
    /// The cheapest plan for these radii, with segments of at most `widest` bits.
    pub(super) fn plan(&self, radii: &CodeRadii, widest: u32) -> Result<JoinPlan, OutOfMemory> {
        let size = JoinSize::of(self.left.codes.len(), self.right.map(|right| right.codes.len()), widest);
        if size.pairs * (1.0 + cost_of_check(self.left.codes.width())) <= SMALL_JOIN {
            return Ok(JoinPlan::one_bucket(0, radii.of_first()));
        }
        JoinPlan::of_size(&size, &self.differences()?, radii)
    }
}

impl JoinPlan {
    /// The plan with the least estimated cost for rows of this size. The segments of each code find all near
    /// pairs, and so does a comparison of all rows.
    pub(super) fn of_size(
        size: &JoinSize,
        differences: &RowDifferences,
        radii: &CodeRadii,
    ) -> Result<Self, OutOfMemory> {
        let codes: Vec<_> = radii.codes(differences.varying.len()).collect();
        let plans = codes.iter().map(|code| Self::of_code(size, differences, code)).chain(Self::of_crowds(
            size,
            differences,
            &codes,
        )?);
        Ok(plans.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default().0)
    }

    /// The cheapest plan by the segments of one code, with its cost.
    fn of_code(size: &JoinSize, differences: &RowDifferences, code: &CodeRadius) -> (Self, f64) {
        let with_cost = |plan: Self| {
            let cost = plan.cost(size, differences);
            (plan, cost)
        };
        let all = with_cost(Self::one_bucket(code.words.start, code.radius));
        let segments =
            PlanSearch::new(size, differences).plan(code.words.clone(), code.radius).map(with_cost);
        segments.filter(|plan| plan.1 < all.1).unwrap_or(all)
    }

    /// For each of several codes, the plan that leaves its crowds to the other codes, with its cost: that of
    /// the pairs that no other code separates, and that of joining the crowds of each segment by another
    /// code. The sample shows how many pairs are in crowds, but not how large the crowds are. Small ones are
    /// assumed, which cost most: every row is in a crowd.
    fn of_crowds(
        size: &JoinSize,
        differences: &RowDifferences,
        codes: &[CodeRadius],
    ) -> Result<Vec<(Self, f64)>, OutOfMemory> {
        let mut plans = Vec::new();
        let mut with_costs = Vec::new();
        for number in (0..codes.len()).filter(|_| codes.len() > 1) {
            let differences = differences.not_separated(codes, number)?;
            push(&mut plans, (Self::of_code(size, &differences, &codes[number]).0, differences))?;
        }
        for (number, (plan, not_separated)) in plans.iter().enumerate() {
            let crowds = || plan.segments.iter().map(|segment| segment.crowd(differences));
            let largest = crowds().fold(f64::MIN_POSITIVE, f64::max);
            let others = plans.iter().enumerate().filter(|other| other.0 != number);
            let crowd = size.of_crowd(largest);
            let of_all = crowd.pairs * (1.0 + cost_of_check(differences.varying.len()));
            let costs = others.map(|(_, (plan, differences))| plan.cost(&crowd, differences));
            let of_crowds = costs.fold(of_all, f64::min) / largest * crowds().sum::<f64>() / largest;
            push(&mut with_costs, (plan.clone(), plan.cost(size, not_separated) + of_crowds))?;
        }
        Ok(with_costs)
    }
}

/// The estimated cost of finding the near pairs of scattered codes on two sides of this size, in comparisons
/// of words.
pub fn cost_between(codes: f64, others: f64, bits: u32, radius: u32) -> f64 {
    let cutter = CodeCutter::new(bits);
    let varying = (0..cutter.width()).map(|word| lowest(u64::MAX, cutter.bits_of(word))).collect();
    let differences = RowDifferences { varying, sampled: Vec::new() };
    let widest = MAX_SEGMENT_BITS;
    let size =
        JoinSize { rows: codes + others, left: codes.max(others), pairs: codes * others, widest, divided: 0 };
    JoinPlan::of_code(&size, &differences, &CodeRadius { words: 0..cutter.width(), radius }).1
}

/// A way to cut a word into segments.
#[derive(Clone, Copy)]
struct WordCut {
    count: u32,
    /// The cost of the segments if rows are scattered.
    cost: f64,
    /// The fraction of pairs whose words are within the limit if rows are scattered.
    within: f64,
}

/// The state of a search for a plan.
pub(super) struct PlanSearch<'a> {
    size: &'a JoinSize,
    differences: &'a RowDifferences,
    /// The cheapest cuts, by the number of varying bits of a word and by its reach.
    cuts: Vec<Vec<Option<WordCut>>>,
    /// For each word and set of its bits: how many sampled pairs differ in at most n of these bits.
    samples: Vec<Vec<(u64, [u16; u64::BITS as usize + 1])>>,
}

impl<'a> PlanSearch<'a> {
    pub(super) fn new(size: &'a JoinSize, differences: &'a RowDifferences) -> Self {
        let cuts = vec![Vec::new(); u64::BITS as usize + 1]; // Bounded: some numbers for each bit of a word.
        // Bounded: some numbers for each segment that a word may be cut into.
        let samples = vec![Vec::new(); differences.varying.len()];
        Self { size, differences, cuts, samples }
    }

    /// The cheapest segments of some words that find all pairs within a radius.
    ///
    /// Distributes the radius bit by bit: the next bit goes to the word where it costs least. The number of
    /// bits that a word has got is its **reach**: the word finds the pairs that differ in fewer of its bits.
    /// The reaches add up to `radius + 1`, so each near pair is found by some word. A word that is nearly
    /// equal in many rows gets few bits or none, because it would find many pairs that are not near.
    ///
    /// `None` if the words have too few bits to separate rows.
    pub(super) fn plan(&mut self, words: Range<usize>, radius: u32) -> Option<JoinPlan> {
        if words.len() == 1 {
            return self.segments(words.start, radius.checked_add(1)?);
        }
        // Bounded: some numbers for each word of a code.
        let mut reaches = vec![0; words.len()];
        let mut costs = vec![0.0; words.len()]; // Bounded: a number for each word of a code.
        let mut next: Vec<f64> = words.clone().map(|word| self.cost(word, 1)).collect();
        for _ in 0..=radius {
            let step = |number: usize| next[number] - costs[number];
            let number = (0..words.len()).min_by(|&a, &b| step(a).total_cmp(&step(b)))?;
            if next[number].is_infinite() {
                return None;
            }
            reaches[number] += 1;
            costs[number] = next[number];
            next[number] = self.cost(words.start + number, reaches[number] + 1);
        }
        let mut plan = JoinPlan::default();
        for (word, &reach) in words.zip(&reaches).filter(|(_, reach)| **reach > 0) {
            plan.segments.extend(self.segments(word, reach)?.segments);
        }
        debug_assert_eq!(plan.reach(), radius + 1, "each near pair is found by some segment");
        Some(plan)
    }

    /// The cheapest segments of a word.
    fn segments(&mut self, word: usize, reach: u32) -> Option<JoinPlan> {
        let varying = self.differences.varying[word];
        Some(JoinPlan::of_segments(word, self.cut(varying.count_ones(), reach)?.count, varying, reach))
    }

    /// The cost of a word's segments, and of comparing the whole codes of rows whose words are within the
    /// limit. It is infinite if the word has too few bits for this reach.
    fn cost(&mut self, word: usize, reach: u32) -> f64 {
        let size = self.size;
        let varying = self.differences.varying[word];
        let Some(cut) = self.cut(varying.count_ones(), reach) else { return f64::INFINITY };
        let check = size.pairs * cost_of_check(self.differences.varying.len());
        if self.differences.sampled.is_empty() {
            return cut.cost + check * cut.within;
        }
        let used = cut.count.min(reach);
        let mut rest = varying;
        let mut cost = check * self.fraction(word, u64::MAX, reach - 1, cut.within);
        for number in 0..used {
            let length = length_of(number, varying.count_ones(), cut.count);
            let mask = lowest(rest, length);
            let threshold = threshold_of(number, reach, used);
            rest &= !mask;
            let fraction = |scattered| self.fraction(word, mask, threshold, scattered);
            cost += cost_of_segment(size, length, threshold, fraction);
        }
        cost
    }

    /// As [`RowDifferences::fraction`], but the sample is read only once for each mask.
    fn fraction(&mut self, word: usize, mask: u64, limit: u32, scattered: f64) -> f64 {
        let known = &mut self.samples[word];
        let sampled = &self.differences.sampled[word];
        let place = known.iter().position(|(of, _)| *of == mask).unwrap_or_else(|| {
            let mut within = [0; u64::BITS as usize + 1];
            sampled.iter().for_each(|difference| within[(difference & mask).count_ones() as usize] += 1);
            (1..within.len()).for_each(|limit| within[limit] += within[limit - 1]);
            known.push((mask, within));
            known.len() - 1
        });
        let near = known[place].1[limit.min(u64::BITS) as usize];
        f64::max(scattered, f64::from(near) / sampled.len().max(1) as f64)
    }

    /// The cheapest cut of a word with this number of varying bits and this reach, for scattered rows.
    fn cut(&mut self, bits: u32, reach: u32) -> Option<WordCut> {
        // A word has no reach beyond its number of bits.
        if reach > bits {
            return None;
        }
        let size = self.size;
        let known = &mut self.cuts[bits as usize];
        for reach in known.len() as u32 + 1..=reach {
            let counts = bits.div_ceil(size.widest).max(1)..=MAX_SEGMENTS;
            let cuts = counts.map(|count| (count, cost_of_cut(size, bits, count, reach)));
            let within = volume(bits, reach - 1);
            let cheapest = cuts.min_by(|a, b| a.1.total_cmp(&b.1));
            known.push(cheapest.map(|(count, cost)| WordCut { count, cost, within }));
        }
        known[reach as usize - 1]
    }
}

/// The cost of the segments of [`JoinPlan::of_segments`] for scattered rows.
fn cost_of_cut(size: &JoinSize, bits: u32, count: u32, reach: u32) -> f64 {
    #[cfg(test)]
    super::tests::CUTS.with(|cuts| cuts.set(cuts.get() + 1));
    let used = count.min(reach);
    let wider = (bits % count).min(used);
    let farther = reach % used;
    let mut first = 0;
    let mut cost = 0.0;
    // The segments up to each of these numbers are of the same kind.
    for end in [wider.min(farther), wider.max(farther), used] {
        if first < end {
            let length = length_of(first, bits, count);
            let threshold = threshold_of(first, reach, used);
            cost += f64::from(end - first) * cost_of_segment(size, length, threshold, |scattered| scattered);
            first = end;
        }
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::super::tests::CUTS;
    use super::*;
    use crate::near_pairs::plan::FLIPS;
    use crate::near_pairs::plan::tests::even;

    /// The number of cuts that a search tries.
    fn tried(rows: f64, varying: &[u64], radius: u32) -> usize {
        CUTS.set(0);
        let size = JoinSize {
            rows: 2.0 * rows,
            left: rows,
            pairs: rows * rows,
            widest: MAX_SEGMENT_BITS,
            divided: 0,
        };
        JoinPlan::of_size(&size, &even(varying), &radius.into()).unwrap();
        CUTS.get()
    }

    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn a_search_tries_few_cuts() {
        for (radius, most) in [(31, 12 * 30), (90, 27 * 30), (256, 65 * 30)] {
            let of_four = tried(1e5, &[u64::MAX; 4], radius);
            assert!(of_four > 0 && of_four <= most, "{of_four} at {radius}");
        }
        assert!(tried(1e6, &[u64::MAX], 64) <= 65 * 30);
        assert!(
            tried(1e5, &[u64::MAX; 16], 90) <= tried(1e5, &[u64::MAX; 4], 90),
            "words have the same cuts"
        );
    }

    #[test]
    fn a_word_has_no_reach_beyond_its_bits() {
        let size = JoinSize { rows: 2e5, left: 1e5, pairs: 1e10, widest: MAX_SEGMENT_BITS, divided: 0 };
        for bits in [1, 5, 22, 23, 64] {
            let differences = even(&[lowest(u64::MAX, bits)]);
            let plan = |radius| PlanSearch::new(&size, &differences).plan(0..1, radius);
            assert!(plan(bits - 1).is_some() && plan(bits).is_none(), "{bits} bits");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn flips_are_differences_within_a_threshold() {
        let within = |length: u32, threshold| {
            (0..1u32 << length).filter(|difference| difference.count_ones() <= threshold).count() as u32
        };
        for (length, threshold) in [(0, 0), (1, 0), (1, 1), (7, 3), (11, 5), (16, 2), (22, 21)] {
            assert_eq!(FLIPS[length as usize][threshold as usize], within(length, threshold));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn the_cost_of_a_cut_is_that_of_its_segments() {
        let size = JoinSize { rows: 3e5, left: 1e5, pairs: 2e10, widest: MAX_SEGMENT_BITS, divided: 0 };
        for (bits, reach) in (1..=64u32).flat_map(|bits| (1..=bits).map(move |reach| (bits, reach))) {
            for count in bits.div_ceil(MAX_SEGMENT_BITS)..=MAX_SEGMENTS {
                let varying = lowest(u64::MAX, bits);
                let plan = JoinPlan::of_segments(0, count, varying, reach);
                let sum = plan.cost(&size, &even(&[varying]));
                let cost = cost_of_cut(&size, bits, count, reach);
                assert!(
                    (sum / cost - 1.0).abs() < 1e-9,
                    "{bits} bits, {count} segments, reach {reach}: {sum:?}, {cost:?}"
                );
            }
        }
    }

    #[test]
    fn small_joins_are_not_planned() {
        use crate::code::CodeSlice;
        use crate::near_pairs::PairSearch;
        CUTS.set(0);
        for (rows, width) in [(20, 4), (60, 4), (50, 16), (300, 1)] {
            let words: Vec<u64> = (0..(rows * width) as u64).map(crate::hash::scattered).collect();
            let codes = CodeSlice::new(&words, width);
            let mut found = 0;
            let mut count = |_, _| -> Result<(), base::OutOfMemory> {
                found += 1;
                Ok(())
            };
            PairSearch::between([codes; 2], 3, MAX_SEGMENT_BITS)
                .unwrap()
                .all(JoinSides::between([codes; 2]), &mut || (), &mut count)
                .unwrap();
            assert_eq!((found, CUTS.get()), (rows, 0));
        }
    }
}
