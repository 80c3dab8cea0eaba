//! Expressions that all parts of the planner support meet or make: distances, similarities, `hamming_within`.

use crate::estimate::code::bits_of;
use crate::pg::catalog::names::{Kind, Names};
use crate::pg::nodes::{cast, constant, copy, elements, function, operator};
use pgrx::pg_sys::{self, Node, NodeTag, Oid};

/// The B-tree operator family of floating-point numbers, by Postgres's own number.
pub(super) const FLOAT_FAMILY: Oid = Oid::from_u32(1970);

/// Two values whose distance is asked for: fingerprints, or strings of bits.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) kind: &'a Kind,
    pub(super) a: *mut Node,
    pub(super) b: *mut Node,
}

impl Pair<'_> {
    /// `a <~> b`, or `a <^> b`.
    pub(super) unsafe fn distance(self) -> *mut Node {
        // SAFETY: makes an expression of two values of the kind.
        unsafe { operator(self.kind.distance_operator, pg_sys::INT4OID, self.a, self.b) }
    }

    /// `hamming_within(a, b, radius)`, or `a = b` if these are fingerprints and the radius is 0. Strings of bits stay
    /// as they are, since those of different lengths have to raise an error.
    pub(super) unsafe fn within(self, radius: *mut Node) -> *mut Node {
        let Self { kind, a, b } = self;
        // SAFETY: makes an expression of two values of the kind and an integer.
        unsafe {
            match constant(radius) {
                Some(datum) if datum.value() as i32 == 0 && kind.type_ == pg_sys::INT8OID => {
                    compared(pg_sys::INT8OID, a, pg_sys::BTEqualStrategyNumber, b)
                }
                _ => function(kind.within, pg_sys::BOOLOID, &[a, b, radius]),
            }
        }
    }

    /// The number of their bits, if it is known. If they had different numbers, they would have no distance.
    pub(super) unsafe fn bits(self) -> Option<u32> {
        // SAFETY: expressions.
        unsafe { bits_of(self.a).or_else(|| bits_of(self.b)) }
    }

    /// The same with a copy of each value.
    pub(super) unsafe fn copied(self) -> Self {
        // SAFETY: expressions.
        unsafe { Self { kind: self.kind, a: copy(self.a), b: copy(self.b) } }
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

/// The sides of `a <~> b`, or of `a <^> b`.
pub(super) unsafe fn distance_of(node: *mut Node, names: &Names) -> Option<Pair<'_>> {
    // SAFETY: an expression; the operator has two arguments.
    unsafe {
        let distance = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
        let kind = names.kinds().find(|kind| kind.distance_operator == distance.opno)?;
        let &mut [a, b] = elements(distance.args) else { return None };
        Some(Pair { kind, a, b })
    }
}

/// The arguments of `hamming_similarity(a, b)`.
pub(super) unsafe fn similarity_of(node: *mut Node, names: &Names) -> Option<Pair<'_>> {
    // SAFETY: an expression; the function has two arguments.
    unsafe {
        let call = cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr)?;
        let kind = names.kinds().find(|kind| kind.similarity == call.funcid)?;
        let &mut [a, b] = elements(call.args) else { return None };
        Some(Pair { kind, a, b })
    }
}

/// A distance or a similarity of two values.
pub(super) struct Measured<'a> {
    pub(super) pair: Pair<'a>,
    /// Similarities fall as distances grow.
    pub(super) is_similarity: bool,
}

impl<'a> Measured<'a> {
    pub(super) unsafe fn of(node: *mut Node, names: &'a Names) -> Option<Self> {
        // SAFETY: an expression.
        let (distance, similarity) = unsafe { (distance_of(node, names), similarity_of(node, names)) };
        let is_similarity = similarity.is_some();
        distance.or(similarity).map(|pair| Self { pair, is_similarity })
    }
}

/// What a condition becomes.
pub(super) struct Rewritten {
    /// `hamming_within(a, b, radius)`, or `a = b`.
    pub(super) within: *mut Node,
    /// Whether the condition itself goes; otherwise it stays beside `within`.
    pub(super) replaces: bool,
}
