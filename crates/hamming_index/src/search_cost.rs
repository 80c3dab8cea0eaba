//! Estimates how many pages a search reads, in an index of this crate or in a tree of bounding boxes such as
//! GiST's. The planner needs that, and so does a search, which decides by it.

use crate::key::{BANDS, Tree};
use crate::layout::Layout;
use crate::page::{INNER_CAPACITY, LEAF_CAPACITY};
use crate::probe::radius_of_band;
use hamming::code::volumes;

/// The average fraction of a page that is used.
const FILL: f64 = 0.8;

/// Nodes do not begin exactly where a high bit changes, so their values agree in fewer bits, as if there were
/// this factor more values. With this factor, the estimates from radius 11 on were within 4 % of the leaves
/// that were read, for 100,000 to ten million scattered fingerprints.
const STRADDLING: f64 = 1.1;

/// An ordered search chooses its third radius so that this number of rows is expected within it, if
/// fingerprints are scattered.
pub(crate) const FEW: f64 = 20.0;
/// Each radius after the third reads at least this multiple of the leaves of the radius before. So all passes
/// together read at most about three times the leaves of the last one.
const MORE_LEAVES: f64 = 1.5;

/// If the last pass costs at most this multiple of the next pass, the search goes on to the last pass at
/// once: the other one would often be wasted.
pub(crate) const LAST: f64 = 6.0;

/// The expected number of entries in this number of leaves.
pub fn entries_in(leaves: f64) -> f64 {
    leaves * LEAF_CAPACITY as f64 * FILL
}

/// The smallest radius within which `wanted` of `rows` rows are expected, if their codes of this number of
/// bits are scattered.
pub fn radius_of(bits: u32, wanted: f64, rows: f64) -> u32 {
    volumes(bits).position(|fraction| rows * fraction >= wanted).map_or(bits, |radius| radius as u32)
}

/// The expected number of leaves of a band's tree, in an index with this number of pages.
pub fn leaves_in(pages: u32, layout: Layout) -> f64 {
    let others = layout.fixed_pages() - layout.word_trees() as u32;
    let by_filter = if layout.has_filter() { layout.leaves_per_band(layout.filter_tree()) } else { 0.0 };
    let by_codes = if layout.has_code_tree() { layout.leaves_per_band(layout.code_tree()) } else { 0.0 };
    let trees = layout.word_trees() as f64 + by_filter + by_codes;
    (f64::from(pages.saturating_sub(others)) / trees).max(1.0)
}

/// How many leaves the search of a word of `width` bits is expected to read, if each tree has `leaves`
/// leaves. That is at most one whole tree, which is read if bands would need more.
pub fn leaves_read(leaves: f64, radius: u32, width: u32) -> f64 {
    by_bands(leaves, radius, width).min(leaves)
}

/// How many pages the same search is expected to read, including pages above the leaves.
pub fn pages_read(leaves: f64, radius: u32, width: u32) -> f64 {
    let mut pages = leaves_read(leaves, radius, width);
    let mut level = leaves;
    // On each level above, a node is read once for the nodes below it, and at least one node in each tree.
    while level > 1.0 {
        level = (level / (INNER_CAPACITY as f64 * FILL)).max(1.0);
        pages += by_bands(level, radius, width).min(pages);
    }
    pages
}

/// The number of levels above the leaves, in a tree with this number of leaves.
pub fn levels_above(leaves: f64) -> f64 {
    leaves.max(1.0).log(INNER_CAPACITY as f64 * FILL).ceil()
}

/// Whether a search by bands reads at least as many leaves as reading all wanted rows sequentially, from
/// `sequential` leaves.
pub(crate) fn prefers_sequential(leaves: f64, sequential: f64, radius: u32, width: u32) -> bool {
    by_bands(leaves, radius, width) >= sequential
}

/// For each band: the number of leaves that a search may have read, in the trees of this band and of earlier
/// bands, before it gives up the bands. More leaves mean that the later bands are expected to need more than
/// the `sequential` leaves, which have all wanted rows: they are expected to exceed their estimates by the
/// same factor as the bands that were read.
///
/// No search reads more than two and a half trees, whatever its fingerprints are: one and a half by bands,
/// and then one sequentially. With bits that are set with probability 4/5, giving up after one tree took
/// 1,711 leaves on average at radius 14, and this takes 1,542 (200 queries, 1,679 leaves per tree).
pub(crate) fn limits(leaves: f64, sequential: f64, radius: u32, width: u32) -> [f64; BANDS] {
    let bands = in_each_band(leaves, radius, width);
    std::array::from_fn(|band| {
        let (read, later) = bands.split_at(band + 1);
        (sequential * sum(read) / sum(later)).min(1.5 * sequential)
    })
}

/// The first radius of an ordered search for codes of one word. It reads one leaf per band.
pub(crate) fn first_radius(leaves: f64, sequential: f64, width: u32) -> u32 {
    let one_each = BANDS as u32 - 1;
    if prefers_sequential(leaves, sequential, one_each, width) { width } else { one_each }
}

