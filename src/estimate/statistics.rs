//! The statistics that ANALYZE has collected about a column, and the fraction of its values within a radius.

use crate::pg::analyzed_column::{AnalyzedColumn, DistinctValues, StatisticKind, StatisticsSlot};
use crate::pg::code::Code;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::node::Node;
use crate::pg::planner::Planner;
use crate::pg::report::UnwrapOrReport;
use pgrx::pg_sys;

/// How many values of each column of a join are compared: by default, ANALYZE keeps as many rare values.
const MOST_COMPARED: usize = 101;

/// Pairs of values that may be near each other by chance. A self-join has each pair twice.
const PAIRS_BY_CHANCE: usize = 2;

/// The statistics of a column of codes or of sketches.
pub(crate) struct ColumnStatistics(AnalyzedColumn);

impl ColumnStatistics {
    /// The statistics of an expression, if it is a column of a relation.
    pub(crate) fn examine<'p>(planner: Planner<'p>, expr: Node<'p>, relation: i32) -> Option<Self> {
        AnalyzedColumn::examine(planner, expr, relation).map(Self)
    }

    /// The number of distinct values of the column.
    pub(super) fn distinct(&self) -> f64 {
        self.0.distinct().count
    }

    /// The number of distinct codes of the column. If nothing is known of them, PostgreSQL assumes two
    /// hundred, but most codes occur once.
    fn distinct_codes(&self) -> f64 {
        match self.0.distinct() {
            DistinctValues { count, is_assumed: false } => count,
            DistinctValues { count, is_assumed: true } => count.max(self.0.rows()),
        }
    }

    /// The fraction of rows near a value of which nothing is known. `volume` is the fraction of all possible
    /// values that are in the ball.
    pub(super) fn typical_selectivity(&self, volume: f64) -> f64 {
        volume.max(1.0 / self.distinct_codes())
    }

    /// The fraction of rows within the radius of a query.
    pub(super) fn selectivity_within(&self, query: Code, radius: u32, volume: f64) -> f64 {
        let typical = self.typical_selectivity(volume);
        let mut common_near = 0.0;
        let mut others_near = 0.0;
        let values = self.values();
        for KnownValue { code, frequency, is_common } in values.iter() {
            if is_within(query, code, radius) {
                *if is_common { &mut common_near } else { &mut others_near } += frequency;
            }
        }
        common_near + others_near.max(values.others * typical)
    }

    /// The fraction of the pairs of rows of two columns that are within the radius, from the values that
    /// ANALYZE has kept of both. Equal rare values are ignored: they are seldom found, except in a self-join,
    /// where both lists are the same. The pairs that have one value on average are counted instead.
    pub(super) fn join_selectivity(&self, other: &Self, radius: u32, volume: f64) -> f64 {
        let typical = volume.max(1.0 / self.distinct_codes().max(other.distinct_codes()));
        let [values, others] = [self.values(), other.values()];
        let mut common_near = 0.0;
        let mut others_near = 0.0;
        let mut pairs = 0;
        let sample = base::collect(others.spread(MOST_COMPARED), MOST_COMPARED + 1);
        let sample: Vec<KnownValue> = sample.unwrap_or_report();
        for a in values.spread(MOST_COMPARED) {
            check_for_interrupts();
            for b in sample.iter().filter(|b| is_within(a.code, b.code, radius)) {
                if a.is_common || b.is_common {
                    common_near += a.frequency * b.frequency;
                } else if !is_within(a.code, b.code, 0) {
                    others_near += a.frequency * b.frequency;
                    pairs += 1;
                }
            }
        }
        let sampled = if pairs > PAIRS_BY_CHANCE { others_near } else { 0.0 };
        common_near + sampled.max(values.others * others.others * typical)
    }

    /// The values of the column.
    fn values(&self) -> ColumnValues {
        let common = self.0.slot(StatisticKind::CommonValues);
        let common_all: f64 = common.iter().flat_map(codes).map(|(_, frequency)| frequency).sum();
        // The bounds of the histogram are a sample of the values that are not common.
        let sample = self.0.slot(StatisticKind::Histogram);
        ColumnValues { common, sample, others: (1.0 - common_all - self.0.null_fraction()).max(0.0) }
    }

    /// The number of bits of a value of the column, if one is known.
    pub(super) fn bits(&self) -> Option<u32> {
        [StatisticKind::CommonValues, StatisticKind::Histogram]
            .into_iter()
            .find_map(|kind| codes(&self.0.slot(kind)?).next().map(|(code, _)| code.bits()))
    }

    /// The statistics of the elements, if the column is a bigint[].
    pub(super) fn elements(&self) -> Option<ElementStatistics> {
        let counts = self.0.slot(StatisticKind::CountsOfElements)?;
        let average = f64::from(*counts.numbers().last()?);
        let mut common: Vec<(i64, f64)> = Vec::new();
        let mut least_common = 0.0;
        if let Some(slot) = self.0.slot(StatisticKind::CommonElements) {
            if slot.value_type() != pg_sys::INT8OID {
                return None;
            }
            let values = codes(&slot).filter_map(|(value, frequency)| match value {
                Code::Integer(value, _) => Some((value as i64, frequency)),
                Code::Bits(_) => None,
            });
            common = base::collect(values, slot.len()).unwrap_or_report();
            // The frequencies are followed by the smallest and the largest frequency.
            least_common = f64::from(slot.numbers().get(common.len()).copied().unwrap_or_default());
        }
        common.sort_unstable_by_key(|&(value, _)| value);
        let not_null = 1.0 - self.0.null_fraction();
        Some(ElementStatistics { common, least_common, average, rows: self.0.rows(), not_null })
    }
}

