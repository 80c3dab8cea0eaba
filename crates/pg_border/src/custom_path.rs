//! Paths that become nodes of our own, and the nodes of the plan that are made of them.
//!
//! A path stores numbers and lists of conditions. [`CustomPath::plan`] turns them into the numbers and
//! expressions of the node, which [`NodePlan`](super::exec_node::NodePlan) reads: plan and execution share
//! nothing else, because a worker receives the plan as text.

use super::compat;
use super::node::{Node, Nodes};
use super::node_structs::{elements, list_of_numbers, numbers_of};
use super::path::{NewPath, Path};
use super::planner::Planner;
use super::relation::Relation;
use super::restriction::in_order_of_tests;
use pgrx::pg_sys::panic::pgrx_extern_c_guard as guard;
use pgrx::pg_sys::{self, List, NodeTag};
use std::ffi::CStr;
use std::ptr::null_mut;

/// A kind of paths whose nodes are [`ExecNode`](super::exec_node::ExecNode)s.
pub trait CustomPath: Sized + 'static {
    /// The name of the kind, for debugging.
    const NAME: &'static CStr;

    /// Makes the node of a path that the planner has chosen.
    fn plan<'p>(chosen: &ChosenPath<'p>) -> PlannedNode<'p>;
}

/// What a new path consists of.
pub struct CustomPathParts<'a, 'p> {
    /// The paths whose rows the node reads.
    pub children: &'a [Path<'p>],
    /// The estimated number of rows.
    pub rows: f64,
    /// The cost until the first row.
    pub startup_cost: f64,
    /// The cost of all rows.
    pub total_cost: f64,
    /// How many workers divide the rows among themselves; 0 if the path is not partial.
    pub workers: i32,
    /// Whether the processes of a parallel plan share memory.
    pub shares_memory: bool,
    /// Numbers for [`CustomPath::plan`].
    pub numbers: &'a [i32],
    /// Lists of conditions for [`CustomPath::plan`].
    pub conditions: &'a [Nodes<'p>],
    /// The conditions of the relation that no child fulfills, and that the node tests.
    pub tested: Nodes<'p>,
}

/// The functions of a kind of paths, which live as long as the process.
trait PathMethods: CustomPath {
    const METHODS: &'static pg_sys::CustomPathMethods = &pg_sys::CustomPathMethods {
        CustomName: Self::NAME.as_ptr(),
        PlanCustomPath: Some(plan_path::<Self>),
        ReparameterizeCustomPathByChild: None,
    };
}

impl<T: CustomPath> PathMethods for T {}

impl<'p> CustomPathParts<'_, 'p> {
    /// The new path of a relation; `None` if this version of PostgreSQL does not allow it.
    pub(super) fn path<T: CustomPath>(
        self,
        planner: Planner<'p>,
        relation: Relation<'p>,
    ) -> Option<NewPath<'p>> {
        let path = planner.make::<pg_sys::CustomPath>();
        path.path.pathtype = NodeTag::T_CustomScan;
        path.path.parent = relation.pointer();
        path.path.pathtarget = relation.info().reltarget;
        path.path.parallel_workers = self.workers;
        path.path.parallel_aware = self.shares_memory;
        path.path.parallel_safe =
            relation.considers_parallel() && self.children.iter().all(|child| child.info().parallel_safe);
        path.path.rows = self.rows;
        path.path.startup_cost = self.startup_cost;
        path.path.total_cost = self.total_cost;
        path.flags = pg_sys::CUSTOMPATH_SUPPORT_PROJECTION;
        compat::add_disabled_nodes(&mut path.path, self.children.iter().map(Path::info));
        let children: Nodes = self.children.iter().map(|child| child.node()).collect();
        path.custom_paths = children.pointer();
        // SAFETY: a list is a node, and the numbers become a list of integers.
        path.custom_private = unsafe { pg_sys::lappend(null_mut(), list_of_numbers(self.numbers).cast()) };
        for conditions in self.conditions {
            // SAFETY: a list is a node.
            path.custom_private =
                unsafe { pg_sys::lappend(path.custom_private, conditions.pointer().cast()) };
        }
        path.methods = T::METHODS;
        let is_allowed = compat::set_conditions(path, self.tested);
        // SAFETY: the path is new.
        is_allowed.then(|| unsafe { NewPath::new(std::ptr::from_mut(path).cast()) })
    }
}

/// A path that the planner has chosen.
pub struct ChosenPath<'p> {
    relation: Relation<'p>,
    path: *mut pg_sys::CustomPath,
}

/// The conditions that a node of a join tests.
pub struct JoinTests<'p> {
    /// The conditions of the join.
    pub of_join: Nodes<'p>,
    /// The conditions that are tested after it, which an outer join has.
    pub after: Nodes<'p>,
}

