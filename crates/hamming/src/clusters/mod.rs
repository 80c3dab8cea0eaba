//! Clusters of codes: which rows are versions of one another, and which of them to keep.
//!
//! Rows have an order, and the first row of a cluster is its keeper. There are two linkages:
//!
//! - **Leader**: a row within the radius of an earlier keeper belongs to the earliest such keeper; every
//!   other row is a keeper. So every row is within the radius of its keeper, two rows of a cluster differ in
//!   at most twice the radius, and no two keepers are near each other. The keepers are the lexicographically
//!   first maximal independent set of the graph of near pairs.
//! - **Connected**: two rows within the radius belong to the same cluster, and so do rows that are connected
//!   by a chain of such pairs. The length of a chain has no bound: with a generous radius, it connects rows
//!   that have nothing in common.
//!
//! Guarantee: exactly the clusters of the definitions. The result is a function of the values in their order.
//!
//! Cost: one pass of [`near_pairs`](mod@crate::near_pairs) over the distinct values. If there are very many
//! near pairs, most of them are not compared: rows near a keeper are left out (see `leaders.rs`), and so are
//! rows that are already connected. Memory: some 60 bytes per row, 12 more per row for each level of crowds,
//! and for leaders up to 32 for near pairs.

mod leaders;

use crate::buckets::{BitChoice, PlacedCodes, RowBuckets};
use crate::code::CodeSlice;
use crate::near_pairs::{CodeRadii, PairSink, near_pairs};
use base::{Heartbeat, OutOfMemory, beat_every, collect, reserve, sort};
pub use leaders::first_near;
use leaders::{decide, leaders, most_pairs};

/// How many rows are processed between two heartbeats.
const STRIDE: usize = 1 << 16;

/// How rows are joined into clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Every row is near its keeper.
    Leader,
    /// Every row is near some row of its cluster.
    Connected,
}

/// The names of linkages.
pub const LINKAGES: [(&str, Linkage); 2] = [("leader", Linkage::Leader), ("connected", Linkage::Connected)];

