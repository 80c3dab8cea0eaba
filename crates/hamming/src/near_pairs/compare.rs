//! The loop that compares codes: first one word of each, then the whole codes if these words are near.

use super::plan::{BitSegment, JoinSides};
use super::radii::CodeRadii;
use crate::buckets::RowBuckets;
use crate::code::CodeSlice;
use crate::kernel::{each_near, for_processors};
use base::{Heartbeat, OutOfMemory, grow};
use std::ops::Range;

/// The rows of both sides, sorted into the buckets of a segment. If a side is joined with itself, only the
/// left side has rows.
#[derive(Default)]
pub(super) struct SortedSides {
    left: RowBuckets,
    right: RowBuckets,
    is_one: bool,
    /// The differences between the numbers of two buckets that are compared.
    pub(super) flips: Vec<u32>,
}

impl SortedSides {
    /// Sorts rows, and forgets the last ones.
    pub(super) fn fill(
        &mut self,
        sides: &JoinSides,
        segment: &BitSegment,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        self.left.fill(sides.left, segment.word, &segment.bits, heartbeat)?;
        if let Some(rows) = sides.right {
            self.right.fill(rows, segment.word, &segment.bits, heartbeat)?;
        }
        (self.is_one, self.flips) = (sides.right.is_none(), segment.flips()?);
        Ok(())
    }

    /// The tables to compare. The places of the rows refer to the inputs.
    pub(super) fn tables<'a>(
        &'a self,
        segment: &'a BitSegment,
        inputs: [CodeSlice<'a>; 2],
    ) -> JoinTables<'a> {
        let right = if self.is_one { &self.left } else { &self.right };
        JoinTables { left: &self.left, right, is_one: self.is_one, segment, inputs }
    }
}

/// How many whole codes are compared between two heartbeats.
const CHECKED: usize = 1 << 14;

/// Vector instructions compare so many words at a time.
const SHORT_RUN: usize = 8;

/// Both sides of a join, sorted into the buckets of a segment.
pub(super) struct JoinTables<'a> {
    pub(super) left: &'a RowBuckets,
    pub(super) right: &'a RowBuckets,
    /// Whether a side is joined with itself: `right` is `left`, and each pair would be found twice.
    pub(super) is_one: bool,
    pub(super) segment: &'a BitSegment,
    /// The codes to which the places of the left and the right buckets refer.
    pub(super) inputs: [CodeSlice<'a>; 2],
}

impl JoinTables<'_> {
    /// Whether the two buckets are compared in the other order: when the bucket with the lower number is on
    /// the left.
    pub(super) fn is_mirrored(&self, bucket: u32, flip: u32) -> bool {
        self.is_one && bucket ^ flip < bucket
    }

    /// Whether a bucket is compared with itself.
    pub(super) fn is_diagonal(&self, flip: u32) -> bool {
        self.is_one && flip == 0
    }

    /// The codes of a pair of rows.
    #[inline(always)]
    pub(super) fn codes(&self, row: usize, other: usize) -> [&[u64]; 2] {
        let [left, right] = self.inputs;
        [left.get(self.left.places[row]), right.get(self.right.places[other])]
    }

    /// Whether codes have one word. Then the buckets have the whole codes, which are faster to read there.
    #[inline(always)]
    pub(super) fn have_one_word(&self) -> bool {
        self.inputs[0].width() == 1
    }
}

for_processors! {
    /// Compares rows by the word of the segment. If a bucket is compared with itself, each row is compared
    /// with the rows behind it. Returns the number of comparisons.
    pub(super) fn compare(
        tables: &JoinTables,
        part: &BucketComparison,
        hits: &mut Vec<(u32, u32)>,
    ) -> Result<u64, OutOfMemory> {
        let limit = tables.segment.limit;
        let mut comparisons = 0;
        for &flip in part.flips {
            if tables.is_mirrored(part.bucket, flip) {
                continue;
            }
            let others = tables.right.range(part.bucket ^ flip);
            let others = others.start.max(part.others.start)..others.end.min(part.others.end);
            let is_one = tables.is_diagonal(flip);
            // The longer of the two runs is the inner loop, if it is long enough to be worth it.
            let is_turned = part.rows.len() > others.len().max(SHORT_RUN) && !is_one;
            let (left, right) = ((&tables.left.values, part.rows.clone()), (&tables.right.values, others));
            let [(values, rows), (other_values, others)] =
                if is_turned { [right, left] } else { [left, right] };
            for row in rows {
                let begin = if is_one { others.start.max(row + 1) } else { others.start };
                let value = values[row];
                let run = &other_values[begin.min(others.end)..others.end];
                comparisons += run.len() as u64;
                // Reserves memory for all of them, since the loop cannot stop where memory is refused.
                if hits.capacity() - hits.len() < run.len() {
                    grow(hits, run.len())?;
                }
                each_near(
                    run,
                    |other| (other ^ value).count_ones() <= limit,
                    |index| {
                        let (row, other) = (row as u32, (begin + index) as u32);
                        hits.push(if is_turned { (other, row) } else { (row, other) });
                    },
                );
            }
        }
        #[cfg(test)]
        super::tests::COMPARISONS.with(|count| count.set(count.get() + comparisons as usize));
        Ok(comparisons)
    }
}

for_processors! {
    /// Keeps the pairs that no earlier segment of the same word has found. If codes have one word, all hits
    /// of `compare` are near, and no segment finds other pairs.
    pub(super) fn retain_new(tables: &JoinTables, earlier: &[BitSegment], hits: &mut Vec<(u32, u32)>) {
        hits.retain(|&(row, other)| {
            let difference = tables.left.values[row as usize] ^ tables.right.values[other as usize];
            let finds = |segment: &BitSegment| segment.finds_difference(difference);
            !earlier.iter().any(|segment| segment.word == tables.segment.word && finds(segment))
        });
    }
}

for_processors! {
    /// Keeps the pairs whose whole codes are near and that no earlier segment has found. A pair that a
    /// crowd's segment does not find is dropped, since a later segment may report it.
    pub(super) fn retain_near(
        tables: &JoinTables,
        radii: &CodeRadii,
        [earlier, crowds]: [&[BitSegment]; 2],
        hits: &mut Vec<(u32, u32)>,
        heartbeat: &mut dyn Heartbeat,
    ) {
        let mut count = 0;
        hits.retain(|&(row, other)| {
            count += 1;
            if count % CHECKED == 0 {
                heartbeat.beat();
            }
            let codes = tables.codes(row as usize, other as usize);
            radii.are_near(codes)
                && !earlier.iter().any(|segment| segment.finds(codes))
                && crowds.iter().all(|segment| segment.finds(codes))
        });
    }
}

/// Comparisons that are made together: rows of a left bucket are compared with rows of the right buckets
/// whose numbers differ from the left one's by one of the flips.
pub(super) struct BucketComparison<'a> {
    pub(super) bucket: u32,
    /// The range of rows in the left side.
    pub(super) rows: Range<usize>,
    pub(super) flips: &'a [u32],
    /// The range of rows in the right side; rows outside of it are skipped.
    pub(super) others: Range<usize>,
}
