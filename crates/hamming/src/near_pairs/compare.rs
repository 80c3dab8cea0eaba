//! The loop that compares fingerprints.

use crate::buckets::Buckets;
use crate::kernel::{each_near, for_processors};
use std::ops::Range;

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

for_processors! {
    /// Compares rows of a bucket with the rows of the buckets on the right that differ by one of the flips,
    /// as far as the part has them; on the diagonal with the rows that follow them.
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
                let others = &tables.right.values[begin.min(end)..end];
                #[cfg(test)]
                super::tests::COMPARISONS.with(|count| count.set(count.get() + others.len()));
                each_near(
                    others,
                    |other| (other ^ value).count_ones() <= radius,
                    |place| hits.push((row as u32, (begin + place) as u32)),
                );
            }
        }
    }
}

/// Comparisons that are made at once: of these rows of a bucket with rows, among the others, of buckets that
/// are some flips away.
pub(super) struct Part<'a> {
    pub(super) bucket: u32,
    pub(super) rows: Range<usize>,
    pub(super) flips: &'a [u32],
    pub(super) others: Range<usize>,
}
