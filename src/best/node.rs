//! What PostgreSQL's executor calls: begin, a row, begin again, end; and what EXPLAIN shows.

use super::plan::{BestNumbers, state_below};
use super::rows::{BestParts, BestRows};
use crate::pg::executor::{Methods, virtual_row};
use crate::pg::nodes::elements;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::pg_sys::{self, CustomScan, CustomScanState, Node, NodeTag, TupleTableSlot};
use pgrx::{PgMemoryContexts, pg_guard};
use std::ptr::null;

static EXEC_METHODS: Methods<pg_sys::CustomExecMethods> = Methods(pg_sys::CustomExecMethods {
    CustomName: c"Best Sketches".as_ptr(),
    BeginCustomScan: Some(begin),
    ExecCustomScan: Some(next),
    EndCustomScan: Some(end),
    ReScanCustomScan: Some(rescan),
    MarkPosCustomScan: None,
    RestrPosCustomScan: None,
    EstimateDSMCustomScan: None,
    InitializeDSMCustomScan: None,
    ReInitializeDSMCustomScan: None,
    InitializeWorkerCustomScan: None,
    ShutdownCustomScan: None,
    ExplainCustomScan: Some(explain),
});

/// The state of a node: PostgreSQL's part, and ours.
#[repr(C)]
struct BestState {
    base: CustomScanState,
    rows: *mut BestRows,
}

/// # Safety
/// The node must be one that [`begin`] has begun.
unsafe fn rows_of<'a>(node: *mut CustomScanState) -> &'a mut BestRows {
    // SAFETY: begun so, as the caller promises.
    unsafe { &mut *(*node.cast::<BestState>()).rows }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn create_state(_plan: *mut CustomScan) -> *mut Node {
    // SAFETY: zeroed memory is how PostgreSQL makes nodes.
    unsafe {
        let state: *mut BestState = pg_sys::palloc0(size_of::<BestState>()).cast();
        (*state).base.ss.ps.type_ = NodeTag::T_CustomScanState;
        (*state).base.methods = &raw const EXEC_METHODS.0;
        state.cast()
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn begin(node: *mut CustomScanState, estate: *mut pg_sys::EState, flags: i32) {
    // SAFETY: the executor passes a node that it has made of our plan. What we keep is dropped with the
    // memory of the execution.
    unsafe {
        let plan = &*(*node).ss.ps.plan.cast::<CustomScan>();
        // A Sort that need not return its rows again makes them anew with each pass.
        let child_flags =
            flags & !(pg_sys::EXEC_FLAG_REWIND | pg_sys::EXEC_FLAG_BACKWARD | pg_sys::EXEC_FLAG_MARK) as i32;
        let (&mut [found, rest], &mut [query]) = (elements(plan.custom_plans), elements(plan.custom_exprs))
        else {
            return;
        };
        let [found, rest] =
            [found, rest].map(|child| pg_sys::ExecInitNode(child.cast(), estate, child_flags));
        for child in [found, rest] {
            (*node).custom_ps = pg_sys::lappend((*node).custom_ps, child.cast());
        }
        let scan = state_below(found, NodeTag::T_BitmapHeapScanState);
        let parent = &raw mut (*node).ss.ps;
        let parts = BestParts {
            numbers: BestNumbers::of(plan),
            found,
            rest,
            scan,
            index: state_below(scan, NodeTag::T_BitmapIndexScanState).cast(),
            query: pg_sys::ExecInitExpr(query.cast(), parent),
            context: (*parent).ps_ExprContext,
            projection: (*parent).ps_ProjInfo,
            row: (*node).ss.ss_ScanTupleSlot,
            memory: (*estate).es_query_cxt,
        };
        virtual_row(parts.row).1.fill(true);
        let mut memory = PgMemoryContexts::For((*estate).es_query_cxt);
        (*node.cast::<BestState>()).rows = memory.leak_and_drop_on_delete(BestRows::new(parts));
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn next(node: *mut CustomScanState) -> *mut TupleTableSlot {
    // SAFETY: a node that was begun.
    unsafe { rows_of(node).next() }.unwrap_or_report()
}

#[pg_guard]
unsafe extern "C-unwind" fn rescan(node: *mut CustomScanState) {
    // SAFETY: a node that was begun. Each pass begins its child again.
    unsafe {
        let rows = rows_of(node);
        rows.restart();
        let changed = (*node).ss.ps.chgParam;
        if !changed.is_null() {
            pg_sys::UpdateChangedParamSet(rows.parts.found, changed);
            pg_sys::UpdateChangedParamSet(rows.parts.rest, changed);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn end(node: *mut CustomScanState) {
    // SAFETY: a node that was begun.
    unsafe {
        let parts = &rows_of(node).parts;
        pg_sys::ExecEndNode(parts.found);
        pg_sys::ExecEndNode(parts.rest);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn explain(
    node: *mut CustomScanState,
    _ancestors: *mut pg_sys::List,
    to: *mut pg_sys::ExplainState,
) {
    // SAFETY: EXPLAIN passes a node that was begun.
    unsafe {
        if (*to).analyze {
            let work = &rows_of(node).work;
            pg_sys::ExplainPropertyInteger(c"Searches".as_ptr(), null(), work.searches, to);
            if let Some(least) = work.least {
                pg_sys::ExplainPropertyFloat(c"Least Share".as_ptr(), null(), least, 2, to);
            }
        }
    }
}
