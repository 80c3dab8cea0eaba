//! Nested loops from a small table that was never analysed, as autovacuum leaves those of less than fifty
//! rows.
//!
//! PostgreSQL takes it for a table of ten pages, in case that it is about to grow: instead of ten codes it
//! expects hundreds, and that asking an index for each of them takes longer than reading all that the index
//! has. So such a loop is proposed once more, with its cost by the pages that the table has.

use super::path::Sides;
use crate::pg::compat;
use crate::pg::planner::Relation;
use crate::pg::settings::setting;
use pgrx::pg_sys::{self, JoinPathExtraData, JoinType, Path};
use std::ptr::from_ref;

/// The pages that PostgreSQL assumes.
const ASSUMED_PAGES: u32 = 10;

/// Proposes loops in which each row of the outer side asks an index of the inner one.
pub(super) fn propose(sides: &Sides, type_: JoinType::Type, extra: &JoinPathExtraData) {
    let (Some(part), Some(outer)) = (part_of_pages(sides, sides.outer), sides.outer.cheapest(false)) else {
        return;
    };
    if sides.kind.keeps_inner() || !setting!(enable_nestloop) {
        return;
    }
    for inner in sides.inner.paths_asking(sides.outer) {
        let paths = [outer, inner].map(|path| from_ref(path).cast_mut());
        let (root, join) = (sides.planner.pointer(), sides.join);
        // SAFETY: the arguments are those of the hook, and paths of its two sides.
        unsafe {
            let path = compat::nested_loop(root, join.pointer(), type_, &mut extra.clone(), paths);
            scale(&mut *path, outer, part);
            join.propose(path, false);
        }
    }
}

/// Makes the cost of a loop that of a part of the rows of its outer path.
pub(super) fn scale(path: &mut Path, outer: &Path, part: f64) {
    path.total_cost = outer.total_cost + part * (path.total_cost - outer.total_cost);
}

/// The part of the assumed pages that a table has, if PostgreSQL assumes some.
pub(super) fn part_of_pages(sides: &Sides, table: Relation) -> Option<f64> {
    let entry = table.entry(sides.planner)?;
    if table.pages != ASSUMED_PAGES || !has_pages(entry) {
        return None;
    }
    // SAFETY: the planner has tables locked.
    unsafe {
        let relation = pg_sys::table_open(entry.relid, pg_sys::NoLock as i32);
        let is_analysed = (*(*relation).rd_rel).reltuples >= 0.0;
        let pages = pg_sys::RelationGetNumberOfBlocksInFork(relation, pg_sys::ForkNumber::MAIN_FORKNUM);
        pg_sys::table_close(relation, pg_sys::NoLock as i32);
        (!is_analysed).then(|| f64::from(pages) / f64::from(ASSUMED_PAGES))
    }
}

/// Whether it is a table or a materialized view, and not a foreign table, for one.
pub(super) fn has_pages(entry: &pg_sys::RangeTblEntry) -> bool {
    let kind = entry.relkind as u8;
    entry.rtekind == pg_sys::RTEKind::RTE_RELATION
        && (kind == pg_sys::RELKIND_RELATION || kind == pg_sys::RELKIND_MATVIEW)
}
