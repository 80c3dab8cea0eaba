//! All pairs of fingerprints within a radius, without comparing each with each.
//!
//! Source: multi-index hashing (Norouzi, Punjani and Fleet, 2012) with thresholds that differ from block to
//! block (Qin and others, "GPH: Similarity Search in Hamming Space", 2018), turned from a search into a join.
//!
//! The bits are cut into blocks, and block i is given `t_i` flips so that the sum of all `t_i + 1` is
//! `radius + 1`. Were two fingerprints to differ in more than `t_i` bits of every block, they would differ
//! in more than `radius` bits altogether. So each pair within the radius differs in at most `t_i` bits of
//! some block: the rows are sorted into buckets by that block, and a bucket is compared with itself and
//! with the buckets whose number is at most `t_i` flips away.
//!
//! Bits that are the same in all rows tell nothing, and are in no block. Rows that differ almost only
//! outside a block crowd together in a few of its buckets. Two crowded buckets are joined in the same way,
//! by blocks of the bits in which their rows differ.
//!
//! Guarantee: every pair is reported exactly once, at the first block that could find it.
//!
//! Cost: as the plan estimates, which tries all numbers of blocks; 10 million scattered fingerprints take
//! some 10^9 comparisons at radius 3 and 10^10 at radius 6, of 5 * 10^13 pairs. The cost is higher where
//! the result is very large, and for rows that lie closely without being near, which no block tells apart.
//! Memory: 12 bytes a row and some 30 MB, and the same again for the rows of crowded buckets, at most
//! `MAX_DEPTH` times.

mod compare;
mod plan;

use crate::buckets::{Buckets, Placed};
use compare::{Part, Tables, compare};
use limits::{Heartbeat, OutOfMemory};
use plan::{Block, Plan, Sides};
use std::ops::Range;

/// Comparisons between two heartbeats.
const STRIDE: usize = 1 << 20;

/// Two buckets are crowded if they take more comparisons than this.
const CROWD: f64 = (1 << 20) as f64;

/// How deep crowded buckets may lie within crowded buckets.
const MAX_DEPTH: u32 = 4;

/// Takes near pairs, and may say of which rows it wants no pairs.
pub trait Finder {
    /// Why the finder ends the search.
    type Stop: From<OutOfMemory>;

    /// Takes the places of two near values; an error ends the search.
    fn found(&mut self, a: u32, b: u32) -> Result<(), Self::Stop>;

    /// Whether a pair of a row of `these` with a row of `those` would be of use. Only asked before a large
    /// number of comparisons.
    fn wants(&mut self, _these: &[u32], _those: &[u32]) -> bool {
        true
    }
}

impl<Stop: From<OutOfMemory>, F: FnMut(u32, u32) -> Result<(), Stop>> Finder for F {
    type Stop = Stop;

    fn found(&mut self, a: u32, b: u32) -> Result<(), Stop> {
        self(a, b)
    }
}

/// Finds the places `a < b` of every two values that differ in at most `radius` bits. The pairs come in no
/// particular order.
///
/// The heartbeat is told the share of the work that is done. It is not called while the finder works.
///
/// # Panics
/// If there are more than `u32::MAX` values.
pub fn near_pairs<F: Finder>(
    values: &[u64],
    radius: u32,
    heartbeat: &mut dyn Heartbeat,
    finder: &mut F,
) -> Result<(), F::Stop> {
    assert!(u32::try_from(values.len()).is_ok(), "places have 32 bits");
    let sides = Sides { left: Placed { values, places: None }, right: None };
    Join::new(radius, heartbeat, finder).run(&Plan::cheapest(&sides, radius), &sides)
}

/// Like [`near_pairs`], for the pairs of a value, whose place is `a`, with one of the others, whose place
/// among them is `b`.
///
/// # Panics
/// If there are more than `u32::MAX` values on a side.
pub fn near_pairs_between<F: Finder>(
    values: &[u64],
    others: &[u64],
    radius: u32,
    heartbeat: &mut dyn Heartbeat,
    finder: &mut F,
) -> Result<(), F::Stop> {
    assert!(u32::try_from(values.len().max(others.len())).is_ok(), "places have 32 bits");
    let [left, right] = [values, others].map(|values| Placed { values, places: None });
    let sides = Sides { left, right: Some(right) };
    let mut join = Join::new(radius, heartbeat, finder);
    join.sorted = false;
    join.run(&Plan::cheapest(&sides, radius), &sides)
}

/// Cuts rows into pieces, of which two take at most [`STRIDE`] comparisons.
fn sides(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let side = STRIDE.isqrt();
    rows.clone().step_by(side).map(move |first| first..rows.end.min(first + side))
}

