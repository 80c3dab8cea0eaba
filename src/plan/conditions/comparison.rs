//! Reads comparisons of a distance or a similarity with a number, and computes the radius that they ask for.

use super::expressions::{CodePair, FLOAT_FAMILY, Measured, Rewritten};
use super::line::{Line, number_of, widened};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::expr::Expr;
use hamming::code::radius_of_similarity;
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

/// A condition that a distance is less than a limit, at most the limit, or equal to it. The condition may be
/// written with a similarity.
pub(super) struct Comparison<'a> {
    measured: Measured<'a>,
    sign: Sign,
    limit: Expr<'a>,
    /// The radius if something is computed with the distance.
    computed: Option<Expr<'a>>,
}

impl<'a> Comparison<'a> {
    pub(super) fn read(expr: Expr<'a>, ours: &'a ExtensionOids) -> Option<Self> {
        let comparison = expr.as_operator()?;
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
        let computed = match line.is_plain {
            true => None,
            false if limit.value().is_some() => Some(Expr::integer(line.radius(number_of(limit)?)?)),
            false if !limit.has_columns() => Some(line.radius_call(limit, ours)?),
            // An index could not be searched, and the distance would be computed twice.
            false => return None,
        };
        let measured = line.measured;
        // With `=`, the comparison is kept next to the new condition; and the radius of a similarity contains
        // the length of one code if it is not known. An expression that is evaluated twice must not be
        // volatile.
        let needs_length = measured.is_similarity && measured.pair.bits().is_none();
        let is_repeated = sign == Sign::Equal || needs_length || computed.is_some();
        // Another extension may have added its own types to the families.
        let type_ = limit.type_();
        let is_number =
            FLOAT_TYPES.contains(&type_) || !measured.is_similarity && OTHER_TYPES.contains(&type_);
        // A NULL limit matches nothing; PostgreSQL detects that itself.
        (is_number && !limit.is_null() && !(is_repeated && expr.is_volatile())).then_some(Self {
            measured,
            sign,
            limit,
            computed,
        })
    }

    /// The condition that an index can answer. With `=`, the comparison is kept as well, unless the condition
    /// is an equality of fingerprints. Expressions are copied, since both conditions may be kept.
    pub(super) fn rewritten(
        &self,
        ours: &ExtensionOids,
        write: impl Fn(CodePair<'a>, Expr<'a>) -> Expr<'a>,
    ) -> Rewritten<'a> {
        let within = write(self.measured.pair.copied(), self.radius(ours));
        let is_of_fingerprints = within.as_operator().is_some();
        let is_implied = self.sign == Sign::Equal && !is_of_fingerprints || self.computed.is_some();
        Rewritten { within, replaces: !is_implied }
    }

    /// The condition that a distance is at most as large as for one of the elements of an array: what
    /// `distance = ANY (array)`, or IN, implies.
    pub(super) fn with_any(expr: Expr<'a>, ours: &'a ExtensionOids) -> Option<Rewritten<'a>> {
        let any = expr.as_any()?;
        let [value, array] = any.args()?;
        let line = Line::read(value, ours)?;
        let strategy = FAMILIES.into_iter().map(|family| any.strategy_in(family)).max()?;
        Sign::of(if line.is_rising() { strategy } else { exchanged(strategy) })?;
        let numbers = array.elements()?.into_iter().map(number_of).collect::<Option<Vec<_>>>()?;
        let farthest = numbers.into_iter().reduce(|a, b| line.farther(a, b));
        let radius = farthest.map_or(Some(-1), |number| line.radius(number))?;
        if expr.is_volatile() {
            return None;
        }
        let within = line.measured.pair.copied().as_condition(Expr::integer(radius));
        Some(Rewritten { within, replaces: false })
    }

    /// The radius as an integer: a constant if the limit is one, otherwise a function call.
    fn radius(&self, ours: &ExtensionOids) -> Expr<'a> {
        if let Some(radius) = self.computed {
            return radius;
        }
        let limit = widened(self.limit);
        let [inclusive, exclusive] = [true, false].map(|inclusive| self.known_radius(limit, inclusive, ours));
        if let (Some(inclusive), Some(exclusive)) = (inclusive, exclusive) {
            return Expr::integer(match self.sign {
                Sign::Less => exclusive,
                // No distance and no similarity has exactly this value, such as a distance of 2.5.
                Sign::Equal if inclusive == exclusive => -1,
                _ => inclusive,
            });
        }
        match self.sign {
            Sign::AtMost | Sign::Equal if self.limit.type_() == pg_sys::INT4OID => self.limit.copy(),
            sign => self.radius_function(limit, sign != Sign::Less, ours),
        }
    }

    /// The radius for a constant limit. The radius for a similarity depends on the number of bits.
    fn known_radius(&self, limit: Expr, inclusive: bool, ours: &ExtensionOids) -> Option<i32> {
        let (datum, bits) = (limit.value()?, self.measured.pair.bits());
        if self.measured.is_similarity {
            return Some(radius_of_similarity(f64::from_bits(datum.value() as u64), inclusive, bits?));
        }
        let function = ours.radius_of_distance(limit.type_(), inclusive);
        // SAFETY: the function takes an argument of the type of the limit.
        let radius =
            unsafe { pg_sys::OidFunctionCall1Coll(function, pg_sys::InvalidOid, datum) }.value() as i32;
        Some(bits.map_or(radius, |bits| radius.min(bits as i32)))
    }

    /// The function call that computes the radius from the limit.
    fn radius_function(&self, limit: Expr<'a>, inclusive: bool, ours: &ExtensionOids) -> Expr<'a> {
        let integer = pg_sys::INT4OID;
        if !self.measured.is_similarity {
            let radius = ours.radius_of_distance(limit.type_(), inclusive);
            return Expr::function(radius, integer, &[limit]);
        }
        let CodePair { a, b, .. } = self.measured.pair;
        // Both codes have one length. It is taken from the code that is not in the index, if it is not known.
        let other = if a.has_columns() { b } else { a };
        let length = || Expr::function(Oid::from(pg_sys::F_LENGTH_BIT), integer, &[other.copy()]);
        let bits = self.measured.pair.bits().map_or_else(length, |bits| Expr::integer(bits as i32));
        Expr::function(ours.radius_of_similarity(inclusive), integer, &[limit, bits])
    }
}
