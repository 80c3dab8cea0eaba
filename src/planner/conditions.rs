//! Where a query keeps its conditions.

use crate::pg::nodes::{cast, elements};
use pgrx::pg_sys::{self, List, Node, NodeTag};

/// Changes each list of conditions of a query, all of which have to hold at this stage: the lists of FROM,
/// WHERE and JOIN, of row-level security, and of security barrier views.
///
/// # Safety
/// `query` must be one that is being planned.
pub(super) unsafe fn change_conditions(
    query: &pg_sys::Query,
    change: &mut dyn FnMut(*mut List) -> *mut List,
) {
    // SAFETY: a query of the planner's.
    unsafe {
        change_jointree(query.jointree.cast(), change);
        for &mut table in elements(query.rtable) {
            for conditions in elements((*table.cast::<pg_sys::RangeTblEntry>()).securityQuals) {
                change_list(conditions, change);
            }
        }
    }
}

/// # Safety
/// `item` must be an expression of the query that is being planned.
unsafe fn change_jointree(item: *mut Node, change: &mut dyn FnMut(*mut List) -> *mut List) {
    // SAFETY: items of a join tree are of these two kinds or references to relations.
    unsafe {
        if let Some(from) = cast::<pg_sys::FromExpr>(item, NodeTag::T_FromExpr) {
            for &mut item in elements(from.fromlist) {
                change_jointree(item, change);
            }
            change_list(&mut from.quals, change);
        } else if let Some(join) = cast::<pg_sys::JoinExpr>(item, NodeTag::T_JoinExpr) {
            change_jointree(join.larg, change);
            change_jointree(join.rarg, change);
            change_list(&mut join.quals, change);
        }
    }
}

/// # Safety
/// `conditions` must be a condition of the query that is being planned, or null.
unsafe fn change_list(conditions: &mut *mut Node, change: &mut dyn FnMut(*mut List) -> *mut List) {
    // SAFETY: checked to be a list.
    if let Some(list) = unsafe { cast::<List>(*conditions, NodeTag::T_List) } {
        *conditions = change(list).cast();
    }
}
