//! Nested loops of PostgreSQL's own nodes that search an index for each of a few rows, which PostgreSQL does
//! not propose itself or takes for too expensive. They stay because the plans without them take more than
//! twice as long (`make bench ONLY=choice`): 2.7 times for ten rows of a table that was never analyzed, as
//! autovacuum does not analyze tables of fewer than fifty rows, and 10 ms instead of less than one for EXISTS
//! with ten inner rows, each against 100,000 rows.

use super::kind::{JoinKind, Side};
use super::path::Sides;
use crate::pg::compat;
use crate::pg::node::{Node, Nodes};
use crate::pg::planner::Relation;
use crate::pg::settings::setting;
use pgrx::pg_sys::{self, JoinPathExtraData, JoinType, NodeTag, Path, PathTarget};
use std::ptr::{from_mut, from_ref, null, null_mut};

/// The number of the ctid as a grouping column of the nested loop.
const ROW_REFERENCE: u32 = 1;

/// The number of pages that PostgreSQL assumes.
const ASSUMED_PAGES: u32 = 10;

/// Proposes loops in which each row of a small outer table that was never analyzed searches an index of the
/// inner side. PostgreSQL assumes that such a table has ten pages, in case it is about to grow: it expects
/// hundreds of rows instead of ten, and so many searches that reading the whole index seems faster. So the
/// loop is proposed once more, with its cost for the pages that the table has.
pub(super) fn propose_of_unanalyzed(sides: &Sides, type_: JoinType::Type, extra: &JoinPathExtraData) {
    let (Some(part), Some(outer)) = (part_of_pages(sides, sides.outer), sides.outer.cheapest(false)) else {
        return;
    };
    if sides.kind.fills(Side::Inner) || !setting!(enable_nestloop) {
        return;
    }
    for inner in sides.inner.paths_parameterized_by(sides.outer) {
        let paths = [outer, inner].map(|path| from_ref(path).cast_mut());
        let (root, join) = (sides.planner.pointer(), sides.join);
        // SAFETY: the arguments come from the hook, and each path belongs to one of its two relations.
        unsafe {
            let path = compat::nested_loop(root, join.pointer(), type_, &mut extra.clone(), paths);
            scale(&mut *path, outer, part);
            join.propose(path, false);
        }
    }
}

/// Reduces the cost of a loop to the cost for a fraction of its outer rows.
fn scale(path: &mut Path, outer: &Path, part: f64) {
    path.total_cost = outer.total_cost + part * (path.total_cost - outer.total_cost);
}

/// The pages of a table as a fraction of the assumed pages; `None` if PostgreSQL does not assume any.
fn part_of_pages(sides: &Sides, table: Relation) -> Option<f64> {
    let entry = table.entry(sides.planner)?;
    if table.pages != ASSUMED_PAGES || !has_pages(entry) {
        return None;
    }
    // SAFETY: the planner holds a lock on each table of the query.
    unsafe {
        let relation = pg_sys::table_open(entry.relid, pg_sys::NoLock as i32);
        let is_analyzed = (*(*relation).rd_rel).reltuples >= 0.0;
        let pages = pg_sys::RelationGetNumberOfBlocksInFork(relation, pg_sys::ForkNumber::MAIN_FORKNUM);
        pg_sys::table_close(relation, pg_sys::NoLock as i32);
        (!is_analyzed).then(|| f64::from(pages) / f64::from(ASSUMED_PAGES))
    }
}

/// Whether the relation is a table or a materialized view; a foreign table has no pages.
fn has_pages(entry: &pg_sys::RangeTblEntry) -> bool {
    let kind = entry.relkind as u8;
    entry.rtekind == pg_sys::RTEKind::RTE_RELATION
        && (kind == pg_sys::RELKIND_RELATION || kind == pg_sys::RELKIND_MATVIEW)
}

/// Proposes, for a semi join with few inner rows, a nested loop with exchanged sides: each inner row searches
/// an index of the outer table. The loop finds an outer row once for each match, so PostgreSQL's
/// HashAggregate keeps each outer row once, by its ctid.
pub(super) fn propose_by_inner(sides: &Sides, extra: &JoinPathExtraData) {
    let Some(inner) = sides.inner.cheapest(false) else { return };
    // All pairs of an outer row have the same outer columns, and PostgreSQL may recheck the outer row with
    // any of its inner rows. Other expressions may differ between them.
    let has_columns = sides.join.columns().iter().all(Node::is::<pg_sys::Var>);
    if sides.kind != JoinKind::Semi || !has_columns || !is_table(sides) {
        return;
    }
    // The new paths go into the join's list, so this list does not change meanwhile.
    for path in sides.outer.paths_parameterized_by(sides.inner) {
        if let Some(path) = asked_path(sides, path, inner.rows) {
            // SAFETY: the path belongs to the join.
            unsafe { sides.join.propose(distinct_path(sides, extra, [inner, &*path]), false) };
        }
    }
}

