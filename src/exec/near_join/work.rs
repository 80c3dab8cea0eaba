//! What is counted of a join, which EXPLAIN shows with ANALYZE.

use std::ops::{Index, IndexMut};

/// What is counted of a join.
#[derive(Clone, Copy)]
pub(super) enum Count {
    /// Processes that divide the sides for each other; 0 if the plan has none.
    Processes,
    /// Partitions of both sides that were joined; 0 if the sides were not divided. EXPLAIN: Batches.
    Partitions,
    /// How often rows in memory were searched for pairs.
    Searches,
    /// The number of the condition whose codes led in the last search.
    Leading,
    Comparisons,
    NearPairs,
    /// Pairs that do not satisfy the other conditions of the join.
    Unjoined,
    /// Rows that do not satisfy the conditions after the join.
    Filtered,
    /// Words that were in temporary files at the same time.
    Disk,
    /// Bytes of memory at the same time.
    Memory,
}

/// Counts of what a join has done.
#[derive(Clone, Copy, Default)]
pub(super) struct JoinWork(pub(super) [u64; JoinWork::COUNTS]);

impl Index<Count> for JoinWork {
    type Output = u64;

    fn index(&self, count: Count) -> &u64 {
        &self.0[count as usize]
    }
}

impl IndexMut<Count> for JoinWork {
    #[inline]
    fn index_mut(&mut self, count: Count) -> &mut u64 {
        &mut self.0[count as usize]
    }
}

impl JoinWork {
    pub(super) const COUNTS: usize = Count::Memory as usize + 1;

    /// Notes that so much is taken at the same time.
    pub(super) fn peak(&mut self, count: Count, value: u64) {
        self[count] = self[count].max(value);
    }

    /// Adds the work of another process.
    pub(super) fn add(&mut self, other: &Self) {
        let peaks =
            [Count::Disk, Count::Memory, Count::Leading].map(|count| (count, self[count].max(other[count])));
        self.0.iter_mut().zip(other.0).for_each(|(count, other)| *count += other);
        peaks.into_iter().for_each(|(count, peak)| self[count] = peak);
    }
}
