//! How many keys a search of a GIN index for sketches looks up, and what that costs.

use super::query::SketchQuery;
use crate::estimate::cost::{OPERATORS_PER_PAGE, pages_fetched};
use crate::estimate::sketch::values_of;
use crate::pg::call::allocate;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::nodes::{cast, constant, elements, list_of, make};
use pg_sys::{IndexClause, Node, NodeTag, OpExpr, RestrictInfo};
use pgrx::pg_sys;
use text::sketch::threshold::LeastShared;

/// Classes of sizes that a query searches for if nothing is known of it: those of a share of 0.6 of 200
/// values.
const TYPICAL_SIZES: f64 = 50.0;

/// Pages on the way to a key: the root, a page below, and a leaf. The first two are taken to be in memory.
const PAGES_PER_KEY: f64 = 3.0;

/// Bytes in the lists of sizes for each row of the table, as measured.
const SIZE_BYTES: f64 = 3.0;

/// How many keys are looked up.
#[derive(Clone, Copy, Default)]
pub(super) struct KeyEstimate {
    values: f64,
    sizes: f64,
}

impl KeyEstimate {
    /// The keys of a condition: None if it finds nothing, or reads the whole index, which GIN's own estimate
    /// knows.
    ///
    /// # Safety
    /// The condition must be one of the query.
    pub(super) unsafe fn of(root: *mut pg_sys::PlannerInfo, condition: &IndexClause) -> Option<Self> {
        // SAFETY: the condition is one of the query, as the caller promises. Its operand is of the type that
        // it shows.
        unsafe {
            let (_, operator) = operator_of(condition)?;
            let &mut [stored, query] = elements(operator.args) else { return None };
            let is_share = ExtensionOids::known()
                .is_some_and(|ours| ours.sketches.query_type == pg_sys::exprType(query));
            let known = pg_sys::estimate_expression_value(root, query);
            if cast::<pg_sys::Const>(known, NodeTag::T_Const).is_none() {
                let sizes = if is_share { TYPICAL_SIZES } else { 0.0 };
                return Some(Self { values: values_of(root, stored), sizes });
            }
            let datum = constant(known)?;
            if !is_share {
                return Some(Self { values: values_of(root, known), sizes: 0.0 });
            }
            let SketchQuery { threshold, values } = SketchQuery::of(datum);
            let sizes = match threshold.least_shared(values.len()) {
                LeastShared::Unknown | LeastShared::Unreachable => return None,
                LeastShared::Exactly(_) => 0,
                LeastShared::BySize => threshold.least_shared_by_size(values.len()).count(),
            };
            Some(Self { values: values.len() as f64, sizes: sizes as f64 })
        }
    }

    /// Adds the keys of a further condition.
    pub(super) fn add(&mut self, other: Self) {
        self.values += other.values;
        self.sizes += other.sizes;
    }

    /// What it costs to look the keys up, except for the first one.
    ///
    /// # Safety
    /// The index must be one of the query.
    pub(super) unsafe fn cost(
        self,
        root: *mut pg_sys::PlannerInfo,
        index: &pg_sys::IndexOptInfo,
        searches: f64,
    ) -> f64 {
        // SAFETY: the index is one of the query, as the caller promises; settings.
        unsafe {
            // Values are hashes, each in a leaf of its own. Sizes are next to one another.
            let all_sizes = 1.0 + (*index.rel).tuples.max(0.0) * SIZE_BYTES / f64::from(pg_sys::BLCKSZ);
            let pages = (self.values - 1.0).max(0.0) + self.sizes.min(all_sizes);
            let (mut page_cost, none) = (0.0, std::ptr::null_mut());
            pg_sys::get_tablespace_page_costs(index.reltablespace, &raw mut page_cost, none);
            let operators = (self.values + self.sizes) * PAGES_PER_KEY * OPERATORS_PER_PAGE;
            pages_fetched(root, index, pages, searches) * page_cost + operators * pg_sys::cpu_operator_cost
        }
    }
}

/// The operator that the index is asked for, with the planner's record of it.
///
/// # Safety
/// The condition must be one of the query.
unsafe fn operator_of(condition: &IndexClause) -> Option<(&RestrictInfo, &OpExpr)> {
    // SAFETY: the condition is one of the query, as the caller promises.
    unsafe {
        let &mut [restriction] = elements(condition.indexquals) else { return None };
        let restriction = &*cast::<RestrictInfo>(restriction, NodeTag::T_RestrictInfo)?;
        Some((restriction, &*cast::<OpExpr>(restriction.clause.cast(), NodeTag::T_OpExpr)?))
    }
}

/// The condition with a query of which nothing is known, for which GIN's own estimate assumes one key.
///
/// # Safety
/// The condition must be one of the query.
pub(super) unsafe fn with_unknown_query(condition: &IndexClause) -> *mut Node {
    // SAFETY: the condition is one of the query, as the caller promises. Copies of nodes are nodes.
    unsafe {
        let unchanged = std::ptr::from_ref(condition).cast_mut().cast();
        let Some((restriction, operator)) = operator_of(condition) else { return unchanged };
        let &mut [stored, query] = elements(operator.args) else { return unchanged };
        let unknown = make::<pg_sys::Param>(NodeTag::T_Param);
        unknown.paramkind = pg_sys::ParamKind::PARAM_EXEC;
        unknown.paramtype = pg_sys::exprType(query);
        let args = list_of(&[stored, std::ptr::from_mut(unknown).cast()]);
        let operator = allocate(OpExpr { args, ..*operator });
        let restriction = RestrictInfo { clause: operator.cast_mut_ptr(), ..*restriction };
        let indexquals = list_of(&[allocate(restriction).cast_mut_ptr()]);
        allocate(IndexClause { indexquals, ..*condition }).cast_mut_ptr()
    }
}
