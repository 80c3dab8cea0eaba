//! What the conditions on further columns leave of the rows, for the planner.

use crate::estimate::cost::Search;
use crate::pg::catalog::families::strategy_in;
use crate::pg::catalog::strategy::EQUAL;
use crate::pg::expr::{Expr, Exprs};
use pgrx::pg_sys;

/// No smaller part of the rows than this is expected to match.
const LEAST_SELECTIVITY: f64 = 1e-10;

/// The fraction of the rows that the conditions on further columns accept.
pub(super) struct FilterSelectivity {
    /// Of one element of an array at a time, if there are arrays.
    pub(super) selectivity: f64,
    /// Whether each further column has a value to be equal to, or has to be NULL. If so, the rows lie in one
    /// part of the tree of further columns.
    pub(super) is_complete: bool,
}

impl FilterSelectivity {
    pub(super) fn of(search: &Search) -> Self {
        // Bounded: the columns of an index.
        let families: Vec<pg_sys::Oid> = search.index.families().collect();
        let mut has_value = vec![false; families.len()]; // Bounded: the same.
        let mut conditions = Exprs::NONE;
        for (column, condition) in search.all_conditions().filter(|&(column, _)| column > 0) {
            // SAFETY: a condition has an expression.
            has_value[column] |= gives_value(unsafe { Expr::new(condition.clause) }, families[column]);
            conditions = conditions.with(Expr::of(condition));
        }
        if conditions.is_empty() {
            return Self { selectivity: 1.0, is_complete: false };
        }
        let selectivity = search.planner.selectivity(conditions, search.index.table().0);
        let selectivity = (selectivity / search.general.num_sa_scans).max(LEAST_SELECTIVITY);
        Self { selectivity, is_complete: has_value[1..].iter().all(|&has_value| has_value) }
    }
}

/// Whether a condition on a column with this operator family says which value it has, or that it is NULL.
fn gives_value(condition: Expr, family: pg_sys::Oid) -> bool {
    if let Some(test) = condition.cast::<pg_sys::NullTest>() {
        return test.nulltesttype == pg_sys::NullTestType::IS_NULL;
    }
    let single = condition.cast::<pg_sys::OpExpr>().map(|it| it.opno);
    let array = || condition.cast::<pg_sys::ScalarArrayOpExpr>().map(|it| it.opno);
    single.or_else(array).is_some_and(|it| strategy_in(it, family) == i32::from(EQUAL))
}
