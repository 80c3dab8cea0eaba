//! Conditions of a query with what the planner knows of them: PostgreSQL's RestrictInfo.

use super::node::{Node, Nodes};
use super::planner::Planner;
use pgrx::pg_sys::{self, RestrictInfo};
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// A condition of the query that is being planned.
#[derive(Clone, Copy, PartialEq)]
pub struct Restriction<'p>(NonNull<RestrictInfo>, PhantomData<&'p RestrictInfo>);

impl<'p> Restriction<'p> {
    /// The node as a condition, if it is a RestrictInfo.
    pub fn of(node: Node<'p>) -> Option<Self> {
        let place = NonNull::new(node.pointer().cast())?;
        node.is::<RestrictInfo>().then_some(Self(place, PhantomData))
    }

    /// # Safety
    /// The pointer must be to a condition of the query that is being planned.
    pub(super) unsafe fn new(place: *mut RestrictInfo) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(place) }, PhantomData)
    }

    pub(super) fn pointer(self) -> *mut RestrictInfo {
        self.0.as_ptr()
    }

    /// The condition as a node, for a list of conditions.
    pub fn node(self) -> Node<'p> {
        // SAFETY: the struct is a node of the query.
        unsafe { Node::new(self.pointer()) }
    }

    /// The expression of the condition.
    pub fn expr(self) -> Node<'p> {
        // SAFETY: a condition has an expression.
        unsafe { Node::new((*self.pointer()).clause) }
    }

    /// The level of row-level security, or of a security barrier view, from which the condition comes.
    pub fn security_level(self) -> u32 {
        // SAFETY: the condition belongs to the query.
        unsafe { (*self.pointer()).security_level }
    }

    /// Whether all functions in the condition are leakproof.
    pub fn is_leakproof(self) -> bool {
        // SAFETY: the condition belongs to the query.
        unsafe { (*self.pointer()).leakproof }
    }

    /// Whether the condition contains columns of one relation only.
    pub(super) fn is_of_one_relation(self) -> bool {
        // SAFETY: the set belongs to the condition.
        unsafe { pg_sys::bms_num_members((*self.pointer()).clause_relids) == 1 }
    }

    /// The cost of testing the condition for one row.
    pub(super) fn cost_of_row(self) -> f64 {
        let mut cost = pg_sys::QualCost::default();
        // SAFETY: the condition belongs to the query.
        unsafe { pg_sys::cost_qual_eval_node(&raw mut cost, self.pointer().cast(), null_mut()) };
        cost.per_tuple
    }

    /// A condition with another expression on the same relations, of which nothing is cached.
    pub fn with_expr(self, planner: Planner<'p>, expr: Node<'p>) -> Self {
        let other = planner.make::<RestrictInfo>();
        // SAFETY: the condition belongs to the query, and the struct is copied.
        *other = unsafe { *self.pointer() };
        other.clause = expr.pointer().cast();
        other.eval_cost.startup = -1.0;
        other.norm_selec = -1.0;
        other.outer_selec = -1.0;
        Self(NonNull::from(other), PhantomData)
    }
}

impl<'p> Nodes<'p> {
    /// The conditions of a list of RestrictInfos.
    pub fn restrictions(self) -> impl Iterator<Item = Restriction<'p>> {
        self.iter().filter_map(Restriction::of)
    }
}

/// Orders conditions of a join as they are tested: by security level, then by cost.
pub(super) fn in_order_of_tests(conditions: Nodes<'_>) -> Nodes<'_> {
    struct Keyed<'p> {
        level: u32,
        cost: f64,
        condition: Restriction<'p>,
    }
    // Bounded: as many as the query has conditions.
    let mut keyed: Vec<Keyed> = conditions
        .restrictions()
        .map(|condition| Keyed {
            level: condition.security_level(),
            cost: condition.cost_of_row(),
            condition,
        })
        .collect();
    keyed.sort_by(|a, b| a.level.cmp(&b.level).then(a.cost.total_cmp(&b.cost)));
    keyed.into_iter().map(|it| it.condition.node()).collect()
}
