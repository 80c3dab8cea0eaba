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
            if entry.ressortgroupref == 0 {
                return false;
            }
            let expression = as_seen_by(root, entry.expr.cast(), relation.relid);
            let mut columns: *mut pg_sys::Bitmapset = std::ptr::null_mut();
            pg_sys::pull_varattnos(expression, relation.relid, &raw mut columns);
            cast::<pg_sys::OpExpr>(expression, NodeTag::T_OpExpr)
                .is_some_and(|operator| operator.opno == names.distance_operator && !columns.is_null())
        })
    }
}

/// What an expression about a partitioned table, or about a UNION ALL, is for one of its parts.
unsafe fn as_seen_by(
    root: *mut pg_sys::PlannerInfo,
    expression: *mut Node,
    relation: pg_sys::Index,
) -> *mut Node {
    // SAFETY: relations of the query; where there are such parts, each has an entry that leads to its parent.
    unsafe {
        let parts = (*root).append_rel_array;
        if parts.is_null() || (*parts.add(relation as usize)).is_null() {
            return expression;
        }
        let mut part = *parts.add(relation as usize);
        let of_parent = as_seen_by(root, expression, (*part).parent_relid);
        pg_sys::adjust_appendrel_attrs(root, of_parent, 1, &raw mut part)
    }
}
