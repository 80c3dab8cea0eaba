//! EXISTS with few inner rows: each of them asks an index of the outer table.
//!
//! A semi join is otherwise a loop over the outer rows, or reads all of them. If the outer table has an index
//! on its codes, a nested loop the other way round finds the outer rows with a partner: its outer side is the
//! inner one of the semi join. It finds a row once for each partner, so PostgreSQL's HashAggregate keeps each
//! row once, by its ctid. All nodes are PostgreSQL's own.

use super::kind::JoinKind;
use super::path::Sides;
use crate::pg::compat;
use crate::pg::nodes::{cast, elements, list_of, make};
use pgrx::pg_sys::{self, JoinPathExtraData, NodeTag, Path, PathTarget, RelOptInfo};
use std::ptr::{from_mut, null, null_mut};

/// How the nested loop names the column by which rows are distinct.
const ROW_REFERENCE: u32 = 1;

/// Proposes a path for each path by which the inner rows can ask the outer table.
///
/// # Safety
/// The arguments must be those of PostgreSQL's hook.
pub(super) unsafe fn propose(sides: &Sides, extra: &JoinPathExtraData) {
    // SAFETY: relations and paths of the query.
    unsafe {
        let (join, outer) = (&*sides.join, &*sides.outer);
        let inner = (*sides.inner).cheapest_total_path;
        let is_free = !inner.is_null() && (*inner).param_info.is_null();
        if sides.kind != JoinKind::Semi || !is_free || !is_table(sides.root, outer) || !has_columns(join) {
            return;
        }
        // Paths are added to the join alone.
        for &path in elements(outer.pathlist).iter() {
            if let Some(path) = asked_path(sides, path.cast(), (*inner).rows) {
                pg_sys::add_path(sides.join, distinct_path(sides, extra, [inner, path]));
            }
        }
    }
}

/// Whether a relation is one table, whose rows have a ctid of their own.
///
/// # Safety
/// The relation must be one of the query.
unsafe fn is_table(root: *mut pg_sys::PlannerInfo, relation: &RelOptInfo) -> bool {
    // SAFETY: a base relation has an entry in the range table.
    unsafe {
        if relation.reloptkind != pg_sys::RelOptKind::RELOPT_BASEREL
            || relation.rtekind != pg_sys::RTEKind::RTE_RELATION
        {
            return false;
        }
        let entry = &**(*root).simple_rte_array.add(relation.relid as usize);
        let kind = entry.relkind as u8;
        !entry.inh && (kind == pg_sys::RELKIND_RELATION || kind == pg_sys::RELKIND_MATVIEW)
    }
}

/// Whether a join returns columns, which are the same in all pairs of an outer row, or of any of them.
///
/// # Safety
/// The relation must be one of the planner.
unsafe fn has_columns(join: &RelOptInfo) -> bool {
    // SAFETY: a list of expressions.
    unsafe { elements((*join.reltarget).exprs).iter().all(|&column| (*column).type_ == NodeTag::T_Var) }
}

/// A copy of a path of the outer table that also returns the ctid. `None` if no row of the inner side can ask
/// by this path.
///
/// # Safety
/// The path must be one of the outer table.
unsafe fn asked_path(sides: &Sides, path: *mut Path, questions: f64) -> Option<*mut Path> {
    // SAFETY: a path of the query; the structs are those of the tags.
    unsafe {
        let asks_for = (*path).param_info.as_ref()?.ppi_req_outer;
        if !pg_sys::bms_is_subset(asks_for, (*sides.inner).relids) {
            return None;
        }
        let copy: *mut Path =
            if let Some(index) = cast::<pg_sys::IndexPath>(path.cast(), NodeTag::T_IndexPath) {
                let copy = make::<pg_sys::IndexPath>(NodeTag::T_IndexPath);
                *copy = *index;
                if copy.path.pathtype == NodeTag::T_IndexOnlyScan {
                    // An index does not give the ctid of a row as a column.
                    copy.path.pathtype = NodeTag::T_IndexScan;
                    pg_sys::cost_index(copy, sides.root, questions.max(1.0), false);
                }
                from_mut(copy).cast()
            } else {
                let bitmap = cast::<pg_sys::BitmapHeapPath>(path.cast(), NodeTag::T_BitmapHeapPath)?;
                let copy = make::<pg_sys::BitmapHeapPath>(NodeTag::T_BitmapHeapPath);
                *copy = *bitmap;
                from_mut(copy).cast()
            };
        (*copy).pathtarget = with_ctid((*path).pathtarget, &*sides.outer, 0);
        need_ctid(sides.root, &*sides.outer);
        Some(copy)
    }
}

