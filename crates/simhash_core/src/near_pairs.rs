//! All pairs of fingerprints within a radius, without comparing each with each.
//!
//! Source: multi-index hashing (Norouzi, Punjani and Fleet, 2012) with thresholds that differ from block to block (Qin and
//! others, "GPH: Similarity Search in Hamming Space", 2018), turned from a search into a join.
//!
//! The bits are cut into blocks, and block i is given `t_i` flips so that the sum of all `t_i + 1` is `radius + 1`. Were two
//! fingerprints to differ in more than `t_i` bits of every block, they would differ in more than `radius` bits altogether. So
//! each pair within the radius differs in at most `t_i` bits of some block: the rows are sorted into buckets by that block,
//! and a bucket is compared with itself and with those whose number is at most `t_i` flips away.
//!
//! Guarantee: every pair is reported exactly once, at the first block that could find it. Cost: as the plan estimates, which
//! tries all numbers of blocks; 10 million scattered fingerprints take some 10^9 comparisons at radius 3 and 10^10 at
//! radius 6, of 5 * 10^13 pairs. Memory: 12 bytes a row and some 30 MB.

use crate::OutOfMemory;
use crate::buckets::{BitRun, Buckets, STRIDE};
use multiversion::multiversion;
use std::ops::Range;

/// Wider blocks would have too many buckets: 2^22 of them take 16 MB.
const MAX_BLOCK_BITS: u32 = 22;

/// What a bucket costs when it is looked up, and what a row costs when it is sorted, in comparisons of fingerprints.
const BUCKET_COST: f64 = 8.0;
const SORT_COST: f64 = 60.0;

/// Fingerprints looked at together. Hits are rare, so that only groups with a hit are looked at one by one.
const GROUP: usize = 32;

/// Calls `found(a, b)` with the places of every two values that differ in at most `radius` bits; `a < b`. The pairs come in no
/// particular order.
///
/// `heartbeat` is called every few milliseconds with the share of the work that is done, the time that `found` takes apart; it may
/// unwind to stop it.
///
/// # Panics
/// If there are more than `u32::MAX` values.
pub fn near_pairs(
    values: &[u64],
    radius: u32,
    heartbeat: &mut dyn FnMut(f64),
    found: &mut impl FnMut(u32, u32),
) -> Result<(), OutOfMemory> {
    assert!(u32::try_from(values.len()).is_ok(), "places have 32 bits");
    Plan::cheapest(values.len(), radius).run(values, radius, heartbeat, found)
}

/// Compares rows of a bucket with those that follow them there, and with those of the buckets that differ by one of the flips, as far
/// as they are among the others.
#[multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512bw+avx512vpopcntdq+popcnt",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt"
))]
fn compare(table: &Buckets, part: &Part, radius: u32, hits: &mut Vec<(u32, u32)>) {
    for &flip in part.flips {
        let partner = part.bucket ^ flip;
        // The other half of the pairs of buckets is met from the other side.
        if partner < part.bucket {
            continue;
        }
        let others = table.rows(partner);
        let (begin, end) = (others.start.max(part.others.start), others.end.min(part.others.end));
        for row in part.rows.clone() {
            let begin = if flip == 0 { begin.max(row + 1) } else { begin };
            let value = table.values[row];
            let near = |other: &u64| (other ^ value).count_ones() <= radius;
            for (group, others) in table.values[begin.min(end)..end].chunks(GROUP).enumerate() {
                if others.iter().fold(false, |any, other| any | near(other)) {
                    let places = others.iter().enumerate().filter(|(_, other)| near(other));
                    hits.extend(
                        places.map(|(place, _)| (row as u32, (begin + group * GROUP + place) as u32)),
                    );
                }
            }
        }
    }
}

/// Comparisons that are made at once: of these rows of a bucket with rows, among the others, of buckets that are some flips away.
struct Part<'a> {
    bucket: u32,
    rows: Range<usize>,
    flips: &'a [u32],
    others: Range<usize>,
}

