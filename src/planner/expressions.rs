//! Expressions that all parts of the planner support meet or make: distances, similarities, `hamming_within`.

use crate::pg::catalog::names::Names;
use crate::pg::nodes::{cast, constant, elements, function, operator};
use pgrx::pg_sys::{self, Node, NodeTag, Oid};

/// The B-tree operator family of floating-point numbers, by Postgres's own number.
pub(super) const FLOAT_FAMILY: Oid = Oid::from_u32(1970);

/// `a <~> b`.
pub(super) unsafe fn distance(a: *mut Node, b: *mut Node, names: &Names) -> *mut Node {
    // SAFETY: makes an expression of two fingerprints.
    unsafe { operator(names.distance_operator, pg_sys::INT4OID, a, b) }
}

/// `hamming_within(a, b, radius)`, or `a = b` if the radius is 0.
pub(super) unsafe fn within(a: *mut Node, b: *mut Node, radius: *mut Node, names: &Names) -> *mut Node {
    // SAFETY: makes an expression of two fingerprints and an integer.
    unsafe {
        match constant(radius) {
            Some(datum) if datum.value() as i32 == 0 => {
                compared(pg_sys::INT8OID, a, pg_sys::BTEqualStrategyNumber, b)
            }
            _ => function(names.within, pg_sys::BOOLOID, &[a, b, radius]),
        }
    }
}

/// A comparison of two integers of a type, by a strategy of B-trees.
pub(super) unsafe fn compared(type_: Oid, a: *mut Node, strategy: u32, b: *mut Node) -> *mut Node {
    // SAFETY: makes an expression of two others, which the operator takes.
    unsafe {
        let family = pg_sys::INTEGER_BTREE_FAM_OID;
        let comparison = pg_sys::get_opfamily_member(family, type_, type_, strategy as i16);
        operator(comparison, pg_sys::BOOLOID, a, b)
    }
}

/// The sides of `a <~> b`.
pub(super) unsafe fn distance_of(node: *mut Node, names: &Names) -> Option<(*mut Node, *mut Node)> {
    // SAFETY: an expression; the operator has two arguments.
    unsafe {
        let distance = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
        match elements(distance.args) {
            &mut [a, b] if distance.opno == names.distance_operator => Some((a, b)),
            _ => None,
        }
    }
}

/// The arguments of `hamming_similarity(a, b)`.
pub(super) unsafe fn similarity_of(node: *mut Node, names: &Names) -> Option<(*mut Node, *mut Node)> {
    // SAFETY: an expression; the function has two arguments.
    unsafe {
        let call = cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr)?;
        match elements(call.args) {
            &mut [a, b] if call.funcid == names.similarity => Some((a, b)),
            _ => None,
        }
    }
}

/// A distance or a similarity of two fingerprints.
pub(super) struct Measured {
    pub(super) a: *mut Node,
    pub(super) b: *mut Node,
    /// Similarities fall as distances grow.
    pub(super) is_similarity: bool,
}

impl Measured {
    pub(super) unsafe fn of(node: *mut Node, names: &Names) -> Option<Self> {
        // SAFETY: an expression.
        let (distance, similarity) = unsafe { (distance_of(node, names), similarity_of(node, names)) };
        let is_similarity = similarity.is_some();
        distance.or(similarity).map(|(a, b)| Self { a, b, is_similarity })
    }
}

/// What a condition becomes.
pub(super) struct Rewritten {
    /// `hamming_within(a, b, radius)`, or `a = b`.
    pub(super) within: *mut Node,
    /// Whether the condition itself goes; otherwise it stays beside `within`.
    pub(super) replaces: bool,
}
