//! Divides the cost of a parallel scan of an index that divides its work.
//!
//! PostgreSQL divides the cost of the executor's work on rows among the processes, but not the index's cost.
//! In a search among whole codes, that is nearly all of the cost.

use crate::index::hamming::{divide_cost, is_hamming};
use crate::pg::planner::Planner;
use pgrx::{pg_guard, pg_sys};
use std::cell::Cell;

thread_local! {
    /// The hook of the library that was loaded before ours.
    static NEXT: Cell<pg_sys::set_rel_pathlist_hook_type> = const { Cell::new(None) };
}

/// Puts our hook in place. Called when the library is loaded.
pub(crate) fn install_hook() {
    // SAFETY: a backend has one thread, and nobody else reads these variables while a library is loaded.
    unsafe {
        NEXT.set(pg_sys::set_rel_pathlist_hook);
        pg_sys::set_rel_pathlist_hook = Some(on_paths);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_paths(
    root: *mut pg_sys::PlannerInfo,
    relation: *mut pg_sys::RelOptInfo,
    number: pg_sys::Index,
    entry: *mut pg_sys::RangeTblEntry,
) {
    // SAFETY: the planner passes a relation of the query, and changes nothing until we return.
    unsafe {
        if let Some(next) = NEXT.get() {
            pg_sys::ffi::pg_guard_ffi_boundary(|| next(root, relation, number, entry));
        }
        let Some(planner) = Planner::new(&root) else { return };
        let is_ours = |path: &pg_sys::IndexPath| is_hamming(&*path.indexinfo);
        planner.relation(relation).change_costs(is_ours, |path| divide_cost(planner, path));
    }
}
