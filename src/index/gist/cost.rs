//! What a search of a GiST index costs, if a key column has our operator class.
//!
//! GiST's own estimate knows nothing of distances, nor of the order of columns. It takes the fraction of rows
//! that are found for the fraction of pages that are read. By that estimate GiST would win at every radius,
//! and for every query that leaves the first column out.

use crate::estimate::condition::{are_fingerprints, radius_of_condition};
use crate::estimate::cost::{Estimate, Search, Work, cost_function};
use crate::estimate::statistics::distinct_values;
use crate::pg::compat::set_cost_function;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::planner::PlannedIndex;
use hamming_index::cost::{IndexedColumn, boxes_read, radius_of};
use pgrx::pg_sys;

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
pub(crate) fn install_cost(index: &mut PlannedIndex) {
    if index.relam == pg_sys::GIST_AM_OID && are_fingerprints(*index).any(|is_fingerprint| is_fingerprint) {
        set_cost_function(index.as_mut(), Some(gist_cost));
    }
}

fn estimate(search: &Search) -> Estimate {
    let mut columns: Vec<_> = columns(search).collect();
    let pages = f64::from(search.index.pages);
    let entries = (search.index.tuples / pages).max(2.0);
    let levels = pages.log(entries).ceil();
    let work = |read: f64, per_entry| Work {
        pages: read,
        operators: (read + levels) * entries * per_entry,
        ..Work::default()
    };
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
fn columns(search: &Search) -> impl Iterator<Item = IndexedColumn> {
    // SAFETY: the list has an entry with an expression for each column.
    let expressions = unsafe { Exprs::new(search.index.indextlist) };
    are_fingerprints(search.index).enumerate().zip(expressions.iter()).map(
        |((column, is_fingerprint), entry)| {
            if is_fingerprint {
                return IndexedColumn::Fingerprint { radius: smallest_radius(search, column) };
            }
            // SAFETY: the same.
            let expression = unsafe { Expr::new((*entry.pointer().cast::<pg_sys::TargetEntry>()).expr) };
            other(search, column, distinct_values(search.planner, expression, search.index.table().0))
        },
    )
}

/// The smallest radius of the conditions on a column of fingerprints. NULLs lie together as equal ones do.
fn smallest_radius(search: &Search, column: usize) -> u32 {
    let radii = search.conditions(column).map(|condition| match condition.cast::<pg_sys::NullTest>() {
        Some(test) if test.nulltesttype == pg_sys::NullTestType::IS_NOT_NULL => u64::BITS,
        Some(_) => 0,
        None => radius_of_condition(search.planner, condition),
    });
    radii.min().unwrap_or(u64::BITS)
}

/// What is asked of a column that is not one of fingerprints. `values` is the number of its values in the
/// table. Each element of an array is searched for by itself.
fn other(search: &Search, column: usize, values: f64) -> IndexedColumn {
    let (index, (table, rows)) = (search.index, search.index.table());
    let of_column = search.all_conditions().filter(|&(of, _)| of == column);
    let conditions = of_column.fold(Exprs::NONE, |list, (_, condition)| list.with(Expr::of(condition)));
    let mut selectivity = search.planner.selectivity(conditions, table);
    if search.conditions(column).any(Expr::is::<pg_sys::ScalarArrayOpExpr>) {
        selectivity /= search.general.num_sa_scans;
    }
    // If this column decides which rows are in a partial index, the index has only the values that it admits.
    let of_index = (index.tuples / rows.max(1.0)).min(1.0);
    let predicate = index.predicate();
    let is_divided = !predicate.is_empty() && of_index > 0.0 && predicate.follows_from(conditions);
    let kept = if is_divided { of_index } else { 1.0 };
    IndexedColumn::Other { values: values * kept, fraction: (selectivity / kept).min(1.0) }
}
