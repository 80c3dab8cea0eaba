//! What a node prepares when it begins.

use super::plan::NodePlan;
use super::rows::{ChildExpression, Integer, MOST_CHILDREN, Qual, RowEvaluation};
use super::{Child, ExecutingNode};
use crate::datum::DatumLayout;
use crate::executor::columns;
use crate::node::{Node, Nodes};
use crate::row_store::{KeptColumn, RowStore, unique_number};
use pgrx::pg_sys::{self, CustomScanState, EState, PlanState};
use std::ptr::null_mut;

/// What a node prepares when it begins: the expressions that it will evaluate, and the rows that it will
/// keep.
pub struct NodeSetup<'a> {
    plan: NodePlan<'a>,
    node: &'a mut ExecutingNode,
    /// The layouts of the columns of the row that is shown.
    layouts: Vec<DatumLayout>,
}

/// The layouts of the columns of target entries.
fn layouts_of(columns: Nodes) -> Vec<DatumLayout> {
    // Bounded: a query has at most 1,664 columns.
    columns.of_columns().map(|expr| DatumLayout::of(expr.type_())).collect()
}

impl ExecutingNode {
    /// Begins the children.
    ///
    /// # Safety
    /// The executor must be beginning this node, which has this plan.
    pub(super) unsafe fn begin(
        node: *mut CustomScanState,
        plan: NodePlan<'_>,
        estate: *mut EState,
        flags: i32,
    ) -> Self {
        let unsupported = pg_sys::EXEC_FLAG_REWIND | pg_sys::EXEC_FLAG_BACKWARD | pg_sys::EXEC_FLAG_MARK;
        let mut children: Vec<Child> = Vec::new();
        for child in 0..plan.children() {
            let first = children.last().map_or(0, |last| last.first + last.columns);
            // SAFETY: the plan of the node has this child.
            let state =
                unsafe { pg_sys::ExecInitNode(plan.child(child), estate, flags & !unsupported as i32) };
            children.push(Child { state, first, columns: plan.columns_of(child).len() });
            // SAFETY: the field has a list of the children that were begun.
            unsafe { (*node).custom_ps = pg_sys::lappend((*node).custom_ps, state.cast()) };
        }
        // SAFETY: the executor has prepared these parts of the node before it calls us.
        let (context, row, projection) = unsafe {
            let state = &(*node).ss.ps;
            (state.ps_ExprContext, (*node).ss.ss_ScanTupleSlot, state.ps_ProjInfo)
        };
        // Columns that are not kept are NULL.
        // SAFETY: the slot has an array for its columns.
        unsafe { columns(row) }.1.fill(true);
        let evaluation = RowEvaluation {
            number: unique_number(),
            context,
            row,
            output: row,
            projection,
            expressions: Vec::new(),
            integers: Vec::new(),
            quals: Vec::new(),
            values: Vec::new(),
            shown: [0; MOST_CHILDREN],
            computes: !projection.is_null(),
        };
        Self { node, children, evaluation }
    }
}

impl<'a> NodeSetup<'a> {
    pub(super) fn new(plan: NodePlan<'a>, node: &'a mut ExecutingNode) -> Self {
        let layouts = layouts_of(plan.columns_of_children());
        let expected: usize = node.children.iter().map(|child| child.columns).sum();
        assert_eq!(layouts.len(), expected, "the columns of a node are those of its children");
        Self { plan, node, layouts }
    }

    fn parent(&mut self) -> *mut PlanState {
        // SAFETY: the node lives as long as its state.
        unsafe { &raw mut (*self.node.node).ss.ps }
    }

    /// Whether the node returns other columns than those of its children.
    pub fn projects(&self) -> bool {
        !self.node.evaluation.projection.is_null()
    }

    /// From now on, the row that is shown is the row that the node returns, because all of its columns are
    /// columns of the children. It must be called before stores are made.
    pub fn return_directly(&mut self) {
        let evaluation = &mut self.node.evaluation;
        if evaluation.projection.is_null() {
            return;
        }
        // SAFETY: a projection has a slot for its row, which has an array for its columns.
        unsafe {
            evaluation.output = (*evaluation.projection).pi_state.resultslot;
            columns(evaluation.output).1.fill(true);
        }
        evaluation.projection = null_mut();
        evaluation.computes = evaluation.quals.iter().any(|qual| !qual.is_null());
        self.layouts = layouts_of(self.plan.columns());
    }

    /// Prepares an expression that is evaluated for each row of a child.
    pub fn value(&mut self, child: usize, expr: Node) {
        let parent = self.parent();
        let type_ = expr.type_();
        let is_variable = DatumLayout::of(type_).is_variable();
        // SAFETY: the expression belongs to the plan of the node.
        let state = unsafe { pg_sys::ExecInitExpr(expr.pointer().cast(), parent) };
        self.node.evaluation.expressions.push(ChildExpression { child, state, type_, is_variable });
    }

    /// Prepares an expression without columns that returns an integer.
    pub fn integer(&mut self, expr: Node) -> Integer {
        assert!(expr.type_() == pg_sys::INT4OID && !expr.has_columns(), "a radius is an integer");
        let parent = self.parent();
        // SAFETY: the expression belongs to the plan of the node.
        let state = unsafe { pg_sys::ExecInitExpr(expr.pointer().cast(), parent) };
        self.node.evaluation.integers.push(state);
        Integer(self.node.evaluation.integers.len() - 1)
    }

    /// Prepares conditions on the row that is shown.
    pub fn qual(&mut self, conditions: Nodes) -> Qual {
        let parent = self.parent();
        // SAFETY: the expressions belong to the plan of the node.
        let state = unsafe { pg_sys::ExecInitQual(conditions.pointer(), parent) };
        let evaluation = &mut self.node.evaluation;
        evaluation.computes |= !state.is_null();
        evaluation.quals.push(state);
        Qual(evaluation.quals.len() - 1)
    }

    /// A store for rows of a child. For each of its columns, `targets` has the column of the row that is
    /// shown which gets its value, or `None` if it is not kept.
    pub fn row_store(&self, child: usize, targets: &[Option<usize>]) -> RowStore {
        let layouts = layouts_of(self.plan.columns_of(child));
        assert_eq!(layouts.len(), targets.len(), "a store has the columns of its child");
        let kept = layouts.into_iter().zip(targets).enumerate().filter_map(|(column, (layout, target))| {
            let target = (*target)?;
            assert!(self.layouts[target] == layout, "a column is shown as what it is");
            Some((column, KeptColumn { layout, target }))
        });
        // Bounded: a query has at most 1,664 columns.
        RowStore::new(self.node.evaluation.source_of(child), kept.collect())
    }
}
