//! The hook in which PostgreSQL asks for further ways to read a table.

use super::order::BestOrder;
use super::path::propose;
use super::plan;
use pgrx::{pg_guard, pg_sys};

/// The hook of the library that was loaded before ours.
static mut NEXT: pg_sys::set_rel_pathlist_hook_type = None;

/// Puts our hook in place, and makes the node known by its name. Called when the library is loaded: by the
/// first query on sketches of a session, which has planned no table then.
pub(crate) fn install_hook() {
    // SAFETY: a backend has one thread; nobody else looks at these while a library is loaded.
    unsafe {
        NEXT = pg_sys::set_rel_pathlist_hook;
        pg_sys::set_rel_pathlist_hook = Some(on_table);
    }
    plan::register();
}

#[pg_guard]
unsafe extern "C-unwind" fn on_table(
    root: *mut pg_sys::PlannerInfo,
    table: *mut pg_sys::RelOptInfo,
    number: pg_sys::Index,
    entry: *mut pg_sys::RangeTblEntry,
) {
    // SAFETY: the planner passes a relation of the query, which has all of its own paths.
    unsafe {
        if let Some(next) = NEXT {
            pg_sys::ffi::pg_guard_ffi_boundary(|| next(root, table, number, entry));
        }
        // A sample of a table is not read by an index.
        let is_sample = !(*entry).tablesample.is_null();
        if is_sample || (*table).indexlist.is_null() || !(*table).lateral_relids.is_null() {
            return;
        }
        if let Some(order) = BestOrder::of(&*root, &*table) {
            propose(root, table, &order);
        }
    }
}