/// A search for pairs.
struct Join<'a, F> {
    radius: u32,
    heartbeat: &'a mut dyn Heartbeat,
    finder: &'a mut F,
    /// The smaller place of a pair comes first.
    sorted: bool,
    /// Blocks whose pairs have been reported.
    earlier: Vec<Block>,
    /// Crowds that the current rows lie within.
    depth: u32,
    /// The share of the work that is done, from 0 to 1.
    share: f64,
    hits: Vec<(u32, u32)>,
}

impl<'a, F: Finder> Join<'a, F> {
    fn new(radius: u32, heartbeat: &'a mut dyn Heartbeat, finder: &'a mut F) -> Self {
        Self {
            radius,
            heartbeat,
            finder,
            sorted: true,
            earlier: Vec::new(),
            depth: 0,
            share: 0.0,
            hits: Vec::new(),
        }
    }

    /// Finds the pairs of the sides, block by block.
    fn run(&mut self, plan: &Plan, sides: &Sides) -> Result<(), F::Stop> {
        let reported = self.earlier.len();
        let (mut left, mut right) = (Buckets::default(), Buckets::default());
        for (number, block) in plan.blocks.iter().enumerate() {
            left.fill(sides.left, &block.bits, self.heartbeat)?;
            if let Some(rows) = sides.right {
                right.fill(rows, &block.bits, self.heartbeat)?;
            }
            let is_one = sides.right.is_none();
            let tables = Tables { left: &left, right: if is_one { &left } else { &right }, is_one };
            let (flips, buckets) = (block.flips(), block.bits.buckets());
            for bucket in (0..buckets).filter(|&bucket| !left.range(bucket).is_empty()) {
                if self.depth == 0 {
                    let of_block = f64::from(bucket) / f64::from(buckets);
                    self.share = (number as f64 + of_block) / plan.blocks.len() as f64;
                }
                self.bucket(&tables, bucket, &flips)?;
            }
            self.earlier.push(block.clone());
        }
        self.earlier.truncate(reported);
        Ok(())
    }

    /// Makes all comparisons of a bucket at once if they are at most [`STRIDE`], otherwise one flip after
    /// the other.
    fn bucket(&mut self, tables: &Tables, bucket: u32, flips: &[u32]) -> Result<(), F::Stop> {
        self.heartbeat.progress(1, self.share);
        let rows = tables.left.range(bucket);
        if rows.len().saturating_mul(flips.len()).saturating_mul(tables.right.largest) <= STRIDE {
            return self.part(tables, &Part { bucket, rows, flips, others: 0..tables.right.values.len() });
        }
        for flip in flips.chunks(1).filter(|flip| !tables.is_mirrored(bucket, flip[0])) {
            if !self.crowd(tables, bucket, flip[0])? {
                self.squares(tables, bucket, flip)?;
            }
        }
        Ok(())
    }

    /// Joins two buckets by blocks of their own, if they are crowded and if that costs less. Returns
    /// whether nothing is left to compare.
    fn crowd(&mut self, tables: &Tables, bucket: u32, flip: u32) -> Result<bool, F::Stop> {
        let left = tables.left.rows(tables.left.range(bucket));
        let right = tables.right.rows(tables.right.range(bucket ^ flip));
        let sides = Sides { left, right: (!tables.is_diagonal(flip)).then_some(right) };
        let comparisons = sides.size().pairs;
        if comparisons < CROWD || self.depth == MAX_DEPTH {
            return Ok(false);
        }
        if !self.finder.wants(left.places.unwrap_or_default(), right.places.unwrap_or_default()) {
            return Ok(true);
        }
        let plan = Plan::cheapest(&sides, self.radius);
        if plan.cost(&sides.size()) > comparisons / 2.0 {
            return Ok(false);
        }
        self.depth += 1;
        self.run(&plan, &sides)?;
        self.depth -= 1;
        Ok(true)
    }

    /// Compares two buckets piece by piece, and leaves out pieces of which the finder wants no pairs.
    fn squares(&mut self, tables: &Tables, bucket: u32, flip: &[u32]) -> Result<(), F::Stop> {
        for rows in sides(tables.left.range(bucket)) {
            for others in sides(tables.right.range(bucket ^ flip[0])) {
                self.heartbeat.progress(1, self.share);
                let is_below = tables.is_diagonal(flip[0]) && others.end <= rows.start;
                let places = (&tables.left.places[rows.clone()], &tables.right.places[others.clone()]);
                if !is_below && self.finder.wants(places.0, places.1) {
                    self.part(tables, &Part { bucket, rows: rows.clone(), flips: flip, others })?;
                }
            }
        }
        Ok(())
    }

