//! Which keys of a tree a search has to look at.
//!
//! Multi-index hashing (Norouzi, Punjani, Fleet 2012): fingerprints are cut into [`BANDS`] bands. Two
//! fingerprints that differ in at most r bits cannot differ in many bits of every band. With f = r div
//! bands and a = r mod bands, they differ in at most f bits in one of the first a + 1 bands, or in at most
//! f - 1 in one of the others; for if not, the bits would add up to r + 1. So a search misses nothing if it
//! looks in each band's tree at all keys whose band is that near the query's.
//!
//! Bands could divide the radius unevenly, by what their trees have near the query (GPH: Qin and others
//! 2018). The best divisions would save at most 2 % of the leaves of scattered fingerprints, 5 % with `doc2`
//! of real text, and 35 % where bits are set with a chance of four fifths. To find them, a search would have
//! to compare the query with the range of every leaf. So bands divide the radius evenly.
//!
//! A tree is in the order of its keys, and the keys of such a ball lie in it in several pieces.
//! [`Probe::next`] finds the beginning of the next piece.

use crate::key::{BAND_BITS, BANDS, Tree, band_of, rotated};

/// Bits of a band, as the highest of a rotated fingerprint.
const BAND: u64 = !(u64::MAX >> BAND_BITS);

/// A ball of keys: at most `in_band` bits of the band differ from the query's, and at most `in_all` bits of
/// all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    query: u64,
    in_band: u32,
    in_all: u32,
}

impl Probe {
    /// Every value of the bits.
    pub(crate) const ALL: Self = Self { query: 0, in_band: u64::BITS, in_all: u64::BITS };

    /// Keys of this tree within the radius of a fingerprint, whatever bits differ.
    pub(crate) fn within(query: u64, tree: Tree, radius: u32) -> Self {
        Self { query: rotated(query, tree), in_band: radius, in_all: radius }
    }

    /// Keys of this tree that a search with this radius has to look at, if there are any.
    pub(crate) fn of_band(query: u64, tree: Tree, radius: u32) -> Option<Self> {
        let in_band = radius_of_band(radius, tree)?;
        Some(Self { query: rotated(query, tree), in_band, in_all: radius })
    }

    /// The first key in the ball that is not below the given one.
    ///
    /// That key has the given one's bits above some bit, has that bit, which the given one lacks, and the
    /// lowest possible bits below. The lower the bit, the lower the key.
    pub(crate) fn next(&self, from: u64) -> Option<u64> {
        let Some(first_too_far) = self.first_bit_too_far(from ^ self.query) else { return Some(from) };
        (first_too_far..u64::BITS).find_map(|bit| self.with_bit(from, bit))
    }

    /// The highest bit with which the differing bits, counted from the highest, exceed a limit.
    fn first_bit_too_far(&self, difference: u64) -> Option<u32> {
        if (difference & BAND).count_ones() > self.in_band {
            Some(highest_but(difference & BAND, self.in_band))
        } else if difference.count_ones() > self.in_all {
            Some(highest_but(difference, self.in_all))
        } else {
            None
        }
    }

    /// The lowest key of the ball that agrees with `from` above the bit, and has the bit where `from` has
    /// not.
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
        // Below, the query's own bits are free of cost, and clearing its highest ones makes the key lowest.
        let in_band = clear_highest(self.query & below & BAND, left_in_band.min(left_in_all));
        let cleared = (self.query & below & BAND).count_ones() - in_band.count_ones();
        Some(fixed | in_band | clear_highest(self.query & below & !BAND, left_in_all - cleared))
    }
}

/// The differing bits that a search with this radius allows in the band of a tree; `None` if it does not
/// look into that tree.
pub(crate) fn radius_of_band(radius: u32, tree: Tree) -> Option<u32> {
    let bands = BANDS as u32;
    if band_of(tree) <= radius % bands { Some(radius / bands) } else { (radius / bands).checked_sub(1) }
}

/// The first of a word's trees in which a search with this radius meets the word, counted from 0. It is
/// reported there alone.
pub(crate) fn first_tree(query: u64, fingerprint: u64, radius: u32) -> Tree {
    let met = |&tree: &Tree| {
        let difference = rotated(query ^ fingerprint, tree) & BAND;
        radius_of_band(radius, tree).is_some_and(|radius| difference.count_ones() <= radius)
    };
    (0..BANDS as Tree).find(met).unwrap_or(BANDS as Tree)
}

/// The position of the highest bit that is set, when the `skipped` highest ones are not counted.
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

    /// The lowest number that is in the ball and not below `from`, bit by bit from the highest.
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
