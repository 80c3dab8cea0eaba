//! Which blocks of bits find all pairs at the least cost.

use crate::buckets::{Bits, Placed};
use crate::codes::volume;

/// The bits of the widest block, whose 2^22 buckets take 16 MB.
const MAX_BLOCK_BITS: u32 = 22;

/// The cost of looking up a bucket, and of sorting a row into its bucket, in comparisons of fingerprints.
const BUCKET_COST: f64 = 8.0;
const SORT_COST: f64 = 60.0;
/// The cost of comparing two whole codes of several words, and that for each word.
const CODE_COST: f64 = 30.0;
const WORD_COST: f64 = 1.0;

/// The rows to be joined: those on the left with those on the right, or with one another if there is no
/// right side.
pub(super) struct Sides<'a> {
    pub(super) left: Placed<'a>,
    pub(super) right: Option<Placed<'a>>,
}

impl Sides<'_> {
    /// For each word, the bits in which the rows are not all alike.
    pub(super) fn varying(&self) -> Vec<u64> {
        let all = || self.left.codes.iter().chain(self.right.iter().flat_map(|right| right.codes.iter()));
        let first = all().next().unwrap_or_default();
        let mut varying = vec![0; self.left.codes.width()];
        for code in all() {
            varying
                .iter_mut()
                .zip(code)
                .zip(first)
                .for_each(|((varying, word), first)| *varying |= word ^ first);
        }
        varying
    }

    /// The cheapest plan for a radius.
    pub(super) fn plan(&self, radius: u32) -> Plan {
        Plan::of_size(&self.size(), &self.varying(), radius)
    }

    pub(super) fn size(&self) -> Size {
        Size::of(self.left.codes.len(), self.right.map(|right| right.codes.len()))
    }
}

/// The size of a join: rows on both sides, rows on the left, and pairs of rows.
pub(super) struct Size {
    pub(super) rows: f64,
    pub(super) left: f64,
    pub(super) pairs: f64,
}

impl Size {
    pub(super) fn of(left: usize, right: Option<usize>) -> Self {
        let left = left as f64;
        right.map_or(Self { rows: left, left, pairs: left * left / 2.0 }, |right| {
            let right = right as f64;
            Self { rows: left + right, left, pairs: left * right }
        })
    }
}

/// Bits of a word by which rows are put into buckets, and how many of them may differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) word: usize,
    pub(super) bits: Bits,
    pub(super) threshold: u32,
    /// How many bits of the whole word may differ.
    pub(super) limit: u32,
}

impl Block {
    /// Whether the block finds these two codes if they are near.
    #[inline(always)]
    pub(super) fn finds(&self, [a, b]: [&[u64]; 2]) -> bool {
        self.finds_difference(a[self.word] ^ b[self.word])
    }

    /// Whether the block finds all near pairs whose words differ in some of these bits.
    #[inline(always)]
    pub(super) fn finds_difference(&self, difference: u64) -> bool {
        self.has_near(difference) && difference.count_ones() <= self.limit
    }

    /// Whether the block finds two words with this difference if they are within its limit.
    #[inline(always)]
    pub(super) fn has_near(&self, difference: u64) -> bool {
        (difference & self.bits.mask).count_ones() <= self.threshold
    }

    /// The differences between the numbers of two buckets that are compared.
    pub(super) fn flips(&self) -> Vec<u32> {
        (0..self.bits.buckets()).filter(|flip| flip.count_ones() <= self.threshold).collect()
    }

    /// The cost of comparing all rows by the word of this block, and then the codes of those within its limit.
    pub(super) fn cost_of_all(&self, size: &Size, varying: &[u64]) -> f64 {
        size.pairs + cost_of_checks(size, varying.len(), varying[self.word].count_ones(), self.limit)
    }

    /// The cost of finding the pairs of scattered rows by this block, in comparisons of words.
    pub(super) fn cost(&self, size: &Size) -> f64 {
        let length = self.bits.mask.count_ones();
        let flips: f64 = (0..=self.threshold).map(|flips| choose(length, flips)).sum();
        let buckets = f64::from(self.bits.buckets());
        size.rows * SORT_COST
            + buckets
            + buckets.min(size.left) * flips * BUCKET_COST
            + size.pairs * flips / buckets
    }
}

/// Blocks that find all pairs together.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) blocks: Vec<Block>,
}

