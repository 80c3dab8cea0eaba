//! Rewrites the join conditions of queries without a table, such as those between two CTEs or two arrays.
//!
//! The hook by which all other conditions are rewritten is called for tables alone. This one is called for
//! every relation, but only once conditions have been shared out. What is left is to change them where they
//! are.

use super::expressions::Rewritten;
use super::rewrite::rewritten;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::nodes::{cast, elements};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, NodeTag, RTEKind, RestrictInfo};

/// The hook of the library that was loaded before ours.
static mut NEXT: pg_sys::set_rel_pathlist_hook_type = None;

/// Puts our hook in place. Called once, when the library is loaded.
pub(crate) fn install_relation_hook() {
    // SAFETY: a backend has one thread; nobody else looks at these while a library is loaded.
    unsafe {
        NEXT = pg_sys::set_rel_pathlist_hook;
        pg_sys::set_rel_pathlist_hook = Some(on_relation);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_relation(
    root: *mut pg_sys::PlannerInfo,
    relation: *mut pg_sys::RelOptInfo,
    place: pg_sys::Index,
    entry: *mut pg_sys::RangeTblEntry,
) {
    // SAFETY: the planner passes a relation of the query.
    unsafe {
        if let Some(next) = NEXT {
            pg_sys::ffi::pg_guard_ffi_boundary(|| next(root, relation, place, entry));
        }
        if (*relation).joininfo.is_null() || (*entry).rtekind == RTEKind::RTE_RELATION {
            return;
        }
        if ExtensionOids::remembered().is_some() && !has_table(&*root) {
            rewrite_joins(&*relation);
        }
    }
}

/// # Safety
/// The query must be one that is being planned.
unsafe fn has_table(root: &pg_sys::PlannerInfo) -> bool {
    // SAFETY: the entries of a query's table of relations.
    unsafe {
        let mut entries = elements((*root.parse).rtable).iter();
        entries.any(|entry| (*entry.cast::<pg_sys::RangeTblEntry>()).rtekind == RTEKind::RTE_RELATION)
    }
}

/// Replaces conditions where they are, since each side of a join has the same ones.
///
/// # Safety
/// The relation must be one of the query that is being planned.
unsafe fn rewrite_joins(relation: &pg_sys::RelOptInfo) {
    // SAFETY: conditions of the query, whose estimates have not been asked for.
    unsafe {
        let Some(ours) = ExtensionOids::known() else { return };
        for &mut clause in elements(relation.joininfo) {
            let clause = &mut *clause.cast::<RestrictInfo>();
            let Some(Rewritten { within, replaces: true }) = rewritten(clause.clause.cast(), &ours) else {
                continue;
            };
            if cast::<pg_sys::FuncExpr>(within, NodeTag::T_FuncExpr).is_some() {
                clause.clause = within.cast();
                clause.eval_cost.startup = -1.0;
                (clause.norm_selec, clause.outer_selec) = (-1.0, -1.0);
            }
        }
    }
}
