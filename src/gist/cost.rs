//! What a search of a GiST index costs, if a key column has our operator class.
//!
//! GiST's own estimate knows nothing of distances, nor of the order of columns. It takes the share of rows
//! that are found for the share of pages that are read. By that estimate GiST would win at every radius, and
//! for every query that leaves the first column out.

use crate::estimate::condition::{is_fingerprint, radius_of_condition};
use crate::estimate::cost::{Estimate, Search, Work, cost_function};
use crate::estimate::statistics::distinct_values;
use crate::pg::compat::set_cost_function;
use crate::pg::nodes::{cast, elements};
use hamming_index::cost::{IndexedColumn, boxes_read, radius_of};
use pgrx::pg_sys::{self, Node, NodeTag};

/// Operators in the time that it takes to look at an entry. With 1, the planner expects a search that prunes
/// nothing to take half as long as a sequential scan, both in memory; and so it was measured.
const OPERATORS_PER_ENTRY: f64 = 1.0;

/// The cost of an entry in ordered searches, which keep the entries in a queue. Where no row is near, some 30
/// were measured: a million rows take as long as to scan and sort the table. Where rows are near, most pages
/// are not even read.
const OPERATORS_PER_QUEUED: f64 = 5.0;

/// Operators in the time that it takes to find the next one in the queue, when it has a million.
const OPERATORS_PER_NEXT: f64 = 30.0;

cost_function!(gist_cost, estimate);

/// Makes the planner ask us what a search of the index costs.
///
/// # Safety
/// The index must be one of the query.
pub(crate) unsafe fn install_cost(index: &mut pg_sys::IndexOptInfo) {
    // SAFETY: the index is one of the query, as the caller promises.
    unsafe {
        let mut key_columns = 0..index.nkeycolumns as usize;
        if index.relam == pg_sys::GIST_AM_OID && key_columns.any(|column| is_fingerprint(index, column)) {
            set_cost_function(index, Some(gist_cost));
        }
    }
}

fn estimate(search: &Search) -> Estimate {
    // SAFETY: the search is one of the query.
    let mut columns = unsafe { columns(search) };
    let pages = f64::from(search.index.pages);
    let entries = (search.index.tuples / pages).max(2.0);
    let levels = pages.log(entries).ceil();
    let work = |read: f64, per_entry| Work { pages: read, operators: (read + levels) * entries * per_entry };
    // At least the pages that the found rows fill, if these lie together.
    let read = boxes_read(pages, &columns).max(search.general.numIndexPages);
    if !search.is_ordered() {
        return search.estimate(Work::default(), work(read, OPERATORS_PER_ENTRY));
    }
    let mut all = work(read, OPERATORS_PER_QUEUED);
    all.operators += search.rows * OPERATORS_PER_NEXT;
    // SAFETY: an ordered path has a column for each of its expressions.
    let by = unsafe { (*(*search.path.indexorderbycols).elements).int_value } as usize;
    if let Some(IndexedColumn::Fingerprint { radius }) = columns.get_mut(by) {
        *radius = radius_of(hamming::BITS, search.wanted(), search.rows).min(*radius);
    }
    search.estimate(work(boxes_read(pages, &columns), OPERATORS_PER_QUEUED), all)
}

/// What is asked of each key column.
///
/// # Safety
/// The search must be one of the query.
unsafe fn columns(search: &Search) -> Vec<IndexedColumn> {
    let index = search.index;
    // SAFETY: the search is one of the query, as the caller promises; the list has an entry for each
    // column.
    unsafe {
        let expressions = elements(index.indextlist);
        let asked = |column: usize| {
            let conditions = conditions(search.path, column);
            if is_fingerprint(index, column) {
                return IndexedColumn::Fingerprint { radius: smallest_radius(search.root, conditions) };
            }
            let expression = (*expressions[column].cast::<pg_sys::TargetEntry>()).expr.cast();
            let values = distinct_values(search.root, expression, (*index.rel).relid as i32);
            other(search, conditions, values)
        };
        (0..index.nkeycolumns as usize).map(asked).collect()
    }
}

/// The conditions on a column.
///
/// # Safety
/// The path must be one of the query.
unsafe fn conditions(path: &pg_sys::IndexPath, column: usize) -> *mut pg_sys::List {
    let mut conditions = std::ptr::null_mut();
    // SAFETY: the path is one of the query, as the caller promises: a list of clauses, each with a list of
    // conditions.
    unsafe {
        for &mut clause in elements(path.indexclauses) {
            let clause = &*clause.cast::<pg_sys::IndexClause>();
            if clause.indexcol as usize == column {
                conditions = pg_sys::list_concat(conditions, clause.indexquals);
            }
        }
    }
    conditions
}

/// The expressions of conditions.
///
/// # Safety
/// The list must be one of conditions.
unsafe fn clauses(conditions: *mut pg_sys::List) -> impl Iterator<Item = *mut Node> {
    // SAFETY: the list is one of conditions, as the caller promises.
    let conditions = unsafe { elements(conditions) };
    // SAFETY: the same.
    conditions.iter().map(|condition| unsafe { (*condition.cast::<pg_sys::RestrictInfo>()).clause.cast() })
}

/// The smallest radius of the conditions on a column of fingerprints. NULLs lie together as equal ones do.
///
/// # Safety
/// The conditions must be of the query.
unsafe fn smallest_radius(root: *mut pg_sys::PlannerInfo, conditions: *mut pg_sys::List) -> u32 {
    // SAFETY: the conditions are of the query, as the caller promises.
    unsafe {
        let radii =
            clauses(conditions).map(|clause| match cast::<pg_sys::NullTest>(clause, NodeTag::T_NullTest) {
                Some(test) if test.nulltesttype == pg_sys::NullTestType::IS_NOT_NULL => u64::BITS,
                Some(_) => 0,
                None => radius_of_condition(root, clause),
            });
        radii.min().unwrap_or(u64::BITS)
    }
}

/// What is asked of a column that is not one of fingerprints. `values` is the number of its values in the
/// table. Each element of an array is searched for by itself.
///
/// # Safety
/// The search must be one of the query, and the conditions on this column.
unsafe fn other(search: &Search, conditions: *mut pg_sys::List, values: f64) -> IndexedColumn {
    let (root, index, table) = (search.root, search.index, search.index.rel);
    // SAFETY: the search is one of the query, and the conditions on this column, as the caller promises.
    unsafe {
        let (inner, none) = (pg_sys::JoinType::JOIN_INNER, std::ptr::null_mut());
        let mut share = pg_sys::clauselist_selectivity(root, conditions, (*table).relid as i32, inner, none);
        let is_array = |clause| cast::<Node>(clause, NodeTag::T_ScalarArrayOpExpr).is_some();
        if clauses(conditions).any(is_array) {
            share /= search.general.num_sa_scans;
        }
        // If this column decides which rows are in a partial index, the index has only the values that it
        // admits.
        let of_index = (index.tuples / (*table).tuples.max(1.0)).min(1.0);
        let is_divided = !index.indpred.is_null()
            && of_index > 0.0
            && pg_sys::predicate_implied_by(index.indpred, conditions, false);
        let kept = if is_divided { of_index } else { 1.0 };
        IndexedColumn::Other { values: values * kept, share: (share / kept).min(1.0) }
    }
}
