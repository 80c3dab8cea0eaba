//! The search for the cheapest plan: how many segments each word is cut into, and how the radius is divided
//! among the words.
//!
//! Cost: a cut of a word has at most three kinds of segments, whose costs are read from a table. A word of 64
//! bits has 30 cuts for each part of the radius that it may get. Words with the same number of bits have the
//! same cuts. So a search takes some microseconds, and some more to read the sample of pairs.

use super::plan::{JoinPlan, JoinSides, RowDifferences, groups_of, lowest};
use super::radii::{CodeRadii, CodeRadius};
use super::segment_cost::{
    JoinSize, MAX_SEGMENT_BITS, cost_of_check, cost_of_segment, length_of, threshold_of,
};
use crate::code::{CodeCutter, volume};
use base::{OutOfMemory, push};
use std::ops::Range;

/// A join that costs at most this, in comparisons of words, is not planned: all rows are compared with all.
/// These are some dozens of rows with wide codes, or some hundreds of fingerprints.
const SMALL_JOIN: f64 = (1 << 17) as f64;
/// The farthest that the parities of the segments may reach. With more flips, they would find too many pairs.
const MOST_OF_PARITIES: u32 = 6;
/// Parities are used if the plan then costs at most this fraction. With them, the limits of words are
/// larger, and more whole codes are read.
const PARITIES_PAY: f64 = 0.8;
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
        let plans = PlanSearch::new(size, differences).plans(code.words.clone(), code.radius);
        let cheapest = plans.into_iter().flatten().map(with_cost).min_by(|a, b| a.1.total_cmp(&b.1));
        cheapest.filter(|plan| plan.1 < all.1).unwrap_or(all)
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

/// How far the words of a code reach.
#[derive(Clone)]
struct WordReaches {
    /// The first word.
    first: usize,
    reaches: Vec<u32>,
    /// For each word, the cost of its segments with this reach.
    costs: Vec<f64>,
    /// The same, if it reaches one bit farther.
    next: Vec<f64>,
}

impl WordReaches {
    /// Words that have got no bits yet.
    fn new(search: &mut PlanSearch<'_>, words: Range<usize>) -> Self {
        Self {
            first: words.start,
            // Bounded: some numbers for each word of a code.
            reaches: vec![0; words.len()],
            costs: vec![0.0; words.len()], // Bounded: a number for each word of a code.
            next: words.map(|word| search.cost(word, 1)).collect(),
        }
    }

    /// The words that have got bits, with their reaches.
    fn used(&self) -> impl Iterator<Item = (usize, u32)> {
        (self.first..).zip(self.reaches.iter().copied()).filter(|&(_, reach)| reach > 0)
    }

    fn cost(&self) -> f64 {
        self.costs.iter().sum()
    }

    /// Gives a bit to the word where it costs least. Returns whether a word has had such a bit.
    fn add_bit(&mut self, search: &mut PlanSearch<'_>) -> bool {
        let more = |&number: &usize| self.next[number] - self.costs[number];
        let cheapest = (0..self.next.len()).min_by(|a, b| more(a).total_cmp(&more(b)));
        let Some(number) = cheapest.filter(|&number| self.next[number].is_finite()) else { return false };
        self.reaches[number] += 1;
        self.costs[number] = self.next[number];
        self.next[number] = search.cost(self.first + number, self.reaches[number] + 1);
        true
    }
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

