//! Decides which keys of a tree a search has to look at.
//!
//! Multi-index hashing (Norouzi, Punjani, Fleet 2012): fingerprints are cut into [`BANDS`] bands. Let f = r
//! div bands and a = r mod bands. Two fingerprints that differ in at most r bits differ in at most f bits
//! of one of the first a + 1 bands, or in at most f - 1 bits of one of the others. So a search misses
//! nothing if it looks in each band's tree at all keys whose band is that near the query's. `README.md`
//! ("The algorithm") has the proof, and explains why the radius is not divided unevenly.
//!
//! The keys of a ball form several runs in the order of the tree. [`Probe::next`] finds the beginning of the
//! next run.

use crate::key::{BAND_BITS, BANDS, Tree, band_of, rotated};

/// The bits of the band, which are the highest of a rotated word.
const BAND: u64 = !(u64::MAX >> BAND_BITS);

/// A ball of keys. They differ from the query in at most `in_band` bits of the band, and in at most `in_all`
/// bits of the whole word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    query: u64,
    in_band: u32,
    in_all: u32,
}

impl Probe {
    /// A ball that contains every key.
    pub(crate) const ALL: Self = Self { query: 0, in_band: u64::BITS, in_all: u64::BITS };

    /// The keys of this tree within the radius of a word; the band may differ in any number of bits.
    pub(crate) fn within(query: u64, tree: Tree, radius: u32) -> Self {
        Self { query: rotated(query, tree), in_band: radius, in_all: radius }
    }

    /// The keys of this tree that a search with this radius has to look at; `None` if there are none.
    pub(crate) fn of_band(query: u64, tree: Tree, radius: u32) -> Option<Self> {
        let in_band = radius_of_band(radius, tree)?;
        Some(Self { query: rotated(query, tree), in_band, in_all: radius })
    }

    /// The first key of the ball that is not less than `from`.
    ///
    /// If `from` is not in the ball, that key equals `from` above some bit, has this bit set where `from` has
    /// not, and has the lowest possible bits below it. A lower bit gives a lower key.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        let Some(first_too_far) = self.first_bit_too_far(from ^ self.query) else { return Some(from) };
        (first_too_far..u64::BITS).find_map(|bit| self.with_bit(from, bit))
    }

    /// The highest bit at which the differences, counted from the highest bit down, exceed a limit.
    fn first_bit_too_far(&self, difference: u64) -> Option<u32> {
        if (difference & BAND).count_ones() > self.in_band {
            Some(highest_but(difference & BAND, self.in_band))
        } else if difference.count_ones() > self.in_all {
            Some(highest_but(difference, self.in_all))
        } else {
            None
        }
    }

    /// The lowest key of the ball that equals `from` above this bit, and has the bit set; `None` if `from`
    /// has it set.
    fn with_bit(&self, from: u64, bit: u32) -> Option<u64> {
        let one = 1 << bit;
        if from & one != 0 {
            return None;
        }
        let below = one - 1;
        let fixed = from & !below | one;
        let difference = (fixed ^ self.query) & !below;
        let left_in_band = self.in_band.checked_sub((difference & BAND).count_ones())?;
        let left_in_all = self.in_all.checked_sub(difference.count_ones())?;
        // Below, bits equal to the query's cost nothing. Clearing its highest set ones makes the key lowest.
        let in_band = clear_highest(self.query & below & BAND, left_in_band.min(left_in_all));
        let cleared = (self.query & below & BAND).count_ones() - in_band.count_ones();
        Some(fixed | in_band | clear_highest(self.query & below & !BAND, left_in_all - cleared))
    }
}

/// How many bits of a tree's band may differ in a search with this radius; `None` if the search does not use
/// the tree.
pub(crate) fn radius_of_band(radius: u32, tree: Tree) -> Option<u32> {
    let bands = BANDS as u32;
    if band_of(tree) <= radius % bands { Some(radius / bands) } else { (radius / bands).checked_sub(1) }
}

/// The first of a word's trees, counted from 0, in which a search with this radius finds the word. Only that
/// tree reports it.
pub(crate) fn first_tree(query: u64, fingerprint: u64, radius: u32) -> Tree {
    let met = |&tree: &Tree| {
        let difference = rotated(query ^ fingerprint, tree) & BAND;
        radius_of_band(radius, tree).is_some_and(|radius| difference.count_ones() <= radius)
    };
    (0..BANDS as Tree).find(met).unwrap_or(BANDS as Tree)
}

/// The position of the highest bit that is set, after the `skipped` highest ones.
fn highest_but(mut bits: u64, skipped: u32) -> u32 {
    bits = clear_highest(bits, skipped);
    u64::BITS - 1 - bits.leading_zeros()
}

fn clear_highest(mut bits: u64, count: u32) -> u64 {
    for _ in 0..count.min(bits.count_ones()) {
        bits &= !(1 << (u64::BITS - 1 - bits.leading_zeros()));
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The lowest key that is in the ball and not less than `from`, computed bit by bit from the highest one.
    fn naive_next(probe: &Probe, from: u64) -> Option<u64> {
        fn lowest(probe: &Probe, from: u64, bit: u32, key: u64, above: bool) -> Option<u64> {
            let decided = if bit == 64 { 0 } else { u64::MAX << bit };
            let difference = (key ^ probe.query) & decided;
            if (difference & BAND).count_ones() > probe.in_band || difference.count_ones() > probe.in_all {
                return None;
            }
            let Some(bit) = bit.checked_sub(1) else { return Some(key) };
            let zero =
                || (above || from >> bit & 1 == 0).then(|| lowest(probe, from, bit, key, above)).flatten();
            let one = || lowest(probe, from, bit, key | 1 << bit, above || from >> bit & 1 == 0);
            zero().or_else(one)
        }
        lowest(probe, from, 64, 0, false)
    }

    fn near(query: u64) -> impl Strategy<Value = u64> {
        let flips = prop::collection::vec(0u32..64, 0..12);
        prop_oneof![any::<u64>(), flips.prop_map(move |bits| bits.iter().fold(query, |q, bit| q ^ 1 << bit))]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn next_is_the_lowest_of_the_ball(
            (query, from) in any::<u64>().prop_flat_map(|query| (Just(query), near(query))),
            in_band in 0u32..6,
            more in 0u32..10,
        ) {
            let probe = Probe { query, in_band, in_all: in_band + more };
            prop_assert_eq!(probe.next(from), naive_next(&probe, from));
        }

        #[test]
        fn everything_within_the_radius_is_met_and_reported_once(
            (query, other) in any::<u64>().prop_flat_map(|query| (Just(query), near(query))),
            more in 0u32..8,
        ) {
            let radius = ((query ^ other).count_ones() + more).min(64);
            let meets = |tree: Tree| {
                let key = rotated(other, tree);
                Probe::of_band(query, tree, radius).is_some_and(|probe| probe.next(key) == Some(key))
            };
            let met: Vec<Tree> = (0..BANDS as Tree).filter(|&tree| meets(tree)).collect();
            prop_assert_eq!(met.first().copied(), Some(first_tree(query, other, radius)));
        }
    }

    #[test]
    fn all_means_all() {
        for from in [0, 1, u64::MAX, 0x8000_0000_0000_0000] {
            assert_eq!(Probe::ALL.next(from), Some(from));
        }
    }
}
