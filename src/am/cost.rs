//! What a search costs, for the planner.
//!
//! How many pages are read at which radius follows from the size of the index alone, for both kinds of index. GiST's
//! own estimate knows nothing of distances: it takes the share of rows that are found for the share of pages
//! that are read, so it would win for every radius. Its estimate is corrected here.

use super::scan::BYTES_PER_SORTED;
use crate::planner::nodes::{cast, constant, elements};
use crate::planner::selectivity::{Condition, TYPICAL_RADIUS};
use hamming_index::cost::{leaves_in, leaves_read, radius_of, strings_within};
use hamming_index::page::LEAF_CAPACITY;
use pgrx::{pg_guard, pg_sys};

/// Fingerprints compared in the time that the planner takes for one operator: a page's 582 take some 0.15 µs,
/// an operator some 0.05 µs.
const COMPARISONS_PER_OPERATOR: f64 = 200.0;

/// Operators in the time that it takes to find, pin and lock a page: as in Postgres's own indexes.
const OPERATORS_PER_PAGE: f64 = 50.0;

/// Children of an inner page of GiST with our keys of 16 bytes.
const GIST_FANOUT: f64 = 150.0;

/// What the conditions of a path say.
struct Asked {
    /// The smallest radius of all conditions, if there are any on the distance.
    radius: Option<u32>,
    /// Only rows without a fingerprint are wanted.
    is_null: bool,
    /// What it takes to compute what is compared with.
    operands: f64,
    is_ordered: bool,
}

/// # Safety
/// The path must be one of the query.
unsafe fn asked(root: *mut pg_sys::PlannerInfo, path: &pg_sys::IndexPath) -> Asked {
    // SAFETY: promised by the caller: clauses are lists of conditions, which have expressions.
    unsafe {
        let conditions = pg_sys::get_quals_from_indexclauses(path.indexclauses);
        let operands = pg_sys::index_other_operands_eval_cost(root, conditions)
            + pg_sys::index_other_operands_eval_cost(root, path.indexorderbys);
        let is_ordered = !path.indexorderbys.is_null();
        let mut asked = Asked { radius: None, is_null: false, operands, is_ordered };
        for &mut condition in elements(conditions) {
            let Some(condition) = cast::<pg_sys::RestrictInfo>(condition, pg_sys::NodeTag::T_RestrictInfo)
            else {
                continue;
            };
            let clause: *mut pg_sys::Node = condition.clause.cast();
            if let Some(test) = cast::<pg_sys::NullTest>(clause, pg_sys::NodeTag::T_NullTest) {
                asked.is_null |= test.nulltesttype == pg_sys::NullTestType::IS_NULL;
            } else {
                let radius = radius(root, clause);
                asked.radius = Some(asked.radius.map_or(radius, |smallest| smallest.min(radius)));
            }
        }
        asked
    }
}

