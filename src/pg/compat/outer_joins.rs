//! The outer joins that a column or a placeholder names, since it may be NULL by them. Up to 15, none.

use pgrx::pg_sys::Node;

#[cfg(feature = "pg15")]
pub(crate) unsafe fn name_outer_joins_of(_: *mut Node, _: *mut Node) {}

/// Makes a column, or a placeholder, name the outer joins that another one names.
///
/// # Safety
/// Both must be columns, or both placeholders.
#[cfg(not(feature = "pg15"))]
pub(crate) unsafe fn name_outer_joins_of(node: *mut Node, other: *mut Node) {
    use crate::pg::nodes::cast;
    use pgrx::pg_sys::NodeTag::{T_PlaceHolderVar, T_Var};
    use pgrx::pg_sys::{PlaceHolderVar, Var};
    // SAFETY: nodes with the struct of their tag.
    unsafe {
        let columns = [node, other].map(|node| cast::<Var>(node, T_Var));
        let placeholders = [node, other].map(|node| cast::<PlaceHolderVar>(node, T_PlaceHolderVar));
        if let [Some(column), Some(other)] = columns {
            column.varnullingrels = other.varnullingrels;
        } else if let [Some(placeholder), Some(other)] = placeholders {
            placeholder.phnullingrels = other.phnullingrels;
        }
    }
}
