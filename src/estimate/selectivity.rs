//! The selectivity of `hamming_within(a, b, radius)`: the fraction of rows within a radius.
//!
//! The fraction of all possible codes that are in a ball is nearly 0 for any radius in use, but fingerprints
//! come in clusters. So the estimate is the fraction that the statistics of the column show, or of both
//! columns of a join. It is at least the average fraction of rows that have one value.

use super::condition::{Within, typical_radius};
use super::statistics::ColumnStatistics;
use crate::pg::code::{Code, CodeValue};
use crate::pg::node::Node;
use crate::pg::planner::Planner;
use crate::pg::support_function::SelectivityRequest;
use crate::pg::value::Value;
use hamming::code::{MAX_BITS, volume};

/// The selectivity of a condition of which nothing is known, as PostgreSQL assumes it for ranges.
pub(crate) const UNKNOWN: f64 = 0.005;

/// The largest fraction of rows that EXISTS is assumed to return. Statistics do not show how many rows have a
/// match, and many more rows must not be returned than were estimated, neither by EXISTS nor by NOT EXISTS.
const MOST_MATCHED: f64 = 0.5;

/// The fraction of rows, or of pairs of rows, that satisfy the condition. Outside 0 to 1 the planner would
/// raise an error. `relation` is the relation whose rows are counted; 0 means all.
pub(crate) fn selectivity<'p>(planner: Planner<'p>, condition: &Within<'p>, relation: i32) -> f64 {
    let estimate = estimate(planner, condition, relation);
    if estimate.is_nan() { UNKNOWN } else { estimate.clamp(0.0, 1.0) }
}

/// The selectivity of a condition that this fraction of pairs satisfies: in a semi or anti join, the fraction
/// of outer rows that have a match.
pub(crate) fn of_join(pairs: f64, request: &SelectivityRequest<'_>) -> f64 {
    request.rows_to_match().map_or(pairs, |rows| (pairs * rows).min(MOST_MATCHED))
}

fn estimate<'p>(planner: Planner<'p>, condition: &Within<'p>, relation: i32) -> f64 {
    let Within { a, b, radius } = *condition;
    let column = [(a, b), (b, a)].into_iter().find_map(|(column, other)| {
        ColumnStatistics::examine(planner, column, relation).map(|column| (column, other))
    });
    let code = |expr: Node<'p>| planner.known(expr)?.as_code().map(CodeValue::read);
    let query = column.as_ref().and_then(|&(_, other)| code(other));
    let of_column = || column.as_ref().and_then(|(column, _)| column.bits());
    let bits = condition.bits().or(query.map(Code::bits)).or_else(of_column).unwrap_or(hamming::BITS);
    let radius = match planner.known(radius).and_then(Value::as_integer) {
        Some(radius) if radius < 0 => return 0.0,
        Some(radius) => radius as u32,
        None => typical_radius(bits),
    };
    // Longer codes are estimated as codes with MAX_BITS bits, because the time grows with the number of bits.
    let scaled = u64::from(radius) * u64::from(MAX_BITS) / u64::from(bits.max(MAX_BITS));
    let volume = volume(bits.min(MAX_BITS), scaled as u32);
    match (column, query) {
        (None, _) => volume.max(UNKNOWN),
        (Some((column, _)), Some(query)) => column.selectivity_within(query, radius, volume),
        (Some((column, _)), None) => match [a, b].map(|side| ColumnStatistics::examine(planner, side, 0)) {
            [Some(a), Some(b)] => a.join_selectivity(&b, radius, volume),
            _ => column.typical_selectivity(volume),
        },
    }
}
