//! Which blocks of bits find all pairs at the least cost.

use crate::buckets::{Bits, Placed};

/// The bits of the widest block, whose 2^22 buckets take 16 MB.
const MAX_BLOCK_BITS: u32 = 22;

/// The cost of looking up a bucket, and of sorting a row into its bucket, in comparisons of fingerprints.
const BUCKET_COST: f64 = 8.0;
const SORT_COST: f64 = 60.0;

/// The rows to be joined: those on the left with those on the right, or with one another if there is no
/// right side.
pub(super) struct Sides<'a> {
    pub(super) left: Placed<'a>,
    pub(super) right: Option<Placed<'a>>,
}

impl Sides<'_> {
    /// The bits in which the rows are not all alike.
    pub(super) fn varying(&self) -> u64 {
        let all = || self.left.values.iter().chain(self.right.iter().flat_map(|right| right.values));
        let first = all().next().copied().unwrap_or(0);
        all().fold(0, |varying, value| varying | value ^ first)
    }

    pub(super) fn size(&self) -> Size {
        let left = self.left.values.len() as f64;
        self.right.map_or(Size { rows: left, left, pairs: left * left / 2.0 }, |right| {
            let right = right.values.len() as f64;
            Size { rows: left + right, left, pairs: left * right }
        })
    }
}

/// The size of a join: rows on both sides, rows on the left, and pairs of rows.
pub(super) struct Size {
    pub(super) rows: f64,
    pub(super) left: f64,
    pub(super) pairs: f64,
}

/// Bits by which rows are put into buckets, and how many of them may differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) bits: Bits,
    pub(super) threshold: u32,
}

impl Block {
    /// Whether the block finds a pair with this difference.
    pub(super) fn finds(&self, difference: u64) -> bool {
        (difference & self.bits.mask).count_ones() <= self.threshold
    }

    /// The differences between the numbers of two buckets that are compared.
    pub(super) fn flips(&self) -> Vec<u32> {
        (0..self.bits.buckets()).filter(|flip| flip.count_ones() <= self.threshold).collect()
    }

    /// The cost of finding the pairs of scattered rows by this block, in comparisons.
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
    /// The plan of the least estimated cost for these rows.
    pub(super) fn cheapest(sides: &Sides, radius: u32) -> Self {
        Self::of_size(&sides.size(), sides.varying(), radius)
    }

    pub(super) fn of_size(size: &Size, varying: u64, radius: u32) -> Self {
        let fewest = varying.count_ones().div_ceil(MAX_BLOCK_BITS).max(1);
        let plans = (fewest..=u64::BITS / 2).filter_map(|blocks| Self::of_blocks(blocks, varying, radius));
        plans
            .chain([Self::one_bucket()])
            .min_by(|a, b| a.cost(size).total_cmp(&b.cost(size)))
            .unwrap_or_else(Self::one_bucket)
    }

    pub(super) fn cost(&self, size: &Size) -> f64 {
        self.blocks.iter().map(|block| block.cost(size)).sum()
    }

    /// One bucket for all rows: each is compared with every other.
    pub(super) fn one_bucket() -> Self {
        Self { blocks: vec![Block { bits: Bits::of_mask(0), threshold: 0 }] }
    }

    /// Cuts the varying bits into `count` blocks of nearly equal width. The first blocks are the wider
    /// ones, and the first to be given one flip more. With a radius below `count`, the first `radius + 1`
    /// blocks are enough.
    ///
    /// `None` if a block would be given a flip for each of its bits, and so tell no rows apart.
    pub(super) fn of_blocks(count: u32, varying: u64, radius: u32) -> Option<Self> {
        let wanted = radius.checked_add(1)?;
        let used = count.min(wanted);
        let mut rest = varying;
        let mut blocks = Vec::new();
        for number in 0..used {
            let bits = varying.count_ones();
            let length = bits / count + u32::from(number < bits % count);
            let threshold = wanted / used + u32::from(number < wanted % used) - 1;
            if threshold >= length {
                return None;
            }
            let mask = lowest(rest, length);
            rest &= !mask;
            blocks.push(Block { bits: Bits::of_mask(mask), threshold });
        }
        Some(Self { blocks })
    }
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
            if let Some(plan) = Plan::of_blocks(blocks, u64::MAX, bits.len() as u32) {
                prop_assert!(plan.blocks.iter().any(|block| block.finds(difference)));
            }
        }
    }

    #[test]
    fn plans_for_ten_million() {
        let ten_million = Size { rows: 1e7, left: 1e7, pairs: 5e13 };
        let thresholds = |radius| -> Vec<(u32, u32)> {
            Plan::of_size(&ten_million, u64::MAX, radius)
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
            Plan::of_size(&hundred, u64::MAX, 3).blocks,
            Plan::one_bucket().blocks,
            "blocks are not worth it"
        );
    }
}