    /// The cheapest segments of some words that find all pairs within a radius: without the parities of the
    /// segments, and with them, if that may cost less.
    ///
    /// Distributes the radius bit by bit: the next bit goes to the word where it costs least. The number of
    /// bits that a word has got is its **reach**: the word finds the pairs that differ in fewer of its bits.
    /// The reaches add up to `radius + 1`, so each near pair is found by some word. A word that is nearly
    /// equal in many rows gets few bits or none, because it would find many pairs that are not near. The
    /// parities may reach the last bits instead.
    ///
    /// Without parities there is no plan if the words have too few bits to separate rows.
    pub(super) fn plans(&mut self, words: Range<usize>, radius: u32) -> [Option<JoinPlan>; 2] {
        if words.len() == 1 {
            return [radius.checked_add(1).and_then(|reach| self.segments(words.start, reach)), None];
        }
        let mut reaches = WordReaches::new(self, words.clone());
        let mut with_parities: Option<(f64, u32, WordReaches)> = None;
        for reach in 0..=radius {
            let more = (radius - reach).saturating_add(1);
            if more <= MOST_OF_PARITIES {
                let cost = reaches.cost() + self.cost_of_parities(&reaches, more);
                if with_parities.as_ref().is_none_or(|&(least, ..)| cost < least) {
                    with_parities = Some((cost, more, reaches.clone()));
                }
            }
            if !reaches.add_bit(self) {
                break;
            }
        }
        let reaches_all = reaches.reaches.iter().sum::<u32>() > radius;
        let plan = if reaches_all { self.plan_of(&reaches) } else { None };
        let with_parities =
            with_parities.filter(|&(cost, ..)| !reaches_all || cost < PARITIES_PAY * reaches.cost());
        let with_parities = with_parities.and_then(|(_, more, reaches)| {
            let word = words.max_by_key(|&word| self.differences.varying[word].count_ones())?;
            self.plan_of(&reaches)?.with_parities(word, more)
        });
        let plans = [plan, with_parities];
        debug_assert!(
            plans.iter().flatten().all(|plan| plan.reach() == radius + 1),
            "each near pair is found by some segment"
        );
        plans
    }

    /// The cheapest segments of words with these reaches.
    fn plan_of(&mut self, words: &WordReaches) -> Option<JoinPlan> {
        let mut plan = JoinPlan::default();
        for (word, reach) in words.used() {
            plan.segments.extend(self.segments(word, reach)?.segments);
        }
        Some(plan)
    }

    /// The cost of finding pairs by the parities of the segments of words with these reaches, if the parities
    /// reach `more` bits. It is infinite if there are too few segments, or too many.
    fn cost_of_parities(&mut self, words: &WordReaches, more: u32) -> f64 {
        let mut segments = 0;
        for (word, reach) in words.used() {
            let varying = self.differences.varying[word].count_ones();
            segments += self.cut(varying, reach).map_or(0, |cut| cut.count.min(reach));
        }
        if segments < more || segments > self.size.widest {
            return f64::INFINITY;
        }
        cost_of_segment(self.size, segments, more - 1, |scattered| scattered)
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
        let mut cost = check * self.fraction(word, u64::MAX, reach - 1, cut.within);
        for (number, mask) in (0..used).zip(groups_of(varying, cut.count)) {
            let threshold = threshold_of(number, reach, used);
            let fraction = |scattered| self.fraction(word, mask, threshold, scattered);
            cost += cost_of_segment(size, mask.count_ones(), threshold, fraction);
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
    use crate::code::CodeSlice;
    use crate::hash::scattered;
    use crate::near_pairs::plan::tests::even;
    use crate::near_pairs::segment_cost::FLIPS;

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

    /// If they had, a few of them would make a plan for a large table expensive.
    #[test]
    #[cfg_attr(miri, ignore = "arithmetic on many numbers")]
    fn samples_of_a_table_and_itself_have_no_pairs_of_a_row_and_itself() {
        let words: Vec<u64> = (0..100).map(scattered).collect();
        let codes = CodeSlice::new(&words, 2);
        for sides in [JoinSides::among(codes), JoinSides::between([codes; 2])] {
            let differences = sides.differences().unwrap();
            assert!(differences.sampled[0].len() > 40, "most of the pairs remain");
            assert!(differences.sampled[0].iter().all(|&difference| difference != 0));
        }
    }

    #[test]
    fn a_word_has_no_reach_beyond_its_bits() {
        let size = JoinSize { rows: 2e5, left: 1e5, pairs: 1e10, widest: MAX_SEGMENT_BITS, divided: 0 };
        for bits in [1, 5, 22, 23, 64] {
            let differences = even(&[lowest(u64::MAX, bits)]);
            let plans = |radius| PlanSearch::new(&size, &differences).plans(0..1, radius);
            assert!(plans(bits - 1)[0].is_some() && plans(bits) == [None, None], "{bits} bits");
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