/// The radius of a condition on the distance.
///
/// # Safety
/// The condition must be one of the query.
unsafe fn radius(root: *mut pg_sys::PlannerInfo, condition: *mut pg_sys::Node) -> u32 {
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

/// Leaves that a search reads before the first row is found, and in all. The pages above them are few, and
/// taken to be in memory, as Postgres does for its own indexes.
fn leaves(asked: &Asked, index: &pg_sys::IndexOptInfo, rows: f64) -> (f64, f64) {
    let leaves = leaves_in(index.pages);
    if asked.is_null {
        return (0.0, (rows / LEAF_CAPACITY as f64).max(1.0));
    }
    match (asked.radius, asked.is_ordered) {
        (Some(radius), false) => (0.0, leaves_read(leaves, radius)),
        (None, false) => (0.0, leaves),
        (radius, true) => {
            let farthest = radius.unwrap_or(u64::BITS);
            let first = leaves_read(leaves, radius_of(1.0, index.tuples).min(farthest));
            // All of them are sorted piece by piece, each by a search of its own.
            // SAFETY: a setting.
            let piece = unsafe { pg_sys::work_mem } as f64 * 1024.0 / BYTES_PER_SORTED as f64;
            let searches = (rows / piece).ceil().max(1.0);
            (first, first + searches * leaves_read(leaves, farthest))
        }
    }
}

/// The answer to the planner.
struct Estimate {
    startup: f64,
    total: f64,
    selectivity: f64,
    correlation: f64,
    pages: f64,
}

/// Defines what the planner calls: `cost_function!(name, estimate)`.
macro_rules! cost_function {
    ($(#[$doc:meta])* $visibility:vis $name:ident, $estimate:ident) => {
        $(#[$doc])*
        #[pg_guard]
        $visibility unsafe extern "C-unwind" fn $name(
            root: *mut pg_sys::PlannerInfo,
            path: *mut pg_sys::IndexPath,
            loop_count: f64,
            startup: *mut pg_sys::Cost,
            total: *mut pg_sys::Cost,
            selectivity: *mut pg_sys::Selectivity,
            correlation: *mut f64,
            pages: *mut f64,
        ) {
            // SAFETY: the planner passes a path of the query, and places for the answers.
            unsafe {
                let estimate = $estimate(root, path, loop_count);
                *startup = estimate.startup;
                *total = estimate.total;
                *selectivity = estimate.selectivity;
                *correlation = estimate.correlation;
                *pages = estimate.pages;
            }
        }
    };
}
cost_function!(pub(super) amcostestimate, estimate);
cost_function!(gist_cost, estimate_gist);

/// What it costs on average to read one of so many pages of an index, in each of so many searches. Later ones find
/// pages that earlier ones have read.
///
/// # Safety
/// The index must be one of the query.
unsafe fn io_cost(
    root: *mut pg_sys::PlannerInfo,
    index: &pg_sys::IndexOptInfo,
    pages: f64,
    loop_count: f64,
    random_page_cost: f64,
) -> f64 {
    let all_read = (pages * loop_count).max(1.0);
    // SAFETY: promised by the caller.
    let fetched = unsafe { pg_sys::index_pages_fetched(all_read, index.pages, index.pages.into(), root) };
    fetched / all_read * random_page_cost
}

/// # Safety
/// The path must be one of the query.
unsafe fn estimate(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    loop_count: f64,
) -> Estimate {
    // SAFETY: promised by the caller.
    unsafe {
        let index = &*(*path).indexinfo;
        // For the share of rows that are found.
        let mut costs = pg_sys::GenericCosts::default();
        pg_sys::genericcostestimate(root, path, loop_count, &raw mut costs);
        let asked = asked(root, &*path);
        let rows = costs.indexSelectivity * index.tuples;
        let (first, each) = leaves(&asked, index, rows);
        let pages = each * costs.num_sa_scans.max(1.0);
        let page_cost = io_cost(root, index, pages, loop_count, costs.spc_random_page_cost)
            + (OPERATORS_PER_PAGE + LEAF_CAPACITY as f64 / COMPARISONS_PER_OPERATOR)
                * pg_sys::cpu_operator_cost;
        Estimate {
            startup: asked.operands + first * page_cost,
            total: asked.operands + pages * page_cost + rows * pg_sys::cpu_index_tuple_cost,
            selectivity: costs.indexSelectivity,
            correlation: 0.0,
            pages,
        }
    }
}

/// # Safety
/// The path must be one of the query.
unsafe fn estimate_gist(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    loop_count: f64,
) -> Estimate {
    // SAFETY: promised by the caller.
    unsafe {
        let index = &*(*path).indexinfo;
        let mut costs = pg_sys::GenericCosts::default();
        pg_sys::genericcostestimate(root, path, loop_count, &raw mut costs);
        let asked = asked(root, &*path);
        let nearest = asked.is_ordered.then(|| radius_of(1.0, index.tuples));
        let radius = asked.radius.or(nearest);
        let read = radius.map_or(0.0, |radius| gist_pages(f64::from(index.pages), radius));
        // What is left out of the general estimate.
        let more = (read - costs.numIndexPages).max(0.0);
        let page_cost = io_cost(root, index, more, loop_count, costs.spc_random_page_cost)
            + GIST_FANOUT * pg_sys::cpu_operator_cost;
        let levels = f64::from(index.tree_height.max(0) + 1);
        let descent = levels * OPERATORS_PER_PAGE * pg_sys::cpu_operator_cost;
        let before_first = if asked.is_ordered { read * page_cost } else { 0.0 };
        let startup = costs.indexStartupCost + descent + before_first;
        Estimate {
            startup,
            total: (costs.indexTotalCost + descent + more * page_cost).max(startup),
            selectivity: costs.indexSelectivity,
            correlation: costs.indexCorrelation,
            pages: costs.numIndexPages + more,
        }
    }
}

/// Whether an index of the query is of our access method.
pub(crate) fn is_hamming(index: &pg_sys::IndexOptInfo) -> bool {
    index.amcostestimate.is_some_and(|estimate| estimate as *const () == amcostestimate as *const ())
}

/// Makes the planner ask us what a search of a GiST index costs, if its only column has our operator class. With
/// others beside it, what is read depends on their conditions as well, and Postgres's own estimate stays.
///
/// # Safety
/// The index must be one of the query, and the type that of balls.
pub(crate) unsafe fn install_gist_cost(index: &mut pg_sys::IndexOptInfo, ball_type: pg_sys::Oid) {
    // SAFETY: promised by the caller; an index has at least one column.
    unsafe {
        if index.relam != pg_sys::GIST_AM_OID || index.nkeycolumns > 1 {
            return;
        }
        let strategy = crate::ball::WITHIN_BALL;
        let operator = pg_sys::get_opfamily_member(*index.opfamily, pg_sys::INT8OID, ball_type, strategy);
        if operator != pg_sys::InvalidOid {
            // Its type has arguments in some versions of Postgres, and none in others.
            let estimate = gist_cost as *const ();
            index.amcostestimate = Some(std::mem::transmute_copy(&estimate));
        }
    }
}

/// Pages of a tree of bounding boxes that are within a radius of a query. A page of so many fixes the bits that
/// tell it from the others: of all strings of that length, as many as are within the radius.
fn gist_pages(pages: f64, radius: u32) -> f64 {
    strings_within(pages.max(1.0).log2(), radius).min(pages).max(1.0)
}