impl Plan {
    /// The plan of the least estimated cost for rows of this size, which differ in these bits of each word.
    pub(super) fn of_size(size: &Size, varying: &[u64], radius: u32) -> Self {
        let compare_all = Self::one_bucket(radius);
        let plan = match varying {
            [varying] => radius.checked_add(1).and_then(|reach| Self::of_word(0, *varying, reach, size)),
            _ => Self::of_words(size, varying, radius),
        };
        let cost = |plan: &Self| plan.cost(size, varying);
        plan.filter(|plan| cost(plan) < cost(&compare_all)).unwrap_or(compare_all)
    }

    /// Gives one bit of the radius after the other to the word where it costs least. With the bits that it has
    /// been given, its **reach**, a word finds the pairs that differ in fewer bits of it. The reaches add up to
    /// `radius + 1`, so each near pair is found by some word.
    ///
    /// `None` if the words do not have bits enough to tell rows apart.
    fn of_words(size: &Size, varying: &[u64], radius: u32) -> Option<Self> {
        let mut costs = Costs { size, words: varying.len(), known: vec![Vec::new(); u64::BITS as usize + 1] };
        let mut reaches = vec![0; varying.len()];
        let mut more = |word: usize, reach: u32| {
            let bits = varying[word].count_ones();
            costs.of(bits, reach + 1) - costs.of(bits, reach)
        };
        let mut steps: Vec<f64> = (0..reaches.len()).map(|word| more(word, 0)).collect();
        for _ in 0..=radius {
            let (word, _) = steps.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
            if !steps[word].is_finite() {
                return None;
            }
            reaches[word] += 1;
            steps[word] = more(word, reaches[word]);
        }
        let words = reaches.iter().zip(varying).enumerate().filter(|(_, (reach, _))| **reach > 0);
        let mut blocks = Vec::new();
        for (word, (&reach, &varying)) in words {
            blocks.extend(Self::of_word(word, varying, reach, size)?.blocks);
        }
        Some(Self { blocks })
    }

    /// The cheapest blocks of a word that find all pairs which differ in fewer than `reach` of its bits.
    fn of_word(word: usize, varying: u64, reach: u32, size: &Size) -> Option<Self> {
        let fewest = varying.count_ones().div_ceil(MAX_BLOCK_BITS).max(1);
        let plans = (fewest..=u64::BITS / 2).filter_map(|count| Self::of_blocks(word, count, varying, reach));
        plans.min_by(|a, b| a.cost_of_blocks(size).total_cmp(&b.cost_of_blocks(size)))
    }

    pub(super) fn cost(&self, size: &Size, varying: &[u64]) -> f64 {
        let mut checks = 0.0;
        for (number, block) in self.blocks.iter().enumerate() {
            let is_first = number == 0 || self.blocks[number - 1].word != block.word;
            if is_first {
                checks += cost_of_checks(size, varying.len(), varying[block.word].count_ones(), block.limit);
            }
        }
        self.cost_of_blocks(size) + checks
    }

    fn cost_of_blocks(&self, size: &Size) -> f64 {
        self.blocks.iter().map(|block| block.cost(size)).sum()
    }

    /// One bucket for all rows: each is compared with every other.
    pub(super) fn one_bucket(radius: u32) -> Self {
        Self { blocks: vec![Block { word: 0, bits: Bits::of_mask(0), threshold: 0, limit: radius }] }
    }

    /// Cuts the varying bits of a word into `count` blocks of nearly equal width. The first blocks are the
    /// wider ones, and the first to be given one flip more. With a reach of at most `count`, the first `reach`
    /// blocks are enough.
    ///
    /// `None` if a block would be given a flip for each of its bits, and so tell no rows apart.
    pub(super) fn of_blocks(word: usize, count: u32, varying: u64, reach: u32) -> Option<Self> {
        let used = count.min(reach);
        let mut rest = varying;
        let mut blocks = Vec::new();
        for number in 0..used {
            let bits = varying.count_ones();
            let length = bits / count + u32::from(number < bits % count);
            let threshold = reach / used + u32::from(number < reach % used) - 1;
            if threshold >= length {
                return None;
            }
            let mask = lowest(rest, length);
            rest &= !mask;
            blocks.push(Block { word, bits: Bits::of_mask(mask), threshold, limit: reach - 1 });
        }
        Some(Self { blocks })
    }
}

