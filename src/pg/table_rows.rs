//! Looks up rows of a table during an index scan.
//!
//! PostgreSQL's executor looks up each row that an index returns. An index that does not store whole codes
//! has to look up a row before it can decide whether to return it.
//!
//! A scan runs with the rights of whoever queries, and the index belongs to the owner of the table. So the
//! scan computes no expression of the index, except for that of the code if the query has a condition on it,
//! and so contains it. `RelationGetIndexExpressions` is not called: it computes what is constant in each of
//! the expressions, and a parallel worker would be the first to call it.

use super::compat::count_fetch;
use super::executor::{clear, read_columns, reset, value};
use super::nodes::elements;
use pgrx::pg_sys::{self, SysCacheIdentifier::INDEXRELID};

/// Looks up the codes of rows for a scan.
pub(crate) struct TableRows {
    scan: pg_sys::IndexScanDesc,
    slot: *mut pg_sys::TupleTableSlot,
    /// `None` if the scan has no condition on the code.
    code: Option<IndexedCode>,
}

/// What the first column of an index is computed from.
enum IndexedCode {
    /// A column of the table, counted from 0.
    Column(usize),
    /// An expression, and the executor's state that it is evaluated in.
    Expression(*mut pg_sys::ExprState, *mut pg_sys::EState),
}

impl IndexedCode {
    /// # Safety
    /// The index must be open, and the slot must be for rows of its table.
    unsafe fn of(index: pg_sys::Relation, slot: *mut pg_sys::TupleTableSlot) -> Self {
        // SAFETY: the index is open, and has a first key column: that of a column of the table is its number,
        // that of an expression is 0.
        unsafe {
            if let number @ 1.. = *(*(*index).rd_index).indkey.values.as_ptr() {
                return Self::Column(number as usize - 1);
            }
            let executor = pg_sys::CreateExecutorState();
            (*pg_sys::MakePerTupleExprContext(executor)).ecxt_scantuple = slot;
            let (row, column) = ((*index).rd_indextuple, pg_sys::Anum_pg_index_indexprs as i16);
            let all = pg_sys::SysCacheGetAttr(INDEXRELID as i32, row, column, &mut false);
            let all = pg_sys::stringToNode(pg_sys::text_to_cstring(all.cast_mut_ptr()));
            let expression = elements(all.cast())[0];
            Self::Expression(pg_sys::ExecPrepareExpr(expression.cast(), executor), executor)
        }
    }

    /// The code of the row in the slot; `None` if it is NULL.
    ///
    /// # Safety
    /// The slot must be the one that this was made for, and have a row.
    unsafe fn read(&self, slot: *mut pg_sys::TupleTableSlot) -> Option<pg_sys::Datum> {
        // SAFETY: the slot has a row with this column; the expression was prepared for its executor.
        unsafe {
            match *self {
                Self::Column(place) => {
                    read_columns(slot, place as i32 + 1);
                    (!*(*slot).tts_isnull.add(place)).then(|| *(*slot).tts_values.add(place))
                }
                Self::Expression(expression, executor) => {
                    let context = (*executor).es_per_tuple_exprcontext;
                    reset(context);
                    value(expression, context)
                }
            }
        }
    }
}

impl TableRows {
    /// # Safety
    /// The scan must be one that returns rows, not a bitmap, and must last as long as the result is used. The
    /// result is allocated in the current memory context, and must be freed by [`release`](Self::release).
    pub(crate) unsafe fn of(scan: pg_sys::IndexScanDesc, reads_code: bool) -> Self {
        // SAFETY: a scan that returns rows has its table.
        unsafe {
            let table = (*scan).heapRelation;
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            Self { scan, slot, code: reads_code.then(|| IndexedCode::of((*scan).indexRelation, slot)) }
        }
    }

    /// Whether the scan's snapshot sees a version of the row.
    pub(crate) fn is_seen(&self, row: pg_sys::ItemPointerData) -> bool {
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
    pub(crate) fn read<T>(
        &self,
        row: pg_sys::ItemPointerData,
        read: impl FnOnce(pg_sys::Datum) -> T,
    ) -> Option<T> {
        // SAFETY: the scan exists, and the slot is for rows of its table.
        unsafe {
            if !self.fetch(row) {
                return None;
            }
            count_fetch((*self.scan).indexRelation);
            let result = self.code.as_ref().and_then(|code| code.read(self.slot)).map(read);
            clear(self.slot);
            result
        }
    }

    /// Frees the slot and the executor at the end of the scan. After an error, PostgreSQL frees them.
    pub(crate) fn release(self) {
        // SAFETY: `of` has made them.
        unsafe {
            pg_sys::ExecDropSingleTupleTableSlot(self.slot);
            if let Some(IndexedCode::Expression(_, executor)) = self.code {
                pg_sys::FreeExecutorState(executor);
            }
        }
    }
}
