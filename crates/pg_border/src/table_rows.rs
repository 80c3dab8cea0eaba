//! Looks up rows of a table during an index scan.
//!
//! PostgreSQL's executor looks up each row that an index returns. An index that does not store whole codes
//! has to look up a row before it can decide whether to return it.
//!
//! A scan runs with the privileges of whoever queries, whereas the index belongs to the owner of the table.
//! Therefore, a scan reads columns and computes nothing: neither an expression of the index nor its
//! predicate. That the query contains the same expression would be no reason to compute it. PostgreSQL
//! compares both after it has inlined functions and folded constants, so that the owner's function may have
//! disappeared from the query, and the owner can replace it between two executions. An index whose codes are
//! computed by an expression has whole codes, so that no row needs to be looked up for its code.

use super::compat::count_fetch;
use super::executor::{clear, read_columns};
use pgrx::pg_sys;

/// Looks up the codes of rows for a scan.
pub struct TableRows {
    scan: pg_sys::IndexScanDesc,
    slot: *mut pg_sys::TupleTableSlot,
    /// The column of the table with the codes, counted from 0; `None` if codes are never read.
    code: Option<usize>,
}

impl TableRows {
    /// `code` is the column of the table with the codes, counted from 0.
    ///
    /// # Safety
    /// The scan must be one that returns rows, not a bitmap, and must last as long as the result is used. The
    /// result is allocated in the current memory context, and must be freed by [`release`](Self::release).
    pub unsafe fn of(scan: pg_sys::IndexScanDesc, code: Option<usize>) -> Self {
        // SAFETY: a scan that returns rows has its table.
        let slot = unsafe { pg_sys::table_slot_create((*scan).heapRelation, std::ptr::null_mut()) };
        Self { scan, slot, code }
    }

    /// Whether the scan's snapshot sees a version of the row.
    pub fn is_seen(&self, row: pg_sys::ItemPointerData) -> bool {
        // SAFETY: the slot is for rows of the table, and is cleared.
        unsafe {
            let is_seen = self.fetch(row);
            clear(self.slot);
            is_seen
        }
    }

    /// Fetches the version of the row that the scan's snapshot sees. Returns false if it sees none.
    ///
    /// # Safety
    /// The caller must clear the slot afterwards.
    unsafe fn fetch(&self, mut row: pg_sys::ItemPointerData) -> bool {
        // SAFETY: the scan exists, and the slot is for rows of its table.
        unsafe {
            let scan = &*self.scan;
            let Some(fetch) = (*(*scan.heapRelation).rd_tableam).index_fetch_tuple else { return false };
            let (mut again, mut all_dead) = (false, false);
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                fetch(
                    scan.xs_heapfetch,
                    &raw mut row,
                    scan.xs_snapshot,
                    self.slot,
                    &raw mut again,
                    &raw mut all_dead,
                )
            })
        }
    }

    /// Reads the code of the version of the row that the scan sees. Returns `None` if the scan sees no
    /// version, or if the code is NULL.
    pub fn read<T>(&self, row: pg_sys::ItemPointerData, read: impl FnOnce(pg_sys::Datum) -> T) -> Option<T> {
        // SAFETY: the scan exists, and the slot is for rows of its table.
        unsafe {
            if !self.fetch(row) {
                return None;
            }
            count_fetch((*self.scan).indexRelation);
            let result = self.code_in_slot().map(read);
            clear(self.slot);
            result
        }
    }

    /// The code of the row in the slot; `None` if it is NULL.
    ///
    /// # Safety
    /// The slot must have a row.
    unsafe fn code_in_slot(&self) -> Option<pg_sys::Datum> {
        let column = self.code?;
        // SAFETY: the slot has a row of the table, which has this column.
        unsafe {
            debug_assert!(column < (*(*self.slot).tts_tupleDescriptor).natts as usize);
            read_columns(self.slot, column as i32 + 1);
            let is_null = *(*self.slot).tts_isnull.add(column);
            (!is_null).then(|| *(*self.slot).tts_values.add(column))
        }
    }

    /// Frees the slot at the end of the scan. After an error, PostgreSQL frees it.
    pub fn release(self) {
        // SAFETY: `of` has made it.
        unsafe { pg_sys::ExecDropSingleTupleTableSlot(self.slot) }
    }
}
