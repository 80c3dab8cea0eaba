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
    pub(super) fn put(&self, rows: [Option<u32>; 2], (values, nulls): (&mut [Datum], &mut [bool])) {
        let (values, inner_values) = values.split_at_mut(self.outer.rows.width());
        let (nulls, inner_nulls) = nulls.split_at_mut(self.outer.rows.width());
        for (side, row, values, nulls) in
            [(&self.outer, rows[0], values, nulls), (&self.inner, rows[1], inner_values, inner_nulls)]
        {
            match row {
                Some(row) => side.rows.put(row, values, nulls),
                None => nulls.fill(true),
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.outer.bytes() + self.inner.bytes()
    }
}
