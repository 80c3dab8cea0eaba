//! Reads comparisons of a distance or a similarity with a number, and finds the radius that they mean.

use super::expressions::{CodePair, FLOAT_FAMILY, Measured, Rewritten};
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::code::CodeType;
use crate::pg::nodes::{cast, constant, copy, elements, function, integer};
use hamming::code::radius_of_similarity;
use pgrx::pg_sys::{self, Node, NodeTag, Oid};

/// The B-tree families of integers, floating-point numbers and numerics: each distance, similarity and limit
/// is of one of these types or is cast to one.
const FAMILIES: [Oid; 3] = [pg_sys::INTEGER_BTREE_FAM_OID, FLOAT_FAMILY, Oid::from_u32(1988)];
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
    /// The sign of an operator with this strategy in a B-tree family. The others give no radius.
    fn of(strategy: i32) -> Option<Self> {
        match strategy as u32 {
            pg_sys::BTLessStrategyNumber => Some(Self::Less),
            pg_sys::BTLessEqualStrategyNumber => Some(Self::AtMost),
            pg_sys::BTEqualStrategyNumber => Some(Self::Equal),
            _ => None,
        }
    }
}

/// The strategy of the operator that says the same with its sides exchanged.
pub(super) fn exchanged(strategy: i32) -> i32 {
    pg_sys::BTMaxStrategyNumber as i32 + 1 - strategy
}

/// A distance that has to be less than a limit, at most it, or equal to it; or a similarity, whose limit
/// means the same for the distance.
pub(super) struct Comparison<'a> {
    measured: Measured<'a>,
    sign: Sign,
    limit: *mut Node,
}

impl<'a> Comparison<'a> {
    /// # Safety
    /// `node` must be an expression of the query that is being planned.
    pub(super) unsafe fn read(node: *mut Node, ours: &'a ExtensionOids) -> Option<Self> {
        // SAFETY: an expression.
        unsafe {
            let comparison = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
            let &mut [left, right] = elements(comparison.args) else { return None };
            let (measured, limit, is_exchanged) =
                match [left, right].map(|side| Measured::of(without_cast(side), ours)) {
                    [Some(measured), None] => (measured, right, false),
                    [None, Some(measured)] => (measured, left, true),
                    _ => return None,
                };
            let strategies = FAMILIES.map(|family| pg_sys::get_op_opfamily_strategy(comparison.opno, family));
            // An operator that is not of a family has strategy 0 there.
            let strategy = strategies.into_iter().max()?;
            // Similarities fall as distances grow, which exchanges the sides once more.
            let sign = Sign::of(match is_exchanged == measured.is_similarity {
                true => strategy,
                false => exchanged(strategy),
            })?;
            // A limit of NULL is true for nothing, and left to Postgres.
            let is_null =
                cast::<pg_sys::Const>(limit, NodeTag::T_Const).is_some() && constant(limit).is_none();
            // With `=` both conditions stay, and the radius of a similarity may depend on the length of a
            // string. So anything volatile would be evaluated twice.
            let is_bigint = measured.pair.oids.codes == CodeType::Bigint;
            let is_volatile = (sign == Sign::Equal || measured.is_similarity && !is_bigint)
                && (pg_sys::contain_volatile_functions(node) || pg_sys::contain_subplans(node));
            // Others may have added types of their own to the families.
            let type_ = pg_sys::exprType(limit);
            let is_number =
                FLOAT_TYPES.contains(&type_) || !measured.is_similarity && OTHER_TYPES.contains(&type_);
            (is_number && !is_null && !is_volatile).then_some(Self { measured, sign, limit })
        }
    }

    /// With `=`, the comparison stays unless it is one of the fingerprints themselves.
    ///
    /// # Safety
    /// The expressions of the comparison must be alive.
    pub(super) unsafe fn rewritten(&self, ours: &ExtensionOids) -> Rewritten {
        // SAFETY: nodes are copied, since the comparison may stay as well.
        unsafe {
            let within = self.measured.pair.copied().within(self.radius(ours));
            let is_of_fingerprints = cast::<pg_sys::OpExpr>(within, NodeTag::T_OpExpr).is_some();
            Rewritten { within, replaces: self.sign != Sign::Equal || is_of_fingerprints }
        }
    }

    /// The call of `hamming_within`, also at a radius of 0.
    ///
    /// # Safety
    /// The expressions of the comparison must be alive.
    pub(super) unsafe fn called(&self, ours: &ExtensionOids) -> Rewritten {
        // SAFETY: nodes are copied, since the comparison stays in the query.
        unsafe {
            let within = self.measured.pair.copied().called(self.radius(ours));
            Rewritten { within, replaces: self.sign != Sign::Equal }
        }
    }

