//! The statistics that ANALYZE has collected about a column.

use super::node::Node;
use super::planner::Planner;
use super::value::Value;
use pgrx::pg_sys::{self, AttStatsSlot, Oid};

/// A kind of statistics: values, numbers, or values with numbers.
#[derive(Clone, Copy)]
pub enum StatisticKind {
    /// The most common values, with their frequencies.
    CommonValues,
    /// Values that divide the others into parts of the same size.
    Histogram,
    /// The most common elements of arrays, with their frequencies, which are followed by the smallest and the
    /// largest frequency.
    CommonElements,
    /// The numbers of distinct elements of arrays, of which the last one is the average.
    CountsOfElements,
}

impl StatisticKind {
    fn number(self) -> u32 {
        match self {
            Self::CommonValues => pg_sys::STATISTIC_KIND_MCV,
            Self::Histogram => pg_sys::STATISTIC_KIND_HISTOGRAM,
            Self::CommonElements => pg_sys::STATISTIC_KIND_MCELEM,
            Self::CountsOfElements => pg_sys::STATISTIC_KIND_DECHIST,
        }
    }

    fn parts(self) -> u32 {
        match self {
            Self::CommonValues | Self::CommonElements => {
                pg_sys::ATTSTATSSLOT_VALUES | pg_sys::ATTSTATSSLOT_NUMBERS
            }
            Self::Histogram => pg_sys::ATTSTATSSLOT_VALUES,
            Self::CountsOfElements => pg_sys::ATTSTATSSLOT_NUMBERS,
        }
    }
}

/// The number of distinct values of a column.
#[derive(Clone, Copy)]
pub struct DistinctValues {
    /// At least 1.
    pub count: f64,
    /// Whether PostgreSQL assumes the number, because nothing is known.
    pub is_assumed: bool,
}

/// The statistics of a column, as the planner finds them.
pub struct AnalyzedColumn {
    data: pg_sys::VariableStatData,
}

impl Drop for AnalyzedColumn {
    fn drop(&mut self) {
        if let Some(free) = self.data.freefunc
            && !self.data.statsTuple.is_null()
        {
            // SAFETY: the tuple is freed once, by the function that belongs to it.
            unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| free(self.data.statsTuple)) };
        }
    }
}

impl AnalyzedColumn {
    /// The statistics of an expression, if it is a column of a relation; 0 means any relation.
    pub fn examine<'p>(planner: Planner<'p>, expr: Node<'p>, relation: i32) -> Option<Self> {
        let mut data = pg_sys::VariableStatData::default();
        // SAFETY: the expression belongs to the query, and the function fills in the struct.
        unsafe { pg_sys::examine_variable(planner.pointer(), expr.pointer(), relation, &raw mut data) };
        let column = Self { data };
        (!column.data.rel.is_null()).then_some(column)
    }

    /// The number of distinct values of the column.
    pub fn distinct(&self) -> DistinctValues {
        let mut is_assumed = false;
        // SAFETY: `examine` has filled in the struct.
        let count = unsafe {
            pg_sys::get_variable_numdistinct((&raw const self.data).cast_mut(), &raw mut is_assumed)
        };
        DistinctValues { count: count.max(1.0), is_assumed }
    }

    /// The number of rows of the relation, at least 1.
    pub fn rows(&self) -> f64 {
        // SAFETY: the planner has set the number of rows of each relation.
        unsafe { (*self.data.rel).tuples }.max(1.0)
    }

    /// The fraction of rows that are NULL.
    pub fn null_fraction(&self) -> f64 {
        if self.data.statsTuple.is_null() {
            return 0.0;
        }
        // SAFETY: the tuple is a row of pg_statistic.
        unsafe {
            let row = pg_sys::GETSTRUCT(self.data.statsTuple).cast::<pg_sys::FormData_pg_statistic>();
            f64::from((*row).stanullfrac)
        }
    }

    /// One kind of statistics, if the column has it, and the user may read the column in all rows. Otherwise
    /// an estimate could reveal values.
    pub fn slot(&self, kind: StatisticKind) -> Option<StatisticsSlot> {
        if self.data.statsTuple.is_null() || !self.data.acl_ok {
            return None;
        }
        let mut slot = AttStatsSlot::default();
        let any_operator = pg_sys::InvalidOid;
        let number = kind.number() as i32;
        let parts = kind.parts() as i32;
        // SAFETY: the tuple is a row of pg_statistic, which may lack this kind.
        let is_there = unsafe {
            pg_sys::get_attstatsslot(&raw mut slot, self.data.statsTuple, number, any_operator, parts)
        };
        if !is_there {
            return None;
        }
        // A slot without values has no type.
        let type_ = match slot.valuetype {
            pg_sys::InvalidOid => pg_sys::InvalidOid,
            // SAFETY: the function looks a type up.
            type_ => unsafe { pg_sys::getBaseType(type_) },
        };
        Some(StatisticsSlot { slot, type_ })
    }
}

/// A kind of statistics: copies of its values and numbers.
pub struct StatisticsSlot {
    slot: AttStatsSlot,
    /// The base type of the values; invalid if there are none.
    type_: Oid,
}

impl Drop for StatisticsSlot {
    fn drop(&mut self) {
        // SAFETY: PostgreSQL has filled in the struct, and it is freed once.
        unsafe { pg_sys::free_attstatsslot(&raw mut self.slot) };
    }
}

impl StatisticsSlot {
    /// The base type of the values; invalid if there are none.
    pub fn value_type(&self) -> Oid {
        self.type_
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.slot.nvalues as usize
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, some of which are frequencies of values.
    pub fn numbers(&self) -> &[f32] {
        if self.slot.nnumbers == 0 {
            return &[];
        }
        // SAFETY: the array has this length, and lives as long as the slot.
        unsafe { std::slice::from_raw_parts(self.slot.numbers, self.slot.nnumbers as usize) }
    }

    /// Each value with its frequency; 0 if frequencies are not kept.
    pub fn values(&self) -> impl Iterator<Item = (Value<'_>, f64)> {
        (0..self.len()).map(|place| {
            // SAFETY: the array has this length, and lives as long as the slot. The values are of this type.
            let value = unsafe { Value::new(*self.slot.values.add(place), self.type_) };
            (value, f64::from(self.numbers().get(place).copied().unwrap_or_default()))
        })
    }
}
