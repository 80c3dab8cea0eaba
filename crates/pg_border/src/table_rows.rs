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
use super::memory::in_memory;
use super::open_index::OpenIndex;
use super::value::Value;
use pgrx::pg_sys::{self, IndexScanDesc, ItemPointerData, TupleTableSlot};
use std::cell::Cell;

/// Looks up the rows of a scan, one at a time.
pub struct TableRows<'a> {
    scan: IndexScanDesc,
    slot: *mut TupleTableSlot,
    /// Whether the slot has a row that is being read.
    is_used: &'a Cell<bool>,
}

impl<'a> TableRows<'a> {
    /// # Safety
    /// The scan must have its table, and must last as long as the lifetime says. The other arguments must be
    /// its own: memory, a slot that was made here before, or null, and whether it is used. The slot must be
    /// dropped when the scan ends; after an error, PostgreSQL does so.
    pub(crate) unsafe fn of(
        scan: IndexScanDesc,
        memory: pg_sys::MemoryContext,
        slot: &Cell<*mut TupleTableSlot>,
        is_used: &'a Cell<bool>,
    ) -> Self {
        if slot.get().is_null() {
            // SAFETY: the scan has its table, and the memory lives as long as the scan.
            slot.set(unsafe {
                in_memory(memory, || pg_sys::table_slot_create((*scan).heapRelation, std::ptr::null_mut()))
            });
        }
        Self { scan, slot: slot.get(), is_used }
    }

    /// Whether the scan's snapshot sees a version of the row.
    pub fn is_seen(&self, row: ItemPointerData) -> bool {
        let is_seen = self.fetch(row);
        self.clear();
        is_seen
    }

    /// Fetches the version of the row that the scan's snapshot sees. Returns false if it sees none. The
    /// caller must [`clear`](Self::clear) the slot afterwards.
    fn fetch(&self, mut row: ItemPointerData) -> bool {
        assert!(!self.is_used.replace(true), "a scan reads one row at a time");
        // SAFETY: the scan exists, and the slot is for rows of its table.
        unsafe {
            let scan = &*self.scan;
            let Some(fetch) = (*(*scan.heapRelation).rd_tableam).index_fetch_tuple else { return false };
            let mut again = false;
            let mut all_dead = false;
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

    fn clear(&self) {
        // SAFETY: the slot is alive, and its row is not used any more.
        unsafe { clear(self.slot) };
        self.is_used.set(false);
    }

    /// Reads the first column of the index in the version of the row that the scan sees. Returns `None` if
    /// the scan sees no version, or if the value is NULL. The first column must not be an expression.
    pub fn read<T>(&self, row: ItemPointerData, read: impl FnOnce(Value<'_>) -> T) -> Option<T> {
        let is_seen = self.fetch(row);
        // SAFETY: the index of the scan is open.
        let index = unsafe { OpenIndex::new((*self.scan).indexRelation) };
        let result = is_seen.then(|| {
            // SAFETY: the index is open.
            unsafe { count_fetch(index.pointer()) };
            self.value_in_slot(index).map(read)
        });
        self.clear();
        result.flatten()
    }

    /// The value of the first column of the index for the row in the slot; `None` if it is NULL.
    fn value_in_slot(&self, index: OpenIndex<'_>) -> Option<Value<'_>> {
        let column = index.column_number()? as usize - 1;
        // SAFETY: the slot has a row of the table, which has this column. The index has values of the column,
        // which have the input type of its operator class.
        unsafe {
            debug_assert!(column < (*(*self.slot).tts_tupleDescriptor).natts as usize);
            read_columns(self.slot, column as i32 + 1);
            let is_null = *(*self.slot).tts_isnull.add(column);
            (!is_null).then(|| Value::new(*(*self.slot).tts_values.add(column), index.class_type(0)))
        }
    }
}
