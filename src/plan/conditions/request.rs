//! What the planner asks a support function, and how it is answered.

use crate::pg::call::Call;
use crate::pg::expr::{Applied, Expr, Exprs};
use crate::pg::planner::Planner;
use pgrx::pg_sys::{self, Datum, Node, NodeTag, Oid};
use std::ptr::from_mut;

/// The answer "no".
pub(super) const NO: Datum = Datum::null();

/// A request that PostgreSQL has made, with all that it points to.
pub(super) enum Request<'p> {
    /// Can the call be written otherwise?
    Simplify(Applied<'p>),
    /// Can it be searched by an index?
    IndexCondition(IndexRequest<'p>),
    /// What is its selectivity?
    Selectivity(SelectivityRequest<'p>),
    /// What does it cost?
    Cost(CostRequest<'p>),
    Other,
}

impl<'p> Request<'p> {
    /// The request with which a support function was called.
    pub(super) fn of(asked: Call) -> Self {
        let request: *mut Node = asked.pointer(0);
        // SAFETY: support functions are called with a request, which is a node with the struct of its tag.
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

/// The expression that a call becomes.
pub(super) fn simplified(expr: Option<Expr>) -> Datum {
    expr.map_or(NO, |expr| Datum::from(expr.pointer()))
}

/// Asks for the condition of an index on one of the arguments of a call.
pub(super) struct IndexRequest<'p>(&'p mut pg_sys::SupportRequestIndexCondition);

impl<'p> IndexRequest<'p> {
    /// The call, if it is one of the function that is asked.
    pub(super) fn call(&self) -> Option<Applied<'p>> {
        // SAFETY: a request has the condition that it is about.
        unsafe { Expr::new(self.0.node) }.as_function().filter(|call| call.id == self.0.funcid)
    }

    /// Which of the arguments is in the index.
    pub(super) fn indexed_argument(&self) -> i32 {
        self.0.indexarg
    }

    pub(super) fn family(&self) -> Oid {
        self.0.opfamily
    }

    /// `stored operator query`, if the index can be searched for the query.
    pub(super) fn answer(self, operator: Oid, [stored, query]: [Expr<'p>; 2], is_lossy: bool) -> Datum {
        // SAFETY: a request has the query that is being planned, and the index.
        unsafe {
            let root = self.0.root;
            if !pg_sys::is_pseudo_constant_for_index(root, query.pointer(), self.0.index) {
                return NO;
            }
            let query = Expr::new(pg_sys::eval_const_expressions(root, query.pointer()));
            self.0.lossy = is_lossy;
            Exprs::of(&[Expr::operator(operator, pg_sys::BOOLOID, stored, query)]).pointer().into()
        }
    }
}

/// Asks for the selectivity of a condition.
pub(super) struct SelectivityRequest<'p>(&'p mut pg_sys::SupportRequestSelectivity);

impl<'p> SelectivityRequest<'p> {
    pub(super) fn call(&self) -> Applied<'p> {
        // SAFETY: a request has the arguments of the call that it is about.
        Applied::new(self.0.funcid, unsafe { Exprs::new(self.0.args) })
    }

    /// The answer, by the query and the relation whose rows are meant: 0 for all.
    pub(super) fn answer(self, selectivity: impl FnOnce(Planner<'p>, i32) -> f64) -> Datum {
        // SAFETY: a request has the query that is being planned.
        let Some(planner) = (unsafe { Planner::new(self.0.root) }) else { return NO };
        self.0.selectivity = selectivity(planner, self.0.varRelid);
        from_mut(self.0).into()
    }
}

/// Asks what a call costs.
pub(super) struct CostRequest<'p>(&'p mut pg_sys::SupportRequestCost);

impl<'p> CostRequest<'p> {
    /// The call, if the request is about one.
    pub(super) fn call(&self) -> Option<Applied<'p>> {
        // SAFETY: the node is an expression, or null.
        unsafe { Expr::at(self.0.node) }?.as_function()
    }

    /// The answer, by the query, if there is one.
    pub(super) fn answer(self, cost: impl FnOnce(Option<Planner<'p>>) -> f64) -> Datum {
        // SAFETY: a request has the query that is being planned, or none.
        let planner = unsafe { Planner::new(self.0.root) };
        (self.0.startup, self.0.per_tuple) = (0.0, cost(planner));
        from_mut(self.0).into()
    }
}
