//! The loop that compares fingerprints.

use crate::buckets::Buckets;
use crate::kernel::{each_near, for_processors};
use std::ops::Range;

/// Both sides of a join, sorted into the buckets of one block.
pub(super) struct Tables<'a> {
    pub(super) left: &'a Buckets,
    pub(super) right: &'a Buckets,
    /// Rows are joined with one another: `right` is `left`, and each pair of rows would be met twice.
    pub(super) is_one: bool,
}

impl Tables<'_> {
    /// Whether the two buckets are compared when it is the turn of the other one, which has the lower
    /// number.
    pub(super) fn is_mirrored(&self, bucket: u32, flip: u32) -> bool {
        self.is_one && bucket ^ flip < bucket
    }

    /// Whether a bucket is compared with itself.
    pub(super) fn is_diagonal(&self, flip: u32) -> bool {
        self.is_one && flip == 0
    }
}

for_processors! {
    /// Compares the rows of a part. Where a bucket is compared with itself, each row is compared with the
    /// rows behind it.
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
                    |index| hits.push((row as u32, (begin + index) as u32)),
                );
            }
        }
    }
}

/// Comparisons that are made at one go: of rows of a left bucket with rows of the right buckets whose
/// numbers differ from its own by one of the flips.
pub(super) struct Part<'a> {
    pub(super) bucket: u32,
    /// Indexes of the rows on the left.
    pub(super) rows: Range<usize>,
    pub(super) flips: &'a [u32],
    /// Indexes on the right; rows outside of them are left out.
    pub(super) others: Range<usize>,
}
