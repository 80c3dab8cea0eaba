//! What EXPLAIN shows of a near join: its conditions, and with ANALYZE its work.

use super::node::join_of;
use super::plan::NodeExpressions;
use crate::pg::nodes::elements;
use pgrx::{pg_guard, pg_sys};
use std::ffi::{CStr, c_char};
use std::ptr::null;

const BYTES_PER_KB: usize = 1024;

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn explain(
    node: *mut pg_sys::CustomScanState,
    ancestors: *mut pg_sys::List,
    to: *mut pg_sys::ExplainState,
) {
    // SAFETY: EXPLAIN passes a node that was begun.
    unsafe {
        let plan = &*(*node).ss.ps.plan.cast::<pg_sys::CustomScan>();
        let NodeExpressions { near, conditions, filter } = NodeExpressions::of(plan);
        let context = pg_sys::set_deparse_context_plan((*to).deparse_cxt, (*node).ss.ps.plan, ancestors);
        let show = |label: &CStr, expression: *mut pg_sys::Node| {
            let text = pg_sys::deparse_expression(expression, context, true, false);
            pg_sys::ExplainPropertyText(label.as_ptr(), text, to);
        };
        let number = |label: &CStr, unit: *const c_char, number: u64| {
            if (*to).analyze {
                pg_sys::ExplainPropertyInteger(label.as_ptr(), unit, number as i64, to);
            }
        };
        let work = &join_of(node).work;
        for (place, &condition) in near.iter().enumerate() {
            show(if place == 0 { c"Near Cond" } else { c"Second Look" }, condition);
        }
        if near.len() > 1 {
            number(c"Pairs Removed by Second Look", null(), work.dismissed);
        }
        for (conditions, label, removed, number_removed) in [
            (conditions, c"Join Filter", c"Rows Removed by Join Filter", work.removed),
            (filter, c"Filter", c"Rows Removed by Filter", work.filtered),
        ] {
            if !elements(conditions).is_empty() {
                show(label, pg_sys::make_ands_explicit(conditions).cast());
                number(removed, null(), number_removed);
            }
        }
        number(c"Rounds", null(), work.rounds);
        number(c"Batches", null(), work.batches);
        if work.partitions > 0 {
            number(c"Partitions", null(), work.partitions);
        }
        number(c"Comparisons", null(), work.comparisons);
        number(c"Near Pairs", null(), work.matches);
        number(c"Peak Memory", c"kB".as_ptr(), work.bytes.div_ceil(BYTES_PER_KB) as u64);
        if work.disk > 0 {
            let bytes = work.disk as usize * size_of::<u64>();
            number(c"Disk Usage", c"kB".as_ptr(), bytes.div_ceil(BYTES_PER_KB) as u64);
        }
    }
}