    /// Makes the comparisons of a part, and reports the pairs that no earlier block has found.
    fn part(&mut self, tables: &Tables, part: &Part) -> Result<(), F::Stop> {
        compare(tables, part, self.radius, &mut self.hits);
        for (i, j) in self.hits.drain(..) {
            let (i, j) = (i as usize, j as usize);
            let difference = tables.left.values[i] ^ tables.right.values[j];
            if !self.earlier.iter().any(|block| block.finds(difference)) {
                let (a, b) = (tables.left.places[i], tables.right.places[j]);
                let (a, b) = if self.sorted { (a.min(b), a.max(b)) } else { (a, b) };
                self.finder.found(a, b)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::near_pairs::plan::Size;
    use proptest::prelude::*;
    use std::cell::Cell;

    thread_local! {
        /// How many comparisons this thread has made: tests look at work, not at clocks.
        pub(crate) static COMPARISONS: Cell<usize> = const { Cell::new(0) };
    }

    fn found(values: &[u64], radius: u32) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        near_pairs(values, radius, &mut || (), &mut |a, b| push(&mut pairs, a, b)).unwrap();
        pairs.sort_unstable();
        pairs
    }

    fn push(pairs: &mut Vec<(u32, u32)>, a: u32, b: u32) -> Result<(), OutOfMemory> {
        pairs.push((a, b));
        Ok(())
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

        /// A few values are not worth any blocks, so plans are tried here whatever they cost.
        #[test]
        fn every_plan_finds_each_pair_once(
            values in fingerprints(),
            radius in 0u32..20,
            blocks in 3u32..=16,
        ) {
            let Some(plan) = Plan::of_blocks(blocks, u64::MAX, radius) else { return Ok(()) };
            let pairs_of = |plan: &Plan| {
                let mut pairs = Vec::new();
                let sides = Sides { left: Placed { values: &values, places: None }, right: None };
                Join::new(radius, &mut || (), &mut |a, b| push(&mut pairs, a, b)).run(plan, &sides).unwrap();
                pairs.sort_unstable();
                pairs
            };
            prop_assume!(plan.cost(&Size { rows: 100.0, left: 100.0, pairs: 5000.0 }) < 2e7);
            prop_assert_eq!(pairs_of(&plan), naive(&values, radius));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Dense values at any bits among scattered ones, enough of them to be joined by blocks of their own.
        #[test]
        fn crowds_are_joined_once(
            shift in 0u32..50,
            seed in any::<u64>(),
            radius in 0u32..7,
            dense in 1500u64..4000,
        ) {
            let scatter = |i: u64| (seed | 1).wrapping_mul(i << 32 | i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let scattered = (0..2000u64).map(scatter);
            let values: Vec<u64> = (0..dense).map(|i| i << shift ^ seed).chain(scattered).collect();
            prop_assert_eq!(found(&values, radius), naive(&values, radius));
            let (left, right) = values.split_at(1000);
            let mut pairs = Vec::new();
            let mut add = |a, b| push(&mut pairs, a, b + 1000);
            near_pairs_between(left, right, radius, &mut || (), &mut add).unwrap();
            pairs.sort_unstable();
            let mut expected = naive(&values, radius);
            expected.retain(|&(a, b)| a < 1000 && b >= 1000);
            prop_assert_eq!(pairs, expected);
        }
    }

    /// A pair that is found costs some comparisons, not all with all, and the heartbeat is called between
    /// them.
    #[test]
    fn dense_values_do_not_take_all_comparisons() {
        let dense = || (1..=1u64 << 14).map(|i| i << 20);
        let scattered = (1..=1u64 << 14).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for values in [dense().collect(), dense().chain(scattered).collect::<Vec<u64>>()] {
            COMPARISONS.set(0);
            let (mut pairs, mut last, mut longest) = (0, 0, 0);
            let mut heartbeat = || {
                longest = longest.max(COMPARISONS.get() - last);
                last = COMPARISONS.get();
            };
            let mut add = |_, _| {
                pairs += 1;
                Ok::<(), OutOfMemory>(())
            };
            near_pairs(&values, 3, &mut heartbeat, &mut add).unwrap();
            assert!(longest <= STRIDE, "{longest} comparisons between two heartbeats");
            let comparisons = COMPARISONS.get();
            assert!(comparisons < 40 * pairs, "{comparisons} comparisons for {pairs} pairs");
        }
    }

    /// The shares that a search reports.
    struct Shares(Vec<f64>);

    impl Heartbeat for Shares {
        fn beat(&mut self) {}

        fn progress(&mut self, _pass: u32, share: f64) {
            self.0.push(share);
        }
    }

    /// One bucket has more values than one stride compares, all of them near each other.
    #[test]
    fn a_crowd_is_compared_in_portions() {
        let values: Vec<u64> = (0..3000).map(|i| i << 40).collect();
        let mut shares = Shares(Vec::new());
        let mut pairs = 0;
        near_pairs(&values, 12, &mut shares, &mut |_, _| {
            pairs += 1;
            Ok::<(), OutOfMemory>(())
        })
        .unwrap();
        let Shares(shares) = shares;
        assert_eq!(pairs, 3000 * 2999 / 2);
        assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)));
        assert!(shares.len() > 4, "{}", shares.len());
    }
}
