//! How the path of a near join becomes a node of a plan.

use super::kept::NodeNumbers;
use super::kind::JoinKind;
use super::node::create_state;
use crate::pg::compat;
use crate::pg::executor::Methods;
use crate::pg::nodes::{cast, copy, elements, inputs_in, is_same_input, list_of, make};
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

/// The node has in `custom_exprs` the conditions that it serves, the further conditions of the join, and
/// those that are tested after it. They refer to what both sides give, the outer one first: columns, and
/// placeholders, which are expressions that an outer join may make NULL.
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
        let calls = near.iter().map(|&near| (*near.cast::<RestrictInfo>()).clause);
        let calls = calls.fold(null_mut(), |list, call| pg_sys::lappend(list, call.cast()));
        node.custom_exprs = copy(list_of(&[calls.cast(), of_join.cast(), filter.cast()]).cast()).cast();
        node.custom_private = numbers.cast();
        node.custom_scan_tlist = columns_of(plans);
        // The list of columns may be empty here, and is then filled in later.
        name_outer_joins(node.custom_scan_tlist, (*(*join).reltarget).exprs, node.custom_exprs);
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

/// Gives what a node takes from its children the names that it has above the node, there and in the
/// conditions.
///
/// Below an outer join, a column or a placeholder does not name that join; above it does. An ordinary join
/// node finds both. A custom node has one list of what its children give, and PostgreSQL looks for the very
/// name there. A placeholder is found as a whole, so the columns within it keep their names.
///
/// # Safety
/// The arguments must be what the children give, what is computed of it, and conditions that nobody else has.
unsafe fn name_outer_joins(given: *mut List, above: *mut List, conditions: *mut List) {
    // SAFETY: lists of expressions.
    unsafe {
        let given = taken_from(given.cast(), None);
        let above = taken_from(above.cast(), Some(&given));
        for &name in &given {
            if let Some(&above) = above.iter().find(|&&above| is_same_input(above, name)) {
                compat::name_outer_joins_of(name, above);
            }
        }
        for name in taken_from(conditions.cast(), Some(&given)) {
            if let Some(&given) = given.iter().find(|&&given| is_same_input(given, name)) {
                compat::name_outer_joins_of(name, given);
            }
        }
    }
}

/// The columns and placeholders in an expression. A placeholder that is not among the given ones is computed
/// where it stands, of the columns and placeholders within it.
///
/// # Safety
/// The arguments must be expressions of the query.
unsafe fn taken_from(expression: *mut Node, given: Option<&[*mut Node]>) -> Vec<*mut Node> {
    // SAFETY: expressions, as the caller promises.
    unsafe {
        let within = |input: &*mut Node| {
            let placeholder = cast::<pg_sys::PlaceHolderVar>(*input, NodeTag::T_PlaceHolderVar)?;
            let is_given = given.is_none_or(|given| given.iter().any(|&other| is_same_input(other, *input)));
            (!is_given).then(|| taken_from(placeholder.phexpr.cast(), given))
        };
        // Bounded: as many as the query has columns.
        inputs_in(expression).iter().flat_map(|input| within(input).unwrap_or_else(|| vec![*input])).collect()
    }
}
