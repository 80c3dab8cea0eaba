//! The best sketches as a node of a plan: how a path becomes one, and what is kept in it.

use super::node::create_state;
use super::path::measure;
use crate::gin::query::SketchQuery;
use crate::pg::executor::Methods;
use crate::pg::nodes::{cast, copy, elements, list_of, make};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, CustomScan, List, Node, NodeTag, OpExpr, Plan, Sort};
use std::ptr::null_mut;
use text::sketch::threshold::Measure;

pub(super) static PATH_METHODS: Methods<pg_sys::CustomPathMethods> = Methods(pg_sys::CustomPathMethods {
    CustomName: c"Best Sketches".as_ptr(),
    PlanCustomPath: Some(plan_path),
    ReparameterizeCustomPathByChild: None,
});

static SCAN_METHODS: Methods<pg_sys::CustomScanMethods> = Methods(pg_sys::CustomScanMethods {
    CustomName: c"Best Sketches".as_ptr(),
    CreateCustomScanState: Some(create_state),
});

/// Makes the node known by its name, for plans that come from another process.
pub(super) fn register() {
    // SAFETY: the methods live as long as the process.
    unsafe { pg_sys::RegisterCustomScanMethods(&raw const SCAN_METHODS.0) };
}

/// What a node keeps in numbers.
pub(super) struct BestNumbers {
    pub(super) measure: Measure,
    pub(super) nulls_first: bool,
    /// How many rows the query is expected to read.
    pub(super) wanted: usize,
    /// The place of the share among the columns of both children.
    pub(super) share: usize,
}

impl BestNumbers {
    /// # Safety
    /// The node must be one that [`plan_path`] has made.
    pub(super) unsafe fn of(node: &CustomScan) -> Self {
        // SAFETY: so made, with a list of four integers.
        let number = |place| unsafe { (*(*node.custom_private).elements.add(place)).int_value };
        let [wanted, share] = [number(2), number(3)].map(|number| number as usize);
        Self { measure: measure(number(0)), nulls_first: number(1) != 0, wanted, share }
    }
}

/// The children are a Sort of what the index finds, and a scan of the table for the rest. Both have the same
/// columns, the share among them. The node has the query in `custom_exprs`.
#[pg_guard]
unsafe extern "C-unwind" fn plan_path(
    _root: *mut pg_sys::PlannerInfo,
    _table: *mut pg_sys::RelOptInfo,
    path: *mut pg_sys::CustomPath,
    columns: *mut List,
    _clauses: *mut List,
    plans: *mut List,
) -> *mut Plan {
    // SAFETY: the planner passes a path that we have made, and the plans of its children.
    unsafe {
        let (&mut [numbers, query, condition], &mut [found, rest]) =
            (elements((*path).custom_private), elements(plans))
        else {
            unreachable!("a path has three parts and two children")
        };
        let sort = &*found.cast::<Sort>();
        make_unspecific(sort.plan.lefttree, condition);
        let all = sort.plan.targetlist;
        let rest = pg_sys::change_plan_targetlist(rest.cast(), copy(all.cast()).cast(), false);
        let share = i32::from(*sort.sortColIdx) - 1;
        let node = make::<CustomScan>(NodeTag::T_CustomScan);
        node.scan.plan.targetlist = columns;
        node.flags = (*path).flags;
        node.custom_plans = list_of(&[found, rest.cast()]);
        node.custom_exprs = list_of(&[query]);
        node.custom_private = pg_sys::lappend_int(numbers.cast(), share);
        node.custom_scan_tlist = copy(all.cast()).cast();
        for &column in elements(node.custom_scan_tlist).iter() {
            (*column.cast::<pg_sys::TargetEntry>()).resjunk = false;
        }
        node.methods = &raw const SCAN_METHODS.0;
        (&raw mut node.scan.plan).cast()
    }
}

/// Takes the share out of a scan by an index: what is searched for is known with each pass, and the node
/// itself compares the shares of rows.
///
/// # Safety
/// The plan must be one of [`path`](super::path), and the condition that for which it searches the index.
unsafe fn make_unspecific(plan: *mut Plan, condition: *mut Node) {
    // SAFETY: the plan has a scan by an index, perhaps below a test that it is needed at all.
    unsafe {
        let Some(scan) = below::<pg_sys::BitmapHeapScan>(plan, NodeTag::T_BitmapHeapScan) else { return };
        scan.bitmapqualorig = pg_sys::list_delete_ptr(scan.bitmapqualorig, condition.cast());
        let index = scan.scan.plan.lefttree;
        let Some(index) = below::<pg_sys::BitmapIndexScan>(index, NodeTag::T_BitmapIndexScan) else { return };
        for list in [index.indexqual, index.indexqualorig] {
            for &searched in elements(list).iter() {
                let Some(operator) = cast::<OpExpr>(searched, NodeTag::T_OpExpr) else { continue };
                if let &mut [_, ref mut query] = elements(operator.args) {
                    let (type_, none) = (pg_sys::exprType(*query), pg_sys::InvalidOid);
                    let placeholder = SketchQuery::placeholder();
                    *query = pg_sys::makeConst(type_, -1, none, -1, placeholder, false, false).cast();
                }
            }
        }
    }
}

/// The first node of a kind, from a plan downwards on the left.
///
/// # Safety
/// `T` must be the struct of the tag.
unsafe fn below<'a, T>(plan: *mut Plan, tag: NodeTag) -> Option<&'a mut T> {
    // SAFETY: plans are nodes, and have others below them on the left.
    unsafe {
        let mut plan = plan;
        while !plan.is_null() && (*plan).type_ != tag {
            plan = (*plan).lefttree;
        }
        cast(plan.cast(), tag)
    }
}

/// The state of the first node of a kind, from a state downwards on the left; null if there is none.
///
/// # Safety
/// The state must be one of a plan that is executed.
pub(super) unsafe fn state_below(state: *mut pg_sys::PlanState, tag: NodeTag) -> *mut pg_sys::PlanState {
    // SAFETY: states are nodes, and have others below them on the left.
    unsafe {
        let mut state = state;
        while !state.is_null() && (*state).type_ != tag {
            state = (*state).lefttree;
        }
        if state.is_null() { null_mut() } else { state }
    }
}
