//! The planner's state for a query, its relations and its indexes.

use super::node::{Node, Nodes};
use super::node_structs::Tagged;
use pgrx::pg_sys;
use std::marker::PhantomData;
use std::ptr::{NonNull, null_mut};

/// The planner's state for a query.
#[derive(Clone, Copy)]
pub struct Planner<'p>(NonNull<pg_sys::PlannerInfo>, PhantomData<&'p pg_sys::PlannerInfo>);

impl<'p> Planner<'p> {
    /// The lifetime is that of the variable with the pointer, an argument of the function that the planner
    /// calls: nothing of the planner is kept when that function returns.
    ///
    /// # Safety
    /// `root` must belong to the query that is being planned, or be null.
    pub unsafe fn new(root: &'p *mut pg_sys::PlannerInfo) -> Option<Self> {
        NonNull::new(*root).map(|root| Self(root, PhantomData))
    }

    /// A new node, with its tag and zeros, in the memory context of the planner's call.
    pub(super) fn make<T: Tagged>(self) -> &'p mut T {
        // SAFETY: PostgreSQL makes nodes of zeroed memory too, and the tag belongs to the struct.
        unsafe {
            let node: *mut pg_sys::Node = pg_sys::palloc0(size_of::<T>()).cast();
            (*node).type_ = T::TAG;
            &mut *node.cast()
        }
    }

    /// The pointer to the planner's struct.
    pub fn pointer(self) -> *mut pg_sys::PlannerInfo {
        self.0.as_ptr()
    }

    /// The planner's struct, for the duration of a statement: nothing changes it meanwhile.
    pub(super) fn info(&self) -> &pg_sys::PlannerInfo {
        // SAFETY: the planner's struct lives until we return, and the reference does not leave the border.
        unsafe { self.0.as_ref() }
    }

    /// The expression by which a relation computes a column of its parent. The relation may be a partition,
    /// or an arm of a UNION ALL; `None` if the column is of another relation.
    ///
    /// PostgreSQL's own `adjust_appendrel_attrs` does not help here: since PostgreSQL 16 it raises an error
    /// if an outer join can make the column NULL and the child computes it by an expression.
    pub fn in_part(self, column: &pg_sys::Var, relation: pg_sys::Index) -> Option<Node<'p>> {
        let parts = NonNull::new(self.info().append_rel_array)?.as_ptr();
        // SAFETY: the array has an entry for each relation of the query; the entry of a child names its
        // parent.
        unsafe {
            let mut part = *parts.add(relation as usize);
            while let Some(info) = part.as_ref() {
                if i64::from(info.parent_relid) == i64::from(column.varno) {
                    let place = usize::try_from(column.varattno - 1).ok()?;
                    return Nodes::new(info.translated_vars).get(place);
                }
                part = *parts.add(info.parent_relid as usize);
            }
            None
        }
    }

    /// Whether the query may stop before the last row, as with LIMIT, EXISTS and cursors.
    pub fn may_end_early(self) -> bool {
        self.info().tuple_fraction > 0.0
    }

    /// The number of rows after which the query stops, if it reads a single relation and the number is known.
    pub fn limit_of_single_relation(self) -> Option<f64> {
        let root = self.info();
        // SAFETY: the planner's struct lists all relations of the query before paths are made.
        let is_single = || unsafe { pg_sys::bms_num_members(root.all_baserels) == 1 };
        (root.limit_tuples > 0.0 && is_single()).then_some(root.limit_tuples)
    }

    /// The expression, simplified with the values of the query's parameters. Only for estimates.
    pub fn estimated(self, expr: Node<'p>) -> Node<'p> {
        // SAFETY: the expression belongs to the query.
        unsafe { Node::new(pg_sys::estimate_expression_value(self.pointer(), expr.pointer())) }
    }

    /// Whether an expression contains columns of relations.
    pub fn has_relations(self, expr: Node) -> bool {
        // SAFETY: the expression belongs to the query.
        unsafe { !pg_sys::pull_varnos(self.pointer(), expr.pointer()).is_null() }
    }

    /// Whether workers can compute an expression.
    pub fn is_parallel_safe(self, expr: Node) -> bool {
        // SAFETY: the expression belongs to the query.
        unsafe { pg_sys::is_parallel_safe(self.pointer(), expr.pointer()) }
    }

    /// The selectivity of conditions on a relation.
    pub fn selectivity(self, conditions: Nodes<'p>, relation: pg_sys::Index) -> f64 {
        let inner = pg_sys::JoinType::JOIN_INNER;
        let relation = relation as i32;
        // SAFETY: the conditions belong to the query.
        unsafe {
            pg_sys::clauselist_selectivity(self.pointer(), conditions.pointer(), relation, inner, null_mut())
        }
    }

    /// The estimated number of rows of the inner side of a semi or anti join.
    pub(super) fn inner_rows(self, join: &pg_sys::SpecialJoinInfo) -> f64 {
        let root = self.pointer();
        let inner = join.min_righthand;
        // SAFETY: the inner side is a relation of the query, or several that are not joined yet.
        unsafe {
            let relation = match pg_sys::bms_membership(inner) {
                pg_sys::BMS_Membership::BMS_SINGLETON => {
                    pg_sys::find_base_rel(root, pg_sys::bms_singleton_member(inner))
                }
                _ => pg_sys::find_join_rel(root, inner),
            };
            relation.as_ref().map_or(1.0, |relation| relation.rows)
        }
    }
}
