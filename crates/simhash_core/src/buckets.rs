//! Rows sorted by a run of the bits of their values, so that those which agree there lie together.

use crate::error::{OutOfMemory, reserve};
use std::ops::Range;

/// Rows between two calls of the heartbeat.
pub(crate) const STRIDE: usize = 1 << 20;

/// Some of the 64 bits, from the lowest on: at most 31.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BitRun {
    pub(crate) first: u32,
    pub(crate) length: u32,
}

impl BitRun {
    /// How many values the bits can have.
    pub(crate) fn buckets(self) -> u32 {
        1 << self.length
    }

    /// The bits of a value: the number of its bucket.
    pub(crate) fn of(self, value: u64) -> u32 {
        (value >> self.first) as u32 & (self.buckets() - 1)
    }
}

/// The values in the order of their buckets, with their places among those that were given.
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
    pub(crate) fn rows(&self, bucket: u32) -> Range<usize> {
        let bucket = bucket as usize;
        self.starts[bucket] as usize..self.starts[bucket + 1] as usize
    }

    /// Takes these values in place of those that it has. Those of a bucket stay in their order.
    pub(crate) fn fill(
        &mut self,
        values: &[u64],
        bits: BitRun,
        heartbeat: &mut dyn FnMut(),
    ) -> Result<(), OutOfMemory> {
        // Counts are kept two places on, so that what counts becomes where a bucket begins, then where it ends.
        self.starts.clear();
        reserve(&mut self.starts, bits.buckets() as usize + 2)?;
        self.starts.resize(bits.buckets() as usize + 2, 0);
        for values in values.chunks(STRIDE) {
            heartbeat();
            for &value in values {
                self.starts[bits.of(value) as usize + 2] += 1;
            }
        }
        self.largest = self.starts.iter().copied().max().unwrap_or(0) as usize;
        for bucket in 2..self.starts.len() {
            self.starts[bucket] += self.starts[bucket - 1];
        }
        // What was there is overwritten.
        let more = values.len().saturating_sub(self.values.len());
        reserve(&mut self.values, more)?;
        reserve(&mut self.places, more)?;
        self.values.resize(values.len(), 0);
        self.places.resize(values.len(), 0);
        for (chunk, values) in values.chunks(STRIDE).enumerate() {
            heartbeat();
            for (place, &value) in values.iter().enumerate() {
                let next = &mut self.starts[bits.of(value) as usize + 1];
                self.values[*next as usize] = value;
                self.places[*next as usize] = (chunk * STRIDE + place) as u32;
                *next += 1;
            }
        }
        Ok(())
    }
}
