//! Structs of PostgreSQL that are nodes, as pointers. [`node`](super::node) has them without pointers.

use pgrx::pg_sys::{self, NodeTag};

/// A struct of PostgreSQL that is a node.
///
/// # Safety
/// The tag must be the one that PostgreSQL uses for this struct.
pub unsafe trait Tagged {
    /// The tag of the struct.
    const TAG: NodeTag;
}

macro_rules! tagged {
    ($($node:ident $tag:ident),* $(,)?) => {
        // SAFETY: PostgreSQL names each tag after its struct.
        $(unsafe impl Tagged for pg_sys::$node {
            const TAG: NodeTag = NodeTag::$tag;
        })*
    };
}
tagged!(
    ArrayExpr T_ArrayExpr,
    BitmapHeapPath T_BitmapHeapPath,
    BooleanTest T_BooleanTest,
    CaseExpr T_CaseExpr,
    CaseWhen T_CaseWhen,
    CoalesceExpr T_CoalesceExpr,
    Const T_Const,
    CustomPath T_CustomPath,
    CustomScan T_CustomScan,
    FuncExpr T_FuncExpr,
    IndexClause T_IndexClause,
    IndexPath T_IndexPath,
    MinMaxExpr T_MinMaxExpr,
    NullTest T_NullTest,
    OpExpr T_OpExpr,
    PlaceHolderVar T_PlaceHolderVar,
    RelabelType T_RelabelType,
    RestrictInfo T_RestrictInfo,
    ScalarArrayOpExpr T_ScalarArrayOpExpr,
    SortGroupClause T_SortGroupClause,
    TargetEntry T_TargetEntry,
    Var T_Var,
);

/// The cells of a list of nodes. A null pointer is the empty list (NIL).
///
/// # Safety
/// `list` must be null or a list of nodes, and nobody else may change it meanwhile.
pub unsafe fn elements<'a>(list: *mut pg_sys::List) -> &'a mut [*mut pg_sys::Node] {
    if list.is_null() {
        return &mut [];
    }
    // SAFETY: a list has `length` cells, each with a pointer to a node.
    unsafe { std::slice::from_raw_parts_mut((*list).elements.cast(), (*list).length as usize) }
}