impl<'a> Part<'a> {
    /// Calls `work` with the comparisons of a bucket: with all of them if they are at most [`STRIDE`], else with squares of as many.
    fn each(table: &Buckets, bucket: u32, flips: &'a [u32], work: &mut impl FnMut(&Self)) {
        let rows = table.rows(bucket);
        if rows.len().saturating_mul(flips.len()).saturating_mul(table.largest) <= STRIDE {
            if !rows.is_empty() {
                work(&Part { bucket, rows, flips, others: 0..table.values.len() });
            }
            return;
        }
        for flip in flips.chunks(1) {
            for rows in sides(rows.clone()) {
                for others in sides(table.rows(bucket ^ flip[0])) {
                    work(&Part { bucket, rows: rows.clone(), flips: flip, others });
                }
            }
        }
    }
}

/// Cuts rows into sides of squares of [`STRIDE`] comparisons.
fn sides(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let side = STRIDE.isqrt();
    rows.clone().step_by(side).map(move |first| first..rows.end.min(first + side))
}

/// A run of bits by which rows are put into buckets, and how many of them may differ.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    bits: BitRun,
    threshold: u32,
}

impl Block {
    /// Whether the block finds a pair with this difference.
    fn finds(self, difference: u64) -> bool {
        self.bits.of(difference).count_ones() <= self.threshold
    }

    /// What the numbers of two buckets that are compared may differ by.
    fn flips(self) -> Vec<u32> {
        (0..self.bits.buckets()).filter(|flip| flip.count_ones() <= self.threshold).collect()
    }

    /// What it costs to find the pairs of `rows` scattered rows by this block.
    fn cost(self, rows: f64) -> f64 {
        let flips: f64 = (0..=self.threshold).map(|flips| choose(self.bits.length, flips)).sum();
        let buckets = f64::from(self.bits.buckets());
        rows * SORT_COST
            + buckets
            + buckets.min(rows) * flips * BUCKET_COST
            + rows * rows / 2.0 * flips / buckets
    }
}

/// Which blocks find all pairs.
#[derive(Debug)]
struct Plan {
    blocks: Vec<Block>,
}

impl Plan {
    fn cheapest(rows: usize, radius: u32) -> Self {
        let fewest = u64::BITS.div_ceil(MAX_BLOCK_BITS);
        let cost = |plan: &Self| plan.blocks.iter().map(|block| block.cost(rows as f64)).sum::<f64>();
        let plans = (fewest..=u64::BITS / 2).filter_map(|blocks| Self::of_blocks(blocks, radius));
        plans
            .chain([Self::one_bucket()])
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
            .unwrap_or_else(Self::one_bucket)
    }

    /// Everything is compared with everything.
    fn one_bucket() -> Self {
        Self { blocks: vec![Block { bits: BitRun { first: 0, length: 0 }, threshold: 0 }] }
    }

    /// Blocks as equal as can be, the wider ones first, which are also the first to get another flip. Nothing if the radius
    /// leaves no bit of a block that has to agree.
    fn of_blocks(count: u32, radius: u32) -> Option<Self> {
        let wanted = radius.checked_add(1)?;
        let used = count.min(wanted);
        let mut first = 0;
        let mut blocks = Vec::new();
        for number in 0..used {
            let length = u64::BITS / count + u32::from(number < u64::BITS % count);
            let threshold = wanted / used + u32::from(number < wanted % used) - 1;
            if threshold >= length {
                return None;
            }
            blocks.push(Block { bits: BitRun { first, length }, threshold });
            first += length;
        }
        Some(Self { blocks })
    }

    fn run(
        &self,
        values: &[u64],
        radius: u32,
        heartbeat: &mut dyn FnMut(f64),
        found: &mut impl FnMut(u32, u32),
    ) -> Result<(), OutOfMemory> {
        let mut table = Buckets::default();
        let mut hits = Vec::new();
        for (number, block) in self.blocks.iter().enumerate() {
            let earlier = &self.blocks[..number];
            let buckets = block.bits.buckets();
            let share =
                |bucket| (number as f64 + f64::from(bucket) / f64::from(buckets)) / self.blocks.len() as f64;
            table.fill(values, block.bits, &mut || heartbeat(share(0)))?;
            let flips = block.flips();
            for bucket in 0..buckets {
                Part::each(&table, bucket, &flips, &mut |part| {
                    heartbeat(share(bucket));
                    compare(&table, part, radius, &mut hits);
                    for (i, j) in hits.drain(..) {
                        let difference = table.values[i as usize] ^ table.values[j as usize];
                        if !earlier.iter().any(|block| block.finds(difference)) {
                            let (a, b) = (table.places[i as usize], table.places[j as usize]);
                            found(a.min(b), a.max(b));
                        }
                    }
                });
            }
        }
        Ok(())
    }
}

