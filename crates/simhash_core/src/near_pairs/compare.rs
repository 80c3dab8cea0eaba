//! The loop that compares fingerprints.

use crate::buckets::Buckets;
use multiversion::multiversion;
use std::ops::Range;

/// Fingerprints looked at together. Hits are rare, so that only groups with a hit are looked at one by one.
const GROUP: usize = 32;

/// The sides sorted by a block.
pub(super) struct Tables<'a> {
    pub(super) left: &'a Buckets,
    pub(super) right: &'a Buckets,
    /// There is one side, so that each pair of rows would be met twice.
    pub(super) is_one: bool,
}

impl Tables<'_> {
    /// Whether what differs by this flip is met from the other side.
    pub(super) fn is_mirrored(&self, bucket: u32, flip: u32) -> bool {
        self.is_one && bucket ^ flip < bucket
    }

    /// Whether a bucket is compared with itself.
    pub(super) fn is_diagonal(&self, flip: u32) -> bool {
        self.is_one && flip == 0
    }
}

/// Compares rows of a bucket with those of the buckets on the right that differ by one of the flips, as far as they are among the
/// others; on the diagonal with those that follow them.
#[multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512bw+avx512vpopcntdq+popcnt",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt"
))]
pub(super) fn compare(tables: &Tables, part: &Part, radius: u32, hits: &mut Vec<(u32, u32)>) {
    for &flip in part.flips {
        if tables.is_mirrored(part.bucket, flip) {
            continue;
        }
        let others = tables.right.range(part.bucket ^ flip);
        let (begin, end) = (others.start.max(part.others.start), others.end.min(part.others.end));
        for row in part.rows.clone() {
            let begin = if tables.is_diagonal(flip) { begin.max(row + 1) } else { begin };
            let value = tables.left.values[row];
            let near = |other: &u64| (other ^ value).count_ones() <= radius;
            let others = &tables.right.values[begin.min(end)..end];
            #[cfg(test)]
            super::tests::COMPARISONS.with(|count| count.set(count.get() + others.len()));
            for (group, others) in others.chunks(GROUP).enumerate() {
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
pub(super) struct Part<'a> {
    pub(super) bucket: u32,
    pub(super) rows: Range<usize>,
    pub(super) flips: &'a [u32],
    pub(super) others: Range<usize>,
}
