//! What ANALYZE has found out about a column, and how many of its values are within a radius by that.

use super::code::Code;
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

    /// The share of rows within the radius of a query, whose value may not be known yet. The volume is that of the
    /// ball among all values.
    pub(super) fn share_within(&self, query: Option<Code>, radius: u32, volume: f64) -> f64 {
        let one_value = 1.0 / self.distinct();
        let typical = volume.max(one_value);
        let Some(query) = query else { return typical };
        let near = |value: Code| query.distance(value).is_some_and(|distance| distance <= radius);
        let (mut common_near, mut common_all) = (0.0, 0.0);
        if let Some(common) = self.slot(pg_sys::STATISTIC_KIND_MCV, pg_sys::ATTSTATSSLOT_NUMBERS) {
            common_near = common.values().filter(|&(value, _)| near(value)).map(|(_, share)| share).sum();
            common_all = common.values().map(|(_, share)| share).sum();
        }
        // The bounds of the histogram are a sample of the values that are not common.
        let sample_near = self.slot(pg_sys::STATISTIC_KIND_HISTOGRAM, 0).map_or(0.0, |sample| {
            let (near, all) =
                (sample.values().filter(|&(value, _)| near(value)).count(), sample.values().count());
            near as f64 / all.max(1) as f64
        });
        common_near + (1.0 - common_all - self.null_share()).max(0.0) * sample_near.max(typical)
    }

    /// The number of bits of one of its values.
    pub(super) fn bits(&self) -> Option<u32> {
        [pg_sys::STATISTIC_KIND_MCV, pg_sys::STATISTIC_KIND_HISTOGRAM]
            .into_iter()
            .find_map(|kind| self.slot(kind, 0)?.values().next().map(|(value, _)| value.bits()))
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

    /// The values of a kind of statistics, with what else it has if that is asked for.
    fn slot(&self, kind: u32, others: u32) -> Option<Slot> {
        if self.data.statsTuple.is_null() {
            return None;
        }
        let parts = pg_sys::ATTSTATSSLOT_VALUES | others;
        let mut slot = pg_sys::AttStatsSlot::default();
        // SAFETY: a row of pg_statistic, which may not have this kind.
        let is_there = unsafe {
            let (row, any) = (self.data.statsTuple, pg_sys::InvalidOid);
            pg_sys::get_attstatsslot(&raw mut slot, row, kind as i32, any, parts as i32)
        };
        is_there.then_some(Slot(slot))
    }
}

/// Copies of the values of a kind of statistics.
struct Slot(pg_sys::AttStatsSlot);

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: filled in by Postgres, and freed once.
        unsafe { pg_sys::free_attstatsslot(&raw mut self.0) };
    }
}

impl Slot {
    /// Each value with its share of the rows: 0 if the shares were not asked for.
    fn values(&self) -> impl Iterator<Item = (Code<'_>, f64)> {
        let slot = &self.0;
        // SAFETY: looks up a type.
        let type_ = unsafe { pg_sys::getBaseType(slot.valuetype) };
        (0..slot.nvalues as usize).filter_map(move |index| {
            // SAFETY: the arrays have these lengths, and live as long as the slot. The values are of the type.
            unsafe {
                let share = if index < slot.nnumbers as usize { *slot.numbers.add(index) } else { 0.0 };
                Code::of(*slot.values.add(index), type_).map(|code| (code, f64::from(share)))
            }
        })
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
