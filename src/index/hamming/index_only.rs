//! Index-only scans: rows that are returned without a look at the table, which have nothing but their code.
//!
//! The index has the whole of a code of up to 64 bits, and of others where it has a tree of whole codes. Of
//! further columns it has a hash, which cannot be returned.
//!
//! PostgreSQL returns such a row without reading the table if the visibility map says that the row's block is
//! all-visible. But a scan of ours holds no page of the index between two rows. After the index has named a
//! dead row, VACUUM may remove it and set the block all-visible. VACUUM removes a row from the index before
//! it changes the visibility map. So we look at the map while the leaf that has the row is locked. Where
//! the block is not all-visible, we read the row in the table.

use super::code::has_codes;
use crate::pg::code::CodeType;
use crate::pg::code::bits::Bits;
use crate::pg::open_index::OpenIndex;
use crate::pg::storage::pages::Pages;
use hamming_index::Layout;
use pgrx::{PgMemoryContexts, pg_guard, pg_sys};

/// Whether the index can give a column back, counted from 1.
#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amcanreturn(relation: pg_sys::Relation, column: i32) -> bool {
    // SAFETY: Postgres passes the open index.
    let index = unsafe { OpenIndex::new(relation) };
    column == 1
        && match CodeType::of(index.class_type(0)) {
            Some(CodeType::Bigint) => true,
            // SAFETY: open.
            Some(CodeType::Bits) => has_codes(index, &unsafe { Pages::of(relation) }),
            None => false,
        }
}

/// Passes a row to the executor, as the index has it: its code, or NULL.
///
/// # Safety
/// It must be a scan of an index with this layout, in this memory, and the code one of its codes.
pub(super) unsafe fn set_row(
    scan: &mut pg_sys::IndexScanDescData,
    memory: pg_sys::MemoryContext,
    layout: Layout,
    code: Option<&[u64]>,
) {
    const COLUMNS: usize = pg_sys::INDEX_MAX_KEYS as usize;
    let (mut values, mut are_null) = ([pg_sys::Datum::null(); COLUMNS], [true; COLUMNS]);
    // SAFETY: there are a value and a flag for each column; the last row was made here, and is not looked at
    // any more.
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

/// The code that has these words, in the current memory.
pub(super) fn datum_of(layout: Layout, words: &[u64]) -> pg_sys::Datum {
    if !layout.is_described() {
        return pg_sys::Datum::from(words[0]);
    }
    // Bounded: a length, and a code.
    let value = [&layout.bits().to_ne_bytes()[..], &layout.code_of(words)].concat();
    Bits::in_value(&value).datum()
}
