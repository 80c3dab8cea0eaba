//! The functions that PostgreSQL's executor calls, for each type of node.

use super::explain::NodeExplanation;
use super::plan::NodePlan;
use super::setup::NodeSetup;
use super::shared::{SharedAccess, SharedMemory, SharedSize};
use super::{ExecNode, ExecutingNode};
use crate::report::UnwrapOrReport;
use pgrx::PgMemoryContexts;
use pgrx::pg_sys::panic::pgrx_extern_c_guard as guard;
use pgrx::pg_sys::{self, CustomScan, CustomScanState, NodeTag, TupleTableSlot};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

/// The state of a node: PostgreSQL's struct, followed by a pointer to ours.
#[repr(C)]
struct NodeState<T> {
    base: CustomScanState,
    begun: *mut BegunNode<T>,
}

/// A node that has begun.
struct BegunNode<T> {
    ours: T,
    executing: ExecutingNode,
    /// What a process of a parallel plan shares.
    shared: Option<SharedAccess>,
}

/// Functions of a type of nodes that live as long as the process.
trait NodeMethods: ExecNode {
    const SIZE: SharedSize =
        SharedSize { counters: Self::COUNTERS, arrays: Self::ARRAYS, published: Self::PUBLISHED };
    const EXEC: &'static pg_sys::CustomExecMethods = &pg_sys::CustomExecMethods {
        CustomName: Self::METHODS.as_ptr(),
        BeginCustomScan: Some(begin::<Self>),
        ExecCustomScan: Some(next::<Self>),
        EndCustomScan: Some(end::<Self>),
        ReScanCustomScan: Some(rescan::<Self>),
        MarkPosCustomScan: None,
        RestrPosCustomScan: None,
        EstimateDSMCustomScan: Some(estimate_shared::<Self>),
        InitializeDSMCustomScan: Some(initialize_shared::<Self>),
        ReInitializeDSMCustomScan: Some(initialize_shared_again::<Self>),
        InitializeWorkerCustomScan: Some(initialize_worker::<Self>),
        ShutdownCustomScan: Some(end_sharing::<Self>),
        ExplainCustomScan: Some(explain::<Self>),
    };
}

impl<T: ExecNode> NodeMethods for T {}

/// Registers a name for plans with this type of nodes. By it the planner and parallel workers find the
/// functions.
pub fn register<T: ExecNode>(name: &'static CStr) {
    let create_state: pg_sys::CustomScanMethods = pg_sys::CustomScanMethods {
        CustomName: name.as_ptr(),
        CreateCustomScanState: Some(create_state::<T>),
    };
    // SAFETY: the methods live as long as the process.
    unsafe { pg_sys::RegisterCustomScanMethods(Box::leak(Box::new(create_state))) };
}

/// # Safety
/// The node must be one that [`begin`] has begun for this type.
unsafe fn begun<'a, T: ExecNode>(node: *mut CustomScanState) -> &'a mut BegunNode<T> {
    // SAFETY: `begin` has set the pointer, as the caller promises. The executor calls one function of a node
    // at a time.
    unsafe { &mut *(*node.cast::<NodeState<T>>()).begun }
}

unsafe extern "C-unwind" fn create_state<T: ExecNode>(_plan: *mut CustomScan) -> *mut pg_sys::Node {
    // SAFETY: PostgreSQL expects a node in zeroed memory of its own, with a tag and methods.
    let create = || unsafe {
        let state: *mut NodeState<T> = pg_sys::palloc0(size_of::<NodeState<T>>()).cast();
        (*state).base.ss.ps.type_ = NodeTag::T_CustomScanState;
        (*state).base.methods = T::EXEC;
        state.cast()
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(create) }
}

unsafe extern "C-unwind" fn begin<T: ExecNode>(
    node: *mut CustomScanState,
    estate: *mut pg_sys::EState,
    flags: i32,
) {
    // SAFETY: the executor passes a node that it has made from a plan of ours. Our state is dropped with the
    // memory of the execution.
    let begin = || unsafe {
        let plan = NodePlan::of(node);
        let mut executing = ExecutingNode::begin(node, plan, estate, flags);
        let ours = T::begin(plan, NodeSetup::new(plan, &mut executing));
        let mut memory = PgMemoryContexts::For((*estate).es_query_cxt);
        let begun = memory.leak_and_drop_on_delete(BegunNode { ours, executing, shared: None });
        (*node.cast::<NodeState<T>>()).begun = begun;
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(begin) }
}

