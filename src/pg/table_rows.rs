//! Looks up rows of a table during an index scan.
//!
//! PostgreSQL's executor looks up each row that an index returns. An index that does not store whole codes
//! has to look up a row before it can decide whether to return it.

use super::compat::count_fetch;
use pgrx::pg_sys;

/// Looks up the values of the index's first column for a scan.
pub(crate) struct TableRows {
    scan: pg_sys::IndexScanDesc,
    slot: *mut pg_sys::TupleTableSlot,
    info: *mut pg_sys::IndexInfo,
    /// Evaluates an expression that is indexed; null if the index has none.
    executor: *mut pg_sys::EState,
}

impl TableRows {
    /// # Safety
    /// The scan must be one that returns rows, not a bitmap, and must last as long as the result is used. The
    /// result is allocated in the current memory context, and must be freed by [`release`](Self::release).
    pub(crate) unsafe fn of(scan: pg_sys::IndexScanDesc) -> Self {
        // SAFETY: a scan that returns rows has its table.
        unsafe {
            let table = (*scan).heapRelation;
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            let info = pg_sys::BuildIndexInfo((*scan).indexRelation);
            let mut executor = std::ptr::null_mut();
            if !(*info).ii_Expressions.is_null() {
                executor = pg_sys::CreateExecutorState();
                (*pg_sys::MakePerTupleExprContext(executor)).ecxt_scantuple = slot;
            }
            Self { scan, slot, info, executor }
        }
    }

    /// Whether the scan's snapshot sees a version of the row.
    pub(crate) fn is_seen(&self, row: pg_sys::ItemPointerData) -> bool {
        // SAFETY: the slot is for rows of the table, and is cleared.
        unsafe {
            let is_seen = self.fetch(row);
            self.clear();
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

    /// Releases the pin on the page of the last row.
    fn clear(&self) {
        // SAFETY: the slot belongs to this struct.
        unsafe {
            if let Some(clear) = (*(*self.slot).tts_ops).clear {
                pg_sys::ffi::pg_guard_ffi_boundary(|| clear(self.slot));
            }
        }
    }

    /// Reads the value of the index's first column in the version of the row that the scan sees. Returns
    /// `None` if the scan sees no version, or if the value is NULL.
    pub(crate) fn read<T>(
        &self,
        row: pg_sys::ItemPointerData,
        read: impl FnOnce(pg_sys::Datum) -> T,
    ) -> Option<T> {
        const COLUMNS: usize = pg_sys::INDEX_MAX_KEYS as usize;
        let (mut values, mut are_null) = ([pg_sys::Datum::null(); COLUMNS], [true; COLUMNS]);
        // SAFETY: the scan exists; the slot is for rows of its table, and `info` describes its index.
        unsafe {
            if !self.fetch(row) {
                return None;
            }
            count_fetch((*self.scan).indexRelation);
            if !self.executor.is_null() {
                pg_sys::MemoryContextReset(
                    (*(*self.executor).es_per_tuple_exprcontext).ecxt_per_tuple_memory,
                );
            }
            let (values, are_null) = (values.as_mut_ptr(), are_null.as_mut_ptr());
            pg_sys::FormIndexDatum(self.info, self.slot, self.executor, values, are_null);
            let result = (!*are_null).then(|| read(*values));
            self.clear();
            result
        }
    }

    /// Frees the slot and the executor at the end of the scan. After an error, PostgreSQL frees them.
    pub(crate) fn release(self) {
        // SAFETY: `of` has made them.
        unsafe {
            pg_sys::ExecDropSingleTupleTableSlot(self.slot);
            if !self.executor.is_null() {
                pg_sys::FreeExecutorState(self.executor);
            }
        }
    }
}
