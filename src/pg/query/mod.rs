//! Runs queries with the rights of the calling user.

pub(crate) mod code_column;
pub(crate) mod corpus;

use super::varlena::c_string;
use base::{OutOfMemory, extend};
use pgrx::pg_sys;
use pgrx::spi::Spi;
use std::ffi::{CStr, CString};

/// Runs statements, which are given in parts. Returns the first column of the last statement's first row, if
/// it is not NULL.
pub(crate) fn run(statements: &[&[u8]]) -> Result<Option<CString>, OutOfMemory> {
    let statements = c_string(statements);
    // SAFETY: SPI is connected. It keeps the rows of a query until it is disconnected.
    Spi::connect(|_| unsafe {
        pg_sys::SPI_execute(statements.cast_mut_ptr(), false, 0);
        let rows = pg_sys::SPI_tuptable;
        if rows.is_null() || pg_sys::SPI_processed == 0 {
            return Ok(None);
        }
        let value = pg_sys::SPI_getvalue(*(*rows).vals, (*rows).tupdesc, 1);
        if value.is_null() {
            return Ok(None);
        }
        let mut copy = Vec::new();
        extend(&mut copy, CStr::from_ptr(value).to_bytes_with_nul())?;
        Ok(Some(CString::from_vec_with_nul_unchecked(copy)))
    })
}

/// A cursor of a query that only reads. It sees the same rows as the calling query.
struct QueryCursor {
    portal: pg_sys::Portal,
    batch: *mut pg_sys::SPITupleTable,
    /// The rows of the current batch.
    rows: usize,
}

impl QueryCursor {
    /// # Safety
    /// SPI must be connected, and stay connected; the plan must be for a query that returns rows and has no
    /// parameters.
    unsafe fn open(plan: pg_sys::SPIPlanPtr) -> Self {
        // SAFETY: as the caller promises.
        let portal = unsafe {
            pg_sys::SPI_cursor_open(std::ptr::null(), plan, std::ptr::null_mut(), std::ptr::null(), true)
        };
        Self { portal, batch: std::ptr::null_mut(), rows: 0 }
    }

    /// Fetches the next batch. Returns false at the end of the rows, where the cursor is closed.
    fn fetch(&mut self, count: i64) -> bool {
        // SAFETY: the cursor is open until its end is reached. SPI keeps the rows of a fetch until they are
        // freed.
        unsafe {
            if !self.batch.is_null() {
                pg_sys::SPI_freetuptable(self.batch);
            }
            pg_sys::SPI_cursor_fetch(self.portal, true, count);
            (self.rows, self.batch) = (pg_sys::SPI_processed as usize, pg_sys::SPI_tuptable);
            if self.rows == 0 {
                pg_sys::SPI_freetuptable(self.batch);
                pg_sys::SPI_cursor_close(self.portal);
            }
        }
        self.rows > 0
    }

    /// The value of a column, counted from 1, and whether it is NULL.
    fn value(&self, row: usize, column: i32) -> (pg_sys::Datum, bool) {
        assert!(row < self.rows, "a row of the batch");
        let mut is_null = false;
        // SAFETY: the batch has this row. SPI returns NULL for a column that does not exist.
        let value = unsafe {
            let tuple = *(*self.batch).vals.add(row);
            pg_sys::SPI_getbinval(tuple, (*self.batch).tupdesc, column, &raw mut is_null)
        };
        (value, is_null)
    }
}
