//! Rows whose keepers are not known yet, in a file.

use crate::exec::rows::{JoinSide, RecordFormat, RecordNumber, RowFile, SideSummary};
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::plan::near_join::memory;

/// A file of rows with their numbers and codes, in ascending order of the numbers.
pub(super) struct OpenRows {
    pub(super) file: RowFile,
    pub(super) summary: SideSummary,
}

impl OpenRows {
    /// No rows.
    pub(super) fn create() -> Result<Self, SqlError> {
        Ok(Self { file: RowFile::create()?, summary: SideSummary::default() })
    }

    /// Adds a row.
    pub(super) fn push(
        &mut self,
        format: RecordFormat,
        number: RecordNumber,
        codes: &[u64],
    ) -> Result<(), SqlError> {
        debug_assert!(!codes.is_empty(), "a row without a code is its own keeper");
        self.summary.note(codes)?;
        self.file.write_row(format, number, codes, &[])
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> u64 {
        self.summary.coded
    }

    /// Replaces the rows in memory by the next rows of the file. Returns whether there are any.
    pub(super) fn load(&mut self, rows: &mut JoinSide) -> Result<bool, SqlError> {
        rows.clear();
        let format = rows.format();
        while rows.bytes() < memory::of_load() {
            check_for_interrupts();
            if !self.file.read_block(format, |record| rows.push_record(record, true))? {
                break;
            }
        }
        debug_assert_eq!(rows.count, rows.rows.len(), "open rows have codes");
        Ok(rows.count > 0)
    }
}
