//! The plan of a node, as the planner has stored it.

use crate::node::{Node, Nodes};
use crate::node_structs::{elements, numbers_of};
use pgrx::pg_sys::{self, CustomScan, NodeTag};

/// The plan of a node.
#[derive(Clone, Copy)]
pub struct NodePlan<'p>(&'p CustomScan);

impl<'p> NodePlan<'p> {
    /// # Safety
    /// The node must have a plan that lives as long as the lifetime says.
    pub(super) unsafe fn of(node: *mut pg_sys::CustomScanState) -> Self {
        // SAFETY: a node has a plan, as the caller promises, and nobody changes it during the execution.
        Self(unsafe { &*(*node).ss.ps.plan.cast::<CustomScan>() })
    }

    /// The numbers of `custom_private`, which is a list of integers.
    pub fn numbers(self) -> Vec<i32> {
        numbers_of(self.0.custom_private)
    }

    /// A list of `custom_exprs`, which is a list of lists of expressions.
    pub fn expressions(self, place: usize) -> Nodes<'p> {
        // SAFETY: the field has a list of nodes or null, and each node a tag. The list stays with the plan.
        unsafe {
            let list = elements(self.0.custom_exprs).get(place).copied();
            let list = list.filter(|list| !list.is_null() && (**list).type_ == NodeTag::T_List);
            list.map_or(Nodes::NONE, |list| Nodes::new(list.cast()))
        }
    }

    /// The columns that the node returns, as target entries.
    pub fn columns(self) -> Nodes<'p> {
        // SAFETY: the field has a list of nodes or null.
        unsafe { Nodes::new(self.0.scan.plan.targetlist) }
    }

    /// The columns that a child returns, as target entries.
    pub fn columns_of(self, child: usize) -> Nodes<'p> {
        // SAFETY: the field has a list of plans, each of which begins with its own fields.
        unsafe {
            let child = elements(self.0.custom_plans).get(child);
            child.map_or(Nodes::NONE, |child| Nodes::new((*child.cast::<pg_sys::Plan>()).targetlist))
        }
    }

    /// How many children the node has.
    pub fn children(self) -> usize {
        // SAFETY: the field has a list of plans or null.
        unsafe { elements(self.0.custom_plans).len() }
    }

    /// The plan's pointer to a child.
    pub(super) fn child(self, child: usize) -> *mut pg_sys::Plan {
        // SAFETY: the field has a list of plans.
        unsafe { elements(self.0.custom_plans)[child].cast() }
    }

    /// The columns of all children, as target entries.
    pub(super) fn columns_of_children(self) -> Nodes<'p> {
        // SAFETY: the field has a list of nodes or null.
        unsafe { Nodes::new(self.0.custom_scan_tlist) }
    }
}

/// The expression of a column.
fn expression_of(entry: &pg_sys::TargetEntry) -> Node<'_> {
    // SAFETY: a target entry has an expression.
    unsafe { Node::new(entry.expr) }
}

impl<'p> Nodes<'p> {
    /// The expressions of a list of target entries.
    pub fn of_columns(self) -> impl Iterator<Item = Node<'p>> {
        self.all().map(expression_of)
    }
}