/// The nested loop, and the distinct rows of it.
///
/// # Safety
/// The paths must be those of both sides: that which asks, and that which is asked.
unsafe fn distinct_path(
    sides: &Sides,
    extra: &JoinPathExtraData,
    [asking, asked]: [*mut Path; 2],
) -> *mut Path {
    // SAFETY: nodes of the planner.
    unsafe {
        let join = &*sides.join;
        let mut extra = *extra;
        extra.inner_unique = false;
        let nested = compat::nested_loop(sides.root, sides.join, &mut extra, [asking, asked]);
        (*nested).rows = pg_sys::clamp_row_est((*asking).rows * (*asked).rows);
        (*nested).pathtarget = with_ctid(join.reltarget, &*sides.outer, ROW_REFERENCE);
        let row = make::<pg_sys::SortGroupClause>(NodeTag::T_SortGroupClause);
        row.tleSortGroupRef = ROW_REFERENCE;
        row.eqop = pg_sys::Oid::from(pg_sys::TIDEqualOperator);
        row.sortop = pg_sys::Oid::from(pg_sys::TIDLessOperator);
        row.hashable = true;
        let distinct = pg_sys::create_agg_path(
            sides.root,
            sides.join,
            nested,
            join.reltarget,
            pg_sys::AggStrategy::AGG_HASHED,
            pg_sys::AggSplit::AGGSPLIT_SIMPLE,
            list_of(&[from_mut(row).cast()]),
            null_mut(),
            null(),
            join.rows.max(1.0),
        );
        distinct.cast()
    }
}

/// These columns, and behind them the ctid of a table.
///
/// # Safety
/// The columns must be those of a path on the table.
unsafe fn with_ctid(columns: *mut PathTarget, table: &RelOptInfo, reference: u32) -> *mut PathTarget {
    // SAFETY: makes a copy, to which a column of the table is added.
    unsafe {
        let columns = pg_sys::copy_pathtarget(columns);
        let place = pg_sys::SelfItemPointerAttributeNumber as i16;
        let none = pg_sys::InvalidOid;
        let ctid = pg_sys::makeVar(table.relid as i32, place, pg_sys::TIDOID, -1, none, 0);
        pg_sys::add_column_to_pathtarget(columns, ctid.cast(), reference);
        columns
    }
}

/// Notes that the ctid of a table is needed. Otherwise a scan may return the columns of the table instead of
/// those of its path.
///
/// # Safety
/// The table must be one of the query.
unsafe fn need_ctid(root: *mut pg_sys::PlannerInfo, table: &RelOptInfo) {
    // SAFETY: a table has such a set for each column from `min_attr` on. It lives as long as the table does,
    // which may be longer than the join.
    unsafe {
        let place = pg_sys::SelfItemPointerAttributeNumber - i32::from(table.min_attr);
        let needed = &mut *table.attr_needed.add(place as usize);
        let caller = pg_sys::MemoryContextSwitchTo((*root).planner_cxt);
        *needed = pg_sys::bms_add_members(*needed, table.relids);
        pg_sys::MemoryContextSwitchTo(caller);
    }
}
