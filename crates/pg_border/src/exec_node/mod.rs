//! Nodes of a plan that the executor runs for us: PostgreSQL's custom scans.
//!
//! A type that implements [`ExecNode`] is a node. PostgreSQL calls the functions of [`thunks`], each of
//! which finds the state that it has made and calls a method. What belongs to the executor stays here: a
//! node gets it as an [`ExecutingNode`] for the duration of a call, and refers to its expressions by numbers
//! that [`NodeSetup`] returns. A row of a child lives until the next one is requested, and is borrowed from
//! the child. What a node returns is a row of its children or of [`RowStore`](crate::row_store::RowStore)s.
//! Its values are pointers into their memory. They are checked when the row is returned, because PostgreSQL
//! reads them afterwards.

mod explain;
mod plan;
mod rows;
mod setup;
mod shared;
mod thunks;

pub use explain::NodeExplanation;
pub use plan::NodePlan;
pub use rows::{ChildRow, CurrentRow, Integer, Qual, ReturnedRow, RowEvaluation};
pub use setup::NodeSetup;
pub use shared::{SharedNode, SharedWords};
pub use thunks::register;

use super::executor::{columns, next_row};
use super::report::SqlError;
use pgrx::pg_sys::{self, PlanState};

/// A node of a plan.
pub trait ExecNode: Sized + 'static {
    /// The name of the node's methods, which differs from those of all other nodes.
    const METHODS: &'static std::ffi::CStr;
    /// How many counters the processes of a parallel plan share.
    const COUNTERS: usize;
    /// How many arrays of words they share.
    const ARRAYS: usize;
    /// How many numbers each process publishes for the others.
    const PUBLISHED: usize;

    /// Begins the execution.
    fn begin(plan: NodePlan<'_>, setup: NodeSetup<'_>) -> Self;

    /// The next row; `None` after the last one.
    fn next<'a>(&'a mut self, node: &'a mut ExecutingNode) -> Result<Option<ReturnedRow<'a>>, SqlError>;

    /// Restarts the node, whose parameters may have changed.
    fn restart(&mut self, plan: NodePlan<'_>, node: &mut ExecutingNode);

    /// Ends the execution.
    fn end(&mut self);

    /// From now on, the processes of a parallel plan share memory.
    fn share(&mut self, shared: SharedNode);

    /// The last moment at which the shared memory can be used.
    fn end_sharing(&mut self);

    /// Adds to the output of EXPLAIN.
    fn explain(&self, plan: NodePlan<'_>, to: NodeExplanation<'_>);
}

/// What belongs to the executor, for the duration of a call.
pub struct ExecutingNode {
    node: *mut pg_sys::CustomScanState,
    children: Vec<Child>,
    evaluation: RowEvaluation,
}

/// A child of a node.
#[derive(Clone, Copy)]
struct Child {
    state: *mut PlanState,
    /// The number of its first column among the columns of all children.
    first: usize,
    columns: usize,
}

impl ExecutingNode {
    /// The next row of a child; `None` at its end. With it comes what evaluates expressions for the row.
    #[inline]
    pub fn next_row(&mut self, child: usize) -> Option<(ChildRow<'_>, &mut RowEvaluation)> {
        let Child { state, first, columns: count } = self.children[child];
        // SAFETY: the node is being executed, so its children are. A slot keeps its row until the child is
        // asked for another one, which needs this node as a whole.
        let (values, nulls) = unsafe { columns(next_row(state)?) };
        assert_eq!(values.len(), count, "a child returns the columns of its target list");
        let row = ChildRow {
            source: self.evaluation.source_of(child),
            memory: self.evaluation.memory_of_row(),
            first,
            values,
            nulls,
        };
        Some((row, &mut self.evaluation))
    }

    /// What evaluates expressions.
    #[inline]
    pub fn evaluation(&mut self) -> &mut RowEvaluation {
        &mut self.evaluation
    }

    /// Tells the children which parameters of the node have changed. Returns whether there are any.
    pub fn pass_on_changes(&mut self) -> bool {
        // SAFETY: the node is being executed.
        unsafe {
            let changed = (*self.node).ss.ps.chgParam;
            if changed.is_null() {
                return false;
            }
            self.children.iter().for_each(|child| pg_sys::UpdateChangedParamSet(child.state, changed));
            true
        }
    }

    /// Whether parameters of a child have changed.
    pub fn has_changed(&self, child: usize) -> bool {
        // SAFETY: the node is being executed.
        unsafe { !(*self.children[child].state).chgParam.is_null() }
    }

    /// Restarts a child. One whose parameters have changed restarts by itself.
    pub fn restart_child(&mut self, child: usize) {
        if !self.has_changed(child) {
            // SAFETY: the node is being executed.
            unsafe { pg_sys::ExecReScan(self.children[child].state) };
        }
    }
}
