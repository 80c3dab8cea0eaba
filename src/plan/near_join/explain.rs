//! Shows a near join in EXPLAIN: its conditions, and with ANALYZE its work.

use super::stored::NodeExpressions;
use crate::pg::expr::Expr;
use pgrx::pg_sys;
use std::ffi::{CStr, c_char};
use std::ptr::null;

const BYTES_PER_KB: u64 = 1024;

/// Counts of what a join has done.
#[derive(Default)]
#[repr(C)]
pub(super) struct JoinWork {
    /// Processes that divide the sides for each other; 0 if the plan has none.
    pub(super) processes: u64,
    /// How often inner rows were read into memory.
    pub(super) rounds: u64,
    pub(super) batches: u64,
    /// Parts into which the sides were divided, in all passes; 0 if the sides were not divided.
    pub(super) partitions: u64,
    /// Words that were in temporary files at the same time.
    pub(super) disk: u64,
    pub(super) comparisons: u64,
    pub(super) matches: u64,
    /// Pairs that satisfy the first condition on a distance, but not the others.
    pub(super) dismissed: u64,
    /// Pairs that do not satisfy the other conditions of the join.
    pub(super) removed: u64,
    /// Rows that do not satisfy the conditions after the join.
    pub(super) filtered: u64,
    /// Bytes of memory.
    pub(super) bytes: u64,
}

impl JoinWork {
    pub(super) const COUNT: usize = size_of::<Self>() / size_of::<u64>();

    pub(super) fn counts(&self) -> [u64; Self::COUNT] {
        // SAFETY: the struct has that many numbers, and nothing else.
        unsafe { std::mem::transmute_copy(self) }
    }

    pub(super) fn of(counts: [u64; Self::COUNT]) -> Self {
        // SAFETY: as above.
        unsafe { std::mem::transmute_copy(&counts) }
    }

    /// Adds the counts of another process.
    pub(super) fn add(&mut self, other: &Self) {
        let (disk, bytes) = (self.disk.max(other.disk), self.bytes.max(other.bytes));
        let (sums, others) = (self.counts(), other.counts());
        *self = Self { disk, bytes, ..Self::of(std::array::from_fn(|place| sums[place] + others[place])) };
    }
}

/// Shows a node.
///
/// # Safety
/// The arguments must be those that EXPLAIN passes.
pub(super) unsafe fn show(
    node: *mut pg_sys::CustomScanState,
    ancestors: *mut pg_sys::List,
    to: *mut pg_sys::ExplainState,
    work: &JoinWork,
) {
    // SAFETY: the node was begun, as the caller promises.
    unsafe {
        let plan = &*(*node).ss.ps.plan.cast::<pg_sys::CustomScan>();
        let NodeExpressions { near, conditions, filter } = NodeExpressions::of(plan);
        let context = pg_sys::set_deparse_context_plan((*to).deparse_cxt, (*node).ss.ps.plan, ancestors);
        let show = |label: &CStr, expr: Expr| {
            let text = pg_sys::deparse_expression(expr.pointer(), context, true, false);
            pg_sys::ExplainPropertyText(label.as_ptr(), text, to);
        };
        let number = |label: &CStr, unit: *const c_char, number: u64| {
            if (*to).analyze {
                pg_sys::ExplainPropertyInteger(label.as_ptr(), unit, number as i64, to);
            }
        };
        for (place, condition) in near.iter().enumerate() {
            show(if place == 0 { c"Near Cond" } else { c"Second Look" }, condition);
        }
        if near.len() > 1 {
            number(c"Pairs Removed by Second Look", null(), work.dismissed);
        }
        for (conditions, label, removed, number_removed) in [
            (conditions, c"Join Filter", c"Rows Removed by Join Filter", work.removed),
            (filter, c"Filter", c"Rows Removed by Filter", work.filtered),
        ] {
            if !conditions.is_empty() {
                show(label, Expr::new(pg_sys::make_ands_explicit(conditions.pointer())));
                number(removed, null(), number_removed);
            }
        }
        if work.processes > 0 {
            number(c"Processes", null(), work.processes);
        }
        number(c"Rounds", null(), work.rounds);
        number(c"Batches", null(), work.batches);
        if work.partitions > 0 {
            number(c"Partitions", null(), work.partitions);
        }
        number(c"Comparisons", null(), work.comparisons);
        number(c"Near Pairs", null(), work.matches);
        number(c"Peak Memory", c"kB".as_ptr(), work.bytes.div_ceil(BYTES_PER_KB));
        if work.disk > 0 {
            let bytes = work.disk * size_of::<u64>() as u64;
            number(c"Disk Usage", c"kB".as_ptr(), bytes.div_ceil(BYTES_PER_KB));
        }
    }
}
