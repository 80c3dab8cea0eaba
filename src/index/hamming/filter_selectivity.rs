//! The selectivity of conditions on further columns.

use crate::estimate::path_cost::CostedPath;
use crate::pg::catalog::families::strategy_in;
use crate::pg::catalog::strategy::EQUAL;
use crate::pg::node::{Node, Nodes};
use pgrx::pg_sys;

/// The least selectivity that is assumed.
const LEAST_SELECTIVITY: f64 = 1e-10;

/// The fraction of rows that satisfy the conditions on further columns.
pub(super) struct FilterSelectivity {
    /// For an array condition: the selectivity of one element.
    pub(super) selectivity: f64,
    /// Whether the conditions fix a value, or NULL, for each further column. Then the rows are next to each
    /// other in the tree of further columns.
    pub(super) is_complete: bool,
}

impl FilterSelectivity {
    pub(super) fn of(path: &CostedPath) -> Self {
        // Bounded: the columns of an index.
        let families: Vec<pg_sys::Oid> = path.index().families().collect();
        let mut has_value = vec![false; families.len()]; // Bounded: the same.
        let mut conditions = Nodes::NONE;
        for (column, condition) in path.all_conditions().filter(|&(column, _)| column > 0) {
            has_value[column] |= gives_value(condition.expr(), families[column]);
            conditions = conditions.with(condition.node());
        }
        if conditions.is_empty() {
            return Self { selectivity: 1.0, is_complete: false };
        }
        let selectivity = path.planner().selectivity(conditions, path.index().table().0);
        let selectivity = (selectivity / path.general.num_sa_scans).max(LEAST_SELECTIVITY);
        Self { selectivity, is_complete: has_value[1..].iter().all(|&has_value| has_value) }
    }
}

/// Whether a condition on a column with this operator family fixes its value, or that it is NULL.
fn gives_value(condition: Node, family: pg_sys::Oid) -> bool {
    if let Some(test) = condition.cast::<pg_sys::NullTest>() {
        return test.nulltesttype == pg_sys::NullTestType::IS_NULL;
    }
    let single = condition.cast::<pg_sys::OpExpr>().map(|it| it.opno);
    let array = || condition.cast::<pg_sys::ScalarArrayOpExpr>().map(|it| it.opno);
    single.or_else(array).is_some_and(|it| strategy_in(it, family) == i32::from(EQUAL))
}