    /// The radius as an integer: now if it can be known, otherwise as an expression.
    ///
    /// # Safety
    /// The expressions that it has must be alive.
    unsafe fn radius(&self, ours: &ExtensionOids) -> *mut Node {
        // SAFETY: the limit is a number of a type that `read` knows.
        unsafe {
            let limit = widened(self.limit);
            let [inclusive, exclusive] =
                [true, false].map(|inclusive| self.known_radius(limit, inclusive, ours));
            if let (Some(inclusive), Some(exclusive)) = (inclusive, exclusive) {
                return integer(match self.sign {
                    Sign::Less => exclusive,
                    // The limit is not among the values of a distance or a similarity: 65 of fingerprints.
                    Sign::Equal if inclusive == exclusive => -1,
                    _ => inclusive,
                });
            }
            match self.sign {
                Sign::AtMost | Sign::Equal if pg_sys::exprType(self.limit) == pg_sys::INT4OID => {
                    copy(self.limit)
                }
                sign => self.radius_function(limit, sign != Sign::Less, ours),
            }
        }
    }

    /// The radius for a limit that is a constant. With a similarity, it depends on the number of bits.
    ///
    /// # Safety
    /// `limit` must be an expression of the query that is being planned.
    unsafe fn known_radius(&self, limit: *mut Node, inclusive: bool, ours: &ExtensionOids) -> Option<i32> {
        // SAFETY: `limit` is an expression of the query that is being planned, as the caller promises; the
        // function for the type of the limit is called.
        unsafe {
            let (datum, bits) = (constant(limit)?, self.measured.pair.bits());
            if self.measured.is_similarity {
                return Some(radius_of_similarity(f64::from_bits(datum.value() as u64), inclusive, bits?));
            }
            let function = ours.radius_of_distance(pg_sys::exprType(limit), inclusive);
            let radius = pg_sys::OidFunctionCall1Coll(function, pg_sys::InvalidOid, datum).value() as i32;
            Some(bits.map_or(radius, |bits| radius.min(bits as i32)))
        }
    }

    /// The call of the function that makes a radius of the limit.
    ///
    /// # Safety
    /// `limit` must be an expression of the query that is being planned.
    unsafe fn radius_function(&self, limit: *mut Node, inclusive: bool, ours: &ExtensionOids) -> *mut Node {
        let CodePair { oids, a, b } = self.measured.pair;
        // SAFETY: `limit` is an expression of the query that is being planned, as the caller promises; the
        // function is that for these types.
        unsafe {
            let (radius, args): (_, &[_]) = if !self.measured.is_similarity {
                (ours.radius_of_distance(pg_sys::exprType(limit), inclusive), &[limit])
            } else if oids.codes == CodeType::Bigint {
                (oids.radius_of_similarity(inclusive), &[limit])
            } else {
                // The two are of one length. An index on one of them needs a radius that does not depend on
                // it.
                let other = if pg_sys::contain_var_clause(a) { b } else { a };
                (oids.radius_of_similarity(inclusive), &[limit, copy(other)])
            };
            function(radius, pg_sys::INT4OID, args)
        }
    }
}

/// The argument of a cast from integer to another type of number; any other expression as it is. A distance
/// is the same number in each of these types.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
unsafe fn without_cast(node: *mut Node) -> *mut Node {
    let casts = [
        pg_sys::F_INT2_INT4,
        pg_sys::F_INT8_INT4,
        pg_sys::F_FLOAT4_INT4,
        pg_sys::F_FLOAT8_INT4,
        pg_sys::F_NUMERIC_INT4,
    ];
    // SAFETY: an expression; casts have one argument.
    unsafe {
        match cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr) {
            Some(call) if casts.contains(&call.funcid.to_u32()) => elements(call.args)[0],
            _ => node,
        }
    }
}

/// A copy of the number, as the widest type of its family.
///
/// # Safety
/// `number` must be an expression of the query that is being planned.
pub(super) unsafe fn widened(number: *mut Node) -> *mut Node {
    // SAFETY: an expression, which the casts take.
    unsafe {
        let (cast, type_) = match pg_sys::exprType(number) {
            pg_sys::INT2OID => (pg_sys::F_INT8_INT2, pg_sys::INT8OID),
            pg_sys::INT4OID => (pg_sys::F_INT8_INT4, pg_sys::INT8OID),
            pg_sys::FLOAT4OID => (pg_sys::F_FLOAT8_FLOAT4, pg_sys::FLOAT8OID),
            _ => return copy(number),
        };
        let number = function(pg_sys::Oid::from(cast), type_, &[copy(number)]);
        pg_sys::eval_const_expressions(std::ptr::null_mut(), number)
    }
}
