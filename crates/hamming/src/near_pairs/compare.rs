//! The loop that compares codes: first one word of each, then the whole codes if these words are near.

use super::plan::{BitSegment, JoinSides};
use super::radii::CodeRadii;
use crate::buckets::{ComputedWord, RowBuckets};
use crate::code::CodeSlice;
use crate::kernel::{each_near, for_processors};
use base::{Heartbeat, OutOfMemory, beat_every, grow, reserve};
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
        let parities_of = |code: &[u64]| segment.word_of(|word| code[word]);
        let computed = segment.parities.as_ref().map(|_| &parities_of as ComputedWord<'_>);
        self.left.fill(sides.left, segment.word, computed, &segment.bits, heartbeat)?;
        if let Some(rows) = sides.right {
            self.right.fill(rows, segment.word, computed, &segment.bits, heartbeat)?;
        }
        self.is_one = sides.right.is_none();
        self.flips = segment.flips()?;
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

/// The number of words that are compared together, which the processor's cache has room for.
const GATHERED: usize = 1 << 11;

/// Runs of at most this length are copied as if they had it, and so are those of at most [`TINY`] words.
const SHORT: usize = 24;
const TINY: usize = 4;

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
}

/// Cuts a range of rows into pieces of this length.
pub(super) fn pieces(rows: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    rows.clone().step_by(length).map(move |first| first..rows.end.min(first + length))
}

/// Runs of words of several buckets, one behind the other.
#[derive(Default)]
pub(super) struct GatheredRuns {
    /// The words, followed by others of no meaning.
    values: Vec<u64>,
    /// The number of words.
    count: usize,
    /// Where each run ends among the words, and in the side that it belongs to.
    ends: Vec<(u32, u32)>,
}

impl GatheredRuns {
    /// Makes room for runs until there are [`GATHERED`] words, and for one more run of at most this length.
    #[inline(always)]
    fn make_room(&mut self, longest: usize) -> Result<(), OutOfMemory> {
        let words = GATHERED + longest.max(GATHERED) + SHORT;
        if self.values.len() < words {
            let more = words - self.values.len();
            grow(&mut self.values, more)?;
            self.values.resize(words, 0);
        }
        // Each run has a word.
        let ends = GATHERED + 1;
        if self.ends.capacity() < ends { reserve(&mut self.ends, ends) } else { Ok(()) }
    }

    /// Adds a run, for which there must be room.
    ///
    /// Most runs are short. A copy of a fixed length needs no call and no loop.
    #[inline(always)]
    fn add(&mut self, values: &[u64], run: Range<usize>) {
        let begin = self.count;
        let end = begin + run.len();
        if run.is_empty() {
            return;
        }
        match (values.get(run.start..run.start + SHORT), run.len()) {
            (Some(short), ..=TINY) => self.values[begin..begin + TINY].copy_from_slice(&short[..TINY]),
            (Some(short), ..=SHORT) => {
                // As one piece, it would be a call.
                let (first, last) = self.values[begin..begin + SHORT].split_at_mut(SHORT - SHORT / 3);
                first.copy_from_slice(&short[..SHORT - SHORT / 3]);
                last.copy_from_slice(&short[SHORT - SHORT / 3..]);
            }
            _ => self.values[begin..end].copy_from_slice(&values[run.clone()]),
        }
        self.count = end;
        debug_assert!(self.ends.len() < self.ends.capacity(), "there is room for the run");
        self.ends.push((end as u32, run.end as u32));
    }

    /// Compares words with all runs, and forgets the runs. `first` is the row of the first word. If `behind`
    /// is the first row of the only run, words are only compared with the rows behind them. Returns the
    /// number of comparisons.
    #[inline(always)]
    fn compare(
        &mut self,
        first: usize,
        words: &[u64],
        behind: Option<usize>,
        limit: u32,
        hits: &mut Vec<(u32, u32)>,
    ) -> Result<u64, OutOfMemory> {
        let mut comparisons = 0;
        let values = &self.values[..self.count];
        let limit = u64::from(limit);
        for (row, &word) in (first..).zip(words) {
            let begin = behind.map_or(0, |begin| (row + 1).saturating_sub(begin).min(values.len()));
            let run = &values[begin..];
            comparisons += run.len() as u64;
            // Reserves memory for all of them, since the loop cannot stop where memory is refused.
            if hits.capacity() - hits.len() < run.len() {
                grow(hits, run.len())?;
            }
            let is_near = |other: &u64| u64::from((other ^ word).count_ones()) <= limit;
            let mut at = 0;
            each_near(run, is_near, |index| {
                let index = begin + index;
                at += self.ends[at..].iter().take_while(|&&(end, _)| end as usize <= index).count();
                let (end, end_of_run) = self.ends[at];
                hits.push((row as u32, end_of_run - (end - index as u32)));
            });
        }
        self.count = 0;
        self.ends.clear();
        Ok(comparisons)
    }
}

