//! The near join as a node of a plan: how a path becomes one, and what is kept in it.

use super::kind::JoinKind;
use super::measure::NearMeasure;
use super::node::create_state;
use crate::pg::compat;
use crate::pg::executor::Methods;
use crate::pg::nodes::{columns_in, copy, elements, is_same_column, list_of, make};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, List, Node, NodeTag, RestrictInfo};
use std::ptr::null_mut;

pub(super) static PATH_METHODS: Methods<pg_sys::CustomPathMethods> = Methods(pg_sys::CustomPathMethods {
    CustomName: c"Near Join".as_ptr(),
    PlanCustomPath: Some(plan_path),
    ReparameterizeCustomPathByChild: None,
});

/// For each kind of join, in their order.
static SCAN_METHODS: Methods<[pg_sys::CustomScanMethods; JoinKind::ALL.len()]> = Methods([
    methods(JoinKind::ALL[0]),
    methods(JoinKind::ALL[1]),
    methods(JoinKind::ALL[2]),
    methods(JoinKind::ALL[3]),
    methods(JoinKind::ALL[4]),
    methods(JoinKind::ALL[5]),
]);

const fn methods(kind: JoinKind) -> pg_sys::CustomScanMethods {
    pg_sys::CustomScanMethods { CustomName: kind.name().as_ptr(), CreateCustomScanState: Some(create_state) }
}

/// Makes the node known by its names, for plans that come from another process.
pub(super) fn register() {
    for methods in &SCAN_METHODS.0 {
        // SAFETY: the methods live as long as the process.
        unsafe { pg_sys::RegisterCustomScanMethods(methods) };
    }
}

/// What a node keeps in numbers.
pub(super) struct NodeNumbers {
    pub(super) kind: JoinKind,
    /// Whether not all rows may be asked for, as with LIMIT, EXISTS and cursors.
    pub(super) may_end_early: bool,
    /// Outer rows that the process is expected to get in a parallel plan; 0 in others.
    pub(super) share: usize,
    /// For each condition that the node serves, which argument is of the outer side, and what is compared.
    pub(super) near: Vec<(usize, NearMeasure)>,
}

impl NodeNumbers {
    /// # Safety
    /// The list must be one of integers that a path has been made with.
    pub(super) unsafe fn of(list: *mut List) -> Self {
        // SAFETY: such a list, as the caller promises.
        let numbers = unsafe { std::slice::from_raw_parts((*list).elements, (*list).length as usize) };
        // SAFETY: as above.
        let number = |place: usize| unsafe { numbers[place].int_value } as usize;
        // Bounded: as many as the query has conditions.
        let near = (3..numbers.len())
            .step_by(2)
            .map(|place| (number(place), NearMeasure::of(number(place + 1))))
            .collect();
        Self { kind: JoinKind::ALL[number(0)], may_end_early: number(1) != 0, share: number(2), near }
    }
}

/// The node has in `custom_exprs` the conditions that it serves, the further conditions of the join, and
/// those that are tested after it. They refer to the columns of both sides, the outer ones first.
#[pg_guard]
unsafe extern "C-unwind" fn plan_path(
    _root: *mut pg_sys::PlannerInfo,
    join: *mut pg_sys::RelOptInfo,
    path: *mut pg_sys::CustomPath,
    columns: *mut List,
    _clauses: *mut List,
    plans: *mut List,
) -> *mut pg_sys::Plan {
    // SAFETY: the planner passes a path that we have made, and the plans of its children.
    unsafe {
        let &mut [numbers, near, others] = elements((*path).custom_private) else {
            unreachable!("a path has three parts")
        };
        let NodeNumbers { kind, .. } = NodeNumbers::of(numbers.cast());
        let near = elements(near.cast());
        let others = in_order(others.cast());
        let (mut of_join, mut filter) = (null_mut(), null_mut());
        match kind {
            JoinKind::Inner | JoinKind::Semi => of_join = pg_sys::extract_actual_clauses(others, false),
            _ => {
                pg_sys::extract_actual_join_clauses(others, (*join).relids, &raw mut of_join, &raw mut filter)
            }
        }
        let node = make::<pg_sys::CustomScan>(NodeTag::T_CustomScan);
        node.scan.plan.targetlist = columns;
        node.flags = (*path).flags;
        node.custom_plans = plans;
        let calls = near.iter().map(|&near| copy((*near.cast::<RestrictInfo>()).clause.cast()));
        let calls = calls.fold(null_mut(), |list, call| pg_sys::lappend(list, call.cast()));
        let of_join = copy(of_join.cast());
        node.custom_exprs = list_of(&[calls.cast(), of_join, filter.cast()]);
        node.custom_private = numbers.cast();
        node.custom_scan_tlist = columns_of(plans);
        // The list of columns may be empty here, and is then filled in later.
        let above = (*(*join).reltarget).exprs;
        name_outer_joins(node.custom_scan_tlist, [above, filter], [calls.cast(), of_join]);
        node.methods = &raw const SCAN_METHODS.0[kind as usize];
        (&raw mut node.scan.plan).cast()
    }
}

