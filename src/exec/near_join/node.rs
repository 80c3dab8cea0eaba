//! The node that the executor calls: begin, next row, restart, end.

use super::batch::{BatchSize, JoinBatch};
use super::output::JoinOutput;
use super::reader::RowReader;
use super::run::{JoinParts, NearJoin};
use super::shared::{ARRAYS, COUNTERS, Sharing};
use super::work::JoinWork;
use crate::pg::code::CodeType;
use crate::pg::exec_node::{
    self, ExecNode, ExecutingNode, NodeExplanation, NodePlan, NodeSetup, ReturnedRow, SharedNode,
};
use crate::pg::node::{Node, Nodes};
use crate::pg::report::SqlError;
use crate::pg::row_store::RowStore;
use crate::plan::near_join::{BySide, JoinKind, Side, StoredExpressions, StoredJoin};
use pgrx::pg_sys;
use std::ffi::CStr;

/// Registers the node's names. By them the planner and parallel workers find its methods.
pub(crate) fn register() {
    JoinKind::ALL.into_iter().for_each(|kind| exec_node::register::<NearJoin>(kind.name()));
}

impl ExecNode for NearJoin {
    const METHODS: &'static CStr = c"Near Join";
    const COUNTERS: usize = COUNTERS;
    const ARRAYS: usize = ARRAYS;
    const PUBLISHED: usize = JoinWork::COUNTS;

    fn begin(plan: NodePlan<'_>, mut setup: NodeSetup<'_>) -> Self {
        let stored = StoredJoin::of(&plan.numbers());
        let expressions = StoredExpressions::of(plan);
        let direct = direct_columns(&expressions, plan.columns()).filter(|_| setup.projects());
        if direct.is_some() {
            setup.return_directly();
        }
        let rows = stores(&setup, &expressions, plan, direct);
        let mut radii = Vec::new();
        for ((codes, radius), &(_, type_)) in expressions.served(&stored).zip(&stored.near) {
            for side in Side::BOTH {
                let expr = codes[side];
                assert_eq!(CodeType::of(expr.type_()), Some(type_), "an expression for codes returns codes");
                setup.value(side as usize, expr);
            }
            // Bounded: as many as the query has conditions.
            radii.push(setup.integer(radius));
        }
        let conditions = setup.qual(expressions.conditions);
        let filter = setup.qual(expressions.filter);
        Self::new(JoinParts {
            reader: RowReader::new(radii),
            batch: JoinBatch::new(&stored, rows),
            size: BatchSize::new(&stored),
            output: JoinOutput::new(stored.kind, conditions, filter),
        })
    }

    fn next<'a>(&'a mut self, node: &'a mut ExecutingNode) -> Result<Option<ReturnedRow<'a>>, SqlError> {
        self.next_row(node)
    }

    fn restart(&mut self, plan: NodePlan<'_>, node: &mut ExecutingNode) {
        let has_changed = node.pass_on_changes();
        // If an inner code is computed by an expression, it may depend on a parameter that has changed.
        let stored = StoredJoin::of(&plan.numbers());
        let expressions = StoredExpressions::of(plan);
        let are_columns =
            expressions.served(&stored).all(|(codes, _)| codes[Side::Inner].is::<pg_sys::Var>());
        let is_same = !node.has_changed(Side::Inner as usize) && (!has_changed || are_columns);
        let keeps_inner = is_same && self.has_whole_inner();
        self.begin_again(keeps_inner);
        node.restart_child(Side::Outer as usize);
        if !keeps_inner {
            node.restart_child(Side::Inner as usize);
        }
    }

    fn end(&mut self) {
        self.close();
    }

    fn share(&mut self, shared: SharedNode) {
        self.begin_sharing(Sharing::new(shared));
    }

    fn end_sharing(&mut self) {
        self.leave();
    }

    fn explain(&self, plan: NodePlan<'_>, to: NodeExplanation<'_>) {
        super::explain::show(&StoredExpressions::of(plan), to, &self.work());
    }
}

/// The columns of both sides that the node returns, if it has nothing to compute for a pair.
fn direct_columns(expressions: &StoredExpressions, returned: Nodes) -> Option<Vec<usize>> {
    // Bounded: a query has at most 1,664 columns.
    let columns: Vec<usize> = returned
        .of_columns()
        .map(|expr| usize::try_from(expr.cast::<pg_sys::Var>()?.varattno - 1).ok())
        .collect::<Option<_>>()?;
    let is_once = |(place, column)| !columns[..place].contains(column);
    let computes_nothing = expressions.conditions.is_empty() && expressions.filter.is_empty();
    (computes_nothing && columns.iter().enumerate().all(is_once)).then_some(columns)
}

/// For each child, a store with the columns that the node reads after it has found pairs. If it returns
/// columns directly, they are its columns; otherwise it puts them into a row with the columns of both sides.
fn stores(
    setup: &NodeSetup<'_>,
    expressions: &StoredExpressions,
    plan: NodePlan<'_>,
    direct: Option<Vec<usize>>,
) -> BySide<RowStore> {
    let read = [plan.columns(), expressions.conditions, expressions.filter].into_iter();
    // Bounded: a query has at most 1,664 columns.
    let read: Vec<usize> = read
        .filter_map(Nodes::node)
        .flat_map(Node::columns)
        .filter_map(|column| usize::try_from(column.varattno - 1).ok())
        .collect();
    let mut first = 0;
    BySide::of(|side| {
        let of_child = first..first + plan.columns_of(side as usize).len();
        first = of_child.end;
        let target = |place| match &direct {
            Some(columns) => columns.iter().position(|&column| column == place),
            None => read.contains(&place).then_some(place),
        };
        // Bounded: as above.
        let targets: Vec<Option<usize>> = of_child.map(target).collect();
        setup.row_store(side as usize, &targets)
    })
}
