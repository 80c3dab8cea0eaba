//! A batch: the outer rows and inner rows that are joined with each other at a time.

use super::side::JoinSide;
use pgrx::pg_sys::Datum;

/// A batch of outer rows, and the inner rows with which it is joined.
pub(super) struct JoinBatch {
    pub(super) outer: JoinSide,
    pub(super) inner: JoinSide,
}

impl JoinBatch {
    /// Writes the columns of an outer row and an inner row. One of the rows may be missing.
    #[inline]
    pub(super) fn put(&self, [outer, inner]: [Option<u32>; 2], (values, nulls): (&mut [Datum], &mut [bool])) {
        self.outer.rows.put(outer, values, nulls);
        self.inner.rows.put(inner, values, nulls);
    }

    pub(super) fn bytes(&self) -> usize {
        self.outer.bytes() + self.inner.bytes()
    }
}
