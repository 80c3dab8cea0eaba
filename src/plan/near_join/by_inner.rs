//! EXISTS with few inner rows: each of them asks an index of the outer table.
//!
//! A semi join is otherwise a loop over the outer rows, or reads all of them. If the outer table has an index
//! on its codes, a nested loop the other way round finds the outer rows with a partner: its outer side is the
//! inner one of the semi join. It finds a row once for each partner, so PostgreSQL's HashAggregate keeps each
//! row once, by its ctid. All nodes are PostgreSQL's own.

use super::kind::JoinKind;
use super::never_analysed::{has_pages, part_of_pages, scale};
use super::path::Sides;
use crate::pg::compat;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::nodes::make;
use crate::pg::planner::Relation;
use pgrx::pg_sys::{self, JoinPathExtraData, NodeTag, Path, PathTarget};
use std::ptr::{from_mut, from_ref, null, null_mut};

/// How the nested loop names the column by which rows are distinct.
const ROW_REFERENCE: u32 = 1;

/// Proposes a path for each path by which the inner rows can ask the outer table.
pub(super) fn propose(sides: &Sides, extra: &JoinPathExtraData) {
    let Some(inner) = sides.inner.cheapest(false) else { return };
    // Pairs of an outer row have the same columns, and may have different values of other expressions.
    let has_columns = sides.join.columns().iter().all(Expr::is::<pg_sys::Var>);
    if sides.kind != JoinKind::Semi || !has_columns || !is_table(sides) {
        return;
    }
    // Paths are added to the join alone.
    for path in sides.outer.paths_asking(sides.inner) {
        if let Some(path) = asked_path(sides, path, inner.rows) {
            // SAFETY: a path of the join.
            unsafe { sides.join.propose(distinct_path(sides, extra, [inner, &*path]), false) };
        }
    }
}

/// Whether the outer side is one table, whose rows have a ctid of their own.
fn is_table(sides: &Sides) -> bool {
    let Some(entry) = sides.outer.entry(sides.planner) else { return false };
    !entry.inh && has_pages(entry)
}

/// A copy of a path of the outer table that also returns the ctid. `None` if it is not by an index.
fn asked_path(sides: &Sides, path: &Path, questions: f64) -> Option<*mut Path> {
    // SAFETY: a path is a node.
    let node = unsafe { Expr::new(from_ref(path).cast_mut()) };
    let copy: *mut Path = match (node.cast::<pg_sys::IndexPath>(), node.cast::<pg_sys::BitmapHeapPath>()) {
        (Some(index), _) => {
            let copy = make::<pg_sys::IndexPath>();
            *copy = *index;
            if copy.path.pathtype == NodeTag::T_IndexOnlyScan {
                // An index does not give the ctid of a row as a column.
                copy.path.pathtype = NodeTag::T_IndexScan;
                // SAFETY: a path of the query.
                unsafe { pg_sys::cost_index(copy, sides.planner.pointer(), questions.max(1.0), false) };
            }
            from_mut(copy).cast()
        }
        (_, Some(bitmap)) => {
            let copy = make::<pg_sys::BitmapHeapPath>();
            *copy = *bitmap;
            from_mut(copy).cast()
        }
        _ => return None,
    };
    // SAFETY: the copy, which nobody else has.
    unsafe { (*copy).pathtarget = with_ctid(path.pathtarget, sides.outer, 0) };
    need_ctid(sides);
    Some(copy)
}

/// The nested loop, and the distinct rows of it, of the paths of both sides: that which asks, and that which
/// is asked.
fn distinct_path(sides: &Sides, extra: &JoinPathExtraData, paths @ [asking, asked]: [&Path; 2]) -> *mut Path {
    let (root, join) = (sides.planner.pointer(), sides.join);
    let mut extra = *extra;
    extra.inner_unique = false;
    let row = make::<pg_sys::SortGroupClause>();
    row.tleSortGroupRef = ROW_REFERENCE;
    row.eqop = pg_sys::Oid::from(pg_sys::TIDEqualOperator);
    row.sortop = pg_sys::Oid::from(pg_sys::TIDLessOperator);
    row.hashable = true;
    // SAFETY: nodes of the planner.
    unsafe {
        let (kind, paths) = (pg_sys::JoinType::JOIN_INNER, paths.map(|path| from_ref(path).cast_mut()));
        let nested = compat::nested_loop(root, join.pointer(), kind, &mut extra, paths);
        let part = part_of_pages(sides, sides.inner).unwrap_or(1.0);
        (*nested).rows = pg_sys::clamp_row_est(part * asking.rows * asked.rows);
        scale(&mut *nested, asking, part);
        (*nested).pathtarget = with_ctid(join.reltarget, sides.outer, ROW_REFERENCE);
        let distinct = pg_sys::create_agg_path(
            root,
            join.pointer(),
            nested,
            join.reltarget,
            pg_sys::AggStrategy::AGG_HASHED,
            pg_sys::AggSplit::AGGSPLIT_SIMPLE,
            Exprs::of(&[Expr::of(row)]).pointer(),
            null_mut(),
            null(),
            join.rows.max(1.0),
        );
        distinct.cast()
    }
}

/// The columns of a path on a table, and behind them the ctid of the table.
fn with_ctid(columns: *mut PathTarget, table: Relation, reference: u32) -> *mut PathTarget {
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

/// Notes that the ctid of the outer table is needed. Otherwise a scan may return the columns of the table
/// instead of those of its path.
fn need_ctid(sides: &Sides) {
    let table = sides.outer;
    // SAFETY: a table has such a set for each column from `min_attr` on. It lives as long as the table does,
    // which may be longer than the join.
    unsafe {
        let place = pg_sys::SelfItemPointerAttributeNumber - i32::from(table.min_attr);
        let needed = &mut *table.attr_needed.add(place as usize);
        let caller = pg_sys::MemoryContextSwitchTo((*sides.planner.pointer()).planner_cxt);
        *needed = pg_sys::bms_add_members(*needed, table.relids);
        pg_sys::MemoryContextSwitchTo(caller);
    }
}
