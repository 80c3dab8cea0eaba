//! How many rows are within a radius.
//!
//! The volume of a ball among all 64-bit values says "none" for every radius that is used. But fingerprints
//! are clustered, that is what they are for: so the estimate is what the column's statistics show, and never
//! less than the rows that share one value on average.

use super::nodes::{bigint, cast, constant, elements, integer};
use crate::ball::Ball;
use crate::pg::catalog::{is_ball, is_ours};
use hamming::distance;
use hamming_index::cost::volume;
use pgrx::pg_sys::{self, Node, NodeTag};

/// The selectivity of a condition of which nothing is known, as Postgres assumes it for inequalities of
/// ranges.
pub(crate) const UNKNOWN: f64 = 0.005;

/// The radius that is assumed where it is not known at planning time: what the Similarity Index paper uses.
pub(crate) const TYPICAL_RADIUS: i32 = 6;

/// `hamming_within(a, b, radius)`.
pub(crate) struct Condition {
    pub(crate) a: *mut Node,
    pub(crate) b: *mut Node,
    pub(crate) radius: *mut Node,
}

impl Condition {
    /// `fingerprint <@ ball`, if that is what they are: the ball a constant or a call of `hamming_ball`. Operators of
    /// other types may have our estimators.
    pub(crate) unsafe fn of_ball(fingerprint: *mut Node, ball: *mut Node) -> Option<Self> {
        // SAFETY: two expressions; what is read as a ball is one by its type.
        unsafe {
            if pg_sys::exprType(fingerprint) != pg_sys::INT8OID || !is_ball(pg_sys::exprType(ball)) {
                return None;
            }
            if let Some(datum) = constant(ball) {
                let Ball { center, radius, .. } = datum.cast_mut_ptr::<Ball>().read();
                return Some(Self { a: fingerprint, b: bigint(center), radius: integer(radius) });
            }
            let call = cast::<pg_sys::FuncExpr>(ball, NodeTag::T_FuncExpr)?;
            match elements(call.args) {
                &mut [center, radius] if is_ours(call.funcid, c"hamming_ball") => {
                    Some(Self { a: fingerprint, b: center, radius })
                }
                _ => None,
            }
        }
    }
}

/// The share of rows, or of pairs of rows, for which the condition holds: from 0 to 1, or the planner raises an error.
pub(crate) unsafe fn selectivity(
    root: *mut pg_sys::PlannerInfo,
    condition: &Condition,
    relation: i32,
) -> f64 {
    // SAFETY: promised by the caller.
    let share = unsafe { share(root, condition, relation) };
    if share.is_nan() { UNKNOWN } else { share.clamp(0.0, 1.0) }
}

unsafe fn share(root: *mut pg_sys::PlannerInfo, condition: &Condition, relation: i32) -> f64 {
    // SAFETY: expressions of the query, estimated as Postgres's own estimators do.
    unsafe {
        let estimated = |node| constant(pg_sys::estimate_expression_value(root, node));
        let radius = estimated(condition.radius).map_or(TYPICAL_RADIUS, |datum| datum.value() as i32);
        if radius < 0 {
            return 0.0;
        }
        let radius = radius.min(u64::BITS as i32);
        let column = match Column::examine(root, condition.a, relation) {
            Some(column) => Some((column, condition.b)),
            None => Column::examine(root, condition.b, relation).map(|column| (column, condition.a)),
        };
        let Some((column, other)) = column else { return volume(radius.unsigned_abs()).max(UNKNOWN) };
        let query = estimated(other).map(|datum| datum.value() as u64);
        column.share_within(query, radius)
    }
}

/// How many values a column of a relation has, of whatever type.
pub(crate) unsafe fn distinct_values(
    root: *mut pg_sys::PlannerInfo,
    column: *mut Node,
    relation: i32,
) -> f64 {
    // SAFETY: a column of a relation of the query.
    unsafe { Column::examine(root, column, relation) }.map_or(1.0, |column| column.distinct())
}

/// What is known of a column of fingerprints.
struct Column {
    data: pg_sys::VariableStatData,
}

impl Drop for Column {
    fn drop(&mut self) {
        if let Some(free) = self.data.freefunc
            && !self.data.statsTuple.is_null()
        {
            // SAFETY: the tuple comes with its own function to release it.
            unsafe { pg_sys::ffi::pg_guard_ffi_boundary(|| free(self.data.statsTuple)) };
        }
    }
}

impl Column {
    /// The column that the expression is, if it is one of a relation.
    unsafe fn examine(root: *mut pg_sys::PlannerInfo, node: *mut Node, relation: i32) -> Option<Self> {
        let mut data = pg_sys::VariableStatData::default();
        // SAFETY: an expression of the query; the struct is filled in.
        unsafe { pg_sys::examine_variable(root, node, relation, &raw mut data) };
        let column = Self { data };
        (!column.data.rel.is_null()).then_some(column)
    }

    /// How many values it has.
    fn distinct(&self) -> f64 {
        let mut is_default = false;
        // SAFETY: filled in by `examine`.
        let distinct = unsafe {
            pg_sys::get_variable_numdistinct((&raw const self.data).cast_mut(), &raw mut is_default)
        };
        distinct.max(1.0)
    }

    /// The share of rows within the radius of a query, which may not be known yet.
    fn share_within(&self, query: Option<u64>, radius: i32) -> f64 {
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
        // SAFETY: a row of pg_statistic; what was found is copied before it is released.
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