/// The next radius of an ordered search for codes of one word. For most queries, either there are near rows,
/// or nothing is nearer than scattered rows. So the radius grows from one leaf per band to one more bit per
/// band, then to where scattered rows begin, and then step by step. (With one million and with ten million
/// rows, if nothing is near, that takes half as long as growing by [`MORE_LEAVES`] from the start.)
///
/// The result is at most `farthest`. It is `farthest` if that pass costs little more than the next one would.
pub(crate) fn next_radius(leaves: f64, sequential: f64, radius: u32, farthest: u32, width: u32) -> u32 {
    let one_more_bit = 2 * BANDS as u32 - 1;
    let scattered = radius_of(width, FEW, entries_in(sequential));
    let enough = MORE_LEAVES * leaves_read(leaves, radius, width);
    let next = [one_more_bit, scattered]
        .into_iter()
        .find(|&next| next > radius)
        .or_else(|| (radius + 1..width).find(|&next| leaves_read(leaves, next, width) >= enough));
    // If one tree is read sequentially, a larger step, to where scattered rows begin, costs no more.
    let by_one_tree = if scattered > radius { scattered } else { width };
    let prefers_sequential = |radius| prefers_sequential(leaves, sequential, radius, width);
    let next = next.filter(|&next| !prefers_sequential(next)).unwrap_or(by_one_tree);
    let is_near = |next| leaves_read(leaves, farthest, width) <= LAST * leaves_read(leaves, next, width);
    if next >= farthest || !prefers_sequential(farthest) && is_near(next) { farthest } else { next }
}

/// The expected work of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExpectedWork {
    /// The number of leaves that are read. A leaf that is read twice counts twice.
    pub leaves: f64,
    /// The number of leaves of whole codes, which are read sequentially.
    pub codes: f64,
    /// The number of rows that are fetched from the table, if the index has no whole codes.
    pub fetched: f64,
}

impl ExpectedWork {
    /// The sum of this work and `times` the other work.
    #[must_use]
    pub(crate) fn plus(self, times: f64, other: Self) -> Self {
        Self {
            leaves: self.leaves + times * other.leaves,
            codes: self.codes + times * other.codes,
            fetched: self.fetched + times * other.fetched,
        }
    }
}

/// A key column of a tree of bounding boxes, and the condition of a search on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IndexedColumn {
    /// Fingerprints within a radius; 64 means all fingerprints.
    Fingerprint {
        /// The radius of the search, in bits.
        radius: u32,
    },
    /// A column of another type.
    Other {
        /// The number of distinct values.
        values: f64,
        /// The fraction of the rows whose value is wanted, from 0 to 1.
        fraction: f64,
    },
}

/// The number of pages of a tree of bounding boxes that a search reads.
///
/// The tree is divided by its first column, and by the next column if a value of the first one fills several
/// pages. If n pages are divided by fingerprints, each page fixes log2(n) bits, which distinguish it from the
/// other pages. The number of pages near a query is the number of strings of that length within the radius.
pub fn boxes_read(pages: f64, columns: &[IndexedColumn]) -> f64 {
    let mut read = 1.0;
    let mut pages_each = pages.max(1.0);
    for column in columns {
        let (parts, wanted) = match *column {
            IndexedColumn::Fingerprint { radius } => (pages_each, strings_within(pages_each.log2(), radius)),
            IndexedColumn::Other { values, fraction } => {
                let parts = values.clamp(1.0, pages_each);
                (parts, fraction * parts)
            }
        };
        read *= wanted.clamp(1.0, parts);
        pages_each /= parts;
    }
    read * pages_each
}

/// The number of nodes of one level that a search reads in all bands' trees.
fn by_bands(nodes: f64, radius: u32, width: u32) -> f64 {
    sum(&in_each_band(nodes, radius, width))
}

/// The sum of numbers. The standard library returns -0 for none.
fn sum(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |sum, number| sum + number)
}

/// The number of nodes of one level that a search reads in each band's tree, if each tree has `nodes` nodes
/// on that level and a word has `width` bits.
///
/// A node has an equal part of the band's values, and one more value that it shares with the next node. These
/// values agree in some leading bits. The fraction of nodes that are read is the fraction of strings of this
/// length that are within the band's part of the radius.
fn in_each_band(nodes: f64, radius: u32, width: u32) -> [f64; BANDS] {
    let in_band = f64::from(width) / BANDS as f64;
    let values = STRADDLING * in_band.exp2() / nodes + 1.0;
    let bits = (in_band - values.log2()).max(0.0);
    std::array::from_fn(|tree| {
        let fraction = radius_of_band(radius, tree as Tree);
        fraction.map_or(0.0, |fraction| (nodes * strings_within(bits, fraction) / bits.exp2()).min(nodes))
    })
}

