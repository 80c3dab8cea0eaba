//! The cost of searching a GIN index, if a key column has our operator class.
//!
//! GIN's own estimate is wrong for sketches in two ways:
//!
//! - It charges several pages for each key: the pages on the way to the key. But the upper pages are the same
//!   for all keys, and a sketch has hundreds of values. So we ask GIN for the cost of one key, and
//!   [`KeyEstimate`] adds the cost of the others.
//! - PostgreSQL estimates the rows of the derived condition `sketch && query`, and assumes that the values of
//!   a sketch are common. So we take the number of rows from the query's own condition, which has our
//!   estimate.

use super::key_estimate::{KeyEstimate, with_unknown_query};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::sketch_oids::SketchOids;
use crate::pg::compat::set_cost_function;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::planner::{PlannedIndex, Planner};
use pg_sys::{IndexClause, Oid, RestrictInfo};
use pgrx::{pg_guard, pg_sys};

/// The OID of the access method GIN.
pub(super) const GIN: Oid = Oid::from_u32(2742);

unsafe extern "C-unwind" {
    /// PostgreSQL's cost function for GIN.
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

/// Makes the planner call our cost function for an index. Other indexes keep theirs, so queries that do not
/// use this extension are planned as without it.
pub(crate) fn install_sketch_cost(index: &mut PlannedIndex, sketches: &SketchOids) {
    let mut families = index.families();
    if index.relam == GIN && families.any(|family| sketches.match_operator(family).is_some()) {
        set_cost_function(index.as_mut(), Some(gin_cost));
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
    // SAFETY: the planner passes a path of the query, and pointers for the results.
    unsafe {
        let Some(planner) = Planner::new(root) else { return };
        let path = &*path;
        let (mut keys, mut is_about_ours) = (KeyEstimate::default(), false);
        let mut clauses = Exprs::NONE;
        for clause in Exprs::new(path.indexclauses).iter() {
            let Some(known) = clause.cast::<IndexClause>() else { continue };
            let is_about_sketches = is_about_sketches(&*known.rinfo);
            is_about_ours |= is_about_sketches;
            let searched = if is_about_sketches { KeyEstimate::of(planner, known) } else { None };
            clauses = clauses.with(searched.map_or(clause, |_| with_unknown_query(known)));
            keys.add(searched.unwrap_or_default());
        }
        let mut asked = pg_sys::IndexPath { indexclauses: clauses.pointer(), ..*path };
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
            let index = PlannedIndex::new(path.indexinfo);
            *selectivity = selectivity_of(planner, path);
            let of_keys = keys.cost(planner, index, loop_count);
            let of_rows = *selectivity * index.table().1 * pg_sys::cpu_index_tuple_cost;
            *startup += of_keys;
            *total += of_keys + of_rows;
        }
    }
}

/// The selectivity of the query's conditions from which the index conditions were derived.
fn selectivity_of<'p>(planner: Planner<'p>, path: &'p pg_sys::IndexPath) -> f64 {
    // SAFETY: each clause of a path has the query's condition that it was derived from.
    unsafe {
        let clauses = Exprs::new(path.indexclauses).iter().filter_map(Expr::cast::<IndexClause>);
        let conditions = clauses.fold(Exprs::NONE, |list, clause| list.with(Expr::new(clause.rinfo)));
        let all = pg_sys::add_predicate_to_index_quals(path.indexinfo, conditions.pointer());
        planner.selectivity(Exprs::new(all), PlannedIndex::new(path.indexinfo).table().0)
    }
}

/// Whether a condition of the query has our estimate.
fn is_about_sketches(condition: &RestrictInfo) -> bool {
    // SAFETY: a condition has an expression.
    let call = unsafe { Expr::new(condition.clause) }.as_function();
    let sketches = ExtensionOids::known().map(|ours| ours.sketches);
    sketches.zip(call).is_some_and(|(sketches, call)| {
        [sketches.overlaps, sketches.similar, sketches.contained].contains(&call.id)
    })
}
