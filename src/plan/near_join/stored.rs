//! Numbers and expressions that are stored in a path and in a node of a plan.

use super::kind::JoinKind;
use crate::pg::code::CodeType;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::nodes::elements;
use pgrx::pg_sys::{self, List};

/// The numbers that a node stores.
pub(super) struct NodeNumbers {
    pub(super) kind: JoinKind,
    /// Whether the query may stop before the last row, as with LIMIT, EXISTS and cursors.
    pub(super) may_end_early: bool,
    /// Outer rows that the process is expected to get in a parallel plan; 0 in other plans.
    pub(super) portion: usize,
    /// For each condition that the node serves: the number of the outer side's argument, and the type
    /// of the codes.
    pub(super) near: Vec<(usize, CodeType)>,
}

impl NodeNumbers {
    /// # Safety
    /// The list must be one that a path of this extension has stored.
    pub(super) unsafe fn of(list: *mut List) -> Self {
        // SAFETY: it is such a list of integers, as the caller promises.
        let numbers = unsafe { std::slice::from_raw_parts((*list).elements, (*list).length as usize) };
        // SAFETY: as above.
        let number = |place: usize| unsafe { numbers[place].int_value } as usize;
        // Bounded: as many as the query has conditions.
        let near = (3..numbers.len())
            .step_by(2)
            .map(|place| (number(place), CodeType::ALL[number(place + 1)]))
            .collect();
        Self { kind: JoinKind::ALL[number(0)], may_end_early: number(1) != 0, portion: number(2), near }
    }
}

/// The expressions of a node.
pub(super) struct NodeExpressions<'p> {
    /// The conditions that the node serves: first the one that finds pairs, then those that test them.
    pub(super) near: Exprs<'p>,
    /// The other conditions of the join.
    pub(super) conditions: Exprs<'p>,
    /// Conditions that are tested after the join.
    pub(super) filter: Exprs<'p>,
}

impl<'p> NodeExpressions<'p> {
    /// # Safety
    /// The node must have been made from a near join's path.
    pub(super) unsafe fn of(node: &'p pg_sys::CustomScan) -> Self {
        // SAFETY: such a node has a list of three lists, as the caller promises.
        unsafe {
            let &mut [near, conditions, filter] = elements(node.custom_exprs) else {
                unreachable!("a node has three parts")
            };
            let [near, conditions, filter] = [near, conditions, filter].map(|list| Exprs::new(list.cast()));
            Self { near, conditions, filter }
        }
    }

    /// The arguments of each condition that the node serves.
    pub(super) fn arguments(&self) -> impl Iterator<Item = Exprs<'p>> + use<'p> {
        self.near.iter().filter_map(Expr::as_function).map(|call| call.args)
    }
}