/// The number of strings of `bits` bits, at most 64, that differ from a given string in at most `radius`
/// bits. Between two whole lengths, the result is between their results.
pub fn strings_within(bits: f64, radius: u32) -> f64 {
    let mut sum = 0.0;
    let mut shell = 1.0;
    // The radius comes from a query and may be any number.
    for differing in 0..=radius.min(u64::BITS) {
        sum += shell;
        shell *= ((bits - f64::from(differing)) / f64::from(differing + 1)).max(0.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use hamming::code::volume;

    #[test]
    fn strings_are_counted() {
        assert_eq!(strings_within(14.0, 0), 1.0);
        assert_eq!(strings_within(14.0, 1), 15.0);
        assert_eq!(strings_within(14.0, 2), 106.0);
        assert_eq!(strings_within(14.0, 20), 16384.0);
        assert_eq!(volume(64, 0), 1.0 / 2f64.powi(64));
        assert!((volume(64, 64) - 1.0).abs() < 1e-9 && (volume(64, 31) - 0.45).abs() < 0.01);
        assert_eq!(volume(64, u32::MAX), volume(64, 64));
        assert!((0..=64).all(|radius| volume(64, radius) <= 1.0));
        assert_eq!(radius_of(64, 1.0, 2f64.powi(64)), 0);
    }

    #[test]
    fn a_larger_radius_reads_no_less() {
        for leaves in [1.0, 2.0, 300.0, 17_000.0, 200_000.0] {
            for radius in 0..64 {
                assert!(
                    pages_read(leaves, radius, 64) <= pages_read(leaves, radius + 1, 64),
                    "{leaves} {radius}"
                );
                assert!(leaves_read(leaves, radius, 64) <= leaves);
            }
        }
    }

    /// Whether an estimate differs from a measurement by at most a factor.
    fn is_near(estimate: f64, measured: f64, factor: f64) -> bool {
        estimate <= measured * factor && measured <= estimate * factor
    }

    // Measured with PostgreSQL 15, a million rows in 2000 tenants, half of the fingerprints scattered.
    #[test]
    fn pages_of_gist_as_they_were_measured() {
        let tenant = |fraction| IndexedColumn::Other { values: 2000.0, fraction };
        let fingerprint = |radius| IndexedColumn::Fingerprint { radius };
        for (radius, measured) in [(0, 3.0), (2, 112.0), (4, 1082.0), (6, 3846.0), (8, 6521.0), (12, 7481.0)]
        {
            let read = boxes_read(7481.0, &[fingerprint(radius), tenant(0.0005)]);
            assert!(is_near(read, measured, if radius == 0 { 3.0 } else { 1.3 }), "{radius}: {read}");
        }
        for (radius, all, range) in
            [(0, 2223.0, 113.0), (1, 6079.0, 310.0), (2, 7810.0, 398.0), (6, 7820.0, 399.0)]
        {
            let read = |fraction| boxes_read(7820.0, &[tenant(fraction), fingerprint(radius)]);
            assert!(is_near(read(1.0), all, 1.2), "{radius}: {}", read(1.0));
            assert!(is_near(read(0.0505), range, 1.2), "{radius}: {}", read(0.0505));
        }
        assert!(is_near(boxes_read(7820.0, &[tenant(0.0005), fingerprint(6)]), 10.0, 3.0));
    }

    #[test]
    fn more_columns_and_few_pages() {
        let [by_tenant, by_kind] =
            [0.001, 0.1].map(|fraction| IndexedColumn::Other { values: 1.0 / fraction, fraction });
        let [tenants, kinds] = [1000.0, 10.0].map(|values| IndexedColumn::Other { values, fraction: 1.0 });
        let near = IndexedColumn::Fingerprint { radius: 0 };
        assert_eq!(boxes_read(1.0, &[tenants, near]), 1.0);
        assert_eq!(boxes_read(80_000.0, &[by_tenant, by_kind, near]).round(), 1.0);
        assert_eq!(boxes_read(80_000.0, &[tenants, by_kind, near]).round(), 1000.0);
        assert_eq!(boxes_read(80_000.0, &[by_tenant, kinds, near]).round(), 10.0);
        assert_eq!(
            boxes_read(80_000.0, &[tenants, kinds, IndexedColumn::Fingerprint { radius: 64 }]).round(),
            80_000.0
        );
        // There are more values than pages.
        assert_eq!(boxes_read(500.0, &[tenants, near]), 500.0);
    }

    // Counted in trees of scattered fingerprints: 100,000, a million, nine million.
    #[test]
    fn leaves_as_they_were_counted() {
        for (leaves, counted) in [
            (183.0, [(3, 4.0), (7, 36.0), (11, 140.0), (40, 183.0)]),
            (1822.0, [(3, 4.0), (7, 48.0), (11, 276.0), (15, 952.0)]),
            (16414.0, [(3, 5.0), (7, 76.0), (11, 524.0), (19, 7040.0)]),
        ] {
            for (radius, counted) in counted {
                let read = leaves_read(leaves, radius, 64);
                assert!(is_near(read, counted, if radius < 11 { 1.15 } else { 1.04 }), "{radius}: {read}");
            }
        }
    }
}
