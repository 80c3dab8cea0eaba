//! The hook of the planner, called for each relation of a query. It calls the parts that rewrite the query,
//! and the part that describes the relation's indexes.

use super::conditions::change_conditions;
use super::exclusion::keep_comparisons;
use super::indexes::prepare;
use super::order::rewrite_order;
use super::rewrite::rewrite_and;
use crate::pg::catalog::names::Names;
use pgrx::{pg_guard, pg_sys};

/// The hook that was there before ours, which calls it first.
static mut NEXT_HOOK: pg_sys::get_relation_info_hook_type = None;

/// Called once, when the library is loaded.
pub(crate) fn install_hook() {
    // SAFETY: a backend has one thread, and nobody else looks at these while a library is being loaded.
    unsafe {
        NEXT_HOOK = pg_sys::get_relation_info_hook;
        pg_sys::get_relation_info_hook = Some(on_relation);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_relation(
    root: *mut pg_sys::PlannerInfo,
    table: pg_sys::Oid,
    is_parent: bool,
    relation: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: the planner passes the query and one of its relations; it does nothing else with either until
    // we return.
    unsafe {
        if let Some(next) = NEXT_HOOK {
            pg_sys::ffi::pg_guard_ffi_boundary(|| next(root, table, is_parent, relation));
        }
        let Some(names) = Names::known() else { return };
        // Partitions have the conditions of their parent, which were rewritten with it.
        if (*relation).reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
            change_conditions(&*(*root).parse, &mut |list| rewrite_and(list, &names));
            rewrite_order(&mut *root, &*relation, &names);
        }
        keep_comparisons(&*root, table, &*relation, &names);
        prepare(root, &*relation, &names);
    }
}
