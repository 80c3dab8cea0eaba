//! Expressions that all parts of the planner support meet or make: distances, similarities, `hamming_within`.

use crate::estimate::condition::bits_of;
use crate::pg::catalog::oids::{CodeOids, ExtensionOids};
use crate::pg::code::CodeType;
use crate::pg::nodes::{cast, constant, copy, elements, function, operator};
use pgrx::pg_sys::{self, Node, NodeTag};

/// The B-tree operator family of floating-point numbers, by Postgres's own number.
pub(super) const FLOAT_FAMILY: pg_sys::Oid = pg_sys::Oid::from_u32(1970);

/// Two values whose distance is asked for: fingerprints, or strings of bits.
#[derive(Clone, Copy)]
pub(super) struct CodePair<'a> {
    pub(super) oids: &'a CodeOids,
    pub(super) a: *mut Node,
    pub(super) b: *mut Node,
}

impl CodePair<'_> {
    /// `a <~> b`, or `a <^> b`.
    ///
    /// # Safety
    /// The two expressions must be alive.
    pub(super) unsafe fn distance(self) -> *mut Node {
        // SAFETY: makes an expression of two codes of one type.
        unsafe { operator(self.oids.distance_operator, pg_sys::INT4OID, self.a, self.b) }
    }

    /// `hamming_within(a, b, radius)`, or `a = b` if these are fingerprints and the radius is 0. Strings of
    /// bits stay as they are, since those of different lengths have to raise an error.
    ///
    /// # Safety
    /// `radius` must be an expression of the query that is being planned.
    pub(super) unsafe fn within(self, radius: *mut Node) -> *mut Node {
        let Self { oids, a, b } = self;
        // SAFETY: makes an expression of two codes of one type and an integer.
        unsafe {
            match constant(radius) {
                Some(datum) if datum.value() as i32 == 0 && oids.codes == CodeType::Bigint => {
                    let (family, type_) = (pg_sys::INTEGER_BTREE_FAM_OID, pg_sys::INT8OID);
                    let strategy = pg_sys::BTEqualStrategyNumber as i16;
                    let equal = pg_sys::get_opfamily_member(family, type_, type_, strategy);
                    operator(equal, pg_sys::BOOLOID, a, b)
                }
                _ => self.called(radius),
            }
        }
    }

    /// `hamming_within(a, b, radius)`.
    ///
    /// # Safety
    /// `radius` must be an expression of the query that is being planned.
    pub(super) unsafe fn called(self, radius: *mut Node) -> *mut Node {
        // SAFETY: makes an expression of two codes of one type and an integer.
        unsafe { function(self.oids.within, pg_sys::BOOLOID, &[self.a, self.b, radius]) }
    }

    /// The number of their bits, if it is known. If they had different numbers, they would have no distance.
    ///
    /// # Safety
    /// The two expressions must be alive.
    pub(super) unsafe fn bits(self) -> Option<u32> {
        // SAFETY: expressions.
        unsafe { bits_of(self.a).or_else(|| bits_of(self.b)) }
    }

    /// The pair with a copy of each value.
    ///
    /// # Safety
    /// The two expressions must be alive.
    pub(super) unsafe fn copied(self) -> Self {
        // SAFETY: expressions.
        unsafe { Self { oids: self.oids, a: copy(self.a), b: copy(self.b) } }
    }
}

/// The sides of `a <~> b`, or of `a <^> b`.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
pub(super) unsafe fn distance_of(node: *mut Node, ours: &ExtensionOids) -> Option<CodePair<'_>> {
    // SAFETY: an expression; the operator has two arguments.
    unsafe {
        let distance = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
        let oids = ours.codes().find(|oids| oids.distance_operator == distance.opno)?;
        let &mut [a, b] = elements(distance.args) else { return None };
        Some(CodePair { oids, a, b })
    }
}

/// The arguments of `hamming_similarity(a, b)`.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
pub(super) unsafe fn similarity_of(node: *mut Node, ours: &ExtensionOids) -> Option<CodePair<'_>> {
    // SAFETY: an expression; the function has two arguments.
    unsafe {
        let call = cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr)?;
        let oids = ours.codes().find(|oids| oids.similarity == call.funcid)?;
        let &mut [a, b] = elements(call.args) else { return None };
        Some(CodePair { oids, a, b })
    }
}

/// A distance or a similarity of two values.
pub(super) struct Measured<'a> {
    pub(super) pair: CodePair<'a>,
    /// Similarities fall as distances grow.
    pub(super) is_similarity: bool,
}

impl<'a> Measured<'a> {
    /// # Safety
    /// `node` must be an expression of the query that is being planned.
    pub(super) unsafe fn of(node: *mut Node, ours: &'a ExtensionOids) -> Option<Self> {
        // SAFETY: an expression.
        let (distance, similarity) = unsafe { (distance_of(node, ours), similarity_of(node, ours)) };
        let is_similarity = similarity.is_some();
        distance.or(similarity).map(|pair| Self { pair, is_similarity })
    }
}

/// What a condition becomes.
pub(crate) struct Rewritten {
    /// `hamming_within(a, b, radius)`, or `a = b`.
    pub(crate) within: *mut Node,
    /// Whether the condition itself goes; otherwise it stays next to `within`.
    pub(crate) replaces: bool,
}
