//! Rows that an index gets.

use crate::open_index::{ColumnTypes, OpenIndex};
use crate::value::Value;
use pgrx::pg_sys::panic::pgrx_extern_c_guard as guard;
use pgrx::pg_sys::{self, Datum, ItemPointerData};
use std::ffi::c_void;
use std::marker::PhantomData;

/// A row of a table, with the values of an index's columns.
#[derive(Clone, Copy)]
pub struct IndexRow<'a> {
    index: OpenIndex<'a>,
    address: ItemPointerData,
    values: *const Datum,
    nulls: *const bool,
}

impl<'a> IndexRow<'a> {
    /// # Safety
    /// Both arrays must have an element for each column of the index, of the type of the column. They must
    /// live as long as the lifetime says, and the index must stay open.
    pub(super) unsafe fn new(
        index: pg_sys::Relation,
        address: ItemPointerData,
        values: *const Datum,
        nulls: *const bool,
    ) -> Self {
        // SAFETY: as the caller promises.
        Self { index: unsafe { OpenIndex::new(index) }, address, values, nulls }
    }

    /// The index.
    #[inline]
    pub fn index(self) -> OpenIndex<'a> {
        self.index
    }

    /// Where the row is in the table.
    #[inline]
    pub fn address(self) -> ItemPointerData {
        self.address
    }

    /// Whether the value of a column is NULL.
    #[inline]
    pub fn is_null(self, column: usize) -> bool {
        assert!(column < self.index.columns(), "a row has the columns of its index");
        // SAFETY: there is an element for each column.
        unsafe { *self.nulls.add(column) }
    }

    /// The value of a column; `None` if it is NULL. Its type is the input type of the operator class, which
    /// every value of the column has as well, unless that type is polymorphic.
    #[inline]
    pub fn value(self, column: usize) -> Option<Value<'a>> {
        // SAFETY: there is an element for each column, and it is not NULL.
        (!self.is_null(column))
            .then(|| unsafe { Value::new(*self.values.add(column), self.index.class_type(column)) })
    }

    /// The value of a column with the column's own type; `None` if it is NULL.
    pub fn value_of(self, types: &ColumnTypes, column: usize) -> Option<Value<'a>> {
        let type_ = types.of_column(self.index, column);
        // SAFETY: there is an element for each column, and it is not NULL.
        (!self.is_null(column)).then(|| unsafe { Value::new(*self.values.add(column), type_) })
    }
}

/// The table of an index, whose rows can be read once.
pub struct TableScan<'a> {
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    info: *mut pg_sys::IndexInfo,
    life: PhantomData<&'a pg_sys::RelationData>,
}

impl TableScan<'_> {
    /// # Safety
    /// The table and its index must be open as long as the lifetime says, and `info` must describe the index.
    pub(crate) unsafe fn new(
        table: pg_sys::Relation,
        index: pg_sys::Relation,
        info: *mut pg_sys::IndexInfo,
    ) -> Self {
        Self { table, index, info, life: PhantomData }
    }

    /// Calls `take` for each row that the index must have. Returns the number of rows of the table. The scan
    /// reads all pages, may join a scan of another backend, and reports progress.
    pub fn each_row<F: FnMut(IndexRow<'_>)>(self, mut take: F) -> f64 {
        let state: *mut c_void = (&raw mut take).cast();
        // SAFETY: table and index are open, `info` describes the index, and the callback gets the state that
        // is passed here.
        unsafe {
            let Some(scan) = (*(*self.table).rd_tableam).index_build_range_scan else { return 0.0 };
            let from_first = 0;
            let to_last = pg_sys::InvalidBlockNumber;
            let may_be_synchronized = true;
            let any_visible = false;
            let reports_progress = true;
            let no_scan = std::ptr::null_mut();
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                scan(
                    self.table,
                    self.index,
                    self.info,
                    may_be_synchronized,
                    any_visible,
                    reports_progress,
                    from_first,
                    to_last,
                    Some(take_row::<F>),
                    state,
                    no_scan,
                )
            })
        }
    }
}

/// Sets a number in `pg_stat_progress_create_index`.
pub fn set_build_progress(what: u32, value: i64) {
    // SAFETY: the function sets a counter that other processes read.
    unsafe { pg_sys::pgstat_progress_update_param(what as i32, value) };
}

unsafe extern "C-unwind" fn take_row<F: FnMut(IndexRow<'_>)>(
    index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut Datum,
    nulls: *mut bool,
    _is_alive: bool,
    take: *mut c_void,
) {
    // SAFETY: the scan passes a row, and the state of `each_row`, which nobody else uses meanwhile.
    let take_row = || unsafe { (*take.cast::<F>())(IndexRow::new(index, *tid, values, nulls)) };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(take_row) }
}
