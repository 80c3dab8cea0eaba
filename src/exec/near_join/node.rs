//! The functions that PostgreSQL's executor calls: begin, next row, restart, end.

use super::batch::{BatchSize, JoinBatch};
use super::explain;
use super::output::{JoinOutput, OutputParts};
use super::reader::{RowReader, RunningCondition};
use super::rows::{KeptColumn, KeptColumns};
use super::run::{JoinParts, NearJoin};
use super::shared::{SharedJoin, Sharing};
use crate::pg::datum::DatumLayout;
use crate::pg::executor::{Methods, virtual_row};
use crate::pg::expr::{Expr, Exprs};
use crate::pg::nodes::elements;
use crate::pg::report::UnwrapOrReport;
use crate::plan::near_join::{BySide, JoinKind, Side, StoredExpressions, StoredJoin};
use pgrx::pg_sys::{self, CustomScan, CustomScanState, Node, NodeTag, TupleTableSlot};
use pgrx::{PgMemoryContexts, pg_guard};
use std::ffi::c_void;
use std::ptr::null_mut;

/// The executor's functions for this node.
static EXEC_METHODS: Methods<pg_sys::CustomExecMethods> = Methods(pg_sys::CustomExecMethods {
    CustomName: c"Near Join".as_ptr(),
    BeginCustomScan: Some(begin),
    ExecCustomScan: Some(next),
    EndCustomScan: Some(end),
    ReScanCustomScan: Some(rescan),
    MarkPosCustomScan: None,
    RestrPosCustomScan: None,
    EstimateDSMCustomScan: Some(estimate_shared),
    InitializeDSMCustomScan: Some(initialize_shared),
    ReInitializeDSMCustomScan: Some(initialize_shared_again),
    InitializeWorkerCustomScan: Some(initialize_worker),
    ShutdownCustomScan: Some(end_sharing),
    ExplainCustomScan: Some(explain),
});

/// How PostgreSQL makes the state of a node: one entry for each of [`JoinKind::ALL`], in the same order.
static SCAN_METHODS: Methods<[pg_sys::CustomScanMethods; JoinKind::ALL.len()]> = {
    const fn methods(kind: JoinKind) -> pg_sys::CustomScanMethods {
        let (name, create_state) = (kind.name().as_ptr(), Some(create_state as _));
        pg_sys::CustomScanMethods { CustomName: name, CreateCustomScanState: create_state }
    }
    let [inner, left, full, right, semi, anti] = JoinKind::ALL;
    Methods([methods(inner), methods(left), methods(full), methods(right), methods(semi), methods(anti)])
};

/// Registers the node's names. By them the planner and parallel workers find its methods.
pub(crate) fn register() {
    for methods in &SCAN_METHODS.0 {
        // SAFETY: the methods live as long as the process.
        unsafe { pg_sys::RegisterCustomScanMethods(methods) };
    }
}

/// The state of a node: PostgreSQL's struct, followed by a pointer to ours.
#[repr(C)]
struct NodeState {
    base: CustomScanState,
    join: *mut NearJoin,
}

/// # Safety
/// The node must be one that [`begin`] has begun.
unsafe fn join_of<'a>(node: *mut CustomScanState) -> &'a mut NearJoin {
    // SAFETY: `begin` has set the pointer, as the caller promises.
    unsafe { &mut *(*node.cast::<NodeState>()).join }
}

