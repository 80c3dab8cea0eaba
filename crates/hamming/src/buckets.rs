//! Values sorted by some of their bits, so that values which agree there lie together.

use limits::{Heartbeat, OutOfMemory, reserve};
use std::ops::Range;

/// Values that are put into buckets between two heartbeats.
const STRIDE: usize = 1 << 16;

/// Some of the 64 bits: at most 31, in as few runs as can be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bits {
    pub(crate) mask: u64,
    /// How far the first run is shifted to close up with those before it, and where it is then. Most have no
    /// other.
    first: (u32, u32),
    others: Vec<(u32, u32)>,
}

impl Bits {
    /// Those that are set.
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

    /// How many values the bits can have.
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

/// Values with the places that they are known by; without, their own are meant.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) values: &'a [u64],
    pub(crate) places: Option<&'a [u32]>,
}

/// The values in the order of their buckets, with their places.
#[derive(Default)]
pub(crate) struct Buckets {
    pub(crate) values: Vec<u64>,
    pub(crate) places: Vec<u32>,
    /// Where each bucket begins; the last ends where a further one would begin.
    starts: Vec<u32>,
    /// How many rows the fullest bucket has.
    pub(crate) largest: usize,
}

impl Buckets {
    /// Where the rows of a bucket are.
    pub(crate) fn range(&self, bucket: u32) -> Range<usize> {
        let bucket = bucket as usize;
        self.starts[bucket] as usize..self.starts[bucket + 1] as usize
    }

    /// Some of the rows.
    pub(crate) fn rows(&self, range: Range<usize>) -> Placed<'_> {
        Placed { values: &self.values[range.clone()], places: Some(&self.places[range]) }
    }

    /// Takes these rows in place of those that it has. Those of a bucket stay in their order.
    pub(crate) fn fill(
        &mut self,
        rows: Placed<'_>,
        bits: &Bits,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<(), OutOfMemory> {
        // Counts are kept two places on, so that what counts becomes where a bucket begins, then where it
        // ends.
        self.starts.clear();
        reserve(&mut self.starts, bits.buckets() as usize + 2)?;
        self.starts.resize(bits.buckets() as usize + 2, 0);
        for values in rows.values.chunks(STRIDE) {
            heartbeat.beat();
            for &value in values {
                self.starts[bits.of(value) as usize + 2] += 1;
            }
        }
        self.largest = self.starts.iter().copied().max().unwrap_or(0) as usize;
        for bucket in 2..self.starts.len() {
            self.starts[bucket] += self.starts[bucket - 1];
        }
        // What was there is overwritten.
        let more = rows.values.len().saturating_sub(self.values.len());
        reserve(&mut self.values, more)?;
        reserve(&mut self.places, more)?;
        self.values.resize(rows.values.len(), 0);
        self.places.resize(rows.values.len(), 0);
        for (chunk, values) in rows.values.chunks(STRIDE).enumerate() {
            heartbeat.beat();
            for (row, &value) in (chunk * STRIDE..).zip(values) {
                let next = &mut self.starts[bits.of(value) as usize + 1];
                self.values[*next as usize] = value;
                self.places[*next as usize] = rows.places.map_or(row as u32, |places| places[row]);
                *next += 1;
            }
        }
        Ok(())
    }
}
