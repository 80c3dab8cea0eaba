//! The rows of a set-returning function: in memory up to `work_mem`, then in a temporary file.

use super::call::{Argument, Call};
use pgrx::{IntoDatum, pg_sys};

/// The rows that the call in progress returns.
pub(crate) struct ResultSet {
    store: *mut pg_sys::Tuplestorestate,
    columns: pg_sys::TupleDesc,
}

impl Argument for ResultSet {
    unsafe fn read(call: Call, _: usize) -> Self {
        // SAFETY: the call is in progress, and `resultinfo` is what the function has set; it raises an error
        // unless the call returns a set of records. The store lives as long as the query.
        unsafe {
            pg_sys::InitMaterializedSRF(call.info(), 0);
            let result = &*(*call.info()).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            Self { store: result.setResult, columns: result.setDesc }
        }
    }
}

impl ResultSet {
    /// Adds a row. `None` is NULL.
    pub(crate) fn put<const N: usize>(&mut self, values: [Option<pg_sys::Datum>; N]) {
        let mut nulls = values.map(|value| value.is_none());
        let mut values = values.map(|value| value.unwrap_or(pg_sys::Datum::null()));
        // SAFETY: PostgreSQL has made the store; the declared rows have N columns of the types of these
        // values.
        unsafe {
            pg_sys::tuplestore_putvalues(self.store, self.columns, values.as_mut_ptr(), nulls.as_mut_ptr());
        }
    }
}

/// A mean or a share, with four digits after the point.
pub(crate) fn rounded(number: f64) -> Option<pg_sys::Datum> {
    ((number * 1e4).round() / 1e4).into_datum()
}
