//! Values sorted into buckets: values that agree in some chosen bits are next to each other.

use crate::code::CodeSlice;
use base::{Heartbeat, OutOfMemory, reserve};
use std::borrow::Cow;
use std::ops::Range;

/// How many values are sorted between two heartbeats.
const STRIDE: usize = 1 << 16;

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

/// Codes with their places in the input. If `places` is `None`, the codes are the whole input in order.
#[derive(Clone, Copy)]
pub(crate) struct PlacedCodes<'a> {
    pub(crate) codes: CodeSlice<'a>,
    pub(crate) places: Option<&'a [u32]>,
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

    /// The whole codes of the rows at these indexes. Codes of one word need not be copied from the input.
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

    /// Replaces the rows by other rows, sorted by the chosen bits of one of their words. The order of rows in
    /// a bucket is kept.
    pub(crate) fn fill<'a>(
        &mut self,
        rows: PlacedCodes<'a>,
        word: usize,
        bits: &BitChoice,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        // The rows of bucket b are counted at index b + 2. Summing up puts the beginning of bucket b at index
        // b + 1. That number advances as the bucket is filled, up to the beginning of bucket b + 1.
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
        // The rows of an earlier call are overwritten, so memory is only reserved for additional rows.
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
