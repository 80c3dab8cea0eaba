//! How many pages a search reads: what the planner asks, and by which a search itself decides.

use crate::key::{BAND_BITS, BANDS};
use crate::page::{INNER_CAPACITY, LEAF_CAPACITY};
use crate::probe::share_of_band;

/// Of what there is room for in a page, this share is used on average.
const FILL: f64 = 0.8;

/// Entries of a tree with so many leaves.
pub fn entries_in(leaves: f64) -> f64 {
    leaves * LEAF_CAPACITY as f64 * FILL
}

/// The share of all 64-bit values that a ball holds.
pub fn volume(radius: u32) -> f64 {
    (strings_within(f64::from(u64::BITS), radius) / f64::from(u64::BITS).exp2()).min(1.0)
}

/// The smallest radius within which so many of these rows are expected, if they are scattered.
pub fn radius_of(wanted: f64, rows: f64) -> u32 {
    (0..u64::BITS).find(|&radius| rows * volume(radius) >= wanted).unwrap_or(u64::BITS)
}

/// Leaves of each tree of an index with so many pages.
pub fn leaves_in(pages: u32) -> f64 {
    (f64::from(pages.saturating_sub(1)) / BANDS as f64).max(1.0)
}

/// Leaves that a search with this radius is expected to read, when a tree has so many: one tree as a whole
/// if that is less.
pub fn leaves_read(leaves: f64, radius: u32) -> f64 {
    by_bands(leaves, radius).min(leaves)
}

/// All pages that such a search reads.
pub fn pages_read(leaves: f64, radius: u32) -> f64 {
    let (mut pages, mut level) = (leaves_read(leaves, radius), leaves);
    // Of each level above: each node once for those below it, but once for each tree at least.
    while level > 1.0 {
        level = (level / (INNER_CAPACITY as f64 * FILL)).max(1.0);
        pages += by_bands(level, radius).min(pages);
    }
    pages
}

/// Whether it is better to read one tree from end to end.
pub fn is_flat(leaves: f64, radius: u32) -> bool {
    by_bands(leaves, radius) >= leaves
}

/// The nodes of one level that are met in all trees, if the level has so many nodes in each. They are told
/// apart by the first bits of their keys: so many of these nodes are within some bits of a query as there are
/// strings of that length.
fn by_bands(nodes: f64, radius: u32) -> f64 {
    let bits = nodes.max(1.0).log2().min(f64::from(BAND_BITS));
    let of_same_bits = (nodes / bits.exp2()).max(1.0);
    let shares = (0..BANDS as u8).filter_map(|tree| share_of_band(radius, tree));
    shares.map(|share| (strings_within(bits, share) * of_same_bits).min(nodes)).sum()
}

/// Strings of so many bits, at most 64, that differ from one of them in at most so many. A length between two
/// numbers is between them.
pub fn strings_within(bits: f64, radius: u32) -> f64 {
    let (mut sum, mut shell) = (0.0, 1.0);
    // A radius may be any number that somebody wrote.
    for differing in 0..=radius.min(u64::BITS) {
        sum += shell;
        shell *= ((bits - f64::from(differing)) / f64::from(differing + 1)).max(0.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_counted() {
        assert_eq!(strings_within(14.0, 0), 1.0);
        assert_eq!(strings_within(14.0, 1), 15.0);
        assert_eq!(strings_within(14.0, 2), 106.0);
        assert_eq!(strings_within(14.0, 20), 16384.0);
        assert_eq!(volume(0), 1.0 / 2f64.powi(64));
        assert!((volume(64) - 1.0).abs() < 1e-9 && (volume(31) - 0.45).abs() < 0.01);
        assert_eq!(volume(u32::MAX), volume(64));
        assert!((0..=64).all(|radius| volume(radius) <= 1.0));
        assert_eq!(radius_of(1.0, 2f64.powi(64)), 0);
    }

    #[test]
    fn a_larger_radius_reads_no_less() {
        for leaves in [1.0, 2.0, 300.0, 17_000.0, 200_000.0] {
            for radius in 0..64 {
                assert!(pages_read(leaves, radius) <= pages_read(leaves, radius + 1), "{leaves} {radius}");
                assert!(leaves_read(leaves, radius) <= leaves);
            }
        }
    }

    #[test]
    fn four_bands_of_sixteen_bits() {
        let leaves = 16384.0;
        assert_eq!(leaves_read(leaves, 3), 4.0);
        assert_eq!(leaves_read(leaves, 6), 46.0);
        assert_eq!(leaves_read(leaves, 10), 333.0);
        assert_eq!(leaves_read(leaves, 40), leaves);
    }
}
