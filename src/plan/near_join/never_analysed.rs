//! Nested loops over a small outer table that was never analysed. Autovacuum does not analyse tables of less
//! than fifty rows.
//!
//! PostgreSQL assumes that such a table has ten pages, in case it is about to grow: it expects hundreds of
//! rows instead of ten, and so many index searches that reading the whole index seems faster. So we propose
//! such a loop once more, with its cost for the pages that the table has.

use super::path::Sides;
use crate::pg::compat;
use crate::pg::planner::Relation;
use crate::pg::settings::setting;
use pgrx::pg_sys::{self, JoinPathExtraData, JoinType, Path};
use std::ptr::from_ref;

/// The number of pages that PostgreSQL assumes.
const ASSUMED_PAGES: u32 = 10;

/// Proposes loops in which each outer row searches an index of the inner side.
pub(super) fn propose(sides: &Sides, type_: JoinType::Type, extra: &JoinPathExtraData) {
    let (Some(part), Some(outer)) = (part_of_pages(sides, sides.outer), sides.outer.cheapest(false)) else {
        return;
    };
    if sides.kind.keeps_inner() || !setting!(enable_nestloop) {
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
pub(super) fn scale(path: &mut Path, outer: &Path, part: f64) {
    path.total_cost = outer.total_cost + part * (path.total_cost - outer.total_cost);
}

/// The pages of a table as a fraction of the assumed pages; `None` if PostgreSQL does not assume any.
pub(super) fn part_of_pages(sides: &Sides, table: Relation) -> Option<f64> {
    let entry = table.entry(sides.planner)?;
    if table.pages != ASSUMED_PAGES || !has_pages(entry) {
        return None;
    }
    // SAFETY: the planner holds a lock on each table of the query.
    unsafe {
        let relation = pg_sys::table_open(entry.relid, pg_sys::NoLock as i32);
        let is_analysed = (*(*relation).rd_rel).reltuples >= 0.0;
        let pages = pg_sys::RelationGetNumberOfBlocksInFork(relation, pg_sys::ForkNumber::MAIN_FORKNUM);
        pg_sys::table_close(relation, pg_sys::NoLock as i32);
        (!is_analysed).then(|| f64::from(pages) / f64::from(ASSUMED_PAGES))
    }
}

/// Whether the relation is a table or a materialized view; a foreign table has no pages.
pub(super) fn has_pages(entry: &pg_sys::RangeTblEntry) -> bool {
    let kind = entry.relkind as u8;
    entry.rtekind == pg_sys::RTEKind::RTE_RELATION
        && (kind == pg_sys::RELKIND_RELATION || kind == pg_sys::RELKIND_MATVIEW)
}
