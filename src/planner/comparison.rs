//! Reads comparisons of a distance or a similarity with a number, and finds the radius that they mean.

use super::expressions::{FLOAT_FAMILY, Measured, Rewritten, within};
use crate::pg::catalog::names::Names;
use crate::pg::nodes::{cast, constant, copy, elements, function, integer};
use hamming::BITS;
use pgrx::pg_sys::{self, Node, NodeTag, Oid};

/// The B-tree families of integers, floating-point numbers and numerics: each distance, similarity and limit
/// is of one of these types or is cast to one.
const FAMILIES: [Oid; 3] = [pg_sys::INTEGER_BTREE_FAM_OID, FLOAT_FAMILY, Oid::from_u32(1988)];
/// Types of limits that a distance or a similarity is compared with.
const FLOAT_TYPES: [Oid; 2] = [pg_sys::FLOAT4OID, pg_sys::FLOAT8OID];
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
    /// That of an operator with this strategy in a B-tree family. The others give no radius.
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
fn exchanged(strategy: i32) -> i32 {
    pg_sys::BTMaxStrategyNumber as i32 + 1 - strategy
}

/// A distance that has to be less than a limit, at most it, or equal to it; or a similarity, whose limit
/// means the same for the distance.
pub(super) struct Comparison {
    measured: Measured,
    sign: Sign,
    limit: *mut Node,
}

impl Comparison {
    pub(super) unsafe fn read(node: *mut Node, names: &Names) -> Option<Self> {
        // SAFETY: an expression.
        unsafe {
            let comparison = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
            let &mut [left, right] = elements(comparison.args) else { return None };
            let (measured, limit, is_exchanged) =
                match [left, right].map(|side| Measured::of(without_cast(side), names)) {
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
            // With `=` both conditions stay, so anything volatile in it would be evaluated twice.
            let is_volatile = sign == Sign::Equal
                && (pg_sys::contain_volatile_functions(node) || pg_sys::contain_subplans(node));
            // Others may have added types of their own to the families.
            let type_ = pg_sys::exprType(limit);
            let is_number =
                FLOAT_TYPES.contains(&type_) || !measured.is_similarity && OTHER_TYPES.contains(&type_);
            (is_number && !is_null && !is_volatile).then_some(Self { measured, sign, limit })
        }
    }

    /// With `=`, the comparison stays unless it is one of the fingerprints themselves.
    pub(super) unsafe fn rewritten(&self, names: &Names) -> Rewritten {
        // SAFETY: nodes are copied, since the comparison may stay as well.
        unsafe {
            let [a, b] = [self.measured.a, self.measured.b].map(|node| copy(node));
            let within = within(a, b, self.radius(names), names);
            let is_of_fingerprints = cast::<pg_sys::OpExpr>(within, NodeTag::T_OpExpr).is_some();
            Rewritten { within, replaces: self.sign != Sign::Equal || is_of_fingerprints }
        }
    }

    /// The radius as an integer: now if the limit is a constant, otherwise as an expression.
    unsafe fn radius(&self, names: &Names) -> *mut Node {
        // SAFETY: the limit is a number of a type that `read` knows; the function for that type is called.
        unsafe {
            let limit = widened(self.limit);
            let type_ = pg_sys::exprType(limit);
            let [inclusive, exclusive] = names.radius_functions(self.measured.is_similarity, type_);
            let Some(datum) = constant(limit) else {
                let is_radius = pg_sys::exprType(self.limit) == pg_sys::INT4OID;
                return match self.sign {
                    Sign::Less => function(exclusive, pg_sys::INT4OID, &[limit]),
                    _ if is_radius => copy(self.limit),
                    _ => function(inclusive, pg_sys::INT4OID, &[limit]),
                };
            };
            let [inclusive, exclusive] = [inclusive, exclusive].map(|function| {
                let radius = pg_sys::OidFunctionCall1Coll(function, pg_sys::InvalidOid, datum).value() as i32;
                radius.min(BITS as i32)
            });
            integer(match self.sign {
                Sign::Less => exclusive,
                // The limit is not among the 65 values of a distance or a similarity.
                Sign::Equal if inclusive == exclusive => -1,
                _ => inclusive,
            })
        }
    }
}

/// The argument of a cast from integer to another type of number; any other expression as it is. A distance
/// is the same number in each of these types.
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
unsafe fn widened(number: *mut Node) -> *mut Node {
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
