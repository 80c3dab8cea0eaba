//! Expressions that several files of this folder read or make: distances, similarities, `hamming_within`.

use crate::estimate::condition::bits_of;
use crate::pg::catalog::families::operator_in;
use crate::pg::catalog::oids::{CodeOids, ExtensionOids};
use crate::pg::node::Node;
use crate::pg::value::Value;
use pgrx::pg_sys;

/// The B-tree operator family of floating-point numbers. Its OID is fixed in PostgreSQL's catalog.
pub(super) const FLOAT_FAMILY: pg_sys::Oid = pg_sys::Oid::from_u32(1970);

/// The two arguments of a distance or a similarity: fingerprints, or bit strings.
#[derive(Clone, Copy)]
pub(super) struct CodePair<'a> {
    pub(super) oids: CodeOids,
    pub(super) a: Node<'a>,
    pub(super) b: Node<'a>,
}

impl<'a> CodePair<'a> {
    /// `a <~> b`, or `a <^> b`.
    pub(super) fn distance(self) -> Node<'a> {
        Node::operator(self.oids.distance_operator, pg_sys::INT4OID, self.a, self.b)
    }

    /// `hamming_within(a, b, radius)`, or `a = b` for fingerprints with radius 0. For bit strings the
    /// call stays, since strings of different lengths have to raise an error.
    pub(super) fn as_condition(self, radius: Node<'a>) -> Node<'a> {
        let Self { oids, a, b } = self;
        match radius.constant().and_then(Value::as_integer) {
            Some(0) if oids.codes.is_integer() => {
                let family = pg_sys::INTEGER_BTREE_FAM_OID;
                let type_ = oids.codes.oid();
                let strategy = pg_sys::BTEqualStrategyNumber as i16;
                operator_in(family, type_, type_, strategy).map_or_else(
                    || self.as_call(radius),
                    |equal| Node::operator(equal, pg_sys::BOOLOID, a, b),
                )
            }
            _ => self.as_call(radius),
        }
    }

    /// `hamming_within(a, b, radius)`.
    pub(super) fn as_call(self, radius: Node<'a>) -> Node<'a> {
        Node::function(self.oids.within, pg_sys::BOOLOID, &[self.a, self.b, radius])
    }

    /// The number of bits of both codes, if it is known for one of them. A distance needs equal numbers.
    pub(super) fn bits(self) -> Option<u32> {
        bits_of(self.a).or_else(|| bits_of(self.b))
    }

    /// The pair with a copy of each value.
    pub(super) fn copied(self) -> Self {
        Self { oids: self.oids, a: self.a.copy(), b: self.b.copy() }
    }
}

/// A distance of two values, `a <~> b` or `a <^> b`, or `hamming_similarity(a, b)`.
pub(super) struct Measured<'a> {
    pub(super) pair: CodePair<'a>,
    /// A larger similarity is a smaller distance.
    pub(super) is_similarity: bool,
}

impl<'a> Measured<'a> {
    pub(super) fn of(expr: Node<'a>, ours: &ExtensionOids) -> Option<Self> {
        let (is_similarity, measured) = match expr.as_operator() {
            Some(distance) => (false, distance),
            None => (true, expr.as_function()?),
        };
        let id_of = |oids: &CodeOids| if is_similarity { oids.similarity } else { oids.distance_operator };
        let oids = *ours.codes().find(|oids| id_of(oids) == measured.id)?;
        measured.args().map(|[a, b]| Self { pair: CodePair { oids, a, b }, is_similarity })
    }
}

/// The condition that the planner gets for a comparison.
pub(crate) struct Rewritten<'a> {
    /// `hamming_within(a, b, radius)`, `a = b`, or a condition on sketches.
    pub(crate) within: Node<'a>,
    /// Whether `within` replaces the comparison; otherwise the query keeps both.
    pub(crate) replaces: bool,
}
