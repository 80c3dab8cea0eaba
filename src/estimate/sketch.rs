//! The selectivity of a condition on sketches, and the cost of testing it.
//!
//! PostgreSQL's estimate for `&&` assumes that every other value is nearly as frequent as the least frequent
//! of the column's most common values. The values of sketches are hashes, most of which occur in one row. So
//! with some hundred values, every row would seem to match.

use super::selectivity::UNKNOWN;
use super::statistics::{ColumnStatistics, ElementStatistics};
use crate::pg::node::Node;
use crate::pg::planner::Planner;
use crate::pg::report::UnwrapOrReport;
use crate::pg::settings::setting;
use crate::pg::value::Value;
use base::collect;

/// The number of values that a sketch is assumed to have if nothing is known.
const TYPICAL_VALUES: f64 = 100.0;

/// The time to fetch and compare a value of a sketch, in operators. Sketches of more than some 250 values are
/// stored out of line. With 500 values, a row takes 10 µs, while a scan of a page in memory takes 8 µs.
const OPERATORS_PER_VALUE: f64 = 1.0;

/// `sketch_overlaps(a, b)`; or a least share of common values.
#[derive(Clone, Copy)]
pub(crate) struct SketchCondition<'p> {
    pub(crate) a: Node<'p>,
    pub(crate) b: Node<'p>,
    pub(crate) least: Option<Node<'p>>,
}

/// The fraction of rows, or of pairs of rows, that satisfy the condition. `relation` is the relation whose
/// rows are counted; 0 means all.
pub(crate) fn selectivity<'p>(planner: Planner<'p>, condition: &SketchCondition<'p>, relation: i32) -> f64 {
    let least = condition.least.and_then(|least| planner.known(least)?.as_double());
    if least.is_some_and(|least| least <= 0.0) {
        // Every row with a sketch matches.
        return 1.0;
    }
    let sides = [(condition.a, condition.b), (condition.b, condition.a)];
    let found = sides.into_iter().find_map(|(column, query)| {
        let elements = ColumnStatistics::examine(planner, column, relation)?.elements()?;
        Some((elements, QueryValues::of(planner.known(query)?)))
    });
    match found {
        Some((elements, query)) => search_selectivity(&elements, &query, least),
        None => join_selectivity(planner, condition, least).unwrap_or(UNKNOWN),
    }
}

/// The fraction of pairs of rows of two columns that have a common value, or the least share of common
/// values. Values that are common in both columns are counted. At least, a row is expected to match the rows
/// that are equal to it.
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
    // A pair has `expected` common values on average, which limits how many pairs can have the wanted number.
    let wanted = least.map(|least| least * a.average.min(b.average).max(1.0));
    let common = wanted.map_or(1.0, |wanted| expected / wanted).min(1.0 - none);
    Some((common.max(equal) * a.not_null * b.not_null).clamp(0.0, 1.0))
}

/// The fraction of rows that have one of the values, or the least share of the values.
fn search_selectivity(elements: &ElementStatistics, query: &QueryValues, least: Option<f64>) -> f64 {
    let mut none_common: f64 = 1.0;
    let mut expected = 0.0;
    let mut rare = 0.0;
    for value in &query.values {
        match elements.common_frequency(*value) {
            Some(frequency) => {
                none_common *= (1.0 - frequency).powf(query.weight);
                expected += frequency * query.weight;
            }
            None => rare += query.weight,
        }
    }
    // A value that is not common occurs in few rows, and many values of a query occur in the same row.
    let rare = match elements.are_rare() {
        true => (rare * elements.rare_frequency()).min(UNKNOWN),
        false => 1.0 - (1.0 - elements.rare_frequency()).powf(rare),
    };
    let any = 1.0 - none_common * (1.0 - rare);
    // A row has `expected` of the common values on average, which limits how many rows can have the wanted
    // number.
    let enough = least.map_or(1.0, |least| expected / (least * query.count().max(1.0)) + rare);
    (any.min(enough) * elements.not_null).clamp(0.0, 1.0)
}

/// The cost of testing the condition for a row, in the planner's units.
pub(crate) fn cost<'p>(planner: Option<Planner<'p>>, condition: &SketchCondition<'p>) -> f64 {
    let values = values_of(planner, condition.a) + values_of(planner, condition.b);
    values * OPERATORS_PER_VALUE * setting!(cpu_operator_cost)
}

/// The number of values of a sketch.
pub(crate) fn values_of<'p>(planner: Option<Planner<'p>>, sketch: Node<'p>) -> f64 {
    if let Some(constant) = sketch.constant() {
        return QueryValues::of(constant).count();
    }
    let column = planner.and_then(|planner| ColumnStatistics::examine(planner, sketch, 0));
    column.and_then(|column| column.elements()).map_or(TYPICAL_VALUES, |elements| elements.average)
}

/// The most values of a query that are examined. A constant may have fifty million.
const MOST_VALUES: usize = 4000;

/// The distinct values of a query, or of a sample of a long query.
struct QueryValues {
    values: Vec<i64>,
    /// How many values of the query each of these represents.
    weight: f64,
}

impl QueryValues {
    /// The values of a sketch, which is a bigint[]. Other values have none.
    fn of(sketch: Value<'_>) -> Self {
        let Some(array) = sketch.as_bigints() else {
            return Self { values: Vec::new(), weight: 1.0 };
        };
        let step = array.len().div_ceil(MOST_VALUES).max(1);
        let sample = match array.as_slice() {
            Ok(values) => collect(values.iter().copied().step_by(step), MOST_VALUES),
            // An array with NULLs has to be read element by element.
            Err(_) => collect(array.iter().take(MOST_VALUES).flatten(), MOST_VALUES),
        };
        let mut values = sample.unwrap_or_report();
        values.sort_unstable();
        values.dedup();
        Self { values, weight: step as f64 }
    }

    /// The number of distinct values of the query.
    fn count(&self) -> f64 {
        self.values.len() as f64 * self.weight
    }
}
