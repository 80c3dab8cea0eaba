//! Adding a row.

use super::{fingerprint, row_of};
use crate::pg::pages::Pages;
use hamming_index::Index;
use pgrx::{pg_guard, pg_sys};

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn aminsert(
    index: pg_sys::Relation,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    tid: pg_sys::ItemPointer,
    _table: pg_sys::Relation,
    _unique: pg_sys::IndexUniqueCheck::Type,
    _unchanged: bool,
    _info: *mut pg_sys::IndexInfo,
) -> bool {
    // SAFETY: Postgres passes the open index, its one value, and the row.
    unsafe {
        let pages = Pages::of(index);
        Index::new(&pages).insert(fingerprint(values, is_null), row_of(*tid));
    }
    // Says whether the row is unique, and is not looked at where that was not asked.
    false
}