/// Conditions of a join in the order in which they are tested: first those that protect the others, then the
/// cheap ones.
///
/// # Safety
/// The list must be one of conditions.
unsafe fn in_order(conditions: *mut List) -> *mut List {
    // SAFETY: a list of conditions.
    unsafe {
        let mut keyed: Vec<(u32, f64, *mut Node)> = elements(conditions)
            .iter()
            .map(|&clause| {
                let mut cost = pg_sys::QualCost::default();
                pg_sys::cost_qual_eval_node(&raw mut cost, clause, null_mut());
                ((*clause.cast::<RestrictInfo>()).security_level, cost.per_tuple, clause)
            })
            .collect();
        keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        keyed.iter().fold(null_mut(), |list, &(.., clause)| pg_sys::lappend(list, clause.cast()))
    }
}

/// The columns of both children.
///
/// # Safety
/// The list must be one of plans.
unsafe fn columns_of(plans: *mut List) -> *mut List {
    // SAFETY: plans with lists of columns.
    unsafe {
        let mut all = null_mut();
        for &plan in elements(plans).iter() {
            for &column in elements((*plan.cast::<pg_sys::Plan>()).targetlist).iter() {
                let expression = copy((*column.cast::<pg_sys::TargetEntry>()).expr.cast());
                let place = elements(all).len() as i16 + 1;
                let entry = pg_sys::makeTargetEntry(expression.cast(), place, null_mut(), false);
                all = pg_sys::lappend(all, entry.cast());
            }
        }
        all
    }
}

/// Gives the columns of a node, and those in the conditions of its join, the names that they have above it.
/// Below an outer join a column does not name that join, but a node has one name for each column.
///
/// # Safety
/// The arguments must be the columns of a node, what is computed of its rows, and conditions that nobody else
/// has.
unsafe fn name_outer_joins(columns: *mut List, above: [*mut List; 2], conditions: [*mut Node; 2]) {
    // SAFETY: lists of expressions.
    unsafe {
        columns_in(columns.cast()).for_each(|column| {
            let mut above = above.into_iter().flat_map(|list| columns_in(list.cast()));
            if let Some(above) = above.find(|above| is_same_column(above, column)) {
                compat::name_outer_joins_of(column, above);
            }
        });
        for column in conditions.into_iter().flat_map(|condition| columns_in(condition)) {
            if let Some(named) = columns_in(columns.cast()).find(|named| is_same_column(named, column)) {
                compat::name_outer_joins_of(column, named);
            }
        }
    }
}

/// The expressions of a node.
pub(super) struct NodeExpressions<'a> {
    /// The conditions that the node serves: that which is searched for, then those that are looked at.
    pub(super) near: &'a [*mut Node],
    /// The further conditions of the join.
    pub(super) conditions: *mut List,
    /// Conditions that are tested after the join.
    pub(super) filter: *mut List,
}

impl NodeExpressions<'_> {
    /// # Safety
    /// The node must be one that [`plan_path`] has made.
    pub(super) unsafe fn of(node: &pg_sys::CustomScan) -> Self {
        // SAFETY: so made.
        unsafe {
            let &mut [near, conditions, filter] = elements(node.custom_exprs) else {
                unreachable!("a node has three parts")
            };
            let near = elements(near.cast());
            Self { near, conditions: conditions.cast(), filter: filter.cast() }
        }
    }
}
