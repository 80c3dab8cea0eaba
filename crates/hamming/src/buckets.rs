//! Values sorted by some of their bits, so that values which agree there lie together.

use crate::code::CodeSlice;
use base::{Heartbeat, OutOfMemory, reserve};
use std::borrow::Cow;
use std::ops::Range;

/// Values that are put into buckets between two heartbeats.
const STRIDE: usize = 1 << 16;

/// A choice of at most 31 of the 64 bits, kept as runs of neighbouring bits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BitChoice {
    pub(crate) mask: u64,
    /// The first run: how far it is shifted down to close the gap below it, and its mask after the shift.
    /// Most choices have no other run.
    first: (u32, u32),
    /// The other runs, in the same form.
    others: Vec<(u32, u32)>,
}

impl BitChoice {
    /// The bits that are set in the mask.
    pub(crate) fn of_mask(mask: u64) -> Self {
        let (mut runs, mut rest, mut closed_up) = (Vec::new(), mask, 0);
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

    /// The number of values that the bits can have.
    pub(crate) fn buckets(&self) -> u32 {
        1 << self.mask.count_ones()
    }

    /// The bits of a value, closed up: the number of its bucket.
    #[inline]
    pub(crate) fn of(&self, value: u64) -> u32 {
        let of_run = |(shift, run)| (value >> shift) as u32 & run;
        self.others.iter().fold(of_run(self.first), |bucket, &run| bucket | of_run(run))
    }
}

/// Codes, each with its place in the input. Without `places` the codes are the input itself, and each has
/// its own place.
#[derive(Clone, Copy)]
pub(crate) struct PlacedCodes<'a> {
    pub(crate) codes: CodeSlice<'a>,
    pub(crate) places: Option<&'a [u32]>,
}

/// One word of each code, in the order of their buckets, with the places of the codes in the input.
#[derive(Default)]
pub(crate) struct RowBuckets {
    pub(crate) values: Vec<u64>,
    pub(crate) places: Vec<u32>,
    /// The index at which each bucket begins, and behind these the index at which the last one ends.
    starts: Vec<u32>,
    /// The number of rows in the fullest bucket.
    pub(crate) largest: usize,
}

impl RowBuckets {
    /// The indexes of a bucket's rows in `values` and `places`.
    pub(crate) fn range(&self, bucket: u32) -> Range<usize> {
        let bucket = bucket as usize;
        self.starts[bucket] as usize..self.starts[bucket + 1] as usize
    }

    /// The codes of the rows at these indexes, as the input has them. A word that is the whole code is here.
    pub(crate) fn codes(
        &self,
        range: Range<usize>,
        input: CodeSlice<'_>,
    ) -> Result<Cow<'_, [u64]>, OutOfMemory> {
        if input.width() == 1 {
            return Ok(Cow::Borrowed(&self.values[range]));
        }
        Ok(Cow::Owned(input.gather(self.places[range.clone()].iter().copied(), range.len())?))
    }

    /// Replaces the rows by these, sorted by bits of one of their words. The rows of one bucket keep their
    /// order.
    pub(crate) fn fill<'a>(
        &mut self,
        rows: PlacedCodes<'a>,
        word: usize,
        bits: &BitChoice,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        // The rows of bucket b are counted at b + 2. When the counts are summed up, b + 1 says where bucket
        // b begins. It advances while the bucket is filled, until it says where bucket b + 1 begins.
        self.starts.clear();
        reserve(&mut self.starts, bits.buckets() as usize + 2)?;
        self.starts.resize(bits.buckets() as usize + 2, 0);
        let width = rows.codes.width();
        let chunks = || rows.codes.words().chunks(STRIDE * width);
        let values = |chunk: &'a [u64]| chunk.iter().skip(word).step_by(width).copied();
        for chunk in chunks() {
            heartbeat.beat();
            for value in values(chunk) {
                self.starts[bits.of(value) as usize + 2] += 1;
            }
        }
        self.largest = self.starts.iter().copied().max().unwrap_or(0) as usize;
        for bucket in 2..self.starts.len() {
            self.starts[bucket] += self.starts[bucket - 1];
        }
        // The rows of an earlier call are overwritten, so only the difference is reserved.
        let more = rows.codes.len().saturating_sub(self.values.len());
        reserve(&mut self.values, more)?;
        reserve(&mut self.places, more)?;
        self.values.resize(rows.codes.len(), 0);
        self.places.resize(rows.codes.len(), 0);
        for (number, chunk) in chunks().enumerate() {
            heartbeat.beat();
            for (row, value) in (number * STRIDE..).zip(values(chunk)) {
                let next = &mut self.starts[bits.of(value) as usize + 1];
                self.values[*next as usize] = value;
                self.places[*next as usize] = rows.places.map_or(row as u32, |places| places[row]);
                *next += 1;
            }
        }
        Ok(())
    }
}
