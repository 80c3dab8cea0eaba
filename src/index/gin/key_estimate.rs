//! How many keys a search of a GIN index for sketches looks up, and the work of looking them up.

use super::query::SketchQuery;
use crate::estimate::cost::{OPERATORS_PER_PAGE, Work};
use crate::estimate::sketch::values_of;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::planner::{PlannedIndex, Planner};
use pg_sys::{IndexClause, RestrictInfo};
use pgrx::pg_sys;
use text::sketch::threshold::LeastShared;

/// The number of size classes that an unknown query is assumed to search for: those for a share of 0.6 of 200
/// values.
const TYPICAL_SIZES: f64 = 50.0;

/// Pages above a key: the root and a page below, which are assumed to be in memory.
const PAGES_ABOVE_KEY: f64 = 2.0;

/// Measured: bytes in the posting lists of size classes, for each row of the table.
const SIZE_BYTES: f64 = 3.0;

/// The number of keys that are looked up: values, and size classes.
#[derive(Clone, Copy, Default)]
pub(super) struct KeyEstimate {
    values: f64,
    sizes: f64,
}

impl KeyEstimate {
    /// The keys of a condition. `None` if it finds nothing or reads the whole index; GIN's own estimate knows
    /// that.
    pub(super) fn of<'p>(planner: Planner<'p>, condition: &'p IndexClause) -> Option<Self> {
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
        let SketchQuery { threshold, values } = unsafe { SketchQuery::of(datum) };
        let sizes = match threshold.least_shared(values.len()) {
            LeastShared::Unknown | LeastShared::Never => return None,
            LeastShared::Exactly(_) => 0,
            LeastShared::BySize => threshold.least_shared_by_size(values.len()).count(),
        };
        Some(Self { values: values.len() as f64, sizes: sizes as f64 })
    }

    /// Adds the keys of another condition.
    pub(super) fn add(&mut self, other: Self) {
        self.values += other.values;
        self.sizes += other.sizes;
    }

    /// The work of looking the keys up.
    pub(super) fn work(self, index: PlannedIndex) -> Work {
        // Values are hashes, each in another leaf. Size classes are next to each other.
        let all_sizes = 1.0 + index.table().1.max(0.0) * SIZE_BYTES / f64::from(pg_sys::BLCKSZ);
        let operators = (self.values + self.sizes) * PAGES_ABOVE_KEY * OPERATORS_PER_PAGE;
        Work { pages: self.values + self.sizes.min(all_sizes), operators, ..Work::default() }
    }
}

/// The two arguments of the operator of an index condition, as the planner stores it.
fn arguments_of(condition: &IndexClause) -> Option<[Expr<'_>; 2]> {
    // SAFETY: a clause has a list of conditions, which have expressions.
    unsafe {
        let mut conditions = Exprs::new(condition.indexquals).iter();
        let (Some(restriction), None) = (conditions.next(), conditions.next()) else { return None };
        Expr::new(restriction.cast::<RestrictInfo>()?.clause).as_operator()?.args()
    }
}
