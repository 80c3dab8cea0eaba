//! How many rows a condition on sketches finds, and what it costs to test it.
//!
//! PostgreSQL's own estimate for `&&` takes each value that is not among the column's most common ones to be
//! nearly as common as the least of these. The values of sketches are hashes, most of which stand in one row.
//! So some hundred of them would seem to find every row.

use super::selectivity::UNKNOWN;
use super::statistics::{ColumnStatistics, ElementStatistics};
use crate::pg::expr::Expr;
use crate::pg::planner::Planner;
use crate::pg::report;
use crate::pg::settings::setting;
use base::collect;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::{Array, FromDatum};

/// Values that a sketch is assumed to have if nothing is known of it.
const TYPICAL_VALUES: f64 = 100.0;

/// Operators in the time that it takes to fetch and compare a value of a sketch. Sketches of more than some
/// 250 values are stored apart from their rows. With 500 values, a row takes 10 µs, and a page in memory 8 µs
/// to be scanned.
const OPERATORS_PER_VALUE: f64 = 1.0;

/// `sketch_overlaps(a, b)`, or that a share of their values is at least a number.
#[derive(Clone, Copy)]
pub(crate) struct SketchCondition<'p> {
    pub(crate) a: Expr<'p>,
    pub(crate) b: Expr<'p>,
    pub(crate) least: Option<Expr<'p>>,
}

/// The fraction of rows, or of pairs of rows, for which the condition holds. The rows are those of the
/// relation; 0 means all.
pub(crate) fn selectivity<'p>(planner: Planner<'p>, condition: &SketchCondition<'p>, relation: i32) -> f64 {
    let least = condition.least.and_then(|least| planner.value(least));
    let least = least.map(|least| f64::from_bits(least.value() as u64));
    if least.is_some_and(|least| least <= 0.0) {
        // Every row with a sketch matches.
        return 1.0;
    }
    let sides = [(condition.a, condition.b), (condition.b, condition.a)];
    let found = sides.into_iter().find_map(|(column, query)| {
        let elements = ColumnStatistics::examine(planner, column, relation)?.elements()?;
        // SAFETY: the value of a sketch is a bigint[].
        Some((elements, unsafe { QueryValues::of(planner.value(query)?) }))
    });
    match found {
        Some((elements, query)) => search_selectivity(&elements, &query, least),
        None => join_selectivity(planner, condition, least).unwrap_or(UNKNOWN),
    }
}

/// The fraction of pairs of rows of two columns that have a value in common, or the least share of them.
/// Values that are common in both columns are counted. Else a row is expected to match those that are equal
/// to it.
fn join_selectivity<'p>(
    planner: Planner<'p>,
    condition: &SketchCondition<'p>,
    least: Option<f64>,
) -> Option<f64> {
    let columns = [condition.a, condition.b].map(|side| ColumnStatistics::examine(planner, side, 0));
    let [Some(a), Some(b)] = columns else { return None };
    let equal = 1.0 / a.distinct().max(b.distinct());
    let [a, b] = [a.elements()?, b.elements()?];
    let (none, expected) = a
        .common_to_both(&b)
        .fold((1.0, 0.0), |(none, expected), both| (none * (1.0 - both), expected + both));
    // On average a pair has `expected` common values, so this is the most that can have the wanted number.
    let wanted = least.map(|least| least * a.average().min(b.average()).max(1.0));
    let common = wanted.map_or(1.0, |wanted| expected / wanted).min(1.0 - none);
    Some((common.max(equal) * a.not_null() * b.not_null()).clamp(0.0, 1.0))
}

/// The fraction of rows that have one of the values, or the least share of them.
fn search_selectivity(elements: &ElementStatistics, query: &QueryValues, least: Option<f64>) -> f64 {
    let (mut none_common, mut expected, mut rare): (f64, f64, f64) = (1.0, 0.0, 0.0);
    for value in &query.values {
        match elements.common_frequency(*value) {
            Some(frequency) => {
                none_common *= (1.0 - frequency).powf(query.weight);
                expected += frequency * query.weight;
            }
            None => rare += query.weight,
        }
    }
    // Values that are not common stand in a few rows. Many of one query stand in the same row.
    let rare = match elements.are_rare() {
        true => (rare * elements.rare_frequency()).min(UNKNOWN),
        false => 1.0 - (1.0 - elements.rare_frequency()).powf(rare),
    };
    let any = 1.0 - none_common * (1.0 - rare);
    // On average a row has `expected` of the common values, so this is the most that can have the wanted
    // number of them.
    let enough = least.map_or(1.0, |least| expected / (least * query.count().max(1.0)) + rare);
    (any.min(enough) * elements.not_null()).clamp(0.0, 1.0)
}

/// The time that it takes to test the condition for a row, in the planner's units.
pub(crate) fn cost<'p>(planner: Option<Planner<'p>>, condition: &SketchCondition<'p>) -> f64 {
    let values = values_of(planner, condition.a) + values_of(planner, condition.b);
    values * OPERATORS_PER_VALUE * setting!(cpu_operator_cost)
}

/// How many values a sketch has.
pub(crate) fn values_of<'p>(planner: Option<Planner<'p>>, sketch: Expr<'p>) -> f64 {
    if let Some(datum) = sketch.value() {
        // SAFETY: the value of a sketch is a bigint[].
        return unsafe { QueryValues::of(datum) }.count();
    }
    let column = planner.and_then(|planner| ColumnStatistics::examine(planner, sketch, 0));
    column.and_then(|column| column.elements()).map_or(TYPICAL_VALUES, |elements| elements.average())
}

/// Values of a query that are looked at. A constant may have fifty million.
const MOST_VALUES: usize = 4000;

/// The distinct values of a query, or of a sample of a long one.
struct QueryValues {
    values: Vec<i64>,
    /// How many distinct values of the query each of them stands for.
    weight: f64,
}

impl QueryValues {
    /// # Safety
    /// The datum must be a bigint[].
    unsafe fn of(datum: pg_sys::Datum) -> Self {
        // SAFETY: a bigint[].
        let Some(array) = (unsafe { Array::<i64>::from_datum(datum, false) }) else {
            return Self { values: Vec::new(), weight: 1.0 };
        };
        let step = array.len().div_ceil(MOST_VALUES).max(1);
        let sample = match array.as_slice() {
            Ok(values) => collect(values.iter().copied().step_by(step), MOST_VALUES),
            // Beside NULLs, elements are found one after the other.
            Err(_) => collect(array.iter().take(MOST_VALUES).flatten(), MOST_VALUES),
        };
        Self::in_sample(sample.map_err(report::problem).unwrap_or_report(), array.len())
    }

    /// The fraction of a sample that occurs once estimates the fraction of all others that it has not seen
    /// (Good 1953).
    fn in_sample(mut values: Vec<i64>, all: usize) -> Self {
        values.sort_unstable();
        let once = values.chunk_by(i64::eq).filter(|equal| equal.len() == 1).count();
        let others = all.saturating_sub(values.len()) as f64;
        let unseen = if all > MOST_VALUES { others * once as f64 / values.len().max(1) as f64 } else { 0.0 };
        values.dedup();
        let weight = 1.0 + unseen / values.len().max(1) as f64;
        Self { values, weight }
    }

    /// How many distinct values the query has.
    fn count(&self) -> f64 {
        self.values.len() as f64 * self.weight
    }
}
