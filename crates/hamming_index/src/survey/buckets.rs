//! Finds the few rows in which trees may differ, by sums over buckets of rows.
//!
//! Rows are divided into buckets by a hash of their number. Groups of trees that have the same entries for
//! the rows of a bucket have the same sum of hashes there. Replicated databases find the keys in which copies
//! differ in this way, with several levels of buckets (the hash trees of DeCandia et al., "Dynamo: Amazon's
//! Highly Available Key-value Store", 2007). One level suffices here, because few rows differ.
//!
//! Guarantee: if a row differs between the groups during the whole time, its bucket is returned, unless two
//! sums of 64 bits are equal by chance. The buckets of rows that others change meanwhile are returned as
//! well.
//!
//! Cost: each tree is read once. There are about [`ROWS_PER_BUCKET`] rows in a bucket, as long as this takes
//! no more than [`MAX_BUCKETS`]; the two sums and the flag of each bucket then take 17 MB. If d rows differ,
//! d times as many rows as a bucket has remain to be compared, so that nothing is gained if most buckets have
//! a row that differs.

use super::{EntryHashes, hashes_of};
use crate::key::{RowId, Tree};
use crate::store::Store;
use crate::tree::Index;
use base::{OutOfMemory, filled};
use hamming::hash::scattered;

/// The number of rows of a bucket. For each row that differs, the entries of all rows of its bucket are
/// looked up, which takes half a millisecond. With smaller buckets, their sums would not fit into the
/// processor's cache: with 4 rows each, the sums of a million rows took as long as everything else.
const ROWS_PER_BUCKET: u64 = 32;
const MAX_BUCKETS: u64 = 1 << 20;

/// The buckets of rows in which groups of trees differ.
pub(super) struct DifferingBuckets {
    /// Whether there is a difference in each of the buckets.
    differs: Vec<bool>,
}

impl DifferingBuckets {
    pub(super) fn is_empty(&self) -> bool {
        !self.differs.contains(&true)
    }

    /// Whether trees may differ in this row.
    pub(super) fn has(&self, row: RowId) -> bool {
        self.differs[bucket_of(scattered(row.number()), self.differs.len())]
    }
}

/// The bucket of a row with this hash. The highest bits of the hash number the buckets.
fn bucket_of(row_hash: u64, buckets: usize) -> usize {
    ((u128::from(row_hash) * buckets as u128) >> u64::BITS) as usize
}

/// Which hash of an entry is summed.
pub(super) type HashChoice = fn(EntryHashes) -> u64;

impl<S: Store> Index<'_, S> {
    /// The buckets in which any of these groups of trees has another sum than the first group. There are
    /// about as many rows as `rows`.
    pub(super) fn differing_buckets(
        &self,
        groups: &[&[Tree]],
        hash: HashChoice,
        rows: u64,
    ) -> Result<DifferingBuckets, OutOfMemory> {
        let buckets = (rows / ROWS_PER_BUCKET).clamp(1, MAX_BUCKETS) as usize;
        let mut differs = filled(false, buckets, &mut || self.store.check_for_interrupts())?;
        let sums_of_first = self.bucket_sums(groups[0], hash, buckets)?;
        for group in &groups[1..] {
            let sums = self.bucket_sums(group, hash, buckets)?;
            for (bucket, differs) in differs.iter_mut().enumerate() {
                *differs |= sums[bucket] != sums_of_first[bucket];
            }
        }
        Ok(DifferingBuckets { differs })
    }

    /// For each bucket, the sum of the hashes of all entries of these trees.
    fn bucket_sums(&self, trees: &[Tree], hash: HashChoice, buckets: usize) -> Result<Vec<u64>, OutOfMemory> {
        let mut sums = filled(0u64, buckets, &mut || self.store.check_for_interrupts())?;
        self.each_entry(trees, &mut |key, leaf, slot| {
            let hashes = hashes_of(key, leaf, slot);
            let sum = &mut sums[bucket_of(hashes.row, buckets)];
            *sum = sum.wrapping_add(hash(hashes));
        });
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_about_the_same_number_of_rows() {
        let buckets = 100;
        let mut rows_of = vec![0; buckets];
        for page in 0..200 {
            for offset in 1..=100 {
                rows_of[bucket_of(scattered(RowId::new(page, offset).number()), buckets)] += 1;
            }
        }
        assert!(rows_of.iter().all(|rows| (100..300).contains(rows)), "{rows_of:?}");
        assert_eq!([bucket_of(u64::MAX, buckets), bucket_of(0, buckets)], [buckets - 1, 0]);
        assert_eq!([bucket_of(u64::MAX, 1), bucket_of(0, 1)], [0, 0]);
    }
}
