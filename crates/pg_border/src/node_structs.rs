//! Structs of PostgreSQL that are nodes, as pointers. [`node`](super::node) has them without pointers.

use pgrx::pg_sys::{self, NodeTag};
use std::ptr::null_mut;

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

/// A struct that nobody changes while the planner lends it, so that references to it can be given away.
pub trait Unchanged: Tagged {}

macro_rules! unchanged {
    ($($node:ident),* $(,)?) => {
        $(impl Unchanged for pg_sys::$node {})*
    };
}
unchanged!(
    ArrayExpr,
    BooleanTest,
    CaseExpr,
    CaseWhen,
    CoalesceExpr,
    Const,
    FuncExpr,
    MinMaxExpr,
    NullTest,
    OpExpr,
    PlaceHolderVar,
    RelabelType,
    ScalarArrayOpExpr,
    Var,
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

/// A list of integers.
pub(crate) fn list_of_numbers(numbers: &[i32]) -> *mut pg_sys::List {
    // SAFETY: the function makes a list of integers.
    numbers.iter().fold(null_mut(), |list, &number| unsafe { pg_sys::lappend_int(list, number) })
}

/// The numbers of a list of integers; none if it is something else.
pub(crate) fn numbers_of(list: *mut pg_sys::List) -> Vec<i32> {
    // SAFETY: the pointer is to a list, or null.
    let list = unsafe { list.as_ref() }.filter(|list| list.type_ == NodeTag::T_IntList);
    let Some(list) = list else { return Vec::new() };
    // SAFETY: a list of integers has `length` cells, each with an integer. Bounded: what a plan has.
    (0..list.length as usize).map(|place| unsafe { (*list.elements.add(place)).int_value }).collect()
}
