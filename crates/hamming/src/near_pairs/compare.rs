//! The loop that compares codes: first one word of each, then the whole codes if these words are near.

use super::plan::{BitSegment, JoinSides};
use super::radii::CodeRadii;
use crate::buckets::RowBuckets;
use crate::code::CodeSlice;
use crate::kernel::{each_near, for_processors};
use base::{Heartbeat, OutOfMemory, grow, push, reserve};
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
const VECTOR: usize = 8;

/// So many words fit into the processor's cache.
const GATHERED: usize = 1 << 11;

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

/// Cuts a range of rows into pieces of this length.
pub(super) fn pieces(rows: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    rows.clone().step_by(length).map(move |first| first..rows.end.min(first + length))
}

/// Runs of words of several buckets, one behind the other.
#[derive(Default)]
pub(super) struct GatheredRuns {
    values: Vec<u64>,
    /// Where each run ends among the values, and in the side that it belongs to.
    ends: Vec<(usize, usize)>,
}

impl GatheredRuns {
    #[inline(always)]
    fn add(&mut self, values: &[u64], run: Range<usize>) -> Result<(), OutOfMemory> {
        reserve(&mut self.values, run.len())?;
        self.values.extend_from_slice(&values[run.clone()]);
        push(&mut self.ends, (self.values.len(), run.end))
    }

    /// Compares words with all runs, and forgets the runs. `first` is the row of the first word. If `behind` is
    /// the first row of the only run, words are only compared with the rows behind them. Returns the number
    /// of comparisons.
    #[inline(always)]
    fn compare(
        &mut self,
        (first, words): (usize, &[u64]),
        behind: Option<usize>,
        limit: u32,
        hits: &mut Vec<(u32, u32)>,
    ) -> Result<u64, OutOfMemory> {
        // The longer of the two is the inner loop, if it is long enough to be worth it.
        let is_turned = words.len() > self.values.len().max(VECTOR) && behind.is_none();
        let [outer, inner] = if is_turned { [&self.values, words] } else { [words, &self.values] };
        let mut comparisons = 0;
        for (row, word) in outer.iter().enumerate() {
            let begin = behind.map_or(0, |begin| (first + row + 1).saturating_sub(begin).min(inner.len()));
            let inner = &inner[begin..];
            comparisons += inner.len() as u64;
            // Reserves memory for all of them, since the loop cannot stop where memory is refused.
            if hits.capacity() - hits.len() < inner.len() {
                grow(hits, inner.len())?;
            }
            each_near(
                inner,
                |other| (other ^ word).count_ones() <= limit,
                |index| {
                    let (row, other) = if is_turned { (index, row) } else { (row, begin + index) };
                    let (end, end_of_run) = self.ends[self.ends.partition_point(|&(end, _)| end <= other)];
                    hits.push(((first + row) as u32, (end_of_run - (end - other)) as u32));
                },
            );
        }
        self.values.clear();
        self.ends.clear();
        Ok(comparisons)
    }
}

for_processors! {
    /// Compares rows by the word of the segment. If a bucket is compared with itself, each row is compared
    /// with the rows behind it. Returns the number of comparisons.
    ///
    /// Most buckets are short. Comparing a word with many short runs would take several times as long as
    /// with one long run, so the buckets on the right are gathered.
    pub(super) fn compare(
        tables: &JoinTables,
        part: &BucketComparison,
        gathered: &mut GatheredRuns,
        hits: &mut Vec<(u32, u32)>,
    ) -> Result<u64, OutOfMemory> {
        let (limit, first) = (tables.segment.limit, part.rows.start);
        let (rows, values) = (&tables.left.values[part.rows.clone()], &tables.right.values);
        let mut comparisons = 0;
        for &flip in part.flips {
            let others = tables.right.range(part.bucket ^ flip);
            let others = others.start.max(part.others.start)..others.end.min(part.others.end);
            if tables.is_diagonal(flip) {
                gathered.add(values, others.clone())?;
                comparisons += gathered.compare((first, rows), Some(others.start), limit, hits)?;
            } else if !tables.is_mirrored(part.bucket, flip) {
                for others in pieces(others, GATHERED) {
                    gathered.add(values, others)?;
                    if gathered.values.len() >= GATHERED {
                        comparisons += gathered.compare((first, rows), None, limit, hits)?;
                    }
                }
            }
        }
        comparisons += gathered.compare((first, rows), None, limit, hits)?;
        #[cfg(test)]
        super::tests::COMPARISONS.with(|count| count.set(count.get() + comparisons as usize));
        Ok(comparisons)
    }
}

for_processors! {
    /// Keeps the pairs whose whole codes are near and that no earlier segment has found. A pair that a
    /// crowd's segment does not find is dropped, since a later segment may report it. If codes have one word,
    /// all hits of `compare` are near, and no segment finds other pairs.
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
            let difference = tables.left.values[row as usize] ^ tables.right.values[other as usize];
            let is_known = |segment: &BitSegment| {
                segment.word == tables.segment.word && segment.finds_difference(difference)
            };
            if tables.have_one_word() || earlier.iter().any(is_known) {
                return !earlier.iter().any(is_known);
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
