//! What reading the best sketches costs, as a path that the planner compares with others.

use super::order::{BestOrder, SearchedIndex};
use super::plan::PATH_METHODS;
use crate::pg::call::allocate;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::compat;
use crate::pg::nodes::{copy, double, elements, function, list_of, make, operator};
use pgrx::pg_sys::{self, IndexClause, Node, NodeTag, Path, PlannerInfo, RelOptInfo, RestrictInfo};
use std::ptr::null_mut;
use text::sketch::threshold::Measure;

/// The share that a search is taken to need, of those that the node tries.
const TYPICAL_SHARE: f64 = 0.2;

/// Searches up to then. Each looks up all values of the query, and finds the pages of the first in memory.
const TYPICAL_SEARCHES: f64 = 3.0;

/// The limit of a query if it is not known.
const TYPICAL_LIMIT: f64 = 10.0;

/// The most sketches that a search shall find. A query that reads more is searched for again.
const MOST_WANTED: f64 = 10_000.0;

/// Proposes to read a table in the order.
///
/// # Safety
/// The table must be one of the query that is being planned, with all of its own paths.
pub(super) unsafe fn propose(root: *mut PlannerInfo, table: *mut RelOptInfo, order: &BestOrder) {
    // SAFETY: paths of the query, made by the planner's own functions.
    unsafe {
        if pg_sys::contain_volatile_functions(
            pg_sys::extract_actual_clauses((*table).baserestrictinfo, false).cast(),
        ) {
            return;
        }
        let paths = elements((*table).pathlist).iter().map(|&path| path.cast::<Path>());
        let free = paths.filter(|&path| (*path).param_info.is_null());
        let Some(rest) = free.min_by(|&a, &b| (*a).total_cost.total_cmp(&(*b).total_cost)) else { return };
        let rest = kept(root, table, rest);
        let Some((search, condition)) = search(root, order) else { return };
        let keys = list_of(&[order.key.cast()]);
        let found = pg_sys::create_bitmap_heap_path(root, table, search.cast(), null_mut(), 1.0, 0);
        (*found).path.rows = ((*search).indexselectivity * (*table).rows).max(1.0);
        let found = &*pg_sys::create_sort_path(root, table, found.cast(), keys, -1.0);
        let all = &*pg_sys::create_sort_path(root, table, rest, keys, -1.0);
        let path = make::<pg_sys::CustomPath>(NodeTag::T_CustomPath);
        path.path.pathtype = NodeTag::T_CustomScan;
        path.path.parent = table;
        path.path.pathtarget = (*table).reltarget;
        path.path.pathkeys = keys;
        path.path.rows = (*rest).rows;
        let mut share = pg_sys::QualCost::default();
        pg_sys::cost_qual_eval_node(&raw mut share, order.share.cast(), root);
        path.path.startup_cost = found.path.total_cost
            + (TYPICAL_SEARCHES - 1.0) * (*search).indextotalcost
            + found.path.rows * share.per_tuple;
        path.path.total_cost = path.path.startup_cost + all.path.total_cost + (*rest).rows * share.per_tuple;
        path.flags = pg_sys::CUSTOMPATH_SUPPORT_PROJECTION;
        compat::add_disabled_nodes(&mut path.path, [&found.path, &*rest]);
        path.custom_paths = list_of(&[std::ptr::from_ref(found).cast_mut().cast(), rest.cast()]);
        let measure = pg_sys::lappend_int(null_mut(), number(order.measure));
        let numbers = pg_sys::lappend_int(measure, (*order.key).pk_nulls_first.into());
        let numbers = pg_sys::lappend_int(numbers, wanted(&*root, &*table));
        path.custom_private = list_of(&[numbers.cast(), copy(order.query), condition]);
        path.methods = &raw const PATH_METHODS.0;
        pg_sys::add_path(table, std::ptr::from_mut(path).cast());
    }
}

