//! Nodes of Postgres's planner and executor, by their pointers. [`expr`](super::expr) has them without.

use pgrx::pg_sys::{self, Node, NodeTag};

/// The struct of a node.
///
/// # Safety
/// The tag must be that of the struct.
pub(crate) unsafe trait Tagged {
    const TAG: NodeTag;
}

macro_rules! tagged {
    ($($node:ident $tag:ident),* $(,)?) => {
        // SAFETY: PostgreSQL makes the tag of the name of the struct.
        $(unsafe impl Tagged for pg_sys::$node {
            const TAG: NodeTag = NodeTag::$tag;
        })*
    };
}
tagged!(
    BitmapHeapPath T_BitmapHeapPath,
    Const T_Const,
    CustomPath T_CustomPath,
    CustomScan T_CustomScan,
    FuncExpr T_FuncExpr,
    IndexClause T_IndexClause,
    IndexPath T_IndexPath,
    NullTest T_NullTest,
    OpExpr T_OpExpr,
    Param T_Param,
    PlaceHolderVar T_PlaceHolderVar,
    RelabelType T_RelabelType,
    RestrictInfo T_RestrictInfo,
    ScalarArrayOpExpr T_ScalarArrayOpExpr,
    SortGroupClause T_SortGroupClause,
    TargetEntry T_TargetEntry,
    Var T_Var,
);

/// The elements of a list of nodes, which may be empty (NIL).
///
/// # Safety
/// `list` must be null or a list of nodes, which nobody else changes meanwhile.
pub(crate) unsafe fn elements<'a>(list: *mut pg_sys::List) -> &'a mut [*mut Node] {
    if list.is_null() {
        return &mut [];
    }
    // SAFETY: a list has `length` cells, and those of a list of nodes are pointers.
    unsafe { std::slice::from_raw_parts_mut((*list).elements.cast(), (*list).length as usize) }
}

/// A node with nothing in it but its tag.
pub(crate) fn make<'a, T: Tagged>() -> &'a mut T {
    // SAFETY: zeroed memory is how Postgres makes nodes, and the tag is that of the struct.
    unsafe {
        let node: *mut Node = pg_sys::palloc0(size_of::<T>()).cast();
        (*node).type_ = T::TAG;
        &mut *node.cast()
    }
}
