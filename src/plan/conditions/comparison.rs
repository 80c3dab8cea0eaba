//! Brings comparisons of a distance or a similarity with a number to one form: two codes are within a radius.

use super::expressions::{CodePair, FLOAT_FAMILY, Rewritten};
use super::line::Line;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::node::{Node, Nodes};
use crate::pg::value::Value;
use pgrx::pg_sys::{self, Oid};

/// The B-tree families of integers, floating-point numbers and numerics. Each distance, similarity and limit
/// has a type of one of these families, or is cast to one.
pub(super) const FAMILIES: [Oid; 3] = [pg_sys::INTEGER_BTREE_FAM_OID, FLOAT_FAMILY, Oid::from_u32(1988)];
/// Types of limits that a distance or a similarity is compared with.
pub(super) const FLOAT_TYPES: [Oid; 2] = [pg_sys::FLOAT4OID, pg_sys::FLOAT8OID];
/// Types of limits that only a distance is compared with.
const OTHER_TYPES: [Oid; 4] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID, pg_sys::NUMERICOID];

/// How a distance is compared with its limit.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Less,
    AtMost,
    Equal,
}

impl Sign {
    /// The sign of the operator with this strategy in a B-tree family. `>`, `>=` and `<>` give no radius.
    fn of(strategy: i32) -> Option<Self> {
        match strategy as u32 {
            pg_sys::BTLessStrategyNumber => Some(Self::Less),
            pg_sys::BTLessEqualStrategyNumber => Some(Self::AtMost),
            pg_sys::BTEqualStrategyNumber => Some(Self::Equal),
            _ => None,
        }
    }
}

/// The strategy of the operator that means the same when its two arguments are exchanged.
pub(super) fn exchanged(strategy: i32) -> i32 {
    pg_sys::BTMaxStrategyNumber as i32 + 1 - strategy
}

/// A comparison of a distance or of a similarity, or of what is computed with it, with a number or with the
/// elements of an array. It implies that two codes are within a radius.
pub(super) struct Comparison<'a> {
    pair: CodePair<'a>,
    radius: Node<'a>,
    /// Whether the comparison says nothing else.
    is_exact: bool,
    /// The numbers that are compared with.
    limits: Nodes<'a>,
}

impl<'a> Comparison<'a> {
    pub(super) fn read(expr: Node<'a>, ours: &ExtensionOids) -> Option<Self> {
        let any = expr.as_any();
        let comparison = any.or_else(|| expr.as_operator())?;
        let [left, right] = comparison.args()?;
        let (line, limit, is_exchanged) = match [left, right].map(|side| Line::read(side, ours)) {
            [Some(line), None] => (line, right, false),
            [None, Some(line)] => (line, left, true),
            _ => return None,
        };
        // An operator has strategy 0 in a family that it does not belong to.
        let strategy = FAMILIES.into_iter().map(|family| comparison.strategy_in(family)).max()?;
        // A larger similarity is a smaller distance, so `similarity >= x` reads like `distance <= k`.
        let sign = Sign::of(match is_exchanged != line.is_rising() {
            true => strategy,
            false => exchanged(strategy),
        })?;
        // A NULL limit matches nothing; PostgreSQL detects that itself.
        let limits = match any {
            Some(_) if limit.has_columns() => return None,
            Some(_) => limit.elements()?,
            None if limit.is_null() => return None,
            None => Nodes::of(&[limit]),
        };
        let radii = limits.iter().map(|limit| radius(&line, sign, limit, ours)).collect::<Option<Nodes>>()?;
        let radius = Node::greatest(radii);
        let pair = line.measured.pair;
        let is_zero = radius.constant().and_then(Value::as_integer) == Some(0);
        let is_exact = line.is_plain && any.is_none() && (sign != Sign::Equal || is_zero);
        // The comparison is kept if it is not exact, and the radius of a similarity contains the length of
        // one code if it is not known. An expression that is evaluated twice must not be volatile.
        let is_repeated = !is_exact || line.measured.is_similarity && pair.bits().is_none();
        (!is_repeated || !expr.is_volatile()).then_some(Self { pair, radius, is_exact, limits })
    }

    /// The condition that an index can answer. Expressions are copied, since both conditions may be kept.
    pub(super) fn rewritten(&self, write: impl Fn(CodePair<'a>, Node<'a>) -> Node<'a>) -> Rewritten<'a> {
        Rewritten { within: write(self.pair.copied(), self.radius), replaces: self.is_exact }
    }

    /// The values that make the comparison NULL if one of them is NULL.
    pub(super) fn inputs(&self) -> impl Iterator<Item = Node<'a>> {
        [self.pair.a, self.pair.b].into_iter().chain(self.limits.iter())
    }
}

/// The radius within which the comparison of a line with a limit can be true: a constant if the limit is one,
/// otherwise a function call.
fn radius<'a>(line: &Line<'a>, sign: Sign, limit: Node<'a>, ours: &ExtensionOids) -> Option<Node<'a>> {
    if !line.is_plain {
        // With columns, an index could not be searched, and the distance would be computed twice.
        return if limit.has_columns() { None } else { line.radius(limit, ours) };
    }
    let is_similarity = line.measured.is_similarity;
    // Another extension may have added its own types to the families.
    let type_ = limit.type_();
    if !FLOAT_TYPES.contains(&type_) && (is_similarity || !OTHER_TYPES.contains(&type_)) {
        return None;
    }
    if type_ == pg_sys::INT4OID && sign != Sign::Less {
        return Some(limit.copy());
    }
    let call = |is_inclusive| {
        let limit = limit.widened();
        let call = match is_similarity {
            true => radius_of_similarity(line.measured.pair, limit, is_inclusive, ours),
            false => radius_of_distance(limit, is_inclusive, ours),
        };
        call.simplified()
    };
    Some(match sign {
        Sign::Less => call(false),
        Sign::AtMost => call(true),
        // No distance and no similarity has exactly this value, such as a distance of 2.5.
        Sign::Equal if limit.is_constant() && is_same_constant(call(true), call(false)) => Node::integer(-1),
        Sign::Equal => call(true),
    })
}

fn is_same_constant(a: Node, b: Node) -> bool {
    let integer = |expr: Node| expr.constant().and_then(Value::as_integer);
    integer(a).is_some() && integer(a) == integer(b)
}

fn radius_of_distance<'a>(limit: Node<'a>, is_inclusive: bool, ours: &ExtensionOids) -> Node<'a> {
    Node::function(ours.radius_of_distance(limit.type_(), is_inclusive), pg_sys::INT4OID, &[limit])
}

fn radius_of_similarity<'a>(
    pair: CodePair<'a>,
    limit: Node<'a>,
    is_inclusive: bool,
    ours: &ExtensionOids,
) -> Node<'a> {
    let integer = pg_sys::INT4OID;
    // Both codes have one length. It is taken from the code that is not in the index, if it is not known.
    let other = if pair.a.has_columns() { pair.b } else { pair.a };
    let length = || Node::function(Oid::from(pg_sys::F_LENGTH_BIT), integer, &[other.copy()]);
    let bits = pair.bits().map_or_else(length, |bits| Node::integer(bits as i32));
    Node::function(ours.radius_of_similarity(is_inclusive), integer, &[limit, bits])
}
