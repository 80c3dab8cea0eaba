//! The statistics that ANALYZE has collected about a column, and the fraction of its values within a radius.

use crate::pg::code::Code;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::node::Node;
use crate::pg::planner::Planner;
use crate::pg::report::UnwrapOrReport;
use pgrx::pg_sys;

/// Asks for a list of values with their frequencies.
const BOTH: u32 = pg_sys::ATTSTATSSLOT_VALUES | pg_sys::ATTSTATSSLOT_NUMBERS;

/// How many values of each column of a join are compared: by default, ANALYZE keeps as many rare values.
const MOST_COMPARED: usize = 101;

/// Pairs of values that may be near each other by chance. A self-join has each pair twice.
const PAIRS_BY_CHANCE: usize = 2;

/// The statistics of a column, as the planner finds them.
pub(crate) struct ColumnStatistics {
    data: pg_sys::VariableStatData,
}

impl Drop for ColumnStatistics {
    fn drop(&mut self) {
        if let Some(free) = self.data.freefunc
            && !self.data.statsTuple.is_null()
        {
            // SAFETY: the tuple is freed once, by the function that belongs to it.
            unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| free(self.data.statsTuple)) };
        }
    }
}

impl ColumnStatistics {
    /// The statistics of an expression, if it is a column of a relation.
    pub(crate) fn examine<'p>(planner: Planner<'p>, expr: Node<'p>, relation: i32) -> Option<Self> {
        let mut data = pg_sys::VariableStatData::default();
        // SAFETY: the expression belongs to the query, and the function fills in the struct.
        unsafe { pg_sys::examine_variable(planner.pointer(), expr.pointer(), relation, &raw mut data) };
        let column = Self { data };
        (!column.data.rel.is_null()).then_some(column)
    }

    /// The number of distinct values of the column, and whether PostgreSQL assumes it since nothing is known.
    fn count_distinct(&self) -> (f64, bool) {
        let mut is_assumed = false;
        // SAFETY: `examine` has filled in the struct.
        let distinct = unsafe {
            pg_sys::get_variable_numdistinct((&raw const self.data).cast_mut(), &raw mut is_assumed)
        };
        (distinct.max(1.0), is_assumed)
    }

    /// The number of distinct values of the column.
    pub(super) fn distinct(&self) -> f64 {
        self.count_distinct().0
    }

    /// The number of distinct codes of the column. If nothing is known of them, PostgreSQL assumes two
    /// hundred, but most codes occur once.
    fn distinct_codes(&self) -> f64 {
        match self.count_distinct() {
            (distinct, false) => distinct,
            (distinct, true) => distinct.max(self.rows()),
        }
    }

    fn rows(&self) -> f64 {
        // SAFETY: the planner has set the number of rows of each relation.
        unsafe { (*self.data.rel).tuples }.max(1.0)
    }

    /// The fraction of rows near a value of which nothing is known. `volume` is the fraction of all possible
    /// values that are in the ball.
    pub(super) fn typical_selectivity(&self, volume: f64) -> f64 {
        volume.max(1.0 / self.distinct_codes())
    }

    /// The fraction of rows within the radius of a query.
    pub(super) fn selectivity_within(&self, query: Code, radius: u32, volume: f64) -> f64 {
        let typical = self.typical_selectivity(volume);
        let (mut common_near, mut others_near) = (0.0, 0.0);
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
        let (mut common_near, mut others_near, mut pairs) = (0.0, 0.0, 0);
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
        let common = self.slot(pg_sys::STATISTIC_KIND_MCV, BOTH);
        let common_all: f64 = common.iter().flat_map(Slot::values).map(|(_, frequency)| frequency).sum();
        // The bounds of the histogram are a sample of the values that are not common.
        let sample = self.slot(pg_sys::STATISTIC_KIND_HISTOGRAM, pg_sys::ATTSTATSSLOT_VALUES);
        ColumnValues { common, sample, others: (1.0 - common_all - self.null_fraction()).max(0.0) }
    }

    /// The number of bits of a value of the column, if one is known.
    pub(super) fn bits(&self) -> Option<u32> {
        [pg_sys::STATISTIC_KIND_MCV, pg_sys::STATISTIC_KIND_HISTOGRAM].into_iter().find_map(|kind| {
            self.slot(kind, pg_sys::ATTSTATSSLOT_VALUES)?.values().next().map(|(value, _)| value.bits())
        })
    }

    /// The statistics of the elements, if the column is a bigint[].
    pub(super) fn elements(&self) -> Option<ElementStatistics> {
        let counts = self.slot(pg_sys::STATISTIC_KIND_DECHIST, pg_sys::ATTSTATSSLOT_NUMBERS)?;
        let average = f64::from(*counts.numbers().last()?);
        let mut common: Vec<(i64, f64)> = Vec::new();
        let mut least_common = 0.0;
        if let Some(slot) = self.slot(pg_sys::STATISTIC_KIND_MCELEM, BOTH) {
            if slot.0.valuetype != pg_sys::INT8OID {
                return None;
            }
            let values = slot.values().filter_map(|(value, frequency)| match value {
                Code::Integer(value, _) => Some((value as i64, frequency)),
                Code::Bits(_) => None,
            });
            let count = slot.0.nvalues as usize;
            common = base::collect(values, count).unwrap_or_report();
            // The frequencies are followed by the smallest and the largest frequency.
            least_common = f64::from(slot.numbers().get(common.len()).copied().unwrap_or_default());
        }
        common.sort_unstable_by_key(|&(value, _)| value);
        let (rows, not_null) = (self.rows(), 1.0 - self.null_fraction());
        Some(ElementStatistics { common, least_common, average, rows, not_null })
    }

    /// The fraction of rows that are NULL.
    fn null_fraction(&self) -> f64 {
        if self.data.statsTuple.is_null() {
            return 0.0;
        }
        // SAFETY: the tuple is a row of pg_statistic.
        unsafe {
            let row = pg_sys::GETSTRUCT(self.data.statsTuple).cast::<pg_sys::FormData_pg_statistic>();
            f64::from((*row).stanullfrac)
        }
    }

    /// The given parts of one kind of statistics, if the column has it, and the user may read the column in
    /// all rows. Otherwise an estimate could reveal values.
    fn slot(&self, kind: u32, parts: u32) -> Option<Slot> {
        if self.data.statsTuple.is_null() || !self.data.acl_ok {
            return None;
        }
        let mut slot = pg_sys::AttStatsSlot::default();
        // SAFETY: the tuple is a row of pg_statistic, which may lack this kind.
        let is_there = unsafe {
            let (row, any) = (self.data.statsTuple, pg_sys::InvalidOid);
            pg_sys::get_attstatsslot(&raw mut slot, row, kind as i32, any, parts as i32)
        };
        is_there.then_some(Slot(slot))
    }
}

