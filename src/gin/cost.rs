//! What a search of a GIN index costs, if a key column has our operator class.
//!
//! GIN's own estimate is wrong for sketches in two ways:
//!
//! - It charges each key for several pages, those on the way to it. But the upper ones are the same for all
//!   keys, and a sketch has hundreds of values. So GIN is asked for the cost of one key, and [`KeyEstimate`]
//!   adds the others.
//! - The rows that are found by the derived condition `sketch && query` are estimated by PostgreSQL, which
//!   takes the values of a sketch for common ones. So this number comes from the condition of the query,
//!   which has our estimate.

use super::key_estimate::{KeyEstimate, with_unknown_query};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::sketch_oids::SketchOids;
use crate::pg::compat::set_cost_function;
use crate::pg::nodes::{cast, elements, list_of};
use pg_sys::{IndexClause, Node, NodeTag, Oid};
use pgrx::{pg_guard, pg_sys};

/// PostgreSQL's number of the access method GIN.
pub(super) const GIN: Oid = Oid::from_u32(2742);

unsafe extern "C-unwind" {
    /// PostgreSQL's own estimate for GIN.
    fn gincostestimate(
        root: *mut pg_sys::PlannerInfo,
        path: *mut pg_sys::IndexPath,
        loop_count: f64,
        startup: *mut pg_sys::Cost,
        total: *mut pg_sys::Cost,
        selectivity: *mut pg_sys::Selectivity,
        correlation: *mut f64,
        pages: *mut f64,
    );
}

/// Makes the planner ask us what a search of the index costs. No other index is touched, so queries that do
/// not name us are planned as without us.
///
/// # Safety
/// The index must be one of the query.
pub(crate) unsafe fn install_sketch_cost(index: &mut pg_sys::IndexOptInfo, sketches: &SketchOids) {
    // SAFETY: the index is one of the query, as the caller promises; there is a family for each key column.
    unsafe {
        let mut columns = 0..index.nkeycolumns as usize;
        let has_our_class = |column| sketches.match_operator(*index.opfamily.add(column)).is_some();
        if index.relam == GIN && columns.any(has_our_class) {
            set_cost_function(index, Some(gin_cost));
        }
    }
}

#[pg_guard]
#[allow(clippy::too_many_arguments, reason = "Postgres says what it is called with")]
unsafe extern "C-unwind" fn gin_cost(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    loop_count: f64,
    startup: *mut pg_sys::Cost,
    total: *mut pg_sys::Cost,
    selectivity: *mut pg_sys::Selectivity,
    correlation: *mut f64,
    pages: *mut f64,
) {
    // SAFETY: the planner passes a path of the query, and places for the answers.
    unsafe {
        let path = &*path;
        let (mut keys, mut is_about_ours) = (KeyEstimate::default(), false);
        let mut clauses = std::ptr::null_mut();
        for &clause in elements(path.indexclauses).iter() {
            let known = &*clause.cast::<IndexClause>();
            let is_about_sketches = is_about_sketches(known.rinfo.cast());
            is_about_ours |= is_about_sketches;
            let searched = if is_about_sketches { KeyEstimate::of(root, known) } else { None };
            clauses = pg_sys::lappend(clauses, searched.map_or(clause, |_| with_unknown_query(known)).cast());
            keys.add(searched.unwrap_or_default());
        }
        let mut asked = pg_sys::IndexPath { indexclauses: clauses, ..*path };
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            gincostestimate(
                root,
                &raw mut asked,
                loop_count,
                startup,
                total,
                selectivity,
                correlation,
                pages,
            );
        });
        if is_about_ours {
            let index = &*path.indexinfo;
            *selectivity = share_found(root, path);
            let of_keys = keys.cost(root, index, loop_count);
            let of_rows = *selectivity * (*index.rel).tuples * pg_sys::cpu_index_tuple_cost;
            *startup += of_keys;
            *total += of_keys + of_rows;
        }
    }
}

/// The share of rows that a search finds, by the conditions of the query.
///
/// # Safety
/// The path must be one of the query.
unsafe fn share_found(root: *mut pg_sys::PlannerInfo, path: &pg_sys::IndexPath) -> f64 {
    // SAFETY: the path is one of the query, as the caller promises.
    unsafe {
        let condition = |&clause: &*mut Node| (*clause.cast::<IndexClause>()).rinfo.cast();
        let conditions: Vec<*mut Node> = elements(path.indexclauses).iter().map(condition).collect();
        let all = pg_sys::add_predicate_to_index_quals(path.indexinfo, list_of(&conditions));
        let table = (*(*path.indexinfo).rel).relid as i32;
        let (inner, none) = (pg_sys::JoinType::JOIN_INNER, std::ptr::null_mut());
        pg_sys::clauselist_selectivity(root, all, table, inner, none)
    }
}

/// Whether a condition of the query is one that has our estimate.
///
/// # Safety
/// `condition` must be an expression of the query that is being planned.
unsafe fn is_about_sketches(condition: *mut Node) -> bool {
    // SAFETY: `condition` is an expression of the query that is being planned, as the caller promises.
    unsafe {
        let clause = (*condition.cast::<pg_sys::RestrictInfo>()).clause;
        let sketches = ExtensionOids::known().map(|ours| ours.sketches);
        sketches.zip(cast::<pg_sys::FuncExpr>(clause.cast(), NodeTag::T_FuncExpr)).is_some_and(
            |(sketches, call)| {
                [sketches.overlaps, sketches.similar, sketches.contained].contains(&call.funcid)
            },
        )
    }
}
