//! What a near join stores in its path and in its node of the plan: all that the executor gets from the
//! planner.

use super::kind::{BySide, JoinKind, Side};
use crate::pg::code::CodeType;
use crate::pg::exec_node::NodePlan;
use crate::pg::node::{Node, Nodes};
use crate::pg::node_structs::elements;
use pgrx::pg_sys::{self, List};
use std::ptr::null_mut;

/// The numbers that a path and its node store.
pub(crate) struct StoredJoin {
    pub(crate) kind: JoinKind,
    /// Whether the query may stop before the last row, as with LIMIT, EXISTS and cursors.
    pub(crate) may_end_early: bool,
    /// Outer rows that the process is expected to get in a parallel plan; 0 in other plans.
    pub(crate) portion: usize,
    /// For each condition that the node serves: the side of the call's first argument, and the type of the
    /// codes.
    pub(crate) near: Vec<(Side, CodeType)>,
}

impl StoredJoin {
    pub(super) fn write(&self) -> *mut List {
        let near = self.near.iter().flat_map(|&(first, codes)| [first as i32, codes as i32]);
        let numbers =
            [self.kind as i32, self.may_end_early.into(), self.portion as i32].into_iter().chain(near);
        // SAFETY: the function makes a list of integers.
        numbers.fold(null_mut(), |list, number| unsafe { pg_sys::lappend_int(list, number) })
    }

    /// # Safety
    /// The list must be one that [`write`](Self::write) has made, or a copy.
    pub(super) unsafe fn read(list: *mut List) -> Self {
        // SAFETY: it is such a list of integers, as the caller promises. Bounded: as `of`.
        let numbers: Vec<i32> = unsafe {
            let cells = std::slice::from_raw_parts((*list).elements, (*list).length as usize);
            cells.iter().map(|cell| cell.int_value).collect()
        };
        Self::of(&numbers)
    }

    /// The numbers that [`write`](Self::write) has written.
    pub(crate) fn of(numbers: &[i32]) -> Self {
        let number = |place: usize| numbers[place] as usize;
        // Bounded: as many as the query has conditions.
        let near = (3..numbers.len())
            .step_by(2)
            .map(|place| (Side::BOTH[number(place)], CodeType::ALL[number(place + 1)]))
            .collect();
        Self { kind: JoinKind::ALL[number(0)], may_end_early: number(1) != 0, portion: number(2), near }
    }
}

/// What a path stores.
pub(super) struct StoredPath<'p> {
    /// The numbers of the node.
    pub(super) join: *mut List,
    /// The conditions that the node serves, as calls, and the other conditions of the join.
    pub(super) calls: Nodes<'p>,
    pub(super) others: Nodes<'p>,
}

impl StoredPath<'_> {
    pub(super) fn write(&self) -> *mut List {
        list_of([self.join, self.calls.pointer(), self.others.pointer()])
    }

    /// # Safety
    /// The path must be one of a near join.
    pub(super) unsafe fn read(path: &pg_sys::CustomPath) -> Self {
        // SAFETY: such a path has what `write` returns, as the caller promises.
        unsafe {
            let [join, calls, others] = lists_of(path.custom_private);
            Self { join, calls: Nodes::new(calls), others: Nodes::new(others) }
        }
    }
}

/// The expressions of a node.
pub(crate) struct StoredExpressions<'p> {
    /// The conditions on distances that the node serves.
    pub(crate) near: Nodes<'p>,
    /// The other conditions of the join.
    pub(crate) conditions: Nodes<'p>,
    /// Conditions that are tested after the join.
    pub(crate) filter: Nodes<'p>,
}

impl<'p> StoredExpressions<'p> {
    pub(super) fn write(&self) -> *mut List {
        list_of([self.near, self.conditions, self.filter].map(Nodes::pointer))
    }

    /// The expressions that [`write`](Self::write) has written to a plan.
    pub(crate) fn of(plan: NodePlan<'p>) -> Self {
        let [near, conditions, filter] = [0, 1, 2].map(|place| plan.expressions(place));
        Self { near, conditions, filter }
    }

    /// The codes of each condition that the node serves, and its radius.
    pub(crate) fn served(&self, stored: &StoredJoin) -> impl Iterator<Item = (BySide<Node<'p>>, Node<'p>)> {
        self.near.iter().zip(&stored.near).filter_map(|(call, &(first, _))| {
            let [a, b, radius] = call.as_function()?.args()?;
            Some((BySide(if first == Side::Outer { [a, b] } else { [b, a] }), radius))
        })
    }
}

fn list_of(lists: [*mut List; 3]) -> *mut List {
    // SAFETY: the function makes a list of nodes, and a list is a node.
    lists.into_iter().fold(null_mut(), |all, list| unsafe { pg_sys::lappend(all, list.cast()) })
}

/// # Safety
/// The list must be one that [`list_of`] has made, or a copy.
unsafe fn lists_of(list: *mut List) -> [*mut List; 3] {
    // SAFETY: it has three lists, as the caller promises.
    let lists = unsafe { elements(list) };
    [0, 1, 2].map(|place| lists[place].cast())
}
