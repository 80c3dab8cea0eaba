//! Shows a near join in EXPLAIN: its conditions, and with ANALYZE its work.

use super::work::{Count, JoinWork};
use crate::pg::exec_node::NodeExplanation;
use crate::plan::near_join::StoredExpressions;
use std::ffi::CStr;

const BYTES_PER_KB: u64 = 1024;

/// Shows a node.
pub(super) fn show(expressions: &StoredExpressions, to: NodeExplanation<'_>, work: &JoinWork) {
    let StoredExpressions { near, conditions, filter } = *expressions;
    let number = |label: &CStr, number: u64| {
        if to.is_analyzed() {
            to.number(label, number);
        }
    };
    let bytes = |label: &CStr, bytes: u64| {
        if to.is_analyzed() {
            to.kilobytes(label, bytes.div_ceil(BYTES_PER_KB));
        }
    };
    to.conditions(c"Near Cond", near);
    for (conditions, label, removed, count) in [
        (conditions, c"Join Filter", c"Rows Removed by Join Filter", Count::Unjoined),
        (filter, c"Filter", c"Rows Removed by Filter", Count::Filtered),
    ] {
        if !conditions.is_empty() {
            to.conditions(label, conditions);
            number(removed, work[count]);
        }
    }
    if work[Count::Processes] > 0 {
        number(c"Processes", work[Count::Processes]);
    }
    if let Some(leading) = near.get(work[Count::Leading] as usize)
        && to.is_analyzed()
        && near.len() > 1
        && work[Count::Searches] > 0
    {
        to.expression(c"Leading Cond", leading);
    }
    number(c"Batches", work[Count::Partitions].max(1));
    number(c"Searches", work[Count::Searches]);
    number(c"Comparisons", work[Count::Comparisons]);
    number(c"Near Pairs", work[Count::NearPairs]);
    bytes(c"Peak Memory", work[Count::Memory]);
    if work[Count::Disk] > 0 {
        bytes(c"Disk Usage", work[Count::Disk] * size_of::<u64>() as u64);
    }
}