/// A path that lives on when the planner finds a better one and frees it. It frees no path of an index.
///
/// # Safety
/// The path must be one of the table.
unsafe fn kept(root: *mut PlannerInfo, table: *mut RelOptInfo, path: *mut Path) -> *mut Path {
    // SAFETY: such a path, as the caller promises, of the struct that its tag names.
    unsafe {
        match (*path).type_ {
            NodeTag::T_IndexPath => path,
            NodeTag::T_BitmapHeapPath => allocate(*path.cast::<pg_sys::BitmapHeapPath>()).cast_mut_ptr(),
            _ => pg_sys::create_seqscan_path(root, table, null_mut(), 0),
        }
    }
}

/// How many sketches a search shall find, so that the limit of the query is reached.
fn wanted(root: &PlannerInfo, table: &RelOptInfo) -> i32 {
    let limit = if root.limit_tuples > 0.0 { root.limit_tuples } else { TYPICAL_LIMIT };
    // Further conditions leave some out.
    let passing = (table.rows / table.tuples.max(1.0)).clamp(1.0 / MOST_WANTED, 1.0);
    (limit / passing).clamp(1.0, MOST_WANTED) as i32
}

/// The measures by their numbers in a plan.
const MEASURES: [Measure; 3] = [Measure::Similarity, Measure::OfQuery, Measure::OfSketch];

fn number(measure: Measure) -> i32 {
    MEASURES.iter().position(|&other| other == measure).unwrap_or_default() as i32
}

pub(super) fn measure(number: i32) -> Measure {
    MEASURES.get(number as usize).copied().unwrap_or(Measure::Similarity)
}

/// A search of the index for sketches that reach a share, with the condition that it serves.
///
/// # Safety
/// The order must be that of the query that is being planned.
unsafe fn search(root: *mut PlannerInfo, order: &BestOrder) -> Option<(*mut pg_sys::IndexPath, *mut Node)> {
    // SAFETY: makes expressions of the query's own, and what the planner makes of the conditions of a query.
    unsafe {
        let sketches = ExtensionOids::known()?.sketches;
        let &BestOrder { measure, stored, query, index: SearchedIndex { info, column, matches }, .. } = order;
        let reaches = match measure {
            Measure::Similarity => sketches.similar,
            Measure::OfQuery | Measure::OfSketch => sketches.contained,
        };
        let &mut [a, b] = elements((*order.share).args) else { return None };
        let condition = function(reaches, pg_sys::BOOLOID, &[a, b, double(TYPICAL_SHARE)]);
        let made = function(sketches.query(measure), sketches.query_type, &[query, double(TYPICAL_SHARE)]);
        let searched = operator(matches, pg_sys::BOOLOID, stored, pg_sys::eval_const_expressions(root, made));
        let relids = (*(*info).rel).relids;
        let clause = make::<IndexClause>(NodeTag::T_IndexClause);
        clause.rinfo = restriction(condition, relids);
        clause.indexquals = list_of(&[restriction(searched, relids).cast()]);
        clause.lossy = true;
        clause.indexcol = column;
        let clauses = list_of(&[std::ptr::from_mut(clause).cast()]);
        let (none, forward) = (null_mut(), pg_sys::ScanDirection::ForwardScanDirection);
        let path = pg_sys::create_index_path(
            root,
            info,
            clauses,
            none,
            none,
            none,
            forward,
            false,
            null_mut(),
            1.0,
            false,
        );
        Some((path, condition))
    }
}

/// A condition as the planner keeps those of one relation.
///
/// # Safety
/// The condition must be an expression of the query, about that relation.
unsafe fn restriction(condition: *mut Node, relids: pg_sys::Relids) -> *mut RestrictInfo {
    // SAFETY: zeroed memory is how PostgreSQL makes nodes; negative numbers say that nothing is known yet.
    unsafe {
        let restriction = make::<RestrictInfo>(NodeTag::T_RestrictInfo);
        restriction.clause = condition.cast();
        restriction.is_pushed_down = true;
        (restriction.clause_relids, restriction.required_relids) = (relids, relids);
        restriction.eval_cost.startup = -1.0;
        (restriction.norm_selec, restriction.outer_selec) = (-1.0, -1.0);
        restriction
    }
}
