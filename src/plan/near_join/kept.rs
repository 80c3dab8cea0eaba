//! What a node of a plan keeps: numbers and expressions.

use super::kind::JoinKind;
use super::measure::NearMeasure;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::nodes::elements;
use pgrx::pg_sys::{self, List};

/// What a node keeps in numbers.
pub(super) struct NodeNumbers {
    pub(super) kind: JoinKind,
    /// Whether not all rows may be asked for, as with LIMIT, EXISTS and cursors.
    pub(super) may_end_early: bool,
    /// Outer rows that the process is expected to get in a parallel plan; 0 in others.
    pub(super) portion: usize,
    /// For each condition that the node serves, which argument is of the outer side, and what is compared.
    pub(super) near: Vec<(usize, NearMeasure)>,
}

impl NodeNumbers {
    /// # Safety
    /// The list must be one of integers that a path has been made with.
    pub(super) unsafe fn of(list: *mut List) -> Self {
        // SAFETY: such a list, as the caller promises.
        let numbers = unsafe { std::slice::from_raw_parts((*list).elements, (*list).length as usize) };
        // SAFETY: as above.
        let number = |place: usize| unsafe { numbers[place].int_value } as usize;
        // Bounded: as many as the query has conditions.
        let near = (3..numbers.len())
            .step_by(2)
            .map(|place| (number(place), NearMeasure::of(number(place + 1))))
            .collect();
        Self { kind: JoinKind::ALL[number(0)], may_end_early: number(1) != 0, portion: number(2), near }
    }
}

/// The expressions of a node.
pub(super) struct NodeExpressions<'p> {
    /// The conditions that the node serves: that which is searched for, then those that are looked at.
    pub(super) near: Exprs<'p>,
    /// The further conditions of the join.
    pub(super) conditions: Exprs<'p>,
    /// Conditions that are tested after the join.
    pub(super) filter: Exprs<'p>,
}

impl<'p> NodeExpressions<'p> {
    /// # Safety
    /// The node must be one that a near join's path has become.
    pub(super) unsafe fn of(node: &'p pg_sys::CustomScan) -> Self {
        // SAFETY: so made.
        unsafe {
            let &mut [near, conditions, filter] = elements(node.custom_exprs) else {
                unreachable!("a node has three parts")
            };
            let [near, conditions, filter] = [near, conditions, filter].map(|list| Exprs::new(list.cast()));
            Self { near, conditions, filter }
        }
    }

    /// For each condition that the node serves, its arguments.
    pub(super) fn arguments(&self) -> impl Iterator<Item = Exprs<'p>> + use<'p> {
        self.near.iter().filter_map(Expr::as_function).map(|call| call.args)
    }
}
