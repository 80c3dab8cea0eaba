//! The requests that the planner makes of a support function, and the answers.

use crate::estimate::selectivity::of_join;
use crate::pg::call::Call;
use crate::pg::node::{Applied, Node, Nodes};
use crate::pg::planner::Planner;
use pgrx::pg_sys::{self, Datum, NodeTag, Oid};
use std::ptr::from_mut;

/// The answer "no".
pub(super) const NO: Datum = Datum::null();

/// A request by PostgreSQL, which borrows everything that it points to.
pub(super) enum Request<'p> {
    /// What else can be written for the call?
    Simplify(Applied<'p>),
    /// Which condition lets an index answer the call?
    IndexCondition(IndexRequest<'p>),
    /// What fraction of the rows does the call select?
    Selectivity(SelectivityRequest<'p>),
    /// What does it cost?
    Cost(CostRequest<'p>),
    Other,
}

impl<'p> Request<'p> {
    /// The request that a support function was called with.
    pub(super) fn of(asked: Call) -> Self {
        let request: *mut pg_sys::Node = asked.pointer(0);
        // SAFETY: PostgreSQL calls a support function with a request: a node whose tag names its struct.
        unsafe {
            match (*request).type_ {
                NodeTag::T_SupportRequestSimplify => {
                    let request = &*request.cast::<pg_sys::SupportRequestSimplify>();
                    Self::Simplify(Applied::of_function(&*request.fcall))
                }
                NodeTag::T_SupportRequestIndexCondition => {
                    Self::IndexCondition(IndexRequest(&mut *request.cast()))
                }
                NodeTag::T_SupportRequestSelectivity => {
                    Self::Selectivity(SelectivityRequest(&mut *request.cast()))
                }
                NodeTag::T_SupportRequestCost => Self::Cost(CostRequest(&mut *request.cast())),
                _ => Self::Other,
            }
        }
    }
}

/// The answer to Simplify: the expression that replaces the call.
pub(super) fn simplified(expr: Option<Node>) -> Datum {
    expr.map_or(NO, |expr| Datum::from(expr.pointer()))
}

/// Asks for an index condition that replaces a call, one of whose arguments is in the index.
pub(super) struct IndexRequest<'p>(&'p mut pg_sys::SupportRequestIndexCondition);

impl<'p> IndexRequest<'p> {
    /// The call, if it calls the function that this support function belongs to.
    pub(super) fn call(&self) -> Option<Applied<'p>> {
        // SAFETY: a request contains the condition that it is about.
        unsafe { Node::new(self.0.node) }.as_function().filter(|call| call.id == self.0.funcid)
    }

    /// The number of the argument that is in the index, from 0.
    pub(super) fn indexed_argument(&self) -> i32 {
        self.0.indexarg
    }

    pub(super) fn family(&self) -> Oid {
        self.0.opfamily
    }

    /// The condition `stored operator query`, if the index can be searched for that query.
    pub(super) fn answer(self, operator: Oid, [stored, query]: [Node<'p>; 2], is_lossy: bool) -> Datum {
        let Some(query) = self.searched_for(query) else { return NO };
        self.0.lossy = is_lossy;
        Nodes::of(&[Node::operator(operator, pg_sys::BOOLOID, stored, query)]).pointer().into()
    }

    /// What the index is searched for, as a constant if it can be computed now; `None` if it changes from row
    /// to row of the index's table.
    fn searched_for(&self, query: Node<'p>) -> Option<Node<'p>> {
        if query.is::<pg_sys::Const>() {
            return Some(query);
        }
        let root = self.0.root;
        // SAFETY: a request has the query that is being planned, and the index.
        unsafe {
            pg_sys::is_pseudo_constant_for_index(root, query.pointer(), self.0.index)
                .then(|| Node::new(pg_sys::eval_const_expressions(root, query.pointer())))
        }
    }
}

/// Asks for the selectivity of a condition.
pub(super) struct SelectivityRequest<'p>(&'p mut pg_sys::SupportRequestSelectivity);

impl<'p> SelectivityRequest<'p> {
    pub(super) fn call(&self) -> Applied<'p> {
        // SAFETY: a request contains the arguments of the call that it is about.
        Applied::new(self.0.funcid, unsafe { Nodes::new(self.0.args) })
    }

    /// The answer, from the fraction of rows, or of pairs of rows. The number is the relation for which
    /// PostgreSQL asks; 0 means all relations.
    pub(super) fn answer(self, selectivity: impl FnOnce(Planner<'_>, i32) -> f64) -> Datum {
        let root = self.0.root;
        // SAFETY: a request has the query that is being planned.
        let Some(planner) = (unsafe { Planner::new(&root) }) else { return NO };
        let pairs = selectivity(planner, self.0.varRelid);
        // SAFETY: the join is null or belongs to the query.
        let join = unsafe { self.0.sjinfo.as_ref() };
        self.0.selectivity = of_join(planner, pairs, self.0.jointype, join);
        from_mut(self.0).into()
    }
}

/// Asks what a call costs.
pub(super) struct CostRequest<'p>(&'p mut pg_sys::SupportRequestCost);

impl<'p> CostRequest<'p> {
    /// The call, if the request is about a call.
    pub(super) fn call(&self) -> Option<Applied<'p>> {
        // SAFETY: the node is an expression, or null.
        unsafe { Node::at(self.0.node) }?.as_function()
    }

    /// The answer, computed with the query that is being planned, if there is one.
    pub(super) fn answer(self, cost: impl FnOnce(Option<Planner<'_>>) -> f64) -> Datum {
        let root = self.0.root;
        // SAFETY: a request has the query that is being planned, or none.
        let planner = unsafe { Planner::new(&root) };
        (self.0.startup, self.0.per_tuple) = (0.0, cost(planner));
        from_mut(self.0).into()
    }
}
