//! The outer joins that can make a column or a PlaceHolderVar NULL: its `varnullingrels`. 15 has none.

use crate::node::Node;

/// Columns of PostgreSQL 15 have no such set.
#[cfg(feature = "pg15")]
pub fn name_outer_joins_of(_: Node, _: Node) {}

/// Copies `varnullingrels` from one column, or one PlaceHolderVar, to another.
#[cfg(not(feature = "pg15"))]
pub fn name_outer_joins_of(node: Node, other: Node) {
    use pgrx::pg_sys::{PlaceHolderVar, Var};
    // SAFETY: the tags were checked, and nobody has a reference to these nodes.
    unsafe {
        if node.is::<Var>()
            && let Some(other) = other.cast::<Var>()
        {
            (*node.pointer().cast::<Var>()).varnullingrels = other.varnullingrels;
        } else if node.is::<PlaceHolderVar>()
            && let Some(other) = other.cast::<PlaceHolderVar>()
        {
            (*node.pointer().cast::<PlaceHolderVar>()).phnullingrels = other.phnullingrels;
        }
    }
}
