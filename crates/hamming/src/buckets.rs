//! Values sorted into buckets: values that agree in some chosen bits are next to each other.

use crate::code::CodeSlice;
use base::{Heartbeat, OutOfMemory, extend, fill, filled, reserve};
use std::borrow::Cow;
use std::ops::Range;

/// How many values are sorted between two heartbeats.
const STRIDE: usize = 1 << 16;

/// Fewer rows, or rows of fewer than a quarter as many buckets, are sorted in one step: the cache has room.
const MANY: usize = 1 << 18;

/// If a group of buckets has more than this fraction of the rows, rows are sorted in one step, too. Memory
/// for the rows of a group is not counted.
const MIN_GROUPS: usize = 8;

/// A choice of at most 31 of 64 bits, as runs of neighbouring bits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BitChoice {
    pub(crate) mask: u64,
    /// The first run: how far it is shifted down, so that the chosen bits have no gaps, and its mask after
    /// the shift. Most choices have only this run.
    first: (u32, u32),
    /// The other runs, in the same form.
    others: Vec<(u32, u32)>,
}

impl BitChoice {
    /// The choice of the bits that are set in the mask.
    pub(crate) fn of_mask(mask: u64) -> Self {
        let mut runs = Vec::new();
        let mut rest = mask;
        let mut closed_up = 0;
        while rest != 0 {
            let first = rest.trailing_zeros();
            let length = (rest >> first).trailing_ones();
            let run = (1 << length) - 1;
            runs.push((first - closed_up, (run << closed_up) as u32));
            rest &= !(run << first);
            closed_up += length;
        }
        let mut runs = runs.into_iter();
        Self { mask, first: runs.next().unwrap_or_default(), others: runs.collect() }
    }

    /// The number of buckets: 2 to the number of chosen bits.
    pub(crate) fn buckets(&self) -> u32 {
        1 << self.mask.count_ones()
    }

    /// The number of a value's bucket: its chosen bits without the gaps between them.
    #[inline]
    pub(crate) fn of(&self, value: u64) -> u32 {
        let of_run = |(shift, run)| (value >> shift) as u32 & run;
        self.others.iter().fold(of_run(self.first), |bucket, &run| bucket | of_run(run))
    }
}

/// Computes the parities of some sets of a code's bits: a word with a bit for each set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parities {
    /// The word of each set, and its bits in the word.
    pub(crate) sets: Vec<(usize, u64)>,
}

impl Parities {
    /// Computes the parities from the words of a code, or those of the difference (XOR) of two codes, which
    /// are the differences of the parities.
    #[inline]
    pub(crate) fn of(&self, word: impl Fn(usize) -> u64) -> u64 {
        let parity = |&(place, bits): &(usize, u64)| u64::from((word(place) & bits).count_ones() % 2);
        (0..).zip(&self.sets).fold(0, |all, (number, set)| all | parity(set) << number)
    }
}

/// Computes a word from a code.
pub(crate) type ComputedWord<'a> = &'a dyn Fn(&[u64]) -> u64;

/// Codes with their places in the input. If `places` is `None`, the codes are the whole input in order.
#[derive(Clone, Copy)]
pub(crate) struct PlacedCodes<'a> {
    pub(crate) codes: CodeSlice<'a>,
    pub(crate) places: Option<&'a [u32]>,
}

impl PlacedCodes<'_> {
    /// Calls a function with each code and its place.
    fn each(&self, heartbeat: &mut dyn Heartbeat, mut take: impl FnMut(&[u64], u32)) {
        let width = self.codes.width();
        for (number, chunk) in self.codes.words().chunks(STRIDE * width).enumerate() {
            heartbeat.beat();
            for (row, code) in (number * STRIDE..).zip(chunk.chunks_exact(width)) {
                take(code, self.places.map_or(row as u32, |places| places[row]));
            }
        }
    }

    /// Sorts one word of each code, and the places, by the number of the code. Returns false if more than
    /// `most` rows have the same number, without having sorted them.
    fn sort(
        self,
        word: usize,
        number: impl Fn(&[u64]) -> u32,
        most: usize,
        sorted: SortedRows<'_>,
        heartbeat: &mut dyn Heartbeat,
    ) -> bool {
        let SortedRows { starts, values, places } = sorted;
        self.each(heartbeat, |code, _| starts[number(code) as usize + 2] += 1);
        if starts[2..].iter().any(|&rows| rows as usize > most) {
            return false;
        }
        for number in 2..starts.len() - 1 {
            starts[number] += starts[number - 1];
        }
        self.each(heartbeat, |code, place| {
            let next = &mut starts[number(code) as usize + 1];
            values[*next as usize] = code[word];
            places[*next as usize] = place;
            *next += 1;
        });
        true
    }
}

/// Where [`PlacedCodes::sort`] puts rows.
struct SortedRows<'a> {
    /// Zeros at first, except that index 1 has the index at which the first number begins.
    ///
    /// The rows of number n are counted at index n + 2. Summing up puts the beginning of n at index n + 1.
    /// That index advances with each row of n, up to the beginning of n + 1.
    starts: &'a mut [u32],
    values: &'a mut [u64],
    places: &'a mut [u32],
}

/// One word of each code, in the order of buckets, and the places of the codes in the input.
#[derive(Default)]
pub(crate) struct RowBuckets {
    pub(crate) values: Vec<u64>,
    pub(crate) places: Vec<u32>,
    /// The index at which each bucket begins, followed by the index at which the last bucket ends.
    starts: Vec<u32>,
    /// The number of rows in the fullest bucket.
    pub(crate) largest: usize,
}

