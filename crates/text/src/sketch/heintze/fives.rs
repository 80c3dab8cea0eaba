//! The sequences of five letters in a text, in the order of their scattered keys.

use super::letters::Letters;
use crate::sketch::sort::sort_values;
use base::{Heartbeat, OutOfMemory, collect, reserve};
use std::iter::repeat_n;

/// The factor that scatters keys. It is odd, so that different keys become different values.
const SCATTER: u32 = 0x9e37_79b1;

/// The value to which a key is scattered.
pub(super) fn scatter(key: u32) -> u32 {
    key.wrapping_mul(SCATTER)
}

/// Sequences of five letters ("fives"), sorted.
pub(super) struct Fives {
    /// The upper half is the scattered key, and the lower half the place where the five letters begin. The
    /// sign bit is inverted, so that signed numbers have the order of unsigned ones.
    sorted: Vec<i64>,
}

impl Fives {
    /// The sequences whose scattered key is below the bound; `None` if there are `most` or more.
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

    /// The groups of equal fives in the order of their scattered keys: groups of one five, and groups of
    /// several.
    ///
    /// Every place is written as the beginning of a group, but overwritten by the next one unless it is one;
    /// groups are written alike. Branches would often be mispredicted.
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

    /// The common scattered key of the fives in a group, and the place in the text of each of them.
    pub(super) fn of(&self, group: EqualFives) -> (u32, impl Iterator<Item = usize>) {
        let fives = &self.sorted[group.first()..][..group.len()];
        let scattered = ((fives[0] ^ i64::MIN) as u64 >> u32::BITS) as u32;
        (scattered, fives.iter().map(|&five| five as u32 as usize))
    }
}

/// A group of equal fives: the upper half is their number, and the lower half the index of the first one. So
/// groups are sorted as numbers.
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
