//! What the planner is told of a relation's indexes, beyond the catalog's own description.

use super::expressions::distance_of;
use super::rewrite::rewrite_and;
use crate::am::is_hamming;
use crate::gin::cost::install_sketch_cost;
use crate::gist::install_cost;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::nodes::{cast, columns_in, copy, elements};
use pgrx::pg_sys::{self, Node, NodeTag};

/// Called once for each relation of a query, before paths are looked for.
///
/// # Safety
/// Both must be the planner's own.
pub(super) unsafe fn prepare(
    root: *mut pg_sys::PlannerInfo,
    relation: &pg_sys::RelOptInfo,
    ours: &ExtensionOids,
) {
    // SAFETY: both are the planner's own, as the caller promises.
    unsafe {
        for &mut index in elements(relation.indexlist) {
            let index = &mut *index.cast::<pg_sys::IndexOptInfo>();
            rewrite_predicate(index, ours);
            install_cost(index);
            install_sketch_cost(index, &ours.sketches);
            if is_hamming(index) {
                let distances = distances_sorted_by(root, relation, ours);
                let is_partial = !index.indpred.is_null();
                index.amoptionalkey = distances > 0 || is_partial && *index.canreturn;
                // Of strings of bits the index gives bounds, by which the executor can sort if there is one
                // distance. It takes rows whose first distance is NULL for equal, whatever the second one is.
                index.amcanorderbyop &= distances == 1 || *index.opcintype == pg_sys::INT8OID;
            }
        }
    }
}

/// Rewrites the predicate of a partial index, which has to look like the query's conditions. It is copied,
/// for it may belong to somebody else's hook.
///
/// # Safety
/// `index` must be that of the query that is being planned.
unsafe fn rewrite_predicate(index: &mut pg_sys::IndexOptInfo, ours: &ExtensionOids) {
    // SAFETY: a copy of a list of expressions.
    unsafe {
        if !index.indpred.is_null() {
            index.indpred = rewrite_and(copy(index.indpred.cast()).cast(), ours);
        }
    }
}

/// The number of distances from something of the relation that decide an order.
///
/// Only if there is one may any index of type hamming be scanned without a condition on its column. If it
/// always might, a query that needs no column at all, such as `count(*)` with the predicate of a partial
/// index as its condition, would get an index-only scan, also of codes that the index does not have as a
/// whole. A query that sorts by the distance of a column needs the column. A partial index that has whole
/// codes always may, for otherwise the planner lets the query check its predicate again, in the table.
///
/// # Safety
/// `root` and `relation` must be those of the query that is being planned.
unsafe fn distances_sorted_by(
    root: *mut pg_sys::PlannerInfo,
    relation: &pg_sys::RelOptInfo,
    ours: &ExtensionOids,
) -> usize {
    // SAFETY: the target list of a query has entries with expressions.
    unsafe {
        let sorts = |&&entry: &&*mut Node| {
            let entry = &*entry.cast::<pg_sys::TargetEntry>();
            entry.ressortgroupref != 0 && is_distance(&*root, entry.expr.cast(), relation.relid, ours)
        };
        elements((*(*root).parse).targetList).iter().filter(sorts).count()
    }
}

/// Whether an expression of the query is, for the relation, a distance from something of it.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
unsafe fn is_distance(
    root: &pg_sys::PlannerInfo,
    node: *mut Node,
    relation: pg_sys::Index,
    ours: &ExtensionOids,
) -> bool {
    // SAFETY: `node` is an expression of the query that is being planned, as the caller promises.
    unsafe {
        if let Some(placeholder) = cast::<pg_sys::PlaceHolderVar>(node, NodeTag::T_PlaceHolderVar) {
            is_distance(root, placeholder.phexpr.cast(), relation, ours)
        } else if let Some(column) = cast::<pg_sys::Var>(node, NodeTag::T_Var) {
            in_part(root, column, relation).is_some_and(|node| is_distance(root, node, relation, ours))
        } else {
            distance_of(node, ours).is_some() && mentions(root, node, relation)
        }
    }
}

/// Whether an expression of the query has a column of the relation in it.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
unsafe fn mentions(root: &pg_sys::PlannerInfo, node: *mut Node, relation: pg_sys::Index) -> bool {
    // SAFETY: `node` is an expression of the query that is being planned, as the caller promises.
    unsafe {
        columns_in(node).any(|column| {
            i64::from(column.varno) == i64::from(relation)
                || in_part(root, column, relation).is_some_and(|node| mentions(root, node, relation))
        })
    }
}

/// The expression that a column of a partitioned table, or of a UNION ALL, is in the relation, if the
/// relation is a part of it.
///
/// Postgres's own `adjust_appendrel_attrs` does not serve here: since PostgreSQL 16 it raises an error if the
/// column may be NULL by an outer join and is no column in the part.
///
/// # Safety
/// `root` must be that of the query that is being planned.
unsafe fn in_part(
    root: &pg_sys::PlannerInfo,
    column: &pg_sys::Var,
    relation: pg_sys::Index,
) -> Option<*mut Node> {
    if root.append_rel_array.is_null() {
        return None;
    }
    let parts = root.append_rel_array;
    // SAFETY: the array has a place for each relation of the query; the entry of a part leads to its parent.
    unsafe {
        let mut part = *parts.add(relation as usize);
        while let Some(info) = part.as_ref() {
            if i64::from(info.parent_relid) == i64::from(column.varno) {
                let index = usize::try_from(column.varattno - 1).ok()?;
                return elements(info.translated_vars).get(index).copied();
            }
            part = *parts.add(info.parent_relid as usize);
        }
        None
    }
}
