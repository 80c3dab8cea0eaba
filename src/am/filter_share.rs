//! What the conditions on further columns leave of the rows, for the planner.

use crate::estimate::cost::Search;
use crate::pg::catalog::strategy::EQUAL;
use crate::pg::nodes::cast;
use pgrx::pg_sys::{self, Node, NodeTag};
use std::ptr::{from_ref, null_mut};

/// No fewer rows than this share are expected to match.
const LEAST_SHARE: f64 = 1e-10;

/// The share of the rows that the conditions on further columns accept.
pub(super) struct FilterShare {
    /// Of one element of an array at a time, if there are arrays.
    pub(super) share: f64,
    /// Whether each further column has a value to be equal to, or has to be NULL. If so, the rows lie in one
    /// part of the tree of further columns.
    pub(super) is_complete: bool,
}

impl FilterShare {
    /// # Safety
    /// The search must be one of the query that is being planned.
    pub(super) unsafe fn of(search: &Search) -> Self {
        let columns = search.index.nkeycolumns as usize;
        // Bounded: the columns of an index.
        let mut has_value = vec![false; columns.max(1)];
        let mut conditions = null_mut();
        for (column, condition) in search.all_conditions().filter(|&(column, _)| column > 0) {
            // SAFETY: a condition of the query on a column of the index, added to a list of ours.
            unsafe {
                let family = *search.index.opfamily.add(column);
                has_value[column] |= gives_value(condition.clause.cast(), family);
                conditions = pg_sys::lappend(conditions, from_ref(condition).cast_mut().cast());
            }
        }
        if conditions.is_null() {
            return Self { share: 1.0, is_complete: false };
        }
        // SAFETY: the search is one of the query, as the caller promises.
        let share = unsafe {
            let relation = (*search.index.rel).relid as i32;
            pg_sys::clauselist_selectivity(
                search.root,
                conditions,
                relation,
                pg_sys::JoinType::JOIN_INNER,
                null_mut(),
            )
        };
        let share = (share / search.general.num_sa_scans).max(LEAST_SHARE);
        Self { share, is_complete: has_value[1..].iter().all(|&has_value| has_value) }
    }
}

/// Whether a condition on a column says which value it has, or that it is NULL.
///
/// # Safety
/// The condition must be one of the query, on a column with this operator family.
unsafe fn gives_value(condition: *mut Node, family: pg_sys::Oid) -> bool {
    // SAFETY: an expression of the query, as the caller promises.
    unsafe {
        if let Some(test) = cast::<pg_sys::NullTest>(condition, NodeTag::T_NullTest) {
            return test.nulltesttype == pg_sys::NullTestType::IS_NULL;
        }
        let single = cast::<pg_sys::OpExpr>(condition, NodeTag::T_OpExpr).map(|it| it.opno);
        let array = || cast::<pg_sys::ScalarArrayOpExpr>(condition, NodeTag::T_ScalarArrayOpExpr);
        let operator = single.or_else(|| array().map(|it| it.opno));
        operator.is_some_and(|it| pg_sys::get_op_opfamily_strategy(it, family) == i32::from(EQUAL))
    }
}