/// Whether two codes have the same length, and a distance within the radius.
fn is_within(a: Code, b: Code, radius: u32) -> bool {
    a.distance(b).is_some_and(|distance| distance <= radius)
}

/// The values that ANALYZE has kept of a column.
struct ColumnValues {
    common: Option<Slot>,
    /// A sample of the values that are not common.
    sample: Option<Slot>,
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
        let count = |slot: &Option<Slot>| slot.as_ref().map_or(0, |slot| slot.0.nvalues as usize);
        let (common, all) = (count(&self.common), count(&self.common) + count(&self.sample));
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
        let common = self.common.iter().flat_map(Slot::values);
        let each =
            self.others / self.sample.as_ref().map_or(1.0, |sample| sample.values().count().max(1) as f64);
        let others = self.sample.iter().flat_map(Slot::values);
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

/// A kind of statistics: copies of its values and numbers.
struct Slot(pg_sys::AttStatsSlot);

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: PostgreSQL has filled in the struct, and it is freed once.
        unsafe { pg_sys::free_attstatsslot(&raw mut self.0) };
    }
}

impl Slot {
    /// The numbers, some of which are frequencies of values.
    fn numbers(&self) -> &[f32] {
        if self.0.nnumbers == 0 {
            return &[];
        }
        // SAFETY: the array has this length, and lives as long as the slot.
        unsafe { std::slice::from_raw_parts(self.0.numbers, self.0.nnumbers as usize) }
    }

    /// Each value with its frequency; 0 if frequencies were not requested.
    fn values(&self) -> impl Iterator<Item = (Code<'_>, f64)> {
        let slot = &self.0;
        // SAFETY: the function looks a type up.
        let type_ = unsafe { pg_sys::getBaseType(slot.valuetype) };
        (0..slot.nvalues as usize).filter_map(move |index| {
            // SAFETY: the arrays have these lengths, and live as long as the slot. The values are of this
            // type.
            unsafe {
                let frequency = if index < slot.nnumbers as usize { *slot.numbers.add(index) } else { 0.0 };
                Code::of(*slot.values.add(index), type_).map(|code| (code, f64::from(frequency)))
            }
        })
    }
}

/// The number of distinct values of a column of any type.
pub(crate) fn distinct_values<'p>(planner: Planner<'p>, column: Node<'p>, relation: pg_sys::Index) -> f64 {
    ColumnStatistics::examine(planner, column, relation as i32).map_or(1.0, |column| column.distinct())
}