/// The costs of finding pairs by a word, by the number of its varying bits and its reach.
struct Costs<'a> {
    size: &'a Size,
    words: usize,
    known: Vec<Vec<f64>>,
}

impl Costs<'_> {
    fn of(&mut self, bits: u32, reach: u32) -> f64 {
        let Self { size, words, known } = self;
        let known = &mut known[bits as usize];
        for reach in known.len() as u32..=reach {
            let cost = |plan: Plan| plan.cost_of_blocks(size) + cost_of_checks(size, *words, bits, reach - 1);
            let plan = (reach > 0).then(|| Plan::of_word(0, lowest(u64::MAX, bits), reach, size));
            known.push(plan.map_or(0.0, |plan| plan.map_or(f64::INFINITY, cost)));
        }
        known[reach as usize]
    }
}

/// The cost of comparing the whole codes of those scattered rows whose words, which have this number of varying
/// bits, are within the limit.
fn cost_of_checks(size: &Size, words: usize, bits: u32, limit: u32) -> f64 {
    size.pairs * volume(bits, limit) * cost_of_check(words)
}

/// The cost of comparing two whole codes. If they have one word, it has been compared before.
pub(super) fn cost_of_check(words: usize) -> f64 {
    if words == 1 { 0.0 } else { CODE_COST + WORD_COST * words as f64 }
}

/// The `count` lowest bits that are set in the mask.
fn lowest(mask: u64, count: u32) -> u64 {
    let above = (0..count).fold(mask, |rest, _| rest & rest.wrapping_sub(1));
    mask & !above
}

/// The number of ways to choose k of n.
fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Why plans are exact: each difference of at most `radius` bits is found by some block.
        #[test]
        fn some_block_finds_what_is_near(
            bits in prop::collection::btree_set(0u32..64, 0..64),
            blocks in 3u32..=32,
        ) {
            let difference = bits.iter().fold(0u64, |difference, bit| difference | 1 << bit);
            if let Some(plan) = Plan::of_blocks(0, blocks, u64::MAX, bits.len() as u32 + 1) {
                prop_assert!(plan.blocks.iter().any(|block| block.finds_difference(difference)));
            }
        }

        /// The same for codes of several words, of which some bits are alike in all rows.
        #[test]
        fn some_word_finds_what_is_near(
            words in prop::collection::vec((any::<u64>(), any::<u64>()), 1..8),
            rows in 2.0f64..1e8,
        ) {
            let varying: Vec<u64> = words.iter().map(|word| word.0).collect();
            let difference: Vec<u64> = words.iter().map(|(varying, mask)| varying & mask & mask >> 3 & mask >> 7).collect();
            let radius = difference.iter().map(|word| word.count_ones()).sum();
            let size = Size { rows, left: rows, pairs: rows * rows / 2.0 };
            if let Some(plan) = Plan::of_words(&size, &varying, radius) {
                prop_assert!(plan.blocks.iter().any(|block| block.finds_difference(difference[block.word])));
            }
        }
    }

    #[test]
    fn plans_for_ten_million() {
        let ten_million = Size { rows: 1e7, left: 1e7, pairs: 5e13 };
        let thresholds = |radius| -> Vec<(u32, u32)> {
            Plan::of_size(&ten_million, &[u64::MAX], radius)
                .blocks
                .iter()
                .map(|block| (block.bits.mask.count_ones(), block.threshold))
                .collect()
        };
        assert_eq!(thresholds(0), [(22, 0)]);
        assert_eq!(thresholds(3), [(22, 1), (21, 0), (21, 0)]);
        assert_eq!(thresholds(6), [(22, 2), (21, 1), (21, 1)]);
        assert_eq!(thresholds(64), [(0, 0)], "everything is near");
        let hundred = Size { rows: 1e2, left: 1e2, pairs: 5e3 };
        assert_eq!(
            Plan::of_size(&hundred, &[u64::MAX], 3).blocks,
            Plan::one_bucket(3).blocks,
            "blocks are not worth it"
        );
    }

    #[test]
    fn plans_for_a_million_codes() {
        let million = Size { rows: 1e6, left: 1e6, pairs: 5e11 };
        let reaches = |varying: &[u64], radius| -> Vec<(usize, u32)> {
            let mut reaches: Vec<(usize, u32)> = Plan::of_size(&million, varying, radius)
                .blocks
                .iter()
                .map(|block| (block.word, block.limit + 1))
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