/// Whether the outer side is a single table, whose rows are identified by their ctid.
fn is_table(sides: &Sides) -> bool {
    let Some(entry) = sides.outer.entry(sides.planner) else { return false };
    !entry.inh && has_pages(entry)
}

/// A copy of an index path of the outer table that also returns the ctid; `None` for other paths.
fn asked_path(sides: &Sides, path: &Path, questions: f64) -> Option<*mut Path> {
    // SAFETY: a path is a node.
    let node = unsafe { Node::new(from_ref(path).cast_mut()) };
    let copy: *mut Path = match (node.cast::<pg_sys::IndexPath>(), node.cast::<pg_sys::BitmapHeapPath>()) {
        (Some(index), _) => {
            let copy = sides.planner.make::<pg_sys::IndexPath>();
            *copy = *index;
            if copy.path.pathtype == NodeTag::T_IndexOnlyScan {
                // An index-only scan does not return the ctid.
                copy.path.pathtype = NodeTag::T_IndexScan;
                // SAFETY: the path belongs to the query.
                unsafe { pg_sys::cost_index(copy, sides.planner.pointer(), questions.max(1.0), false) };
            }
            from_mut(copy).cast()
        }
        (_, Some(bitmap)) => {
            let copy = sides.planner.make::<pg_sys::BitmapHeapPath>();
            *copy = *bitmap;
            from_mut(copy).cast()
        }
        _ => return None,
    };
    // SAFETY: nobody else has a pointer to the copy.
    unsafe { (*copy).pathtarget = with_ctid(path.pathtarget, sides.outer, 0) };
    need_ctid(sides);
    Some(copy)
}

/// The nested loop of two paths, the rows that search and the index that is searched, and the aggregate that
/// removes duplicates from its result.
fn distinct_path(sides: &Sides, extra: &JoinPathExtraData, paths @ [asking, asked]: [&Path; 2]) -> *mut Path {
    let (root, join) = (sides.planner.pointer(), sides.join);
    let mut extra = *extra;
    extra.inner_unique = false;
    let row = sides.planner.make::<pg_sys::SortGroupClause>();
    row.tleSortGroupRef = ROW_REFERENCE;
    row.eqop = pg_sys::Oid::from(pg_sys::TIDEqualOperator);
    row.sortop = pg_sys::Oid::from(pg_sys::TIDLessOperator);
    row.hashable = true;
    // SAFETY: the nodes belong to the planner.
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
            Nodes::of(&[Node::of(row)]).pointer(),
            null_mut(),
            null(),
            join.rows.max(1.0),
        );
        distinct.cast()
    }
}

/// The columns that a path of a table returns, followed by the ctid.
fn with_ctid(columns: *mut PathTarget, table: Relation, reference: u32) -> *mut PathTarget {
    // SAFETY: the function changes a copy, to which it adds a column of the table.
    unsafe {
        let columns = pg_sys::copy_pathtarget(columns);
        let place = pg_sys::SelfItemPointerAttributeNumber as i16;
        let none = pg_sys::InvalidOid;
        let ctid = pg_sys::makeVar(table.relid as i32, place, pg_sys::TIDOID, -1, none, 0);
        pg_sys::add_column_to_pathtarget(columns, ctid.cast(), reference);
        columns
    }
}

/// Marks the ctid of the outer table as needed. Otherwise a scan may return all columns of the table instead
/// of the columns of its path.
fn need_ctid(sides: &Sides) {
    let table = sides.outer;
    // SAFETY: the table has such a set for each column from `min_attr` on. The set lives as long as the
    // table's RelOptInfo, which may be longer than the join.
    unsafe {
        let place = pg_sys::SelfItemPointerAttributeNumber - i32::from(table.min_attr);
        let needed = &mut *table.attr_needed.add(place as usize);
        let caller = pg_sys::MemoryContextSwitchTo((*sides.planner.pointer()).planner_cxt);
        *needed = pg_sys::bms_add_members(*needed, table.relids);
        pg_sys::MemoryContextSwitchTo(caller);
    }
}
