//! The FROM clause of a query, and its conditions.

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
    pub(super) unsafe fn new(place: *mut *mut pg_sys::Node) -> Self {
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

    /// Calls `change` for the conditions, if there are any, and stores its result there.
    pub(super) fn change(self, change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>) {
        if let Some(list) = self.list() {
            self.set(change(list));
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

impl<'p> JoinTree<'p> {
    /// Calls `change` for each list of conditions, and stores its result there.
    pub(super) fn change_conditions(self, change: &mut dyn FnMut(Nodes<'p>) -> Nodes<'p>) {
        let mut change_item = |item: Node<'p>| {
            if let Some(item) = Self::of(item) {
                item.change_conditions(change);
            }
        };
        match self {
            Self::From { items, conditions } => {
                items.iter().for_each(&mut change_item);
                conditions.change(change);
            }
            Self::Join { sides, conditions, .. } => {
                sides.into_iter().for_each(&mut change_item);
                conditions.change(change);
            }
            Self::Table(_) => {}
        }
    }
}
