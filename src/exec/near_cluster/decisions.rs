//! The keepers that are known of rows in files.

use crate::exec::rows::{RecordFormat, RecordNumber, RowFile};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use hamming::clusters::Forest;

/// How many bits of a word the number of a keeper takes.
const BITS: u32 = 32;

/// A file of rows that are not their own keepers, each with its keeper: an earlier row, which is a keeper, or
/// has one that is in the file, too.
pub(super) struct Decisions {
    file: RowFile,
}

impl Decisions {
    /// No rows.
    pub(super) fn create() -> Result<Self, SqlError> {
        Ok(Self { file: RowFile::create()? })
    }

    /// Adds a row with its keeper. There are fewer rows than 2^32.
    pub(super) fn add(&mut self, row: RecordNumber, keeper: RecordNumber) -> Result<(), SqlError> {
        debug_assert!(keeper.0 < row.0, "a keeper comes before its cluster");
        self.file.write(&[row.0 << BITS | keeper.0])
    }

    /// For each row of the forest its keeper, if each tree is a cluster, with the rows of this file.
    pub(super) fn keepers(mut self, mut forest: Forest) -> Result<Vec<u32>, SqlError> {
        self.file.read_from(0)?;
        while self.file.read_block(RecordFormat::of_columns(Some(1)), |record| {
            let [decision] = *record.columns else { return Ok(()) };
            forest.attach((decision >> BITS) as u32, decision as u32);
            Ok(())
        })? {
            check_for_interrupts();
        }
        Ok(forest.into_roots(&mut check_for_interrupts))
    }
}
