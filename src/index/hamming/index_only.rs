//! Index-only scans, which return the code of a row without reading the table.
//!
//! The index has the whole code if it has up to 64 bits, or if there is a tree of whole codes. It cannot
//! return further columns, of which it only has a hash.
//!
//! PostgreSQL returns such a row without reading the table if the visibility map says that the row's block
//! is all-visible. The search reads the map while it holds a lock on the leaf with the row, because the
//! scan holds no pin afterwards: `crates/hamming_index/README.md` ("Scans between pages") explains why that
//! is necessary and sufficient. If the block is not all-visible then, the row is read from the table.

use super::code::has_codes;
use crate::pg::code::CodeType;
use crate::pg::code::bits::Bits;
use crate::pg::open_index::OpenIndex;
use crate::pg::storage::pages::Pages;
use hamming_index::Layout;
use pgrx::{PgMemoryContexts, pg_guard, pg_sys};

/// Whether the index can return the values of a column, counted from 1.
#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amcanreturn(relation: pg_sys::Relation, column: i32) -> bool {
    // SAFETY: PostgreSQL passes the open index.
    let index = unsafe { OpenIndex::new(relation) };
    column == 1
        && CodeType::of(index.class_type(0)).is_some_and(|codes| {
            // SAFETY: the index is open.
            codes.is_integer() || has_codes(index, &unsafe { Pages::of(relation) })
        })
}

/// Sets the scan's current row for the executor: a code or NULL.
///
/// # Safety
/// The scan must be of an index with this layout, and use this memory; the code must belong to the index.
pub(super) unsafe fn set_row(
    scan: &mut pg_sys::IndexScanDescData,
    memory: pg_sys::MemoryContext,
    layout: Layout,
    code: Option<&[u64]>,
) {
    const COLUMNS: usize = pg_sys::INDEX_MAX_KEYS as usize;
    let (mut values, mut are_null) = ([pg_sys::Datum::null(); COLUMNS], [true; COLUMNS]);
    // SAFETY: there are a value and a flag for each column. This function has made the last row, which nobody
    // uses any more.
    unsafe {
        if !scan.xs_itup.is_null() {
            pg_sys::pfree(scan.xs_itup.cast());
        }
        scan.xs_itup = PgMemoryContexts::For(memory).switch_to(|_| {
            if let Some(code) = code {
                (values[0], are_null[0]) = (datum_of(layout, code), false);
            }
            let row = pg_sys::index_form_tuple(scan.xs_itupdesc, values.as_mut_ptr(), are_null.as_mut_ptr());
            if code.is_some() && layout.is_described() {
                pg_sys::pfree(values[0].cast_mut_ptr());
            }
            row
        });
    }
}

/// The code with these words, in the current memory context.
pub(super) fn datum_of(layout: Layout, words: &[u64]) -> pg_sys::Datum {
    if !layout.is_described() {
        return pg_sys::Datum::from(words[0]);
    }
    // Bounded: a length, and a code.
    let value = [&layout.bits().to_ne_bytes()[..], &layout.code_of(words)].concat();
    Bits::in_value(&value).datum()
}
