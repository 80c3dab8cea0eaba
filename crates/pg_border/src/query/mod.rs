//! Runs queries with the rights of the calling user.

pub use crate::extension::{code_column, corpus};

use super::report::SqlError;
use super::varlena::c_string;
use base::{OutOfMemory, extend};
use pgrx::spi::Spi;
use pgrx::{PgMemoryContexts, pg_sys};
use std::ffi::{CStr, CString};

/// Runs statements, which are given in parts. Returns the first column of the last statement's first row, if
/// it is not NULL.
pub fn run(statements: &[&[u8]]) -> Result<Option<CString>, OutOfMemory> {
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

/// Raises the error of a command that a transaction cannot execute because it may only read.
pub fn prevent_if_read_only(command: &CStr) {
    // SAFETY: the argument is a C string.
    unsafe { pg_sys::PreventCommandIfReadOnly(command.as_ptr()) };
}

/// The number of bytes to fetch at once, estimated from the sizes of earlier rows.
const BATCH_BYTES: usize = 4 << 20;

/// A cursor of a query that only reads. It sees the same rows as the calling query.
pub(crate) struct QueryCursor {
    pub(crate) portal: pg_sys::Portal,
    batch: *mut pg_sys::SPITupleTable,
    /// The rows of the current batch.
    rows: usize,
}

impl QueryCursor {
    /// # Safety
    /// SPI must be connected, and stay connected; the plan must be for a query that returns rows and has no
    /// parameters.
    pub(crate) unsafe fn open(plan: pg_sys::SPIPlanPtr) -> Self {
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

    /// Calls `take` for each row. The memory in which it runs is freed after each row. At most `most` rows
    /// are fetched at once; fewer if they are large, as rows with values that a view computes.
    pub(crate) fn each_row(
        mut self,
        most: i64,
        mut take: impl FnMut(QueryRow<'_>) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let mut scratch = PgMemoryContexts::new("simhash_pg row of a query");
        let mut count = 1;
        while self.fetch(count) {
            let mut bytes = 0;
            for number in 0..self.rows {
                // SAFETY: the batch has this row. Nothing in the memory context is used after `take`.
                unsafe {
                    let tuple = *(*self.batch).vals.add(number);
                    let row = QueryRow { tuple: &*tuple, columns: (*self.batch).tupdesc };
                    scratch.switch_to(|_| take(row))?;
                    pg_sys::MemoryContextReset(scratch.value());
                    bytes += (*tuple).t_len as usize;
                }
            }
            count = ((BATCH_BYTES * self.rows / bytes) as i64).min(2 * count).clamp(1, most);
        }
        Ok(())
    }
}

/// A row of a cursor.
#[derive(Clone, Copy)]
pub(crate) struct QueryRow<'a> {
    tuple: &'a pg_sys::HeapTupleData,
    columns: pg_sys::TupleDesc,
}

impl<'a> QueryRow<'a> {
    /// The value of a column, counted from 1; `None` if it is NULL.
    pub(crate) fn value(self, column: i32) -> Option<pg_sys::Datum> {
        let tuple = (&raw const *self.tuple).cast_mut();
        let mut is_null = false;
        // SAFETY: it is a row with these columns. SPI returns NULL for a column that does not exist.
        let value = unsafe { pg_sys::SPI_getbinval(tuple, self.columns, column, &raw mut is_null) };
        (!is_null).then_some(value)
    }

    /// The bytes of a text, in the current memory context if it is toasted.
    ///
    /// # Safety
    /// The column must be of type text.
    pub(crate) unsafe fn text(self, column: i32) -> Option<&'a [u8]> {
        let text = self.value(column)?.cast_mut_ptr();
        // SAFETY: the value is a text, as the caller promises. Its memory is freed after this row.
        Some(unsafe { pgrx::varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed(text)) })
    }
}
