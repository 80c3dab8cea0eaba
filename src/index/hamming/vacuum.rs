//! Removes dead rows.

use super::code::layout_of;
use super::dead_rows::DeadRows;
use super::row::tid_of;
use crate::pg::open_index::OpenIndex;
use crate::pg::storage::pages::Pages;
use hamming_index::Index;
use hamming_index::store::Store;
use pgrx::{pg_guard, pg_sys};

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn ambulkdelete(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    is_dead: pg_sys::IndexBulkDeleteCallback,
    state: *mut std::ffi::c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL passes the open index, and a callback that says which rows are dead.
    unsafe {
        let pages = Pages::for_vacuum(&*info);
        // The first call of a vacuum makes the counts, which are zeros.
        let size = size_of::<pg_sys::IndexBulkDeleteResult>();
        let result = if stats.is_null() { pg_sys::palloc0(size).cast() } else { stats };
        let index = Index::new(&pages, layout_of(OpenIndex::new((*info).index), &pages));
        // CREATE INDEX CONCURRENTLY reports progress, unlike VACUUM. It passes each row to the callback, and
        // removes none.
        let (remaining, removed) = if (*info).report_progress {
            let visit = |row| is_dead.is_some_and(|visit| visit(&mut tid_of(row), state));
            (index.rows(&mut |row| _ = pg_sys::ffi::pg_guard_ffi_boundary(|| visit(row))), 0)
        } else {
            let mut dead = DeadRows::new(is_dead, state);
            index.vacuum(&mut |row| dead.has(row))
        };
        (*result).num_index_tuples = remaining as f64;
        (*result).tuples_removed += removed as f64;
        result
    }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amvacuumcleanup(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL passes the open index.
    unsafe {
        // Only a removal of dead rows makes pages free.
        if (*info).analyze_only || stats.is_null() {
            return stats;
        }
        let pages = Pages::for_vacuum(&*info);
        let all = pages.settled_pages();
        let mut free = 0;
        for block in layout_of(OpenIndex::new((*info).index), &pages).fixed_pages()..all {
            pages.check_for_interrupts();
            if pages.is_free(block) {
                pages.record_free(block);
                free += 1;
            }
        }
        pg_sys::IndexFreeSpaceMapVacuum((*info).index);
        (*stats).num_pages = all;
        (*stats).pages_free = free;
        stats
    }
}
