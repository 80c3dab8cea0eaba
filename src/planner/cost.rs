//! What the cost estimates of both kinds of index have in common.
//!
//! Postgres's general estimate takes the share of rows that are found for the share of pages that are read. That
//! is not so for distances: ours begin with the pages, and take the rows from the general one.

use super::names::Names;
use super::nodes::{cast, constant, elements};
use super::selectivity::{Condition, TYPICAL_RADIUS};
use crate::ball::WITHIN_BALL;
use pgrx::pg_sys;

/// Operators in the time that it takes to find, pin and lock a page: as in Postgres's own indexes.
const OPERATORS_PER_PAGE: f64 = 50.0;

/// What a search has done at some moment.
#[derive(Clone, Copy, Default)]
pub(crate) struct Work {
    /// Pages that it has read, each as often as it was read. Those above the leaves are few, and taken to be in
    /// memory, as Postgres does for its own indexes.
    pub(crate) pages: f64,
    /// What it has computed, in the time of operators.
    pub(crate) operators: f64,
}

/// The search of an index that a path of the planner stands for.
pub(crate) struct Search<'a> {
    pub(crate) root: *mut pg_sys::PlannerInfo,
    pub(crate) path: &'a pg_sys::IndexPath,
    pub(crate) index: &'a pg_sys::IndexOptInfo,
    /// Rows that it finds.
    pub(crate) rows: f64,
    /// Postgres's general estimate.
    pub(crate) general: pg_sys::GenericCosts,
    /// How often the whole of it is done, in a join.
    loop_count: f64,
}

impl<'a> Search<'a> {
    /// # Safety
    /// The path must be one of the query.
    pub(crate) unsafe fn of(
        root: *mut pg_sys::PlannerInfo,
        path: *mut pg_sys::IndexPath,
        loop_count: f64,
    ) -> Self {
        // SAFETY: promised by the caller.
        unsafe {
            let mut general = pg_sys::GenericCosts::default();
            pg_sys::genericcostestimate(root, path, loop_count, &raw mut general);
            general.num_sa_scans = general.num_sa_scans.max(1.0);
            let path = &*path;
            Self { root, path, index: &*path.indexinfo, rows: general.numIndexTuples, general, loop_count }
        }
    }

    pub(crate) fn is_ordered(&self) -> bool {
        !self.path.indexorderbys.is_null()
    }

    /// Rows that have to be found until as many as LIMIT says have passed the conditions that the index knows
    /// nothing of: one, where that cannot be told. The planner expects each share of the rows to cost the same share of
    /// the time, but the first of an ordered search cost most; so what these cost is said to come before the first.
    pub(crate) fn wanted(&self) -> f64 {
        // SAFETY: the planner's own; it has listed the relations of the query before it looks for paths.
        unsafe {
            let root = &*self.root;
            if root.limit_tuples <= 0.0 || pg_sys::bms_num_members(root.all_baserels) != 1 {
                return 1.0;
            }
            let all = self.rows.max(1.0);
            (root.limit_tuples * all / (*self.index.rel).rows.max(1.0)).clamp(1.0, all)
        }
    }

    /// The answer to the planner: what is done until the first row is found, and in all, for each element of the
    /// arrays that are searched for.
    pub(crate) fn estimate(&self, first: Work, all: Work) -> Estimate {
        let arrays = self.general.num_sa_scans;
        // SAFETY: settings, and lists of conditions of the path.
        unsafe {
            let conditions = pg_sys::get_quals_from_indexclauses(self.path.indexclauses);
            let operands = pg_sys::index_other_operands_eval_cost(self.root, conditions)
                + pg_sys::index_other_operands_eval_cost(self.root, self.path.indexorderbys);
            let startup = operands + self.cost(first);
            let found = self.rows * arrays * pg_sys::cpu_index_tuple_cost;
            Estimate {
                startup,
                total: startup.max(operands + self.cost(all) * arrays + found),
                selectivity: self.general.indexSelectivity,
                correlation: 0.0,
                pages: all.pages * arrays,
            }
        }
    }

