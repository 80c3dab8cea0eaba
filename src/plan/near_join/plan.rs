//! How the path of a near join becomes a node of a plan.

use super::kept::NodeNumbers;
use super::kind::JoinKind;
use super::node::create_state;
use crate::pg::compat;
use crate::pg::executor::Methods;
use crate::pg::expr::{Expr, Exprs};
use crate::pg::nodes::{elements, make};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, List, RestrictInfo};
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
        let others = in_order(Exprs::new(others.cast())).pointer();
        let (mut of_join, mut filter) = (null_mut(), null_mut());
        match kind {
            JoinKind::Inner | JoinKind::Semi => of_join = pg_sys::extract_actual_clauses(others, false),
            _ => {
                pg_sys::extract_actual_join_clauses(others, (*join).relids, &raw mut of_join, &raw mut filter)
            }
        }
        let calls: Exprs =
            Exprs::new(near.cast()).all::<RestrictInfo>().map(|near| Expr::new(near.clause)).collect();
        let expressions = [calls.pointer(), of_join, filter]
            .into_iter()
            .fold(null_mut(), |list, part| pg_sys::lappend(list, part.cast()));
        let expressions = Expr::new(expressions).copy();
        let given = columns_of(Exprs::new(plans));
        // The list of columns may be empty here, and is then filled in later.
        name_outer_joins(given, Exprs::new((*(*join).reltarget).exprs), expressions);
        let node = make::<pg_sys::CustomScan>();
        node.scan.plan.targetlist = columns;
        node.flags = (*path).flags;
        node.custom_plans = plans;
        node.custom_exprs = expressions.pointer().cast();
        node.custom_private = numbers.cast();
        node.custom_scan_tlist = given.pointer();
        node.methods = &raw const SCAN_METHODS.0[kind as usize];
        (&raw mut node.scan.plan).cast()
    }
}

/// Conditions of a join in the order in which they are tested: first those that protect the others, then the
/// cheap ones.
fn in_order(conditions: Exprs) -> Exprs {
    // Bounded: as many as the query has conditions.
    let mut keyed: Vec<(u32, f64, &RestrictInfo)> = conditions
        .all::<RestrictInfo>()
        .map(|clause| {
            let mut cost = pg_sys::QualCost::default();
            let node = Expr::of(clause).pointer();
            // SAFETY: a condition of the query.
            unsafe { pg_sys::cost_qual_eval_node(&raw mut cost, node, null_mut()) };
            (clause.security_level, cost.per_tuple, clause)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    keyed.into_iter().map(|(.., clause)| Expr::of(clause)).collect()
}

/// The columns of both children.
fn columns_of(plans: Exprs<'_>) -> Exprs<'_> {
    // SAFETY: plans, with lists of columns.
    let of_plan = |plan: Expr| unsafe { Exprs::new((*plan.pointer().cast::<pg_sys::Plan>()).targetlist) };
    let columns = plans.iter().flat_map(|plan| of_plan(plan).all::<pg_sys::TargetEntry>());
    let entries = columns.zip(1..).map(|(column, place)| {
        // SAFETY: a column has an expression, which becomes that of another one.
        unsafe {
            let expr = Expr::new(column.expr).copy().pointer();
            Expr::new(pg_sys::makeTargetEntry(expr.cast(), place, null_mut(), false))
        }
    });
    entries.collect()
}

/// Gives what a node takes from its children the names that it has above the node, there and in the
/// conditions, which nobody else has.
///
/// Below an outer join, a column or a placeholder does not name that join; above it does. An ordinary join
/// node finds both. A custom node has one list of what its children give, and PostgreSQL looks for the very
/// name there. A placeholder is found as a whole, so the columns within it keep their names.
fn name_outer_joins<'p>(given: Exprs<'p>, above: Exprs<'p>, conditions: Expr<'p>) {
    let taken = |expr: Option<Expr<'p>>, given| expr.map_or_else(Vec::new, |expr| taken_from(expr, given));
    let given = taken(given.node(), None);
    let above = taken(above.node(), Some(&given));
    let name = |names: &[Expr<'p>], by: &[Expr<'p>]| {
        for name in names {
            if let Some(&other) = by.iter().find(|other| other.is_same_input(*name)) {
                compat::name_outer_joins_of(*name, other);
            }
        }
    };
    name(&given, &above);
    name(&taken(Some(conditions), Some(&given)), &given);
}

/// The columns and placeholders in an expression. A placeholder that is not among the given ones is computed
/// where it stands, of the columns and placeholders within it.
fn taken_from<'p>(expr: Expr<'p>, given: Option<&[Expr<'p>]>) -> Vec<Expr<'p>> {
    let within = |input: Expr<'p>| {
        let placeholder = input.cast::<pg_sys::PlaceHolderVar>()?;
        let is_given = given.is_none_or(|given| given.iter().any(|other| other.is_same_input(input)));
        // SAFETY: a placeholder has an expression.
        (!is_given).then(|| taken_from(unsafe { Expr::new(placeholder.phexpr) }, given))
    };
    // Bounded: as many as the query has columns.
    expr.inputs().iter().flat_map(|input| within(input).unwrap_or_else(|| vec![input])).collect()
}
