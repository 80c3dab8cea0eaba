//! How many rows are within a radius: the share of a table's rows that pass `hamming_within(a, b, radius)`.
//!
//! The volume of a ball among all 64-bit values says "none" for every radius that is used. But fingerprints
//! come in clusters. So the estimate is the share that the column's statistics show, and never less than the
//! rows that have one value on average.

use super::condition::{TYPICAL_RADIUS, Within};
use super::statistics::ColumnStatistics;
use crate::pg::nodes::constant;
use hamming_index::cost::volume;
use pgrx::pg_sys;

/// The selectivity of a condition of which nothing is known, as Postgres assumes it for inequalities of
/// ranges.
pub(crate) const UNKNOWN: f64 = 0.005;

/// The share of rows, or of pairs of rows, for which the condition holds: from 0 to 1, or the planner raises
/// an error.
pub(crate) unsafe fn selectivity(root: *mut pg_sys::PlannerInfo, condition: &Within, relation: i32) -> f64 {
    // SAFETY: promised by the caller.
    let share = unsafe { share(root, condition, relation) };
    if share.is_nan() { UNKNOWN } else { share.clamp(0.0, 1.0) }
}

unsafe fn share(root: *mut pg_sys::PlannerInfo, condition: &Within, relation: i32) -> f64 {
    // SAFETY: expressions of the query, estimated as Postgres's own estimators do.
    unsafe {
        let estimated = |node| constant(pg_sys::estimate_expression_value(root, node));
        let radius = estimated(condition.radius).map_or(TYPICAL_RADIUS, |datum| datum.value() as i32);
        if radius < 0 {
            return 0.0;
        }
        let radius = radius.min(u64::BITS as i32);
        let column = match ColumnStatistics::examine(root, condition.a, relation) {
            Some(column) => Some((column, condition.b)),
            None => {
                ColumnStatistics::examine(root, condition.b, relation).map(|column| (column, condition.a))
            }
        };
        let Some((column, other)) = column else { return volume(radius.unsigned_abs()).max(UNKNOWN) };
        let query = estimated(other).map(|datum| datum.value() as u64);
        column.share_within(query, radius)
    }
}
