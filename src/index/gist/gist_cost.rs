//! The cost of searching a GiST index, if a key column has our operator class.
//!
//! GiST's own estimate considers neither distances nor the order of columns. It assumes that the
//! fraction of pages that are read is the fraction of rows that are found. So GiST would seem best for every
//! radius, and for every query that has no condition on the first column.

use crate::estimate::condition::{PathConditions, are_fingerprints};
use crate::estimate::path_cost::{CostedPath, Work};
use crate::estimate::statistics::distinct_values;
use crate::pg::index_cost::{IndexCost, IndexCostFunction, PlannedSearch};
use crate::pg::node::{Node, Nodes};
use crate::pg::planned_index::PlannedIndex;
use hamming_index::search_cost::{IndexedColumn, boxes_read, radius_of};
use pgrx::pg_sys;

/// The time to examine an entry, in operators. With 1, the planner expects a search that prunes nothing to
/// take half as long as a sequential scan, if both are in memory. That is what was measured.
const OPERATORS_PER_ENTRY: f64 = 1.0;

/// The same for an ordered search, which puts entries into a queue. If no row is near, some 30 were measured:
/// a million rows then take as long as a sequential scan with a sort. If rows are near, most pages are not
/// read.
const OPERATORS_PER_QUEUED: f64 = 5.0;

/// The time to take the next entry from the queue, in operators, if the queue has a million entries.
const OPERATORS_PER_NEXT: f64 = 30.0;

struct GistCost;

impl IndexCostFunction for GistCost {
    fn cost(search: PlannedSearch<'_>) -> IndexCost {
        estimate(&CostedPath::of(search))
    }
}

/// Makes the planner call our estimate for an index.
pub(crate) fn install_cost(index: PlannedIndex<'_>) {
    if index.access_method() == pg_sys::GIST_AM_OID && are_fingerprints(index).any(|is_one| is_one) {
        index.set_cost::<GistCost>();
    }
}

fn estimate(path: &CostedPath) -> IndexCost {
    // In GiST, an index-only scan returns rows that VACUUM removes meanwhile, so the operator class has no
    // function to fetch codes. A query whose condition is the predicate of the index needs none.
    let index = path.index();
    if path.search.is_index_only() && !index.predicate().is_empty() {
        return IndexCost::NEVER;
    }
    let mut columns: Vec<_> = columns(path).collect();
    let pages = f64::from(index.pages());
    let entries = (index.tuples() / pages).max(2.0);
    let levels = pages.log(entries).ceil();
    let work = |read: f64, per_entry| Work {
        pages: read,
        operators: (read + levels) * entries * per_entry,
        ..Work::default()
    };
    // At least the pages that the found rows would fill.
    let read = boxes_read(pages, &columns).max(path.general.numIndexPages);
    if !path.is_ordered() {
        return path.estimate(Work::default(), work(read, OPERATORS_PER_ENTRY));
    }
    let mut all = work(read, OPERATORS_PER_QUEUED);
    all.operators += path.rows * OPERATORS_PER_NEXT;
    let first = path.search.order_by_columns().next();
    if let Some(IndexedColumn::Fingerprint { radius }) = first.and_then(|by| columns.get_mut(by)) {
        *radius = radius_of(hamming::BITS, path.wanted(), path.rows).min(*radius);
    }
    path.estimate(work(boxes_read(pages, &columns), OPERATORS_PER_QUEUED), all)
}

/// What the search requires of each key column.
fn columns(path: &CostedPath) -> impl Iterator<Item = IndexedColumn> {
    let index = path.index();
    are_fingerprints(index).enumerate().zip(index.columns()).map(
        move |((column, is_fingerprint), expression)| {
            if is_fingerprint {
                let PathConditions { radius, is_null } = PathConditions::of(path, column);
                // NULLs are next to each other.
                let radius = if is_null { 0 } else { radius.unwrap_or(u64::BITS) };
                return IndexedColumn::Fingerprint { radius };
            }
            other(path, column, distinct_values(path.planner(), expression, index.table().0))
        },
    )
}

/// What the search requires of other columns. `values` is the number of distinct values in the table.
/// An array condition searches for each element separately.
fn other(path: &CostedPath, column: usize, values: f64) -> IndexedColumn {
    let index = path.index();
    let (table, rows) = index.table();
    let of_column = path.all_conditions().filter(|&(of, _)| of == column);
    let conditions = of_column.fold(Nodes::NONE, |list, (_, condition)| list.with(condition.node()));
    let mut selectivity = path.planner().selectivity(conditions, table);
    if path.conditions(column).any(Node::is::<pg_sys::ScalarArrayOpExpr>) {
        selectivity /= path.general.num_sa_scans;
    }
    // A condition on this column may imply a partial index's predicate. Then the index has fewer values.
    let of_index = (index.tuples() / rows.max(1.0)).min(1.0);
    let predicate = index.predicate();
    let is_divided = !predicate.is_empty() && of_index > 0.0 && predicate.follows_from(conditions);
    let kept = if is_divided { of_index } else { 1.0 };
    IndexedColumn::Other { values: values * kept, fraction: (selectivity / kept).min(1.0) }
}