    /// What the work of one search costs. Later searches find pages that earlier ones have read.
    fn cost(&self, work: Work) -> f64 {
        let searches = self.loop_count * self.general.num_sa_scans;
        let pages = self.index.pages;
        let fetched = if searches > 1.0 {
            let all = (work.pages * searches).max(1.0);
            // SAFETY: the planner's own, which knows how large the tables of the query are.
            (unsafe { pg_sys::index_pages_fetched(all, pages, pages.into(), self.root) }) / searches
        } else {
            work.pages.min(pages.into())
        };
        let operators = work.pages * OPERATORS_PER_PAGE + work.operators;
        // SAFETY: a setting.
        fetched * self.general.spc_random_page_cost + operators * unsafe { pg_sys::cpu_operator_cost }
    }
}

/// The answer to the planner.
pub(crate) struct Estimate {
    pub(crate) startup: f64,
    pub(crate) total: f64,
    pub(crate) selectivity: f64,
    pub(crate) correlation: f64,
    pub(crate) pages: f64,
}

/// Defines what the planner calls: `cost_function!(name, estimate)`, where `estimate` takes a [`Search`].
macro_rules! cost_function {
    ($visibility:vis $name:ident, $estimate:ident) => {
        #[pgrx::pg_guard]
        #[allow(clippy::too_many_arguments, reason = "Postgres says what it is called with")]
        $visibility unsafe extern "C-unwind" fn $name(
            root: *mut pgrx::pg_sys::PlannerInfo,
            path: *mut pgrx::pg_sys::IndexPath,
            loop_count: f64,
            startup: *mut pgrx::pg_sys::Cost,
            total: *mut pgrx::pg_sys::Cost,
            selectivity: *mut pgrx::pg_sys::Selectivity,
            correlation: *mut f64,
            pages: *mut f64,
        ) {
            // SAFETY: the planner passes a path of the query, and places for the answers.
            unsafe {
                let estimate = $estimate(&$crate::planner::cost::Search::of(root, path, loop_count));
                *startup = estimate.startup;
                *total = estimate.total;
                *selectivity = estimate.selectivity;
                *correlation = estimate.correlation;
                *pages = estimate.pages;
            }
        }
    };
}
pub(crate) use cost_function;

/// The radius of a condition on the distance.
///
/// # Safety
/// The condition must be one of the query, on a column of fingerprints.
pub(crate) unsafe fn radius(root: *mut pg_sys::PlannerInfo, condition: *mut pg_sys::Node) -> u32 {
    // SAFETY: promised by the caller.
    unsafe {
        // Otherwise it is `= ANY (…)`, and each element is searched for by itself.
        let Some(condition) = cast::<pg_sys::OpExpr>(condition, pg_sys::NodeTag::T_OpExpr) else { return 0 };
        let &mut [key, operand] = elements(condition.args) else { return 0 };
        // The operator is either equality with a fingerprint, or membership in a ball.
        if pg_sys::exprType(operand) == pg_sys::INT8OID {
            return 0;
        }
        let radius = Condition::of_ball(key, operand)
            .and_then(|within| constant(pg_sys::estimate_expression_value(root, within.radius)))
            .map_or(TYPICAL_RADIUS, |datum| datum.value() as i32);
        radius.clamp(0, u64::BITS as i32) as u32
    }
}

/// Whether a key column of an index, counted from 0, is searched for fingerprints within balls.
///
/// # Safety
/// The index must be one of the query, and have the column.
pub(crate) unsafe fn is_fingerprint(index: &pg_sys::IndexOptInfo, column: usize) -> bool {
    let Some(names) = Names::known() else { return false };
    // SAFETY: promised by the caller; there is a family for each key column.
    unsafe {
        let (family, bigint) = (*index.opfamily.add(column), pg_sys::INT8OID);
        pg_sys::get_opfamily_member(family, bigint, names.ball_type, WITHIN_BALL) != pg_sys::InvalidOid
    }
}
