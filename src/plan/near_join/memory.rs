//! How the memory of a join is divided.

use super::rows::RowStore;
use hamming::near_pairs::MAX_SEGMENT_BITS;
use pgrx::pg_sys;

/// The part in which both sides may note where their buckets begin.
const PART_FOR_BUCKETS: usize = 16;

/// The part for the files that are open.
const PART_FOR_FILES: usize = 8;

/// A sample of a side takes so much at most.
const MOST_FOR_SAMPLE: usize = 1 << 20;

/// The least number of pairs for which there is room.
const MIN_PAIRS: usize = 1 << 12;

/// There are so many files of parts at least, if they are needed, however little memory there is; and at
/// most.
const MIN_FILES: usize = 4;
const MAX_FILES: usize = 256;

/// Bytes that a join may take.
fn of_join() -> usize {
    // SAFETY: settings.
    (unsafe { pg_sys::get_hash_memory_limit() }).min(RowStore::MAX_BYTES)
}

/// Bytes of the rows of the inner side that are in memory at a time.
pub(super) fn of_inner() -> usize {
    of_join() / 2
}

/// Bytes of a batch of the outer side.
pub(super) fn of_batch() -> usize {
    of_join() / 4
}

/// Bytes of a side of a part, if both sides are divided.
pub(super) fn of_part() -> usize {
    of_join() / 8 * 3
}

/// Bytes of the rows of a side by which a division is planned.
pub(super) fn of_sample() -> usize {
    (of_join() / 8).min(MOST_FOR_SAMPLE)
}

/// The number of pairs that are found at a time.
pub(super) fn pairs() -> usize {
    let memory = of_join() / 4 - of_join() / PART_FOR_BUCKETS;
    (memory / size_of::<(u32, u32)>()).max(MIN_PAIRS)
}

/// How many files of this size may be open for each side.
pub(super) fn files(bytes: usize) -> usize {
    (of_join() / PART_FOR_FILES / (2 * bytes)).clamp(MIN_FILES, MAX_FILES)
}

/// The bits of the widest segment by which codes are sorted into buckets.
pub(super) fn widest_segment() -> u32 {
    let buckets = of_join() / PART_FOR_BUCKETS / 2 / size_of::<u32>();
    buckets.max(2).ilog2().min(MAX_SEGMENT_BITS)
}