impl<'p> ChosenPath<'p> {
    /// The numbers of the path.
    pub fn numbers(&self) -> Vec<i32> {
        // SAFETY: the path has what `CustomPathParts` has stored.
        numbers_of(unsafe { elements((*self.path).custom_private)[0].cast() })
    }

    /// A list of conditions of the path, counted from 0.
    pub fn conditions(&self, place: usize) -> Nodes<'p> {
        // SAFETY: the path has what `CustomPathParts` has stored.
        unsafe { Nodes::new(elements((*self.path).custom_private)[place + 1].cast()) }
    }

    /// Conditions as expressions, in the order in which they are tested.
    pub fn tests(&self, conditions: Nodes<'p>) -> JoinTests<'p> {
        let ordered = in_order_of_tests(conditions).pointer();
        // SAFETY: the conditions belong to the query.
        let of_join = unsafe { Nodes::new(pg_sys::extract_actual_clauses(ordered, false)) };
        JoinTests { of_join, after: Nodes::NONE }
    }

    /// Conditions of an outer join as expressions, in the order in which they are tested.
    pub fn tests_of_outer_join(&self, conditions: Nodes<'p>) -> JoinTests<'p> {
        let ordered = in_order_of_tests(conditions).pointer();
        let relids = self.relation.info().relids;
        let mut of_join = null_mut();
        let mut after = null_mut();
        // SAFETY: the conditions belong to the query, and the lists that are made to the caller.
        unsafe {
            pg_sys::extract_actual_join_clauses(ordered, relids, &raw mut of_join, &raw mut after);
            JoinTests { of_join: Nodes::new(of_join), after: Nodes::new(after) }
        }
    }
}

/// What a node of a plan consists of.
pub struct PlannedNode<'p> {
    /// The name by which the node was registered.
    pub name: &'static CStr,
    /// The numbers that the node gets.
    pub numbers: Vec<i32>,
    /// Lists of expressions that the node gets. They refer to columns of its children.
    pub expressions: Vec<Nodes<'p>>,
}

/// `custom_exprs` gets the expressions of the node. They refer to the columns and PlaceHolderVars that the
/// children return, the first child's first. A PlaceHolderVar is an expression that an outer join may make
/// NULL.
unsafe extern "C-unwind" fn plan_path<T: CustomPath>(
    root: *mut pg_sys::PlannerInfo,
    relation: *mut pg_sys::RelOptInfo,
    path: *mut pg_sys::CustomPath,
    columns: *mut List,
    _clauses: *mut List,
    plans: *mut List,
) -> *mut pg_sys::Plan {
    // SAFETY: the planner passes a path that this file has made, and the plans of its children.
    let plan = || unsafe {
        let Some(planner) = Planner::new(&root) else { unreachable!("a path belongs to a query") };
        let relation = Relation::new(relation);
        let PlannedNode { name, numbers, expressions } = T::plan(&ChosenPath { relation, path });
        let lists =
            expressions.iter().fold(null_mut(), |all, list| pg_sys::lappend(all, list.pointer().cast()));
        let expressions = Nodes::new(lists).copy();
        let given = columns_of(Nodes::new(plans));
        // `columns` may be empty here; the planner then sets it later.
        if let Some(expressions) = expressions.node() {
            name_outer_joins(given, relation.columns(), expressions);
        }
        let node = planner.make::<pg_sys::CustomScan>();
        node.scan.plan.targetlist = columns;
        node.flags = (*path).flags;
        node.custom_plans = plans;
        node.custom_exprs = expressions.pointer();
        node.custom_private = list_of_numbers(&numbers);
        node.custom_scan_tlist = given.pointer();
        node.methods = pg_sys::GetCustomScanMethods(name.as_ptr(), false);
        (&raw mut node.scan.plan).cast()
    };
    // SAFETY: PostgreSQL has called us.
    unsafe { guard(plan) }
}

/// The columns that the children return.
fn columns_of(plans: Nodes<'_>) -> Nodes<'_> {
    // SAFETY: each plan has a target list.
    let of_plan = |plan: Node| unsafe { Nodes::new((*plan.pointer().cast::<pg_sys::Plan>()).targetlist) };
    let columns = plans.iter().flat_map(|plan| of_plan(plan).of_columns());
    let entries = columns.zip(1..).map(|(column, place)| {
        // SAFETY: the new entry gets a copy of the expression.
        unsafe {
            let expr = column.copy().pointer();
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
    let taken = |node: Option<Node<'p>>, given| node.map_or_else(Vec::new, |node| taken_from(node, given));
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
        let inside = input.in_placeholder()?;
        let is_given = given.is_none_or(|given| given.iter().any(|other| other.is_same_input(input)));
        (!is_given).then(|| taken_from(inside, given))
    };
    // Bounded: as many as the query has columns.
    expr.inputs().iter().flat_map(|input| within(input).unwrap_or_else(|| vec![input])).collect()
}
