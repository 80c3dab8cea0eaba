//! The FROM clause of a query, its conditions, and what follows from them for every row.

use super::node::{Node, Nodes};
use pgrx::pg_sys::{self, NodeTag};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// The field of a node that has conditions, all of which have to hold.
#[derive(Clone, Copy)]
pub struct Conditions<'p>(NonNull<*mut pg_sys::Node>, PhantomData<&'p pg_sys::Node>);

impl<'p> Conditions<'p> {
    /// # Safety
    /// The pointer must be to conditions of the query that is being planned.
    pub unsafe fn new(place: *mut *mut pg_sys::Node) -> Self {
        // SAFETY: the pointer is not null, as the caller promises.
        Self(unsafe { NonNull::new_unchecked(place) }, PhantomData)
    }

    /// The conditions as a list. They are a list after the planner has simplified them.
    pub fn list(self) -> Option<Nodes<'p>> {
        // SAFETY: the field has a node, or null.
        unsafe {
            let node = *self.0.as_ptr();
            (!node.is_null() && (*node).type_ == NodeTag::T_List).then(|| Nodes::new(node.cast()))
        }
    }

    /// Replaces the conditions.
    pub fn set(self, list: Nodes<'p>) {
        // SAFETY: the field may have a list of conditions.
        unsafe { *self.0.as_ptr() = list.pointer().cast() }
    }
}

/// An item of FROM, and how its parts are joined.
pub enum JoinTree<'p> {
    /// A list of items, and the conditions on all of them.
    From {
        /// The items.
        items: Nodes<'p>,
        /// What has to hold.
        conditions: Conditions<'p>,
    },
    /// A join of two items.
    Join {
        /// Whether it is an outer join, and of which side.
        kind: pg_sys::JoinType::Type,
        /// The left item and the right one.
        sides: [Node<'p>; 2],
        /// What has to hold for a pair.
        conditions: Conditions<'p>,
    },
    /// A relation, by its number in the query.
    Table(pg_sys::Index),
}

impl<'p> JoinTree<'p> {
    /// The item as a part of a join tree; `None` if it is something else.
    pub fn of(item: Node<'p>) -> Option<Self> {
        // SAFETY: a node's tag names its struct, and its fields belong to the same query.
        unsafe {
            match item.tag() {
                NodeTag::T_FromExpr => {
                    let from = item.pointer().cast::<pg_sys::FromExpr>();
                    let items = Nodes::new((*from).fromlist);
                    Some(Self::From { items, conditions: Conditions::new(&raw mut (*from).quals) })
                }
                NodeTag::T_JoinExpr => {
                    let join = item.pointer().cast::<pg_sys::JoinExpr>();
                    let sides = [Node::new((*join).larg), Node::new((*join).rarg)];
                    let conditions = Conditions::new(&raw mut (*join).quals);
                    Some(Self::Join { kind: (*join).jointype, sides, conditions })
                }
                NodeTag::T_RangeTblRef => {
                    let table = item.pointer().cast::<pg_sys::RangeTblRef>();
                    Some(Self::Table((*table).rtindex as pg_sys::Index))
                }
                _ => None,
            }
        }
    }
}

/// Facts about every row of a query: these conditions hold, and no outer join makes a column of these
/// relations NULL.
pub struct Facts<'p> {
    /// The conditions that hold.
    pub conditions: Nodes<'p>,
    /// The relations, by their numbers in the query.
    pub relations: Vec<pg_sys::Index>,
}

impl<'p> Facts<'p> {
    /// What follows from the FROM clause and the conditions of the query.
    pub fn of(query: &'p pg_sys::Query) -> Self {
        let mut facts = Self { conditions: Nodes::NONE, relations: Vec::new() };
        // SAFETY: the tree is an expression of the query.
        if let Some(tree) = unsafe { Node::at(query.jointree) } {
            facts.gather(tree);
        }
        facts
    }

    /// Adds the facts that follow from a part of the join tree.
    fn gather(&mut self, item: Node<'p>) {
        use pg_sys::JoinType::{JOIN_ANTI, JOIN_INNER, JOIN_LEFT, JOIN_SEMI};
        let conditions = match JoinTree::of(item) {
            Some(JoinTree::From { items, conditions }) => {
                items.iter().for_each(|item| self.gather(item));
                conditions
            }
            Some(JoinTree::Join { kind, sides: [left, right], conditions }) => {
                if [JOIN_INNER, JOIN_LEFT, JOIN_SEMI, JOIN_ANTI].contains(&kind) {
                    self.gather(left);
                }
                if kind != JOIN_INNER {
                    return;
                }
                self.gather(right);
                conditions
            }
            Some(JoinTree::Table(table)) => return self.relations.push(table),
            None => return,
        };
        self.conditions = self.conditions.and(conditions.list().unwrap_or(Nodes::NONE));
    }
}
