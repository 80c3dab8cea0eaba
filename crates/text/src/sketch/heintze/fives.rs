//! The sequences of five letters in a text, in the order of the values to which their keys are scattered.

use super::letters::Letters;
use crate::sketch::sort::sort_values;
use base::{Heartbeat, OutOfMemory, collect, reserve};
use std::iter::repeat_n;

/// Spreads the keys; odd, so that different keys are scattered to different values.
const SCATTER: u32 = 0x9e37_79b1;

/// What a key is scattered to.
pub(super) fn scatter(key: u32) -> u32 {
    key.wrapping_mul(SCATTER)
}

/// Sequences of five letters, sorted.
pub(super) struct Fives {
    /// The scattered key in the upper half, where the five letters begin in the lower. The sign bit is turned
    /// over, so that signed numbers have the order of the unsigned.
    sorted: Vec<i64>,
}

impl Fives {
    /// The sequences whose scattered key is below the bound, or `None` if they are `most` or more.
    pub(super) fn below(
        bound: u64,
        most: usize,
        letters: &Letters,
        heartbeat: &mut dyn Heartbeat,
    ) -> Result<Option<Self>, OutOfMemory> {
        let mut sorted = Vec::new();
        reserve(&mut sorted, most)?;
        letters.each_key(heartbeat, |start, key, _| {
            let scattered = u64::from(scatter(key));
            if scattered < bound && sorted.len() < most {
                sorted.push((scattered << u32::BITS | start as u64) as i64 ^ i64::MIN);
            }
        });
        if sorted.len() == most {
            return Ok(None);
        }
        sort_values(&mut sorted, heartbeat);
        Ok(Some(Self { sorted }))
    }

    /// The groups of equal fives in the order of their scattered keys: groups of one, and groups of several.
    ///
    /// What may be the beginning of a group is written down, but stays only if it is one; likewise the
    /// groups. Branches would often be mispredicted.
    pub(super) fn groups(&self) -> Result<[Vec<EqualFives>; 2], OutOfMemory> {
        let places = self.sorted.len() + 1;
        let mut firsts = collect(repeat_n(0, places), places)?;
        let mut count = 0;
        let mut last = None;
        for (index, five) in self.sorted.iter().enumerate() {
            let key = Some(five >> u32::BITS);
            firsts[count] = index;
            count += usize::from(key != last);
            last = key;
        }
        firsts[count] = self.sorted.len();
        let empty = || collect(repeat_n(EqualFives(0), count + 1), count + 1);
        let mut groups = [empty()?, empty()?];
        let mut counts = [0; 2];
        for ends in firsts[..=count].windows(2) {
            let group = EqualFives::new(ends[1] - ends[0], ends[0]);
            let kind = usize::from(group.len() > 1);
            groups[kind][counts[kind]] = group;
            counts[kind] += 1;
        }
        for (groups, count) in groups.iter_mut().zip(counts) {
            groups.truncate(count);
        }
        Ok(groups)
    }

    /// The scattered key that the fives of a group have in common, and where each begins in the text.
    pub(super) fn of(&self, group: EqualFives) -> (u32, impl Iterator<Item = usize>) {
        let fives = &self.sorted[group.first()..][..group.len()];
        let scattered = ((fives[0] ^ i64::MIN) as u64 >> u32::BITS) as u32;
        (scattered, fives.iter().map(|&five| five as u32 as usize))
    }
}

/// Equal fives: their number, above the index of the first in the order of fives. So groups are sorted as
/// numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EqualFives(pub(super) i64);

impl EqualFives {
    fn new(len: usize, first: usize) -> Self {
        Self((len << u32::BITS | first) as i64)
    }

    pub(super) fn len(self) -> usize {
        (self.0 >> u32::BITS) as usize
    }

    fn first(self) -> usize {
        self.0 as u32 as usize
    }
}