#[pg_guard]
unsafe extern "C-unwind" fn create_state(_plan: *mut CustomScan) -> *mut Node {
    // SAFETY: PostgreSQL expects a node in zeroed memory of its own, with a tag and methods.
    unsafe {
        let state: *mut NodeState = pg_sys::palloc0(size_of::<NodeState>()).cast();
        (*state).base.ss.ps.type_ = NodeTag::T_CustomScanState;
        (*state).base.methods = &raw const EXEC_METHODS.0;
        state.cast()
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn begin(node: *mut CustomScanState, estate: *mut pg_sys::EState, flags: i32) {
    // SAFETY: the executor passes a node that it has made from our plan. Our state is dropped with the memory
    // of the execution.
    unsafe {
        let plan = &*(*node).ss.ps.plan.cast::<CustomScan>();
        let child_flags =
            flags & !(pg_sys::EXEC_FLAG_REWIND | pg_sys::EXEC_FLAG_BACKWARD | pg_sys::EXEC_FLAG_MARK) as i32;
        let &mut [outer, inner] = elements(plan.custom_plans) else { return };
        let plans = BySide([outer, inner]);
        let children = plans.map(|child| pg_sys::ExecInitNode(child.cast(), estate, child_flags));
        for child in children.0 {
            (*node).custom_ps = pg_sys::lappend((*node).custom_ps, child.cast());
        }
        let stored = StoredJoin::read(plan.custom_private);
        let expressions = StoredExpressions::read(plan);
        let parent = &raw mut (*node).ss.ps;
        let (context, row) = ((*parent).ps_ExprContext, (*node).ss.ss_ScanTupleSlot);
        let columns = Exprs::new(plan.scan.plan.targetlist);
        let direct = direct_columns(&expressions, columns).filter(|_| !(*parent).ps_ProjInfo.is_null());
        let (projection, returned) = match direct {
            Some(_) => (null_mut(), (*(*parent).ps_ProjInfo).pi_state.resultslot),
            None => ((*parent).ps_ProjInfo, row),
        };
        let of_children = plans.map(|child| Exprs::new((*child.cast::<pg_sys::Plan>()).targetlist));
        let columns = kept_columns(&expressions, columns, of_children, direct);
        let near = running_conditions(&stored, &expressions, parent);
        let output = JoinOutput::new(OutputParts {
            kind: stored.kind,
            conditions: pg_sys::ExecInitQual(expressions.conditions.pointer(), parent),
            filter: pg_sys::ExecInitQual(expressions.filter.pointer(), parent),
            context,
            projection,
            row: returned,
        });
        // Columns that are not kept are NULL.
        virtual_row(row).1.fill(true);
        let join = NearJoin::new(JoinParts {
            reader: RowReader::new(children, near, context, row),
            batch: JoinBatch::new(&stored, columns),
            size: BatchSize::new(&stored),
            output,
        });
        let mut memory = PgMemoryContexts::For((*estate).es_query_cxt);
        (*node.cast::<NodeState>()).join = memory.leak_and_drop_on_delete(join);
    }
}

/// Initializes the conditions that the node serves.
///
/// # Safety
/// The expressions must be of the plan of this node, which is being begun.
unsafe fn running_conditions(
    stored: &StoredJoin,
    expressions: &StoredExpressions,
    parent: *mut pg_sys::PlanState,
) -> Vec<RunningCondition> {
    // SAFETY: as the caller promises.
    let initial = |expr: Expr| unsafe { pg_sys::ExecInitExpr(expr.pointer().cast(), parent) };
    let running = |(codes, radius): (BySide<Expr>, Expr)| RunningCondition {
        codes: codes.map(initial),
        radius: initial(radius),
    };
    // Bounded: as many as the query has conditions.
    expressions.served(stored).map(running).collect()
}

/// The columns of both sides that the node returns, if it has nothing to compute for a pair.
fn direct_columns(expressions: &StoredExpressions, returned: Exprs) -> Option<Vec<usize>> {
    // Bounded: a query has at most 1,664 columns.
    let columns: Vec<usize> = returned
        .all()
        .map(|entry| usize::try_from(expression_of(entry).cast::<pg_sys::Var>()?.varattno - 1).ok())
        .collect::<Option<_>>()?;
    let is_once = |(place, column)| !columns[..place].contains(column);
    let computes_nothing = expressions.conditions.is_empty() && expressions.filter.is_empty();
    (computes_nothing && columns.iter().enumerate().all(is_once)).then_some(columns)
}

/// For each child, the columns that the node reads after it has found pairs. If it returns columns directly,
/// they are its columns; otherwise it puts them into a row with the columns of both sides.
fn kept_columns(
    expressions: &StoredExpressions,
    returned: Exprs,
    children: BySide<Exprs>,
    direct: Option<Vec<usize>>,
) -> BySide<KeptColumns> {
    let read = [returned, expressions.conditions, expressions.filter].into_iter();
    // Bounded: a query has at most 1,664 columns.
    let read: Vec<usize> = read
        .filter_map(Exprs::node)
        .flat_map(Expr::columns)
        .filter_map(|column| usize::try_from(column.varattno - 1).ok())
        .collect();
    let mut first = 0;
    children.map(|columns| {
        let of_child = first..first + columns.len();
        first = of_child.end;
        let kept = columns.all().zip(of_child).map(|(column, place)| {
            let target = match &direct {
                Some(columns) => columns.iter().position(|&column| column == place),
                None => read.contains(&place).then_some(place),
            };
            let layout = || DatumLayout::of(expression_of(column).type_());
            target.map(|target| KeptColumn { layout: layout(), target })
        });
        // Bounded: as above.
        kept.collect()
    })
}

fn expression_of(entry: &pg_sys::TargetEntry) -> Expr<'_> {
    // SAFETY: a target entry has an expression.
    unsafe { Expr::new(entry.expr) }
}

#[pg_guard]
unsafe extern "C-unwind" fn next(node: *mut CustomScanState) -> *mut TupleTableSlot {
    // SAFETY: the executor passes a node that was begun.
    unsafe { join_of(node).next() }.unwrap_or_report()
}

#[pg_guard]
unsafe extern "C-unwind" fn rescan(node: *mut CustomScanState) {
    // SAFETY: the executor passes a node that was begun.
    unsafe {
        let join = join_of(node);
        let changed = (*node).ss.ps.chgParam;
        let children = children(node);
        if !changed.is_null() {
            children.0.iter().for_each(|&child| pg_sys::UpdateChangedParamSet(child, changed));
        }
        // If an inner code is computed by an expression, it may depend on a parameter that has changed.
        let plan = &*(*node).ss.ps.plan.cast::<CustomScan>();
        let (stored, expressions) = (StoredJoin::read(plan.custom_private), StoredExpressions::read(plan));
        let are_columns =
            expressions.served(&stored).all(|(codes, _)| codes[Side::Inner].is::<pg_sys::Var>());
        let BySide([outer, inner]) = children;
        let keeps_inner =
            (*inner).chgParam.is_null() && (changed.is_null() || are_columns) && join.has_whole_inner();
        join.restart(keeps_inner);
        let again: &[_] = if keeps_inner { &[outer] } else { &[outer, inner] };
        for &child in again {
            // A child whose parameters have changed restarts by itself.
            if (*child).chgParam.is_null() {
                pg_sys::ExecReScan(child);
            }
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn end(node: *mut CustomScanState) {
    // SAFETY: the executor passes a node that was begun.
    unsafe {
        let join = join_of(node);
        join.end();
        children(node).0.iter().for_each(|&child| pg_sys::ExecEndNode(child));
    }
}

/// The outer child and the inner one.
///
/// # Safety
/// The node must be one that [`begin`] has begun.
unsafe fn children(node: *mut CustomScanState) -> BySide<*mut pg_sys::PlanState> {
    // SAFETY: `begin` has set the two children, as the caller promises.
    let children = unsafe { elements((*node).custom_ps) };
    BySide::of(|side| children[side as usize].cast())
}

#[pg_guard]
unsafe extern "C-unwind" fn explain(
    node: *mut CustomScanState,
    ancestors: *mut pg_sys::List,
    to: *mut pg_sys::ExplainState,
) {
    // SAFETY: EXPLAIN passes a node that was begun.
    unsafe { explain::show(node, ancestors, to, &join_of(node).work()) };
}

#[pg_guard]
unsafe extern "C-unwind" fn estimate_shared(
    _node: *mut CustomScanState,
    context: *mut pg_sys::ParallelContext,
) -> usize {
    // SAFETY: the executor passes the context of a parallel plan.
    SharedJoin::bytes(unsafe { (*context).nworkers } as usize + 1)
}

/// Without shared memory there are no workers, and this process does the whole work.
#[pg_guard]
unsafe extern "C-unwind" fn initialize_shared(
    node: *mut CustomScanState,
    context: *mut pg_sys::ParallelContext,
    place: *mut c_void,
) {
    // SAFETY: the executor passes the context of a parallel plan, and as much memory as we asked for.
    unsafe {
        if !(*context).seg.is_null() {
            SharedJoin::initialize(place.cast(), &*context);
            join_of(node).share(Sharing::new(place.cast(), (*node).ss.ps.state));
        }
    }
}

/// Called after the workers have ended and the node was restarted.
#[pg_guard]
unsafe extern "C-unwind" fn initialize_shared_again(
    node: *mut CustomScanState,
    context: *mut pg_sys::ParallelContext,
    place: *mut c_void,
) {
    // SAFETY: as for `initialize_shared`, which was called before.
    unsafe {
        if !(*context).seg.is_null() {
            SharedJoin::initialize_again(place.cast(), (*(*node).ss.ps.state).es_query_dsa);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn initialize_worker(
    node: *mut CustomScanState,
    _contents: *mut pg_sys::shm_toc,
    place: *mut c_void,
) {
    // SAFETY: the leader has initialized the memory.
    unsafe {
        let sharing = Sharing::new(place.cast(), (*node).ss.ps.state);
        sharing.attach_to_files();
        join_of(node).share(sharing);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn end_sharing(node: *mut CustomScanState) {
    // SAFETY: the executor passes a node that was begun.
    unsafe { join_of(node) }.end_sharing();
}
