//! Inserts a row.

use super::code::{layout_in_use, words_of_row};
use super::filter::FilterColumns;
use super::row::row_of;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::open_index::OpenIndex;
use crate::pg::storage::pages::Pages;
use hamming_index::{Index, Layout};
use pgrx::{PgMemoryContexts, pg_guard, pg_sys};

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn aminsert(
    relation: pg_sys::Relation,
    values: *mut pg_sys::Datum,
    is_null: *mut bool,
    tid: pg_sys::ItemPointer,
    _table: pg_sys::Relation,
    _unique: pg_sys::IndexUniqueCheck::Type,
    _unchanged: bool,
    info: *mut pg_sys::IndexInfo,
) -> bool {
    check_for_interrupts();
    // SAFETY: PostgreSQL passes the open index, its values, and the row. What we keep in `ii_AmCache` for the
    // next row of the same statement is dropped at the end of the statement.
    unsafe {
        let index = OpenIndex::new(relation);
        let kept = &mut (*info).ii_AmCache;
        if kept.is_null() {
            let pages = Pages::of(relation);
            let layout = layout_in_use(index, &pages);
            let mut memory = PgMemoryContexts::For((*info).ii_Context);
            let filters = memory.switch_to(|_| FilterColumns::of(index));
            *kept = memory.leak_and_drop_on_delete((pages, layout, filters)).cast();
        }
        let (pages, layout, filters) = &*kept.cast::<(Pages, Layout, FilterColumns)>();
        let mut words = Vec::new();
        let filter = filters.of_row(values, is_null);
        let words = words_of_row(index, *layout, values, is_null, &mut words);
        Index::new(pages, *layout).insert(words, filter, row_of(*tid));
    }
    // The result says whether the row is unique. PostgreSQL ignores it, since the index cannot be unique.
    false
}