/// Each value that is a code, with its frequency.
fn codes(slot: &StatisticsSlot) -> impl Iterator<Item = (Code<'_>, f64)> {
    slot.values().filter_map(|(value, frequency)| Some((value.as_code()?.read(), frequency)))
}

/// Whether two codes have the same length, and a distance within the radius.
fn is_within(a: Code, b: Code, radius: u32) -> bool {
    a.distance(b).is_some_and(|distance| distance <= radius)
}

/// The values that ANALYZE has kept of a column.
struct ColumnValues {
    common: Option<StatisticsSlot>,
    /// A sample of the values that are not common.
    sample: Option<StatisticsSlot>,
    /// The fraction of rows whose values are not common.
    others: f64,
}

/// A value that ANALYZE has kept.
#[derive(Clone, Copy)]
struct KnownValue<'a> {
    code: Code<'a>,
    /// The fraction of rows that the value represents: the rows that have it if it is common; otherwise its
    /// part of the rows without a common value.
    frequency: f64,
    is_common: bool,
}

impl ColumnValues {
    /// About `most` values at most: the most common ones, and values that are spread over the others and
    /// represent them.
    fn spread(&self, most: usize) -> impl Iterator<Item = KnownValue<'_>> {
        let count = |slot: &Option<StatisticsSlot>| slot.as_ref().map_or(0, StatisticsSlot::len);
        let common = count(&self.common);
        let all = common + count(&self.sample);
        let kept = if all <= most { all } else { common.min(most / 2) };
        let step = (all - kept).div_ceil((most - kept).max(1)).max(1);
        let spread = self
            .iter()
            .enumerate()
            .filter(move |&(place, _)| place < kept || (place - kept) % step == step / 2);
        spread.map(move |(place, known)| {
            let weight = if place < kept { 1.0 } else { step as f64 };
            KnownValue { frequency: known.frequency * weight, ..known }
        })
    }

    fn iter(&self) -> impl Iterator<Item = KnownValue<'_>> {
        let common = self.common.iter().flat_map(codes);
        let each =
            self.others / self.sample.as_ref().map_or(1.0, |sample| codes(sample).count().max(1) as f64);
        let others = self.sample.iter().flat_map(codes);
        let common = common.map(|(code, frequency)| KnownValue { code, frequency, is_common: true });
        common.chain(others.map(move |(code, _)| KnownValue { code, frequency: each, is_common: false }))
    }
}

/// The statistics of the elements of an array. The frequency of an element is the fraction of the rows that
/// have it, among rows that are not NULL.
pub(super) struct ElementStatistics {
    /// The most common elements, with their frequencies.
    common: Vec<(i64, f64)>,
    least_common: f64,
    /// The average number of distinct elements of a row.
    pub(super) average: f64,
    rows: f64,
    /// The fraction of rows that are not NULL.
    pub(super) not_null: f64,
}

impl ElementStatistics {
    /// The frequency of an element, if it is a common one.
    pub(super) fn common_frequency(&self, value: i64) -> Option<f64> {
        let found = self.common.binary_search_by_key(&value, |&(value, _)| value).ok()?;
        Some(self.common[found].1)
    }

    /// For each element that is common in both columns, the fraction of the pairs of rows that have it in
    /// both rows, if the columns are independent.
    pub(super) fn common_to_both(&self, other: &Self) -> impl Iterator<Item = f64> {
        self.common.iter().filter_map(|&(value, frequency)| Some(frequency * other.common_frequency(value)?))
    }

    /// Whether most elements of a row are not common ones. That is so for hashes.
    pub(super) fn are_rare(&self) -> bool {
        self.common.iter().map(|&(_, frequency)| frequency).sum::<f64>() < self.average / 2.0
    }

    /// The frequency of an element that is not common.
    pub(super) fn rare_frequency(&self) -> f64 {
        let one_row = 1.0 / self.rows;
        // Half of the smallest known frequency, as PostgreSQL assumes.
        if self.are_rare() { one_row } else { (self.least_common / 2.0).max(one_row) }
    }
}

/// The number of distinct values of a column of any type.
pub(crate) fn distinct_values<'p>(planner: Planner<'p>, column: Node<'p>, relation: pg_sys::Index) -> f64 {
    ColumnStatistics::examine(planner, column, relation as i32).map_or(1.0, |column| column.distinct())
}