for_processors! {
    /// Compares rows of a left bucket with rows of the right buckets whose numbers differ from it by one of
    /// the flips, by the word of the segment. Other rows on the right are skipped. If a bucket is compared
    /// with itself, each row is compared with the rows behind it. Returns the number of comparisons.
    ///
    /// Most buckets are short. Comparing a word with many short runs would take several times as long as
    /// with one long run, so the buckets on the right are gathered.
    pub(super) fn compare(
        tables: &JoinTables,
        bucket: u32,
        flips: &[u32],
        [rows, all_others]: [Range<usize>; 2],
        gathered: &mut GatheredRuns,
        hits: &mut Vec<(u32, u32)>,
    ) -> Result<u64, OutOfMemory> {
        let limit = tables.segment.limit;
        let values = &tables.right.values;
        let first = rows.start;
        let words = &tables.left.values[rows];
        let mut comparisons = 0;
        gathered.make_room(0)?;
        for &flip in flips {
            if tables.is_mirrored(bucket, flip) {
                continue;
            }
            let others = tables.right.range(bucket ^ flip);
            let others = others.start.max(all_others.start)..others.end.min(all_others.end);
            if tables.is_diagonal(flip) {
                gathered.make_room(others.len())?;
                gathered.add(values, others.clone());
                comparisons += gathered.compare(first, words, Some(others.start), limit, hits)?;
                continue;
            }
            for others in pieces(others, GATHERED) {
                gathered.add(values, others);
                if gathered.count >= GATHERED {
                    comparisons += gathered.compare(first, words, None, limit, hits)?;
                }
            }
        }
        comparisons += gathered.compare(first, words, None, limit, hits)?;
        #[cfg(test)]
        super::tests::COMPARISONS.with(|count| count.set(count.get() + comparisons as usize));
        Ok(comparisons)
    }
}

for_processors! {
    /// Keeps the pairs whose whole codes are near and that no earlier segment has found. A pair that a
    /// crowd's segment does not find is dropped, since a later segment may report it. If codes have one word,
    /// the limit of each segment is the radius: all hits are near, and a crowd's segment finds every pair of
    /// its buckets.
    pub(super) fn retain_near(
        tables: &JoinTables,
        radii: &CodeRadii,
        [earlier, crowds]: [&[BitSegment]; 2],
        hits: &mut Vec<(u32, u32)>,
        heartbeat: &mut dyn Heartbeat,
    ) {
        let [left, right] = tables.inputs;
        let is_new = |(row, other): (u32, u32)| {
            let difference = tables.left.values[row as usize] ^ tables.right.values[other as usize];
            let mut of_word = earlier.iter().filter(|segment| segment.is_of(tables.segment.word));
            !of_word.any(|segment| segment.finds_difference(difference))
        };
        if left.width() == 1 {
            return hits.retain(|&hit| is_new(hit));
        }
        // Rows may be near by the other codes, and rarely are by the one whose segments are used. If that has
        // one word, they are, since `compare` has compared it.
        let leading = radii.codes(left.width()).nth(radii.code_of(tables.segment.word));
        let leading = leading.filter(|code| code.words.len() > 1);
        let mut count = 0;
        hits.retain(|&(row, other)| {
            count += 1;
            beat_every(CHECKED, count, heartbeat);
            let places = [tables.left.places[row as usize], tables.right.places[other as usize]];
            let codes = [left.get(places[0]), right.get(places[1])];
            leading.as_ref().is_none_or(|code| code.is_near(codes))
                && is_new((row, other))
                && radii.are_near(codes)
                && !earlier.iter().any(|segment| segment.finds(codes))
                && crowds.iter().all(|segment| segment.finds(codes))
        });
    }
}
