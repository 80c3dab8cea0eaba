//! A node of a plan that returns the rows of a table in reverse order, as an example of what `pg_border` is
//! for.
//!
//! `tests/t/040_toy_node.pl` loads it into a server. With `SET toy.reverse = on`, each table is read by the
//! node:
//!
//! 1. The hook [`ReversedPaths`] proposes a path to the planner: the cheapest path of the table, below a node
//!    of ours.
//! 2. If the planner chooses it, [`CustomPath::plan`] makes a node of the plan.
//! 3. The executor runs the node, which implements [`ExecNode`]. It keeps all rows in memory.
#![forbid(unsafe_code)]

use pg_border::custom_path::{ChosenPath, CustomPath, CustomPathParts, PlannedNode};
use pg_border::exec_node::{
    ExecNode, ExecutingNode, NodeExplanation, NodePlan, NodeSetup, ReturnedRow, SharedNode,
};
use pg_border::interrupts::check_for_interrupts;
use pg_border::node::Nodes;
use pg_border::planner_hooks::{PathsHook, RelationPaths};
use pg_border::report::SqlError;
use pg_border::row_store::{BatchRow, RowStore, StorableRow};
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};
use std::ffi::CStr;

pg_border::library::pg_library!(initialize);

/// Whether tables are read by the node.
static REVERSE: GucSetting<bool> = GucSetting::<bool>::new(false);

const NAME: &CStr = c"Reversed";

fn initialize() {
    GucRegistry::define_bool_guc(
        c"toy.reverse",
        c"Reads the rows of each table in reverse order.",
        c"",
        &REVERSE,
        GucContext::Userset,
        GucFlags::default(),
    );
    pg_border::exec_node::register::<Reversed>(NAME);
    pg_border::planner_hooks::install_paths_hook::<ReversedPaths>();
}

/// Proposes the path to the planner.
struct ReversedPaths;

impl PathsHook for ReversedPaths {
    fn on_paths(paths: &mut RelationPaths<'_>) {
        if !REVERSE.get() || !paths.is_single_table() {
            return;
        }
        let Some(table) = paths.take_cheapest() else { return };
        paths.propose_custom::<ReversedPath>(CustomPathParts {
            children: &[table],
            rows: table.rows(),
            startup_cost: table.total_cost(),
            total_cost: table.total_cost(),
            workers: 0,
            shares_memory: false,
            numbers: &[],
            conditions: &[],
            tested: Nodes::NONE,
        });
    }
}

/// Turns the path into a node, which needs no numbers and no expressions.
struct ReversedPath;

impl CustomPath for ReversedPath {
    const NAME: &'static CStr = NAME;

    fn plan<'p>(_chosen: &ChosenPath<'p>) -> PlannedNode<'p> {
        PlannedNode { name: NAME, numbers: Vec::new(), expressions: Vec::new() }
    }
}

/// The node that the executor runs.
struct Reversed {
    rows: RowStore,
    /// Whether all rows have been read.
    is_complete: bool,
    /// How many rows have not been returned yet.
    left: usize,
}

/// The only child.
const TABLE: usize = 0;

impl ExecNode for Reversed {
    const METHODS: &'static CStr = NAME;
    const COUNTERS: usize = 0;
    const ARRAYS: usize = 0;
    const PUBLISHED: usize = 0;

    fn begin(plan: NodePlan<'_>, setup: NodeSetup<'_>) -> Self {
        // Bounded: a query has at most 1,664 columns.
        let all_columns: Vec<Option<usize>> = (0..plan.columns_of(TABLE).len()).map(Some).collect();
        Self { rows: setup.row_store(TABLE, &all_columns), is_complete: false, left: 0 }
    }

    fn next<'a>(&'a mut self, node: &'a mut ExecutingNode) -> Result<Option<ReturnedRow<'a>>, SqlError> {
        check_for_interrupts();
        if !self.is_complete {
            while let Some((row, evaluation)) = node.next_row(TABLE) {
                row.store(&mut self.rows)?;
                evaluation.reset();
            }
            self.is_complete = true;
            self.left = self.rows.len();
        }
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let evaluation = node.evaluation();
        evaluation.show([(&self.rows, Some(BatchRow(self.left as u32)))]);
        Ok(Some(evaluation.returned([&self.rows])))
    }

    fn restart(&mut self, _plan: NodePlan<'_>, node: &mut ExecutingNode) {
        node.pass_on_changes();
        if self.is_complete && !node.has_changed(TABLE) {
            // The rows are the same.
            self.left = self.rows.len();
            return;
        }
        self.rows.clear();
        self.is_complete = false;
        node.restart_child(TABLE);
    }

    fn end(&mut self) {
        self.rows.reset();
    }

    fn share(&mut self, _shared: SharedNode) {}

    fn end_sharing(&mut self) {}

    fn explain(&self, _plan: NodePlan<'_>, to: NodeExplanation<'_>) {
        if to.is_analyzed() {
            to.number(c"Rows Kept", self.rows.len() as u64);
        }
    }
}
