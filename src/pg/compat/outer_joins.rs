//! The outer joins that a column or a placeholder names, since it may be NULL by them. Up to 15, none.

use crate::pg::expr::Expr;

#[cfg(feature = "pg15")]
pub(crate) fn name_outer_joins_of(_: Expr, _: Expr) {}

/// Makes a column, or a placeholder, name the outer joins that another one names.
#[cfg(not(feature = "pg15"))]
pub(crate) fn name_outer_joins_of(node: Expr, other: Expr) {
    use pgrx::pg_sys::{PlaceHolderVar, Var};
    // SAFETY: checked to be of these kinds; nobody has a reference to them.
    unsafe {
        if let (true, Some(other)) = (node.is::<Var>(), other.cast::<Var>()) {
            (*node.pointer().cast::<Var>()).varnullingrels = other.varnullingrels;
        } else if let (true, Some(other)) = (node.is::<PlaceHolderVar>(), other.cast::<PlaceHolderVar>()) {
            (*node.pointer().cast::<PlaceHolderVar>()).phnullingrels = other.phnullingrels;
        }
    }
}
