//! What a near join stores in its path and in its node of the plan: all that the executor gets from the
//! planner.

use super::kind::{BySide, JoinKind, Side};
use crate::pg::code::CodeType;
use crate::pg::exec_node::NodePlan;
use crate::pg::node::{Node, Nodes};

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
    /// The numbers of the path and of its node.
    pub(super) fn numbers(&self) -> Vec<i32> {
        let first = [self.kind as i32, self.may_end_early.into(), self.portion as i32];
        let near = self.near.iter().flat_map(|&(first, codes)| [first as i32, codes as i32]);
        // Bounded: as many as the query has conditions.
        first.into_iter().chain(near).collect()
    }

    /// What these [`numbers`](Self::numbers) describe.
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
    /// The lists of expressions that the node gets.
    pub(super) fn lists(self) -> Vec<Nodes<'p>> {
        vec![self.near, self.conditions, self.filter] // Bounded: three lists.
    }

    /// What the [`lists`](Self::lists) of a plan are.
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
