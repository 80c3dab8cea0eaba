//! Expressions as Postgres's planner keeps them, trees of nodes: taking them apart and putting them together.
//!
//! All of these functions expect well-formed trees of the planner, in its memory.

use pgrx::pg_sys::{self, Node};

/// The node as a struct of its tag.
///
/// # Safety
/// `node` must be null or a node, and `T` the struct of the tag.
pub(crate) unsafe fn cast<'a, T>(node: *mut Node, tag: pg_sys::NodeTag) -> Option<&'a mut T> {
    // SAFETY: every node begins with its tag, and has the struct that the tag names.
    unsafe { (!node.is_null() && (*node).type_ == tag).then(|| &mut *node.cast::<T>()) }
}

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

/// A list of nodes.
///
/// # Safety
/// `nodes` must be nodes that are alive.
pub(crate) unsafe fn list_of(nodes: &[*mut Node]) -> *mut pg_sys::List {
    // SAFETY: appending to NIL makes a list.
    nodes.iter().fold(std::ptr::null_mut(), |list, node| unsafe { pg_sys::lappend(list, node.cast()) })
}

/// A copy of an expression, in nodes of its own.
///
/// # Safety
/// `node` must be an expression.
pub(crate) unsafe fn copy(node: *mut Node) -> *mut Node {
    // SAFETY: an expression.
    unsafe { pg_sys::copyObjectImpl(node.cast()).cast() }
}

/// The columns that an expression, or a list of expressions, mentions.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
pub(crate) unsafe fn columns_in<'a>(node: *mut Node) -> impl Iterator<Item = &'a mut pg_sys::Var> {
    const INTO_ALL: u32 =
        pg_sys::PVC_RECURSE_AGGREGATES | pg_sys::PVC_RECURSE_WINDOWFUNCS | pg_sys::PVC_RECURSE_PLACEHOLDERS;
    // SAFETY: with these flags there is nothing but columns in the list.
    unsafe {
        let columns = elements(pg_sys::pull_var_clause(node, INTO_ALL as i32));
        columns.iter().map(|&column| &mut *column.cast())
    }
}

/// The columns and the placeholders that an expression, or a list of expressions, mentions. What is within a
/// placeholder is not among them.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
pub(crate) unsafe fn inputs_in<'a>(node: *mut Node) -> &'a [*mut Node] {
    const INTO_OTHERS: u32 =
        pg_sys::PVC_RECURSE_AGGREGATES | pg_sys::PVC_RECURSE_WINDOWFUNCS | pg_sys::PVC_INCLUDE_PLACEHOLDERS;
    // SAFETY: an expression, as the caller promises.
    unsafe { elements(pg_sys::pull_var_clause(node, INTO_OTHERS as i32)) }
}

/// Whether two nodes are the same column or the same placeholder, apart from the outer joins that they may be
/// NULL by.
///
/// # Safety
/// Both must be of [`inputs_in`].
pub(crate) unsafe fn is_same_input(a: *mut Node, b: *mut Node) -> bool {
    use pg_sys::NodeTag::{T_PlaceHolderVar, T_Var};
    // SAFETY: nodes with the struct of their tag.
    unsafe {
        if let (Some(a), Some(b)) = (cast(a, T_Var), cast(b, T_Var)) {
            return is_same_column(a, b);
        }
        let [a, b] = [a, b].map(|node| cast::<pg_sys::PlaceHolderVar>(node, T_PlaceHolderVar));
        a.zip(b).is_some_and(|(a, b)| a.phid == b.phid)
    }
}

/// Whether two columns are the same, apart from the outer joins that they may be NULL by.
pub(crate) fn is_same_column(a: &pg_sys::Var, b: &pg_sys::Var) -> bool {
    (a.varno, a.varattno) == (b.varno, b.varattno)
}

/// A node with nothing in it but its tag.
///
/// # Safety
/// `T` must be the struct of the tag.
pub(crate) unsafe fn make<'a, T>(tag: pg_sys::NodeTag) -> &'a mut T {
    // SAFETY: zeroed memory is how Postgres makes nodes; the callers promise that the tag is that of the
    // struct.
    unsafe {
        let node: *mut Node = pg_sys::palloc0(size_of::<T>()).cast();
        (*node).type_ = tag;
        &mut *node.cast()
    }
}
