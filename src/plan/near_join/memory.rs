//! How the memory of a join is divided.

use crate::pg::settings::hash_memory_limit;
use hamming::near_pairs::MAX_SEGMENT_BITS;
use pgrx::pg_sys;

/// The divisor for the places where buckets begin, on both sides together.
const PART_FOR_BUCKETS: usize = 16;

/// The divisor for the files that are open.
const PART_FOR_FILES: usize = 8;

/// The most bytes of a side into which rows are divided.
const MOST_FOR_PLANNED_PARTITION: usize = 3 << 20;

/// The least and the most bytes that a sample of a side takes, for which nothing else is in memory. A smaller
/// sample overestimates how many rows are near each other.
const LEAST_FOR_SAMPLE: usize = 1 << 16;
const MOST_FOR_SAMPLE: usize = 1 << 20;

/// The divisor for the pairs that are found before they are returned, and the least and the largest number of
/// them. More pairs would not fit into the processor's cache.
const PART_FOR_PAIRS: usize = 16;
const MIN_PAIRS: usize = 1 << 12;
const MAX_PAIRS: usize = 1 << 16;

/// The least and the largest number of files for parts. The least number is used however little memory there
/// is.
const MIN_FILES: usize = 8;
const MAX_FILES: usize = 256;

/// The most bytes of the rows of a side: the place of every word fits into 32 bits.
const MOST_FOR_ROWS: usize = (1 << 32) * size_of::<u64>() / 2;

/// Bytes of memory that a file takes: a page that is read or written, and words that are not written yet.
pub(crate) const OF_FILE: usize = pg_sys::BLCKSZ as usize / 4 * 5;

/// Bytes that the join may take.
fn of_join() -> usize {
    hash_memory_limit().min(MOST_FOR_ROWS)
}

/// Bytes for the rows of the inner side that are in memory at the same time.
pub(crate) fn of_inner() -> usize {
    of_join() / 2
}

/// Bytes for outer rows that are in memory at the same time, or for rows of either side of a partition.
pub(crate) fn of_load() -> usize {
    of_join() / 8 * 3
}

/// Bytes of a side into which rows are divided. Larger parts would not fit into the processor's cache. If
/// memory has less room, reading the outer rows of a part for each of up to four loads of inner rows takes
/// less time than dividing the part into more files.
pub(crate) fn of_planned_partition() -> usize {
    (4 * of_load()).min(MOST_FOR_PLANNED_PARTITION)
}

/// Bytes for the sample of each side by which a division is planned.
pub(crate) fn of_sample() -> usize {
    (of_join() / 8).clamp(LEAST_FOR_SAMPLE, MOST_FOR_SAMPLE)
}

/// How many pairs may be found before they are returned.
pub(crate) fn pairs() -> usize {
    (of_join() / PART_FOR_PAIRS / size_of::<(u32, u32)>()).clamp(MIN_PAIRS, MAX_PAIRS)
}

/// Into how many files a side is divided at a time, a power of two.
pub(crate) fn files() -> usize {
    (of_join() / PART_FOR_FILES / (2 * OF_FILE)).clamp(MIN_FILES, MAX_FILES).next_power_of_two()
}

/// The bits of the widest segment by which codes are sorted into buckets.
pub(crate) fn widest_segment() -> u32 {
    let buckets = of_join() / PART_FOR_BUCKETS / 2 / size_of::<u32>();
    buckets.max(2).ilog2().min(MAX_SEGMENT_BITS)
}
