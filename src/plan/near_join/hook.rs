//! The hook that PostgreSQL calls for further paths to join two relations.

use super::condition::NearCondition;
use super::kind::JoinKind;
use super::nested_loops;
use super::path::{Sides, propose};
use crate::pg::node::{Node, Nodes};
use crate::pg::planner::{Planner, Relation};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_guard, pg_sys};
use std::cell::Cell;

thread_local! {
    /// The hook that was installed before ours, by another library.
    static NEXT: Cell<pg_sys::set_join_pathlist_hook_type> = const { Cell::new(None) };
}

/// Whether near joins are proposed where PostgreSQL has another plan.
static ENABLE_NEAR_JOIN: GucSetting<bool> = GucSetting::<bool>::new(true);

/// Installs our hook and defines its configuration parameter. Called when the library is loaded. If a query
/// on distances loads it, no join of that query has been planned yet.
pub(crate) fn install_hook() {
    GucRegistry::define_bool_guc(
        c"simhash_pg.enable_near_join",
        c"Enables the planner's use of near join plans.",
        c"",
        &ENABLE_NEAR_JOIN,
        GucContext::Userset,
        GucFlags::EXPLAIN,
    );
    // SAFETY: a backend has one thread, and nothing else uses these variables while a library is loaded.
    unsafe {
        NEXT.set(pg_sys::set_join_pathlist_hook);
        pg_sys::set_join_pathlist_hook = Some(on_join);
        pg_sys::MarkGUCPrefixReserved(c"simhash_pg".as_ptr());
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn on_join(
    root: *mut pg_sys::PlannerInfo,
    join: *mut pg_sys::RelOptInfo,
    outer: *mut pg_sys::RelOptInfo,
    inner: *mut pg_sys::RelOptInfo,
    type_: pg_sys::JoinType::Type,
    extra: *mut pg_sys::JoinPathExtraData,
) {
    // SAFETY: the planner passes relations of the query, and the conditions between them.
    unsafe {
        if let Some(next) = NEXT.get() {
            pg_sys::ffi::pg_guard_ffi_boundary(|| next(root, join, outer, inner, type_, extra));
        }
        let (Some(kind), Some(planner)) = (JoinKind::of(type_), Planner::new(&root)) else { return };
        // A full join by a distance may have no other plan.
        let is_enabled = ENABLE_NEAR_JOIN.get() || kind == JoinKind::Full;
        if !is_enabled && kind != JoinKind::Semi || !(*join).lateral_relids.is_null() {
            return;
        }
        let (conditions, special) = (Nodes::new((*extra).restrictlist), (*extra).sjinfo);
        let relations @ [join, outer, inner] =
            [join, outer, inner].map(|relation| planner.relation(relation));
        if let Some(near) = NearCondition::find(planner, relations, kind, conditions)
            && !returns_row_identity(join)
        {
            // PostgreSQL keeps the estimate of a right join as a left join with the sides exchanged.
            let sides = if kind == JoinKind::Right { [join, inner, outer] } else { relations };
            NearCondition::estimate_rows(&near, planner, sides, special, conditions);
            let is_other = |clause: &Node| near.iter().all(|near| !near.is_of(*clause) || !near.is_whole);
            let others = conditions.iter().filter(is_other).collect();
            let sides = Sides { planner, join, outer, inner, kind, others, special, near };
            if is_enabled {
                propose(&sides);
                nested_loops::propose_of_unanalyzed(&sides, type_, &*extra);
            }
            nested_loops::propose_by_inner(&sides, &*extra);
        }
    }
}

/// Whether a join returns the row identity columns of an inherited or partitioned table, which UPDATE needs.
/// PostgreSQL describes them by columns without a table. In a custom node, they make EXPLAIN VERBOSE fail and
/// a server with assertions crash.
fn returns_row_identity(join: Relation) -> bool {
    let columns = join.columns().node();
    columns.is_some_and(|columns| columns.columns().any(|column| column.varno == pg_sys::ROWID_VAR))
}
