//! How many rows are within a radius: the share of a table's rows that pass `hamming_within(a, b, radius)`.
//!
//! The volume of a ball among all values of that length says "none" for every radius that is used. But
//! fingerprints come in clusters. So the estimate is the share that the statistics of the column show, or of
//! both columns of a join, and never less than the rows that have one value on average.

use super::condition::{Within, typical_radius};
use super::statistics::ColumnStatistics;
use crate::pg::code::Code;
use crate::pg::nodes::constant;
use hamming::code::volume;
use pgrx::pg_sys;

/// The selectivity of a condition of which nothing is known, as Postgres assumes it for inequalities of
/// ranges.
pub(crate) const UNKNOWN: f64 = 0.005;

/// The share of rows, or of pairs of rows, for which the condition holds: from 0 to 1, or the planner raises
/// an error.
///
/// # Safety
/// `root` must be that of the query that is being planned.
pub(crate) unsafe fn selectivity(root: *mut pg_sys::PlannerInfo, condition: &Within, relation: i32) -> f64 {
    // SAFETY: `root` is that of the query that is being planned, as the caller promises.
    let share = unsafe { share(root, condition, relation) };
    if share.is_nan() { UNKNOWN } else { share.clamp(0.0, 1.0) }
}

/// # Safety
/// `root` must be that of the query that is being planned.
unsafe fn share(root: *mut pg_sys::PlannerInfo, condition: &Within, relation: i32) -> f64 {
    let Within { a, b, radius } = *condition;
    // SAFETY: expressions of the query, estimated as Postgres's own estimators do.
    unsafe {
        let estimated = |node| constant(pg_sys::estimate_expression_value(root, node));
        let column = [(a, b), (b, a)].into_iter().find_map(|(column, other)| {
            ColumnStatistics::examine(root, column, relation).map(|column| (column, other))
        });
        let query =
            column.as_ref().and_then(|&(_, other)| Code::of(estimated(other)?, pg_sys::exprType(other)));
        let of_column = || column.as_ref().and_then(|(column, _)| column.bits());
        let of_both = || [a, b].map(|side| ColumnStatistics::examine(root, side, 0));
        let bits = condition.bits().or(query.map(Code::bits)).or_else(of_column).unwrap_or(hamming::BITS);
        let radius = match estimated(radius) {
            Some(datum) if (datum.value() as i32) < 0 => return 0.0,
            Some(datum) => datum.value() as u32,
            None => typical_radius(bits),
        };
        let volume = volume(bits, radius);
        match (column, query) {
            (None, _) => volume.max(UNKNOWN),
            (Some((column, _)), Some(query)) => column.share_within(query, radius, volume),
            (Some((column, _)), None) => match of_both() {
                [Some(a), Some(b)] => a.share_of_pairs(&b, radius, volume),
                _ => column.typical_share(volume),
            },
        }
    }
}
