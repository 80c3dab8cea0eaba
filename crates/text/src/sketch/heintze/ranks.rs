//! The ranks of substrings, and the collection of the lowest ranks.

use super::letters::KEY_BITS;
use crate::sketch::sort::{drop_repeated, sort_values};
use base::{Heartbeat, OutOfMemory, collect, reserve, sort};

/// The number of bits of a count in a rank.
const COUNT_BITS: u32 = 20;
const MAX_COUNT: u32 = (1 << COUNT_BITS) - 1;
/// The number of scattered keys that count as one in a rank.
pub(super) const PLACE: u32 = 1 << (u32::BITS - KEY_BITS);

/// A rank decides whether a substring is chosen: the lowest ranks are. From the highest bits to the lowest,
/// it consists of the rank among substrings that are known to be frequent, the number of occurrences of the
/// first five letters (both up to a million), their scattered key, and the hash of the substring.
pub(super) type Rank = u128;

pub(super) fn rank(known: u32, frequency: u32, scattered: u32, hash: u64) -> Rank {
    let [known, frequency] = [known, frequency].map(|count| u64::from(count.min(MAX_COUNT)));
    let order = known << (64 - COUNT_BITS) | frequency << KEY_BITS | u64::from(scattered / PLACE);
    Rank::from(order) << 64 | Rank::from(hash)
}

/// The substrings that are known to be frequent.
pub(super) struct FrequentSubstrings {
    /// Their hashes, sorted, each with its rank; the least frequent has 1.
    ranks: Vec<(i64, u32)>,
}

impl FrequentSubstrings {
    pub(super) fn new(frequent: &[i64], heartbeat: &mut dyn Heartbeat) -> Result<Self, OutOfMemory> {
        let mut ranks: Vec<(i64, u32)> = collect(frequent.iter().copied().zip(1..), frequent.len())?;
        sort(&mut ranks, heartbeat, |&rank| rank);
        Ok(Self { ranks })
    }

    /// The rank of a substring by its hash; 0 if it is not known to be frequent.
    pub(super) fn rank(&self, hash: i64) -> u32 {
        let index = self.ranks.partition_point(|&(known, _)| known < hash);
        self.ranks.get(index).filter(|&&(known, _)| known == hash).map_or(0, |&(_, rank)| rank)
    }
}

/// Collects the lowest ranks.
pub(super) struct LowestRanks {
    size: usize,
    /// It has room for all ranks that it can ever contain.
    ranks: Vec<Rank>,
    /// Only ranks below this one can still be chosen.
    pub(super) limit: Rank,
}

impl LowestRanks {
    pub(super) fn new(size: usize) -> Result<Self, OutOfMemory> {
        let mut ranks = Vec::new();
        reserve(&mut ranks, Self::most(size))?;
        Ok(Self { size, ranks, limit: Rank::MAX })
    }

    /// The most ranks that are stored.
    fn most(size: usize) -> usize {
        3 * size + 64
    }

    pub(super) fn offer(&mut self, rank: Rank, heartbeat: &mut dyn Heartbeat) {
        if rank < self.limit {
            self.ranks.push(rank);
            if self.ranks.len() >= Self::most(self.size) {
                self.settle(heartbeat);
            }
        }
    }

    /// Drops all ranks but the lowest.
    pub(super) fn settle(&mut self, heartbeat: &mut dyn Heartbeat) {
        sort(&mut self.ranks, heartbeat, |&rank| rank);
        self.ranks.dedup();
        self.ranks.truncate(self.size);
        if self.ranks.len() == self.size {
            self.limit = self.ranks[self.size - 1];
        }
    }

    pub(super) fn into_hashes(self, heartbeat: &mut dyn Heartbeat) -> Result<Vec<i64>, OutOfMemory> {
        let count = self.ranks.len();
        let mut hashes = collect(self.ranks.into_iter().map(|rank| rank as i64), count)?;
        sort_values(&mut hashes, heartbeat);
        Ok(hashes)
    }
}

/// The substrings that were taken.
#[derive(Default)]
pub(super) struct TakenSubstrings {
    /// The hashes of substrings that are not known to be frequent.
    pub(super) hashes: Vec<i64>,
    /// The number of hashes at the beginning that are distinct and in the order of their ranks. The ranks of
    /// the others only differ in their hashes.
    pub(super) settled: usize,
    /// The ranks of substrings that are known to be frequent.
    pub(super) avoided: Vec<Rank>,
}

impl TakenSubstrings {
    /// Brings all hashes into the order of their ranks, in which hashes are unsigned.
    pub(super) fn settle(&mut self) {
        if self.hashes.len() > self.settled + 1 {
            self.hashes[self.settled..].sort_unstable_by_key(|&hash| hash as u64);
            drop_repeated(&mut self.hashes, self.settled);
        }
        self.settled = self.hashes.len();
    }
}
