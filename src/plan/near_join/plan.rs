//! Makes a node of a plan from the path of a near join.

use super::kind::JoinKind;
use super::stored::{StoredExpressions, StoredJoin, StoredPath};
use crate::pg::compat;
use crate::pg::executor::Methods;
use crate::pg::node::{Node, Nodes};
use crate::pg::planner::Planner;
use pgrx::pg_guard;
use pgrx::pg_sys::{self, List, RestrictInfo};
use std::ptr::null_mut;

pub(super) static PATH_METHODS: Methods<pg_sys::CustomPathMethods> = Methods(pg_sys::CustomPathMethods {
    CustomName: c"Near Join".as_ptr(),
    PlanCustomPath: Some(plan_path),
    ReparameterizeCustomPathByChild: None,
});

/// `custom_exprs` gets the conditions that the node serves, the other conditions of the join, and those that
/// are tested after it. They refer to the columns and PlaceHolderVars that the children return, the outer
/// child's first. A PlaceHolderVar is an expression that an outer join may make NULL.
#[pg_guard]
unsafe extern "C-unwind" fn plan_path(
    root: *mut pg_sys::PlannerInfo,
    join: *mut pg_sys::RelOptInfo,
    path: *mut pg_sys::CustomPath,
    columns: *mut List,
    _clauses: *mut List,
    plans: *mut List,
) -> *mut pg_sys::Plan {
    // SAFETY: the planner passes a path that this file has made, and the plans of its children.
    unsafe {
        let StoredPath { join: numbers, calls, others } = StoredPath::read(&*path);
        let StoredJoin { kind, .. } = StoredJoin::read(numbers);
        let others = in_order(others).pointer();
        let (mut of_join, mut filter) = (null_mut(), null_mut());
        match kind {
            JoinKind::Inner | JoinKind::Semi => of_join = pg_sys::extract_actual_clauses(others, false),
            _ => {
                pg_sys::extract_actual_join_clauses(others, (*join).relids, &raw mut of_join, &raw mut filter)
            }
        }
        let near = calls.all::<RestrictInfo>().map(|call| Node::new(call.clause)).collect();
        let (conditions, filter) = (Nodes::new(of_join), Nodes::new(filter));
        let expressions = Node::new(StoredExpressions { near, conditions, filter }.write()).copy();
        let given = columns_of(Nodes::new(plans));
        // `columns` may be empty here; the planner then sets it later.
        name_outer_joins(given, Nodes::new((*(*join).reltarget).exprs), expressions);
        let Some(planner) = Planner::new(&root) else { unreachable!("a path belongs to a query") };
        let node = planner.make::<pg_sys::CustomScan>();
        node.scan.plan.targetlist = columns;
        node.flags = (*path).flags;
        node.custom_plans = plans;
        node.custom_exprs = expressions.pointer().cast();
        node.custom_private = numbers;
        node.custom_scan_tlist = given.pointer();
        node.methods = pg_sys::GetCustomScanMethods(kind.name().as_ptr(), false);
        (&raw mut node.scan.plan).cast()
    }
}

/// Orders conditions of a join as they are tested: by security level, then by cost.
fn in_order(conditions: Nodes) -> Nodes {
    // Bounded: as many as the query has conditions.
    let mut keyed: Vec<(u32, f64, &RestrictInfo)> = conditions
        .all::<RestrictInfo>()
        .map(|clause| {
            let mut cost = pg_sys::QualCost::default();
            let node = Node::of(clause).pointer();
            // SAFETY: the condition belongs to the query.
            unsafe { pg_sys::cost_qual_eval_node(&raw mut cost, node, null_mut()) };
            (clause.security_level, cost.per_tuple, clause)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    keyed.into_iter().map(|(.., clause)| Node::of(clause)).collect()
}

/// The columns that both children return.
fn columns_of(plans: Nodes<'_>) -> Nodes<'_> {
    // SAFETY: each plan has a target list.
    let of_plan = |plan: Node| unsafe { Nodes::new((*plan.pointer().cast::<pg_sys::Plan>()).targetlist) };
    let columns = plans.iter().flat_map(|plan| of_plan(plan).all::<pg_sys::TargetEntry>());
    let entries = columns.zip(1..).map(|(column, place)| {
        // SAFETY: a target entry has an expression, of which the new entry gets a copy.
        unsafe {
            let expr = Node::new(column.expr).copy().pointer();
            Node::new(pg_sys::makeTargetEntry(expr.cast(), place, null_mut(), false))
        }
    });
    entries.collect()
}

/// Changes `varnullingrels` of the children's columns, and of those in the node's conditions, to the set that
/// the columns have above the node. Nobody else has these copies.
///
/// Above an outer join, the `varnullingrels` of a column, or the `phnullingrels` of a PlaceHolderVar, contain
/// the join; below it they do not. A join node accepts both. A custom node has one list of its children's
/// columns, where PostgreSQL looks for an equal node. Columns inside a PlaceHolderVar are not changed.
fn name_outer_joins<'p>(given: Nodes<'p>, above: Nodes<'p>, conditions: Node<'p>) {
    let taken = |expr: Option<Node<'p>>, given| expr.map_or_else(Vec::new, |expr| taken_from(expr, given));
    let given = taken(given.node(), None);
    let above = taken(above.node(), Some(&given));
    let name = |names: &[Node<'p>], by: &[Node<'p>]| {
        for name in names {
            if let Some(&other) = by.iter().find(|other| other.is_same_input(*name)) {
                compat::name_outer_joins_of(*name, other);
            }
        }
    };
    name(&given, &above);
    name(&taken(Some(conditions), Some(&given)), &given);
}

/// The columns and PlaceHolderVars that an expression takes from the node's children. If they do not return a
/// PlaceHolderVar, it is computed above them, from the columns and PlaceHolderVars inside it.
fn taken_from<'p>(expr: Node<'p>, given: Option<&[Node<'p>]>) -> Vec<Node<'p>> {
    let within = |input: Node<'p>| {
        let placeholder = input.cast::<pg_sys::PlaceHolderVar>()?;
        let is_given = given.is_none_or(|given| given.iter().any(|other| other.is_same_input(input)));
        // SAFETY: a PlaceHolderVar has an expression.
        (!is_given).then(|| taken_from(unsafe { Node::new(placeholder.phexpr) }, given))
    };
    // Bounded: as many as the query has columns.
    expr.inputs().iter().flat_map(|input| within(input).unwrap_or_else(|| vec![input])).collect()
}