/// For each code, the place of its keeper; a keeper has its own place.
///
/// The heartbeat gets the fraction of the work that was done.
///
/// # Panics
/// If there are more than `u32::MAX` codes.
pub fn keepers(
    codes: CodeSlice<'_>,
    radii: impl Into<CodeRadii>,
    linkage: Linkage,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<u32>, OutOfMemory> {
    let radii = radii.into();
    let mut keepers = first_equals(codes, heartbeat)?;
    let is_first = |place: &u32| keepers[*place as usize] == *place;
    let all = 0..codes.len() as u32;
    let firsts: Vec<u32> = collect(all.clone().filter(is_first), all.filter(is_first).count())?;
    let distinct = codes.gather(firsts.iter().copied(), firsts.len(), heartbeat)?;
    let distinct_codes = CodeSlice::new(&distinct, codes.width());
    let keepers_of_distinct = match linkage {
        Linkage::Leader => leaders(distinct_codes, &radii, most_pairs(firsts.len()), heartbeat),
        Linkage::Connected => {
            let mut forest = Forest::new(firsts.len())?;
            near_pairs(distinct_codes, radii, heartbeat, &mut forest)?;
            Ok(forest.into_roots(heartbeat))
        }
    }?;
    drop(distinct);
    let mut of_distinct = keepers_of_distinct.iter().map(|&keeper| firsts[keeper as usize]);
    for place in 0..keepers.len() {
        beat_every(STRIDE, place, heartbeat);
        let first = keepers[place] as usize;
        // Equal codes have the keeper of the first of them, which was decided before.
        keepers[place] =
            if first == place { of_distinct.next().unwrap_or(place as u32) } else { keepers[first] };
    }
    debug_assert!(are_keepers(&keepers), "a keeper keeps itself and comes before its cluster");
    Ok(keepers)
}

/// Whether each row has a keeper that is not behind it, and that keeps itself.
fn are_keepers(keepers: &[u32]) -> bool {
    let is_kept = |(row, &keeper): (u32, &u32)| keeper <= row && keepers[keeper as usize] == keeper;
    (0..).zip(keepers).all(is_kept)
}

/// For each code, the place of the first code that is equal to it.
///
/// # Panics
/// If there are more than `u32::MAX` codes.
pub fn first_equals(codes: CodeSlice<'_>, heartbeat: &mut dyn Heartbeat) -> Result<Vec<u32>, OutOfMemory> {
    assert!(u32::try_from(codes.len()).is_ok(), "at most u32::MAX codes have places");
    let length = codes.len().max(2).ilog2().min(20);
    let highest = BitChoice::of_mask(u64::MAX << (u64::BITS - length));
    let folded: Vec<u64> = collect(codes.iter().map(folded), codes.len())?;
    let mut table = RowBuckets::default();
    table.fill(
        PlacedCodes { codes: CodeSlice::fingerprints(&folded), places: None },
        0,
        None,
        &highest,
        heartbeat,
    )?;
    drop(folded);
    let mut firsts = collect(std::iter::repeat_n(0, codes.len()), codes.len())?;
    let mut sorted: Vec<(u64, u32)> = Vec::new();
    reserve(&mut sorted, table.largest)?;
    for bucket in 0..highest.buckets() {
        if bucket % 1024 == 0 {
            heartbeat.beat();
        }
        let rows = table.range(bucket);
        sorted.clear();
        sorted.extend(table.values[rows.clone()].iter().copied().zip(table.places[rows].iter().copied()));
        sort(&mut sorted, heartbeat, |&(folded, place)| (folded, codes.get(place), place));
        for equal in sorted.chunk_by(|a, b| a.0 == b.0 && codes.get(a.1) == codes.get(b.1)) {
            for &(_, place) in equal {
                firsts[place as usize] = equal[0].1;
            }
        }
    }
    Ok(firsts)
}

/// A hash of a code, which is the word itself if the code has one word.
fn folded(code: &[u64]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let rest = code.iter().skip(1);
    rest.fold(code[0], |folded, word| {
        (folded ^ folded >> 32).wrapping_mul(ODD) ^ word.wrapping_mul(ODD).rotate_left(32)
    })
}

/// For each of `count` rows, the place of its keeper, from the pairs of near rows, which may be in any order
/// and repeated. Leaders are found in one pass over the sorted pairs.
///
/// # Panics
/// If a pair has a row that is not less than `count`.
pub fn keepers_of_pairs(
    count: u32,
    pairs: &mut [(u32, u32)],
    linkage: Linkage,
    heartbeat: &mut dyn Heartbeat,
) -> Result<Vec<u32>, OutOfMemory> {
    let mut forest = Forest::new(count as usize)?;
    match linkage {
        Linkage::Connected => {
            for (place, &(a, b)) in pairs.iter().enumerate() {
                beat_every(STRIDE, place, heartbeat);
                forest.connect(a, b);
            }
            let roots = forest.into_roots(heartbeat);
            debug_assert!(are_keepers(&roots), "a root comes before its tree");
            Ok(roots)
        }
        Linkage::Leader => {
            for (place, pair) in pairs.iter_mut().enumerate() {
                beat_every(STRIDE, place, heartbeat);
                *pair = (pair.0.max(pair.1), pair.0.min(pair.1));
            }
            decide(&mut forest.parents, pairs, heartbeat);
            debug_assert!(are_keepers(&forest.parents), "a keeper keeps itself and comes before its cluster");
            Ok(forest.parents)
        }
    }
}

/// Trees of connected rows. A root is its own parent. A parent never comes after its child, so the root is
/// the first row of its tree.
pub struct Forest {
    parents: Vec<u32>,
}

impl Forest {
    /// Rows none of which are connected.
    pub fn new(rows: usize) -> Result<Self, OutOfMemory> {
        Ok(Self { parents: collect(0..rows as u32, rows)? })
    }

    /// The root of a row's tree. Halves the path to it.
    fn root(&mut self, mut place: u32) -> u32 {
        let parents = &mut self.parents;
        loop {
            let parent = parents[place as usize];
            if parent == place {
                return place;
            }
            parents[place as usize] = parents[parent as usize];
            place = parents[place as usize];
        }
    }

    /// Connects two rows. Returns whether they were apart.
    pub fn connect(&mut self, a: u32, b: u32) -> bool {
        // Most pairs of a crowd are already connected.
        if self.parents[a as usize] == self.parents[b as usize] {
            return false;
        }
        let a = self.root(a);
        let b = self.root(b);
        self.parents[a.max(b) as usize] = a.min(b);
        debug_assert!(self.parents[a as usize] <= a && self.parents[b as usize] <= b, "no parent is behind");
        a != b
    }

    /// Puts a row that is not connected into the tree of an earlier row.
    pub fn attach(&mut self, row: u32, earlier: u32) {
        debug_assert!(earlier < row, "no parent is behind");
        debug_assert_eq!(self.parents[row as usize], row, "the row is not in a tree yet");
        self.parents[row as usize] = earlier;
    }

    /// Whether some of the rows are not connected.
    pub fn are_apart(&mut self, mut rows: impl Iterator<Item = u32>, heartbeat: &mut dyn Heartbeat) -> bool {
        let Some(first) = rows.next().map(|row| self.root(row)) else { return false };
        rows.enumerate().any(|(number, row)| {
            beat_every(STRIDE, number, heartbeat);
            self.root(row) != first
        })
    }

    /// For each row, the root of its tree.
    pub fn into_roots(mut self, heartbeat: &mut dyn Heartbeat) -> Vec<u32> {
        for place in 0..self.parents.len() {
            beat_every(STRIDE, place, heartbeat);
            self.parents[place] = self.parents[self.parents[place] as usize];
        }
        self.parents
    }
}

impl PairSink for Forest {
    const AT_A_TIME: usize = 256;
    type Stop = OutOfMemory;

    fn found(&mut self, a: u32, b: u32) -> Result<(), OutOfMemory> {
        self.connect(a, b);
        Ok(())
    }

    /// Rows of the same tree need no further comparison.
    fn wants(&mut self, these: &[u32], those: &[u32], heartbeat: &mut dyn Heartbeat) -> bool {
        self.are_apart(these.iter().chain(those).copied(), heartbeat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near_pairs::tests::{COMPARISONS, FEWER, Fractions};
    use base::choose;
    use proptest::prelude::*;

    fn near(values: &[u64], a: usize, b: usize, radius: u32) -> bool {
        (values[a] ^ values[b]).count_ones() <= radius
    }

    fn naive(values: &[u64], radius: u32, linkage: Linkage) -> Vec<u32> {
        naive_by(values.len(), linkage, &|a, b| near(values, a, b, radius))
    }

    /// The definitions, applied row by row.
    fn naive_by(rows: usize, linkage: Linkage, near: &dyn Fn(usize, usize) -> bool) -> Vec<u32> {
        let mut keepers: Vec<usize> = Vec::new();
        for row in 0..rows {
            match linkage {
                Linkage::Leader => {
                    let keeper = (0..row).find(|&other| keepers[other] == other && near(other, row));
                    keepers.push(keeper.unwrap_or(row));
                }
                Linkage::Connected => {
                    keepers.push(row);
                    for other in (0..row).filter(|&other| near(other, row)) {
                        let a = keepers[other];
                        let b = keepers[row];
                        keepers
                            .iter_mut()
                            .filter(|keeper| **keeper == a.max(b))
                            .for_each(|keeper| *keeper = a.min(b));
                    }
                }
            }
        }
        keepers.into_iter().map(|keeper| keeper as u32).collect()
    }

    /// A chain with links that are near each other and ends that are not. The order of its rows matters.
    #[test]
    fn a_chain() {
        let chain = [0b000_000, 0b000_111, 0b111_111];
        assert_eq!(
            keepers(CodeSlice::fingerprints(&chain), 3, Linkage::Connected, &mut || ()).unwrap(),
            [0, 0, 0]
        );
        assert_eq!(
            keepers(CodeSlice::fingerprints(&chain), 3, Linkage::Leader, &mut || ()).unwrap(),
            [0, 0, 2]
        );
        let middle_first = [chain[1], chain[0], chain[2]];
        assert_eq!(
            keepers(CodeSlice::fingerprints(&middle_first), 3, Linkage::Leader, &mut || ()).unwrap(),
            [0, 0, 0]
        );
        assert_eq!(keepers(CodeSlice::fingerprints(&[]), 3, Linkage::Leader, &mut || ()).unwrap(), [0; 0]);
    }

    #[test]
    fn names() {
        assert_eq!(choose("linkage", "leader", &LINKAGES), Ok(Linkage::Leader));
        assert_eq!(choose("linkage", "connected", &LINKAGES), Ok(Linkage::Connected));
        let problem = choose("linkage", "Leader", &LINKAGES).unwrap_err();
        assert_eq!(problem.message, "unknown linkage \"Leader\"");
    }

    /// Values with few free bits, so that clusters are large, touch, and repeat.
    fn crowded() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec((0u64..1 << 12, any::<bool>()), 0..300 / FEWER.min(10)).prop_map(|values| {
            values
                .into_iter()
                .map(|(bits, far)| bits.wrapping_mul(0x0011_0101_0100_1001) ^ if far { u64::MAX } else { 0 })
                .collect()
        })
    }

    /// Consecutive numbers, or numbers with few bits set, in any order, shifted to any bits.
    fn dense() -> impl Strategy<Value = Vec<u64>> {
        let consecutive = (1..2000 / FEWER as u64).prop_map(|last| (1..=last).collect::<Vec<u64>>());
        let few_bits = prop::collection::vec(0u32..20, 0..4)
            .prop_map(|bits| bits.into_iter().fold(0, |value, bit| value | 1u64 << bit));
        let values = prop_oneof![consecutive, prop::collection::vec(few_bits, 0..600 / FEWER)];
        (values.prop_shuffle(), 0u32..44, any::<u64>())
            .prop_map(|(values, shift, mask)| values.into_iter().map(|value| value << shift ^ mask).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn dense_clusters_are_those_of_the_definition(
            values in dense(),
            radius in 0u32..14,
            kept in 0usize..8000,
        ) {
            for linkage in [Linkage::Leader, Linkage::Connected] {
                let found = keepers(CodeSlice::fingerprints(&values), radius, linkage, &mut || ()).unwrap();
                prop_assert_eq!(found, naive(&values, radius, linkage));
            }
            let mut distinct = values;
            distinct.sort_unstable();
            distinct.dedup();
            let found = leaders(CodeSlice::fingerprints(&distinct), &radius.into(), kept, &mut || ()).unwrap();
            prop_assert_eq!(found, naive(&distinct, radius, Linkage::Leader));
        }
    }

    /// If nearly all pairs are near, few of them are compared. All pairs would take 8,000 comparisons per row
    /// for each segment.
    #[test]
    #[cfg_attr(miri, ignore = "counts work, which takes many rows")]
    fn dense_values_do_not_take_all_comparisons() {
        let dense = || (1..=1u64 << 14).map(|i| i << 20);
        let scattered = (1..=1u64 << 14).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut shuffled: Vec<u64> = dense().collect();
        shuffled.sort_by_key(|value| value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Scattered rows are compared with nearly all other rows from radius 12 on.
        let mixed = dense().chain(scattered).collect();
        for (values, max_radius) in [(dense().collect(), 12), (shuffled, 12), (mixed, 6)] {
            for radius in [0, 1, 3, 6, 12].into_iter().filter(|&radius| radius <= max_radius) {
                for linkage in [Linkage::Leader, Linkage::Connected] {
                    COMPARISONS.set(0);
                    keepers(CodeSlice::fingerprints(&values), radius, linkage, &mut || ()).unwrap();
                    let per_row = COMPARISONS.get() / values.len();
                    assert!(per_row < 4000, "{per_row} comparisons a row at radius {radius}, {linkage:?}");
                }
            }
        }
    }

    /// Counts heartbeats without a fraction.
    struct Beats(usize);

    impl Heartbeat for Beats {
        fn beat(&mut self) {
            self.0 += 1;
        }

        fn progress(&mut self, _done: f64) {}
    }

    /// Both linkages search for the same pairs, and the leaders decide rows in addition.
    #[test]
    #[cfg_attr(miri, ignore = "counts work, which takes many rows")]
    fn leaders_have_the_pulse_of_their_search() {
        let values: Vec<u64> = (0..1 << 17).map(|i| crate::hash::scattered(i / 2) ^ (i % 2)).collect();
        let beats = |linkage| {
            let mut beats = Beats(0);
            keepers(CodeSlice::fingerprints(&values), 3, linkage, &mut beats).unwrap();
            beats.0
        };
        let connected = beats(Linkage::Connected);
        let leader = beats(Linkage::Leader);
        assert!(leader > connected && connected > 0, "{leader} and {connected} heartbeats");
    }

    proptest! {
        #[test]
        fn clusters_are_those_of_the_definition(values in crowded(), radius in 0u32..40) {
            for linkage in [Linkage::Leader, Linkage::Connected] {
                let found = keepers(CodeSlice::fingerprints(&values), radius, linkage, &mut || ()).unwrap();
                prop_assert_eq!(found, naive(&values, radius, linkage));
            }
        }

        /// Second codes must be near as well. Half of the bits of a row are its code, and the others its
        /// second code.
        #[test]
        fn both_codes_are_near(
            rows in prop::collection::vec((0u64..1 << 5, 0u64..1 << 9), 0..300 / FEWER.min(10)),
            radius in 0u32..6,
            second_radius in 0u32..10,
            kept in 0usize..200,
        ) {
            let codes: Vec<u64> = rows.iter().map(|row| row.0.wrapping_mul(0x0011_0101_0100_1001)).collect();
            let both: Vec<u64> = rows.iter().zip(&codes).flat_map(|(row, &code)| [code, row.1 << 30, !row.1]).collect();
            let both = CodeSlice::new(&both, 3);
            let radii = CodeRadii::from(radius).and(1, second_radius);
            let near = |a: usize, b: usize| {
                near(&codes, a, b, radius) && 2 * (rows[a].1 ^ rows[b].1).count_ones() <= second_radius
            };
            for linkage in [Linkage::Leader, Linkage::Connected] {
                let found = keepers(both, radii.clone(), linkage, &mut || ()).unwrap();
                prop_assert_eq!(found, naive_by(rows.len(), linkage, &near));
            }
            let found = leaders(both, &radii, kept, &mut || ()).unwrap();
            prop_assert_eq!(found, naive_by(rows.len(), Linkage::Leader, &near));
        }

        /// Pairs may be in any order, with either row first, and some occur twice.
        #[test]
        fn clusters_of_pairs_are_those_of_rows(values in crowded(), radius in 0u32..24, seed in any::<u64>()) {
            let mut pairs = Vec::new();
            let mut add = |a, b| {
                pairs.push(if (a ^ b) % 3 == 0 { (b, a) } else { (a, b) });
                Ok::<(), OutOfMemory>(())
            };
            near_pairs(CodeSlice::fingerprints(&values), radius, &mut || (), &mut add).unwrap();
            pairs.extend_from_within(..pairs.len() / 3);
            let mixed = |&(a, b): &(u32, u32)| (u64::from(a) << 32 | u64::from(b)).wrapping_mul(seed | 1);
            pairs.sort_unstable_by_key(mixed);
            for linkage in [Linkage::Leader, Linkage::Connected] {
                let found = keepers_of_pairs(values.len() as u32, &mut pairs.clone(), linkage, &mut || ()).unwrap();
                prop_assert_eq!(found, naive(&values, radius, linkage));
            }
        }

        /// However few pairs are kept, the clusters are the same, and the reported fraction never falls.
        #[test]
        fn leaders_do_not_depend_on_memory(
            values in crowded(),
            radius in 0u32..40,
            kept in 0usize..200,
        ) {
            let mut fractions = Fractions(vec![0.0]);
            let found = leaders(CodeSlice::fingerprints(&values), &radius.into(), kept, &mut fractions).unwrap();
            prop_assert_eq!(found, naive(&values, radius, Linkage::Leader));
            prop_assert!(fractions.0.is_sorted() && fractions.0.iter().all(|share| *share < 1.0), "{:?}", fractions.0);
            prop_assert!(values.is_empty() || fractions.0.len() > 1, "no fraction of {} rows", values.len());
        }
    }
}