/// The binomial coefficient.
fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(values: &[u64], radius: u32) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        near_pairs(values, radius, &mut |_| (), &mut |a, b| pairs.push((a, b))).unwrap();
        pairs.sort_unstable();
        pairs
    }

    fn naive(values: &[u64], radius: u32) -> Vec<(u32, u32)> {
        let near = |a: usize, b: usize| (values[a] ^ values[b]).count_ones() <= radius;
        let pairs = |a| (a + 1..values.len()).filter(move |&b| near(a, b)).map(move |b| (a as u32, b as u32));
        (0..values.len()).flat_map(pairs).collect()
    }

    /// Scattered values, and families whose members differ in few bits.
    fn fingerprints() -> impl Strategy<Value = Vec<u64>> {
        let family = (any::<u64>(), prop::collection::vec(prop::collection::vec(0u32..64, 0..8), 1..20));
        let family = family.prop_map(|(center, members)| {
            members
                .into_iter()
                .map(move |flips| flips.into_iter().fold(center, |value, bit| value ^ (1 << bit)))
                .collect()
        });
        let scattered = prop::collection::vec(any::<u64>(), 0..20);
        prop::collection::vec(prop_oneof![family, scattered], 0..20)
            .prop_map(|parts: Vec<Vec<u64>>| parts.concat())
    }

    proptest! {
        #[test]
        fn finds_each_pair_once(values in fingerprints(), radius in 0u32..70) {
            prop_assert_eq!(found(&values, radius), naive(&values, radius));
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// So few values are not worth blocks, so plans are tried here whatever they cost.
        #[test]
        fn every_plan_finds_each_pair_once(values in fingerprints(), radius in 0u32..20, blocks in 3u32..=16) {
            let Some(plan) = Plan::of_blocks(blocks, radius) else { return Ok(()) };
            let pairs_of = |plan: &Plan| {
                let mut pairs = Vec::new();
                plan.run(&values, radius, &mut |_| (), &mut |a, b| pairs.push((a, b))).unwrap();
                pairs.sort_unstable();
                pairs
            };
            prop_assume!(plan.blocks.iter().map(|block| block.cost(100.0)).sum::<f64>() < 2e7);
            prop_assert_eq!(pairs_of(&plan), naive(&values, radius));
        }

        /// What makes it exact: a difference of at most `radius` bits is found by a block.
        #[test]
        fn some_block_finds_what_is_near(bits in prop::collection::btree_set(0u32..64, 0..64), blocks in 3u32..=32) {
            let difference = bits.iter().fold(0u64, |difference, bit| difference | 1 << bit);
            if let Some(plan) = Plan::of_blocks(blocks, bits.len() as u32) {
                prop_assert!(plan.blocks.iter().any(|block| block.finds(difference)));
            }
        }
    }

    #[test]
    fn plans_for_ten_million() {
        let thresholds = |radius| -> Vec<(u32, u32)> {
            Plan::cheapest(10_000_000, radius)
                .blocks
                .iter()
                .map(|block| (block.bits.length, block.threshold))
                .collect()
        };
        assert_eq!(thresholds(0), [(22, 0)]);
        assert_eq!(thresholds(3), [(22, 1), (21, 0), (21, 0)]);
        assert_eq!(thresholds(6), [(22, 2), (21, 1), (21, 1)]);
        assert_eq!(thresholds(64), [(0, 0)], "everything is near");
        assert_eq!(Plan::cheapest(100, 3).blocks, Plan::one_bucket().blocks, "blocks are not worth it");
    }

    /// The values of one bucket, all of them near each other, are too many for one stride.
    #[test]
    fn a_crowd_is_compared_in_portions() {
        let values: Vec<u64> = (0..3000).map(|i| i << 40).collect();
        let mut shares = Vec::new();
        let mut pairs = 0;
        near_pairs(&values, 12, &mut |share| shares.push(share), &mut |_, _| pairs += 1).unwrap();
        assert_eq!(pairs, 3000 * 2999 / 2);
        assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)));
        assert!(shares.len() > 4, "{}", shares.len());
    }
}
