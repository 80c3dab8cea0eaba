//! The cost of searching a GIN index, if a key column has our operator class.
//!
//! GIN's own estimate is wrong for conditions on sketches in two ways:
//!
//! - It charges several pages for each key: the pages on the way to the key. But the upper pages are the same
//!   for all keys, and a sketch has hundreds of values. So [`KeyEstimate`] charges one page for each key.
//! - PostgreSQL estimates the rows of the derived condition `sketch && query`, and assumes that the values of
//!   a sketch are common. So we take the number of rows from the query's own condition, which has our
//!   estimate.

use super::query::SketchQuery;
use crate::estimate::path_cost::{CostedPath, OPERATORS_PER_PAGE, Work};
use crate::estimate::sketch::values_of;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::sketch_oids::SketchOids;
use crate::pg::index_cost::{IndexClause, IndexCost, IndexCostFunction, PlannedSearch};
use crate::pg::node::{Node, Nodes};
use crate::pg::planned_index::PlannedIndex;
use crate::pg::planner::Planner;
use crate::pg::restriction::Restriction;
use pgrx::pg_sys::{self, Oid};
use text::sketch::threshold::LeastShared;

/// The OID of the access method GIN.
pub(super) const GIN: Oid = Oid::from_u32(2742);

/// The number of size classes that an unknown query is assumed to search for: those for a share of 0.6 of 200
/// values.
const TYPICAL_SIZES: f64 = 50.0;

/// Pages above a key: the root and a page below, which are assumed to be in memory.
const PAGES_ABOVE_KEY: f64 = 2.0;

/// Measured: bytes in the posting lists of size classes, for each row of the table.
const SIZE_BYTES: f64 = 3.0;

struct GinCost;

impl IndexCostFunction for GinCost {
    fn cost(search: PlannedSearch<'_>) -> IndexCost {
        estimate(&CostedPath::of(search))
    }
}

/// Makes the planner call our estimate for an index. Other indexes keep theirs, so queries that do not use
/// this extension are planned as without it.
pub(crate) fn install_sketch_cost(index: PlannedIndex<'_>, sketches: &SketchOids) {
    let is_ours = |family| sketches.match_operator(family).is_some();
    if index.access_method() == GIN && index.families().any(is_ours) {
        index.set_cost::<GinCost>();
    }
}

fn estimate(path: &CostedPath) -> IndexCost {
    let mut keys = KeyEstimate::default();
    let mut others = Nodes::NONE;
    let mut is_about_ours = false;
    for clause in path.search.clauses() {
        let is_about_sketches = is_about_sketches(clause.source());
        is_about_ours |= is_about_sketches;
        match is_about_sketches.then(|| KeyEstimate::of(path.planner(), clause)).flatten() {
            Some(more) => keys.add(more),
            None => others = others.with(clause.node()),
        }
    }
    if !is_about_ours {
        return path.search.cost_of_gin(others);
    }
    // The selectivity of the query's conditions from which the index conditions were derived.
    let (table, rows_of_table) = path.index().table();
    let selectivity = path.planner().selectivity(path.search.conditions_with_predicate(), table);
    let rows = selectivity * rows_of_table;
    let work = keys.work(path.index());
    let mut estimate = CostedPath { rows, ..path.clone() }.estimate(work, work);
    estimate.selectivity = selectivity;
    if !others.is_empty() {
        let of_others = path.search.cost_of_gin(others);
        estimate.startup += of_others.startup;
        estimate.total += of_others.total;
    }
    estimate
}

/// Whether a condition of the query has our estimate.
fn is_about_sketches(condition: Restriction<'_>) -> bool {
    let call = condition.expr().as_function();
    let sketches = ExtensionOids::known().map(|ours| ours.sketches);
    sketches.zip(call).is_some_and(|(sketches, call)| {
        [sketches.overlaps, sketches.similar, sketches.contained].contains(&call.id)
    })
}

/// The number of keys that are looked up: values, and size classes.
#[derive(Clone, Copy, Default)]
struct KeyEstimate {
    values: f64,
    sizes: f64,
}

impl KeyEstimate {
    /// The keys of a condition. `None` if it finds nothing or reads the whole index; GIN's own estimate shows
    /// that.
    fn of<'p>(planner: Planner<'p>, condition: IndexClause<'p>) -> Option<Self> {
        let [stored, query] = arguments_of(condition)?;
        let is_share = ExtensionOids::known().is_some_and(|ours| ours.sketches.query_type == query.type_());
        let known = planner.estimated(query);
        if !known.is::<pg_sys::Const>() {
            let sizes = if is_share { TYPICAL_SIZES } else { 0.0 };
            return Some(Self { values: values_of(Some(planner), stored), sizes });
        }
        let constant = known.constant()?;
        if !is_share {
            return Some(Self { values: values_of(Some(planner), known), sizes: 0.0 });
        }
        let SketchQuery { threshold, values } = SketchQuery::of(constant.content()?);
        let sizes = match threshold.least_shared(values.len()) {
            LeastShared::Unknown | LeastShared::Never => return None,
            LeastShared::Exactly(_) => 0,
            LeastShared::BySize => threshold.least_shared_by_size(values.len()).count(),
        };
        Some(Self { values: values.len() as f64, sizes: sizes as f64 })
    }

    /// Adds the keys of another condition.
    fn add(&mut self, other: Self) {
        self.values += other.values;
        self.sizes += other.sizes;
    }

    /// The work of looking the keys up.
    fn work(self, index: PlannedIndex) -> Work {
        // Values are hashes, each in another leaf. Size classes are next to each other.
        let all_sizes = 1.0 + index.table().1.max(0.0) * SIZE_BYTES / f64::from(pg_sys::BLCKSZ);
        let operators = (self.values + self.sizes) * PAGES_ABOVE_KEY * OPERATORS_PER_PAGE;
        Work { pages: self.values + self.sizes.min(all_sizes), operators, ..Work::default() }
    }
}

/// The two arguments of the operator of an index condition, as the planner stores it.
fn arguments_of(condition: IndexClause<'_>) -> Option<[Node<'_>; 2]> {
    let mut conditions = condition.conditions();
    let only = conditions.next().filter(|_| conditions.next().is_none())?;
    only.expr().as_operator()?.args()
}
