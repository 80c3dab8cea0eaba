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
use crate::estimate::path_cost::{CostedPath, Estimate, OPERATORS_PER_PAGE, Work, cost_function};
use crate::estimate::sketch::values_of;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::sketch_oids::SketchOids;
use crate::pg::compat::set_cost_function;
use crate::pg::node::{Node, Nodes};
use crate::pg::planner::{PlannedIndex, Planner};
use crate::pg::varlena::content;
use pg_sys::{IndexClause, Oid, RestrictInfo};
use pgrx::pg_sys;
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

cost_function!(gin_cost, estimate);

/// Makes the planner call our cost function for an index. Other indexes keep theirs, so queries that do not
/// use this extension are planned as without it.
pub(crate) fn install_sketch_cost(index: &mut pg_sys::IndexOptInfo, sketches: &SketchOids) {
    let is_ours = |family| sketches.match_operator(family).is_some();
    if index.relam == GIN && PlannedIndex(index).families().any(is_ours) {
        set_cost_function(index, Some(gin_cost));
    }
}

fn estimate(path: &CostedPath) -> Estimate {
    let (mut keys, mut others, mut is_about_ours) = (KeyEstimate::default(), Nodes::NONE, false);
    for clause in path.clauses() {
        // SAFETY: a clause was derived from a condition of the query.
        let is_about_sketches = is_about_sketches(unsafe { &*clause.rinfo });
        is_about_ours |= is_about_sketches;
        match is_about_sketches.then(|| KeyEstimate::of(path.planner, clause)).flatten() {
            Some(more) => keys.add(more),
            None => others = others.with(Node::of(clause)),
        }
    }
    if !is_about_ours {
        return of_gin(path, others);
    }
    let selectivity = selectivity_of(path);
    let rows = selectivity * path.index.table().1;
    let work = keys.work(path.index);
    let mut estimate = CostedPath { rows, ..path.clone() }.estimate(work, work);
    estimate.selectivity = selectivity;
    if !others.is_empty() {
        let of_others = of_gin(path, others);
        estimate.startup += of_others.startup;
        estimate.total += of_others.total;
    }
    estimate
}

/// GIN's own estimate for these clauses.
fn of_gin(path: &CostedPath, clauses: Nodes) -> Estimate {
    let mut asked = pg_sys::IndexPath { indexclauses: clauses.pointer(), ..*path.index_path };
    let [mut startup, mut total, mut selectivity, mut correlation, mut pages] = [0.0; 5];
    let (root, loop_count) = (path.planner.pointer(), path.loop_count);
    // SAFETY: the path belongs to the query, and the pointers are for the results.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            gincostestimate(
                root,
                &raw mut asked,
                loop_count,
                &raw mut startup,
                &raw mut total,
                &raw mut selectivity,
                &raw mut correlation,
                &raw mut pages,
            );
        });
    }
    Estimate { startup, total, selectivity, pages }
}

/// The selectivity of the query's conditions from which the index conditions were derived.
fn selectivity_of(path: &CostedPath) -> f64 {
    // SAFETY: each clause of a path has the query's condition that it was derived from.
    unsafe {
        let conditions = path.clauses().fold(Nodes::NONE, |list, clause| list.with(Node::new(clause.rinfo)));
        let all = pg_sys::add_predicate_to_index_quals(path.index_path.indexinfo, conditions.pointer());
        path.planner.selectivity(Nodes::new(all), path.index.table().0)
    }
}

/// Whether a condition of the query has our estimate.
fn is_about_sketches(condition: &RestrictInfo) -> bool {
    // SAFETY: a condition has an expression.
    let call = unsafe { Node::new(condition.clause) }.as_function();
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
    fn of<'p>(planner: Planner<'p>, condition: &'p IndexClause) -> Option<Self> {
        let [stored, query] = arguments_of(condition)?;
        let is_share = ExtensionOids::known().is_some_and(|ours| ours.sketches.query_type == query.type_());
        let known = planner.estimated(query);
        if !known.is::<pg_sys::Const>() {
            let sizes = if is_share { TYPICAL_SIZES } else { 0.0 };
            return Some(Self { values: values_of(Some(planner), stored), sizes });
        }
        let datum = known.value()?;
        if !is_share {
            return Some(Self { values: values_of(Some(planner), known), sizes: 0.0 });
        }
        // SAFETY: the type of the value is sketch_query.
        let SketchQuery { threshold, values } = SketchQuery::of(unsafe { content(datum) });
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
fn arguments_of(condition: &IndexClause) -> Option<[Node<'_>; 2]> {
    // SAFETY: a clause has a list of conditions, which have expressions.
    unsafe {
        let mut conditions = Nodes::new(condition.indexquals).iter();
        let (Some(restriction), None) = (conditions.next(), conditions.next()) else { return None };
        Node::new(restriction.cast::<RestrictInfo>()?.clause).as_operator()?.args()
    }
}
