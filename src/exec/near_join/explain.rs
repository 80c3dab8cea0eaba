//! Shows a near join in EXPLAIN: its conditions, and with ANALYZE its work.

use crate::pg::expr::Expr;
use crate::plan::near_join::StoredExpressions;
use pgrx::pg_sys;
use std::ffi::{CStr, c_char};
use std::ops::{Index, IndexMut};
use std::ptr::null;

const BYTES_PER_KB: u64 = 1024;

/// What is counted of a join.
#[derive(Clone, Copy)]
pub(super) enum Count {
    /// Processes that divide the sides for each other; 0 if the plan has none.
    Processes,
    /// Partitions of both sides that were joined; 0 if the sides were not divided. EXPLAIN: Batches.
    Partitions,
    /// How often rows in memory were searched for pairs.
    Searches,
    /// The number of the condition whose codes led in the last search.
    Leading,
    Comparisons,
    NearPairs,
    /// Pairs that do not satisfy the other conditions of the join.
    Unjoined,
    /// Rows that do not satisfy the conditions after the join.
    Filtered,
    /// Words that were in temporary files at the same time.
    Disk,
    /// Bytes of memory at the same time.
    Memory,
}

/// Counts of what a join has done.
#[derive(Clone, Copy, Default)]
pub(super) struct JoinWork(pub(super) [u64; JoinWork::COUNTS]);

impl Index<Count> for JoinWork {
    type Output = u64;

    fn index(&self, count: Count) -> &u64 {
        &self.0[count as usize]
    }
}

impl IndexMut<Count> for JoinWork {
    #[inline]
    fn index_mut(&mut self, count: Count) -> &mut u64 {
        &mut self.0[count as usize]
    }
}

impl JoinWork {
    pub(super) const COUNTS: usize = Count::Memory as usize + 1;

    /// Notes that so much is taken at the same time.
    pub(super) fn peak(&mut self, count: Count, value: u64) {
        self[count] = self[count].max(value);
    }

    /// Adds the work of another process.
    pub(super) fn add(&mut self, other: &Self) {
        let peaks =
            [Count::Disk, Count::Memory, Count::Leading].map(|count| (count, self[count].max(other[count])));
        self.0.iter_mut().zip(other.0).for_each(|(count, other)| *count += other);
        peaks.into_iter().for_each(|(count, peak)| self[count] = peak);
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
        let StoredExpressions { near, conditions, filter } = StoredExpressions::read(plan);
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
        show(c"Near Cond", Expr::new(pg_sys::make_ands_explicit(near.pointer())));
        for (conditions, label, removed, count) in [
            (conditions, c"Join Filter", c"Rows Removed by Join Filter", Count::Unjoined),
            (filter, c"Filter", c"Rows Removed by Filter", Count::Filtered),
        ] {
            if !conditions.is_empty() {
                show(label, Expr::new(pg_sys::make_ands_explicit(conditions.pointer())));
                number(removed, null(), work[count]);
            }
        }
        if work[Count::Processes] > 0 {
            number(c"Processes", null(), work[Count::Processes]);
        }
        if let Some(leading) = near.get(work[Count::Leading] as usize)
            && (*to).analyze
            && near.len() > 1
            && work[Count::Searches] > 0
        {
            show(c"Leading Cond", leading);
        }
        number(c"Batches", null(), work[Count::Partitions].max(1));
        number(c"Searches", null(), work[Count::Searches]);
        number(c"Comparisons", null(), work[Count::Comparisons]);
        number(c"Near Pairs", null(), work[Count::NearPairs]);
        number(c"Peak Memory", c"kB".as_ptr(), work[Count::Memory].div_ceil(BYTES_PER_KB));
        if work[Count::Disk] > 0 {
            let bytes = work[Count::Disk] * size_of::<u64>() as u64;
            number(c"Disk Usage", c"kB".as_ptr(), bytes.div_ceil(BYTES_PER_KB));
        }
    }
}
