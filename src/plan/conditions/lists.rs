//! Finds the conditions of a query.

use crate::pg::join_tree::{Conditions, JoinTree};
use crate::pg::node::{Node, Nodes};
use crate::pg::node_structs::elements;
use pgrx::pg_sys::{self, BoolExprType::AND_EXPR};

/// Calls `change` for each list of conditions of a query, and stores its result there. All conditions of a
/// list have to hold: those of FROM, WHERE and JOIN, of row-level security, and of security barrier views.
pub(super) fn change_conditions<'p>(
    query: &'p pg_sys::Query,
    change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>,
) {
    // SAFETY: a query has these lists, and each table has a list of conditions for each security level.
    unsafe {
        // `jointree` is NULL in the query for which PostgreSQL plans the workers of CREATE INDEX.
        if let Some(tree) = Node::at(query.jointree) {
            change_join_tree(tree, change);
        }
        for table in Nodes::new(query.rtable).iter() {
            let levels = (*table.pointer().cast::<pg_sys::RangeTblEntry>()).securityQuals;
            for level in 0..Nodes::new(levels).len() {
                let place = &raw mut (*(*levels).elements.add(level)).ptr_value;
                change_list(Conditions::new(place.cast()), change);
            }
        }
    }
}

/// Adds a condition to WHERE.
pub(super) fn add_condition<'p>(query: &'p pg_sys::Query, condition: Node<'p>) {
    // SAFETY: the tree is an expression of the query.
    let tree = unsafe { Node::at(query.jointree) };
    if let Some(JoinTree::From { conditions, .. }) = tree.and_then(JoinTree::of) {
        conditions.set(conditions.list().unwrap_or(Nodes::NONE).and(condition.parts(AND_EXPR)));
    }
}

/// Calls `change` for each condition on a UNION ALL, and stores its result there.
///
/// If a query has no tables but those of a UNION ALL, the planner has assigned the conditions to the UNION
/// ALL before it calls our hook for the first table. It copies them for each table after the hook has
/// returned, and then divides AND into conditions of their own. The conditions of partitions, which are
/// copied in the same way, have been rewritten in the query.
pub(super) fn change_conditions_of<'p>(
    united: &'p pg_sys::RelOptInfo,
    change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>,
) {
    // SAFETY: a relation has lists of conditions, which are expressions.
    unsafe {
        for clause in elements(united.baserestrictinfo) {
            let clause = clause.cast::<pg_sys::RestrictInfo>();
            let changed = change(Nodes::of(&[Node::new((*clause).clause)]));
            if let Some(condition) = Node::all_of(changed) {
                (*clause).clause = condition.pointer().cast();
            }
        }
    }
}

fn change_join_tree<'p>(item: Node<'p>, change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>) {
    match JoinTree::of(item) {
        Some(JoinTree::From { items, conditions }) => {
            items.iter().for_each(|item| change_join_tree(item, change));
            change_list(conditions, change);
        }
        Some(JoinTree::Join { sides, conditions, .. }) => {
            sides.into_iter().for_each(|side| change_join_tree(side, change));
            change_list(conditions, change);
        }
        _ => {}
    }
}

fn change_list<'p>(conditions: Conditions<'p>, change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>) {
    if let Some(list) = conditions.list() {
        conditions.set(change(list));
    }
}