unsafe extern "C-unwind" fn next<T: ExecNode>(node: *mut CustomScanState) -> *mut TupleTableSlot {
    // SAFETY: the executor passes a node that was begun.
    let next = || unsafe {
        let BegunNode { ours, executing, .. } = begun::<T>(node);
        ours.next(executing).unwrap_or_report().map_or(null_mut(), |row| row.0)
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(next) }
}

unsafe extern "C-unwind" fn rescan<T: ExecNode>(node: *mut CustomScanState) {
    // SAFETY: the executor passes a node that was begun.
    let rescan = || unsafe {
        let BegunNode { ours, executing, .. } = begun::<T>(node);
        ours.restart(NodePlan::of(node), executing);
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(rescan) }
}

unsafe extern "C-unwind" fn end<T: ExecNode>(node: *mut CustomScanState) {
    // SAFETY: the executor passes a node that was begun.
    let end = || unsafe {
        let BegunNode { ours, executing, shared } = begun::<T>(node);
        ours.end();
        *shared = None;
        executing.children.iter().for_each(|child| pg_sys::ExecEndNode(child.state));
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(end) }
}

unsafe extern "C-unwind" fn explain<T: ExecNode>(
    node: *mut CustomScanState,
    ancestors: *mut pg_sys::List,
    to: *mut pg_sys::ExplainState,
) {
    // SAFETY: EXPLAIN passes a node that was begun.
    let explain = || unsafe {
        begun::<T>(node).ours.explain(NodePlan::of(node), NodeExplanation::new(node, ancestors, to));
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(explain) }
}

unsafe extern "C-unwind" fn estimate_shared<T: ExecNode>(
    _node: *mut CustomScanState,
    context: *mut pg_sys::ParallelContext,
) -> usize {
    // SAFETY: the executor passes the context of a parallel plan.
    T::SIZE.bytes(unsafe { (*context).nworkers } as usize + 1)
}

/// Without shared memory there are no workers, and this process does the whole work.
unsafe extern "C-unwind" fn initialize_shared<T: ExecNode>(
    node: *mut CustomScanState,
    context: *mut pg_sys::ParallelContext,
    place: *mut c_void,
) {
    // SAFETY: the executor passes the context of a parallel plan, and as much memory as we asked for. It
    // calls `end_sharing` or `end` before it detaches the memory.
    let initialize = || unsafe {
        if (*context).seg.is_null() {
            return;
        }
        let place: *mut SharedMemory = place.cast();
        SharedMemory::initialize(place, T::SIZE, &*context);
        share(begun::<T>(node), SharedAccess::new(place, T::SIZE, (*node).ss.ps.state));
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(initialize) }
}

/// Called after the workers have ended and the node was restarted.
unsafe extern "C-unwind" fn initialize_shared_again<T: ExecNode>(
    node: *mut CustomScanState,
    context: *mut pg_sys::ParallelContext,
    place: *mut c_void,
) {
    // SAFETY: as for `initialize_shared`, which was called before.
    let initialize = || unsafe {
        if !(*context).seg.is_null() {
            SharedMemory::initialize_again(place.cast(), T::SIZE, (*(*node).ss.ps.state).es_query_dsa);
        }
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(initialize) }
}

unsafe extern "C-unwind" fn initialize_worker<T: ExecNode>(
    node: *mut CustomScanState,
    _contents: *mut pg_sys::shm_toc,
    place: *mut c_void,
) {
    // SAFETY: the leader has initialized the memory. The executor calls `end_sharing` or `end` before it
    // detaches the memory.
    let initialize = || unsafe {
        let shared = SharedAccess::new(place.cast(), T::SIZE, (*node).ss.ps.state);
        shared.attach_to_files();
        share(begun::<T>(node), shared);
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(initialize) }
}

fn share<T: ExecNode>(node: &mut BegunNode<T>, shared: SharedAccess) {
    node.ours.share(shared.node());
    node.shared = Some(shared);
}

unsafe extern "C-unwind" fn end_sharing<T: ExecNode>(node: *mut CustomScanState) {
    // SAFETY: the executor passes a node that was begun.
    let end = || unsafe {
        let BegunNode { ours, shared, .. } = begun::<T>(node);
        if shared.is_some() {
            ours.end_sharing();
            *shared = None;
        }
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(end) }
}
