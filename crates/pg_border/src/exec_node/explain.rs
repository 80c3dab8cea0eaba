//! What a node adds to the output of EXPLAIN.

use crate::node::{Node, Nodes};
use pgrx::pg_sys::{self, CustomScanState, ExplainState, List};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::null;

/// The output of EXPLAIN for a node.
#[derive(Clone, Copy)]
pub struct NodeExplanation<'a> {
    place: *mut ExplainState,
    /// Names of columns for expressions of the node.
    context: *mut List,
    life: PhantomData<&'a ExplainState>,
}

impl NodeExplanation<'_> {
    /// # Safety
    /// The arguments must be those that EXPLAIN passes, and live as long as the result.
    pub(super) unsafe fn new(
        node: *mut CustomScanState,
        ancestors: *mut List,
        place: *mut ExplainState,
    ) -> Self {
        // SAFETY: the node has a plan, as the caller promises.
        unsafe {
            let plan = (*node).ss.ps.plan;
            let context = pg_sys::set_deparse_context_plan((*place).deparse_cxt, plan, ancestors);
            Self { place, context, life: PhantomData }
        }
    }

    /// Whether the query was executed.
    pub fn is_analyzed(self) -> bool {
        // SAFETY: EXPLAIN has passed the place for its output.
        unsafe { (*self.place).analyze }
    }

    /// Adds an expression of the node.
    pub fn expression(self, label: &CStr, expr: Node) {
        // SAFETY: the expression belongs to the plan of the node, for which the context was made.
        unsafe {
            let text = pg_sys::deparse_expression(expr.pointer(), self.context, true, false);
            pg_sys::ExplainPropertyText(label.as_ptr(), text, self.place);
        }
    }

    /// Adds conditions of the node, all of which have to hold.
    pub fn conditions(self, label: &CStr, conditions: Nodes) {
        // SAFETY: the argument is a list of conditions.
        self.expression(label, unsafe { Node::new(pg_sys::make_ands_explicit(conditions.pointer())) });
    }

    /// Adds a number of which the unit is in the label.
    pub fn number(self, label: &CStr, number: u64) {
        // SAFETY: EXPLAIN has passed the place for its output.
        unsafe { pg_sys::ExplainPropertyInteger(label.as_ptr(), null(), number as i64, self.place) };
    }

    /// Adds a number of kilobytes.
    pub fn kilobytes(self, label: &CStr, kilobytes: u64) {
        let unit = c"kB".as_ptr();
        // SAFETY: EXPLAIN has passed the place for its output.
        unsafe { pg_sys::ExplainPropertyInteger(label.as_ptr(), unit, kilobytes as i64, self.place) };
    }
}