impl RowBuckets {
    /// The range of a bucket's rows in `values` and `places`.
    pub(crate) fn range(&self, bucket: u32) -> Range<usize> {
        let bucket = bucket as usize;
        self.starts[bucket] as usize..self.starts[bucket + 1] as usize
    }

    /// The bucket of the row at this index, found by a binary search.
    pub(crate) fn bucket_at(&self, index: usize) -> u32 {
        let begun = self.starts.partition_point(|&start| start as usize <= index) as u32;
        debug_assert!(self.range(begun - 1).contains(&index), "the last bucket that has begun is not empty");
        begun - 1
    }

    /// The whole codes of the rows at these indexes. Codes of one word need not be copied from the input.
    pub(crate) fn codes(
        &self,
        range: Range<usize>,
        input: CodeSlice<'_>,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Cow<'_, [u64]>, OutOfMemory> {
        if input.width() == 1 {
            return Ok(Cow::Borrowed(&self.values[range]));
        }
        let places = self.places[range.clone()].iter().copied();
        Ok(Cow::Owned(input.gather(places, range.len(), heartbeat)?))
    }

    /// Replaces the rows by other rows, sorted by the chosen bits of one of their words, or of another word
    /// that a function computes from a code. The order of rows in a bucket is kept.
    ///
    /// Many rows are first sorted into groups of buckets, and then those of each group into its buckets. Both
    /// steps write to few places in memory, which the processor's cache has room for.
    pub(crate) fn fill(
        &mut self,
        rows: PlacedCodes<'_>,
        word: usize,
        computed: Option<ComputedWord<'_>>,
        bits: &BitChoice,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        let count = rows.codes.len();
        let buckets = bits.buckets() as usize;
        #[cfg(test)]
        tests::SORTED.with(|sorted| sorted.set(sorted.get() + count));
        // The rows of an earlier call are overwritten, so memory is only reserved for additional rows.
        let more = count.saturating_sub(self.values.len());
        reserve(&mut self.values, more)?;
        reserve(&mut self.places, more)?;
        self.values.resize(count, 0);
        self.places.resize(count, 0);
        let Self { values, places, starts, .. } = self;
        starts.clear();
        fill(starts, 0, buckets + 2, heartbeat)?;
        let of_group = bits.mask.count_ones().div_ceil(2);
        let mut groups = filled(0, (buckets >> of_group) + 2, heartbeat)?;
        let bucket_of = |code: &[u64]| bits.of(computed.map_or(code[word], |computed| computed(code)));
        let group_of = |code: &[u64]| bucket_of(code) >> of_group;
        let most = count / MIN_GROUPS;
        // The bucket in a group follows from the word itself.
        let are_many = computed.is_none() && count.min(4 * buckets) >= MANY;
        let in_groups = SortedRows { starts: &mut groups, values, places };
        if are_many && rows.sort(word, group_of, most, in_groups, heartbeat) {
            let mut group_values = Vec::new();
            let mut group_places = Vec::new();
            for (group, range) in groups.windows(2).take(buckets >> of_group).enumerate() {
                let range = range[0] as usize..range[1] as usize;
                group_values.clear();
                group_places.clear();
                extend(&mut group_values, &values[range.clone()])?;
                extend(&mut group_places, &places[range.clone()])?;
                let rows =
                    PlacedCodes { codes: CodeSlice::new(&group_values, 1), places: Some(&group_places) };
                let starts = &mut starts[group << of_group..][..(1 << of_group) + 2];
                starts[1] = range.start as u32;
                let in_group = |code: &[u64]| bits.of(code[0]) & ((1 << of_group) - 1);
                let in_buckets = SortedRows { starts, values, places };
                rows.sort(0, in_group, count, in_buckets, heartbeat);
            }
        } else {
            let in_buckets = SortedRows { starts, values, places };
            rows.sort(word, bucket_of, count, in_buckets, heartbeat);
        }
        starts.truncate(buckets + 1); // The last one has counted the rows of the last bucket.
        debug_assert!(starts.is_sorted(), "buckets begin in their order");
        self.largest = starts.windows(2).map(|starts| starts[1] - starts[0]).max().unwrap_or(0) as usize;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// The number of rows that this thread has sorted into buckets, so that tests measure work, not time.
        pub(crate) static SORTED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn many_rows_are_sorted_as_by_a_stable_sort() {
        let seed = 0x9E37_79B9_7F4A_7C15_u64;
        for (mask, spread) in
            [(0xFFFF_F000, u64::MAX), (0x0F0F_0F0F, u64::MAX), (0xFFFF, 0xFF00), (0, 0), (1 << 63, 1 << 63)]
        {
            let code = |row: u64| [row, row.wrapping_mul(seed).rotate_left(29) & spread];
            let codes: Vec<u64> = (0..MANY as u64 + 7).flat_map(code).collect();
            let bits = BitChoice::of_mask(mask);
            let rows = PlacedCodes { codes: CodeSlice::new(&codes, 2), places: None };
            let mut sorted = RowBuckets::default();
            sorted.fill(rows, 1, None, &bits, &mut || {}).unwrap();
            let mut expected: Vec<(u64, u32)> = codes.chunks(2).map(|code| code[1]).zip(0..).collect();
            expected.sort_by_key(|&(value, _)| bits.of(value));
            assert!(
                sorted.values.iter().copied().zip(sorted.places.iter().copied()).eq(expected),
                "{mask:x}"
            );
            let ends: Vec<usize> = (0..bits.buckets()).map(|bucket| sorted.range(bucket).len()).collect();
            assert_eq!((ends.iter().sum(), ends.iter().max()), (codes.len() / 2, Some(&sorted.largest)));
        }
    }
}
