//! What ANALYZE has found out about a column, and how many of its fingerprints are within a radius by that.

use hamming::distance;
use hamming_index::cost::volume;
use pgrx::pg_sys::{self, Node};

/// The statistics of a column, as the planner finds them.
pub(super) struct ColumnStatistics {
    data: pg_sys::VariableStatData,
}

impl Drop for ColumnStatistics {
    fn drop(&mut self) {
        if let Some(free) = self.data.freefunc
            && !self.data.statsTuple.is_null()
        {
            // SAFETY: the tuple comes with its own function to release it.
            unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| free(self.data.statsTuple)) };
        }
    }
}

impl ColumnStatistics {
    /// Those of an expression, if it is a column of a relation.
    pub(super) unsafe fn examine(
        root: *mut pg_sys::PlannerInfo,
        node: *mut Node,
        relation: i32,
    ) -> Option<Self> {
        let mut data = pg_sys::VariableStatData::default();
        // SAFETY: an expression of the query; the struct is filled in.
        unsafe { pg_sys::examine_variable(root, node, relation, &raw mut data) };
        let column = Self { data };
        (!column.data.rel.is_null()).then_some(column)
    }

    /// How many values the column has.
    fn distinct(&self) -> f64 {
        let mut is_default = false;
        // SAFETY: filled in by `examine`.
        let distinct = unsafe {
            pg_sys::get_variable_numdistinct((&raw const self.data).cast_mut(), &raw mut is_default)
        };
        distinct.max(1.0)
    }

    /// The share of rows within the radius of a query, whose fingerprint may not be known yet.
    pub(super) fn share_within(&self, query: Option<u64>, radius: i32) -> f64 {
        let one_value = 1.0 / self.distinct();
        let typical = volume(radius.unsigned_abs()).max(one_value);
        let Some(query) = query else { return typical };
        let (values, shares) = (pg_sys::ATTSTATSSLOT_VALUES, pg_sys::ATTSTATSSLOT_NUMBERS);
        let common = self.slot(pg_sys::STATISTIC_KIND_MCV, values | shares);
        let sample = self.slot(pg_sys::STATISTIC_KIND_HISTOGRAM, values);
        let near = |&value: &u64| distance(value, query) as i32 <= radius;
        let common_near: f64 = common.iter().filter(|(value, _)| near(value)).map(|&(_, share)| share).sum();
        let common_all: f64 = common.iter().map(|&(_, share)| share).sum();
        // The bounds of the histogram are a sample of the values that are not common.
        let sample_near =
            sample.iter().filter(|(value, _)| near(value)).count() as f64 / sample.len().max(1) as f64;
        common_near + (1.0 - common_all - self.null_share()).max(0.0) * sample_near.max(typical)
    }

    fn null_share(&self) -> f64 {
        if self.data.statsTuple.is_null() {
            return 0.0;
        }
        // SAFETY: a row of pg_statistic.
        unsafe {
            let row = pg_sys::GETSTRUCT(self.data.statsTuple).cast::<pg_sys::FormData_pg_statistic>();
            f64::from((*row).stanullfrac)
        }
    }

    /// The values of a kind of statistics, with their shares if these are asked for.
    fn slot(&self, kind: u32, parts: u32) -> Vec<(u64, f64)> {
        if self.data.statsTuple.is_null() || self.data.vartype != pg_sys::INT8OID {
            return Vec::new();
        }
        let mut slot = pg_sys::AttStatsSlot::default();
        // SAFETY: a row of pg_statistic; the values are copied before the row is released.
        unsafe {
            if !pg_sys::get_attstatsslot(
                &raw mut slot,
                self.data.statsTuple,
                kind as i32,
                pg_sys::InvalidOid,
                parts as i32,
            ) {
                return Vec::new();
            }
            let share = |index: usize| {
                if index < slot.nnumbers as usize { f64::from(*slot.numbers.add(index)) } else { 0.0 }
            };
            let values = (0..slot.nvalues as usize)
                .map(|index| ((*slot.values.add(index)).value() as u64, share(index)));
            let values = values.collect();
            pg_sys::free_attstatsslot(&raw mut slot);
            values
        }
    }
}

/// How many values a column of a relation has, of whatever type.
pub(crate) unsafe fn distinct_values(
    root: *mut pg_sys::PlannerInfo,
    column: *mut Node,
    relation: i32,
) -> f64 {
    // SAFETY: a column of a relation of the query.
    unsafe { ColumnStatistics::examine(root, column, relation) }.map_or(1.0, |column| column.distinct())
}
