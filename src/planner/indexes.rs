//! What the planner is told of a relation's indexes, beyond what the catalog says.

use super::names::Names;
use super::nodes::{cast, elements};
use super::rewrite::rewrite_index;
use crate::am::{install_gist_cost, is_hamming};
use pgrx::pg_sys::{self, Node, NodeTag};

/// Called once for each relation of a query, before paths are looked for.
///
/// # Safety
/// Both must be the planner's own.
pub(super) unsafe fn prepare(root: *mut pg_sys::PlannerInfo, relation: &pg_sys::RelOptInfo, names: &Names) {
    // SAFETY: promised by the caller.
    unsafe {
        for &mut index in elements(relation.indexlist) {
            let index = &mut *index.cast::<pg_sys::IndexOptInfo>();
            rewrite_index(index, names);
            install_gist_cost(index, names.ball_type);
            if is_hamming(index) {
                index.amoptionalkey = is_sorted_by_distance(root, relation, names);
            }
        }
    }
}

/// Whether a distance from something of the relation decides an order.
///
/// Only then may an index of type hamming be scanned without a condition on its column. If it always might,
/// a partial index would be scanned index-only by queries that need no column at all (`count(*)` with the
/// predicate as its condition), and that it cannot do: see `src/am/scan.rs`. A query that sorts by the distance of
/// a column needs the column.
unsafe fn is_sorted_by_distance(
    root: *mut pg_sys::PlannerInfo,
    relation: &pg_sys::RelOptInfo,
    names: &Names,
) -> bool {
    // SAFETY: a query has a list of what it computes, which are entries with expressions.
    unsafe {
        elements((*(*root).parse).targetList).iter().any(|&entry| {
            let entry = &*entry.cast::<pg_sys::TargetEntry>();
            let expression: *mut Node = entry.expr.cast();
            entry.ressortgroupref > 0
                && cast::<pg_sys::OpExpr>(expression, NodeTag::T_OpExpr)
                    .is_some_and(|operator| operator.opno == names.distance_operator)
                && {
                    let relations = pg_sys::pull_varnos(root, expression);
                    // A partition is sorted by what is written about its parent.
                    pg_sys::bms_overlap(relations, relation.relids)
                        || pg_sys::bms_overlap(relations, relation.top_parent_relids)
                }
        })
    }
}
