//! Conditions on a distance, as the planner's estimators and indexes meet them:
//! `hamming_within(a, b, radius)`, and `a <@ ball`, which is searched by an index.

use crate::code::ball::HammingBall;
use crate::code::bit_ball::BitBall;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::catalog::ours::{is_ball, is_ball_constructor};
use crate::pg::code::{Code, CodeType};
use crate::pg::nodes::{bigint, bits, cast, constant, elements, integer};
use pgrx::pg_sys::{self, Node, NodeTag};

/// The radius that is assumed where it is not known at planning time: that of the Similarity Index paper,
/// which has 64 bits, and the same share of other numbers of bits.
pub(crate) fn typical_radius(bits: u32) -> u32 {
    (u64::from(bits) * 6 / u64::from(hamming::BITS)) as u32
}

/// The arguments of `hamming_within(a, b, radius)`.
pub(crate) struct Within {
    pub(crate) a: *mut Node,
    pub(crate) b: *mut Node,
    pub(crate) radius: *mut Node,
}

impl Within {
    /// The arguments of the `hamming_within` that is the same as `value <@ ball`: None if the two are not of
    /// these types, since operators of other types may have our estimators, or if the ball is neither a
    /// constant nor a call of `hamming_ball`.
    ///
    /// # Safety
    /// `value` and `ball` must be expressions of the query that is being planned.
    pub(crate) unsafe fn ball(value: *mut Node, ball: *mut Node) -> Option<Self> {
        // SAFETY: two expressions; the datum is a ball by its type.
        unsafe {
            let type_ = CodeType::of(pg_sys::exprType(value))?;
            if !is_ball(pg_sys::exprType(ball), type_) {
                return None;
            }
            if let Some(datum) = constant(ball) {
                let (center, radius) = match type_ {
                    CodeType::Bigint => {
                        let HammingBall { center, radius, .. } = datum.cast_mut_ptr::<HammingBall>().read();
                        (bigint(center), radius)
                    }
                    CodeType::Bits => {
                        let BitBall { center, radius } = BitBall::of(datum);
                        (bits(center), radius)
                    }
                };
                return Some(Self { a: value, b: center, radius: integer(radius) });
            }
            let call = cast::<pg_sys::FuncExpr>(ball, NodeTag::T_FuncExpr)?;
            match elements(call.args) {
                &mut [center, radius] if is_ball_constructor(call.funcid, type_) => {
                    Some(Self { a: value, b: center, radius })
                }
                _ => None,
            }
        }
    }

    /// The number of bits of the two values, if it is known.
    ///
    /// # Safety
    /// The expressions that it has must be alive.
    pub(crate) unsafe fn bits(&self) -> Option<u32> {
        // SAFETY: expressions.
        unsafe { bits_of(self.a).or_else(|| bits_of(self.b)) }
    }

    /// The radius as far as it is known, else as it is assumed; at most the number of bits, if that is known.
    ///
    /// # Safety
    /// The condition must be one of the query that is being planned.
    pub(crate) unsafe fn expected_radius(&self, root: *mut pg_sys::PlannerInfo) -> u32 {
        // SAFETY: expressions of the query, as the caller promises.
        unsafe {
            let bits = self.bits();
            let radius = match constant(pg_sys::estimate_expression_value(root, self.radius)) {
                Some(datum) => (datum.value() as i32).max(0) as u32,
                None => typical_radius(bits.unwrap_or(hamming::BITS)),
            };
            bits.map_or(radius, |bits| radius.min(bits))
        }
    }
}

/// The radius of an index's condition on a column of fingerprints or of strings of bits: at most their number
/// of bits.
///
/// # Safety
/// The condition must be one of the query, on such a column.
pub(crate) unsafe fn radius_of_condition(root: *mut pg_sys::PlannerInfo, condition: *mut Node) -> u32 {
    // SAFETY: the condition is one of the query, on such a column, as the caller promises.
    unsafe {
        // Otherwise it is `= ANY (…)`, and each element is searched for by itself.
        let Some(condition) = cast::<pg_sys::OpExpr>(condition, NodeTag::T_OpExpr) else { return 0 };
        let &mut [key, operand] = elements(condition.args) else { return 0 };
        // The operator is either equality with a value of the column's type, or with another number, or
        // membership in a ball; of balls, it is nearness.
        let operand_type = pg_sys::exprType(operand);
        if is_ball(operand_type, CodeType::Bigint) && operand_type == pg_sys::exprType(key) {
            let ball = constant(pg_sys::estimate_expression_value(root, operand));
            let radius = ball.map(|ball| ball.cast_mut_ptr::<HammingBall>().read().radius);
            return radius.map_or(typical_radius(hamming::BITS), |radius| radius.clamp(0, 64) as u32);
        }
        if operand_type == pg_sys::exprType(key) || [pg_sys::INT2OID, pg_sys::INT4OID].contains(&operand_type)
        {
            return 0;
        }
        let within = Within::ball(key, operand);
        within.map_or(typical_radius(hamming::BITS), |within| within.expected_radius(root))
    }
}

/// The column of an index, and the value from which a condition or an order counts distances; None if these
/// are several values, or if there is no distance.
///
/// # Safety
/// The condition must be one of the query, on a column of fingerprints or of strings of bits.
pub(crate) unsafe fn sides(condition: *mut Node) -> Option<(*mut Node, *mut Node)> {
    // SAFETY: the condition is one of the query, on a column of fingerprints or of strings of bits, as the
    // caller promises.
    unsafe {
        let condition = cast::<pg_sys::OpExpr>(condition, NodeTag::T_OpExpr)?;
        let &mut [key, operand] = elements(condition.args) else { return None };
        if pg_sys::exprType(operand) == pg_sys::exprType(key) {
            return Some((key, operand));
        }
        Within::ball(key, operand).map(|within| (within.a, within.b))
    }
}

/// Whether a key column of an index, counted from 0, is searched for values within balls.
///
/// # Safety
/// The index must be one of the query, and has the column.
pub(crate) unsafe fn is_fingerprint(index: &pg_sys::IndexOptInfo, column: usize) -> bool {
    // SAFETY: the index is one of the query, and has the column, as the caller promises; there is a family
    // for each key column.
    let family = unsafe { *index.opfamily.add(column) };
    ExtensionOids::known().is_some_and(|ours| ours.codes().any(|oids| oids.ball_operator(family).is_some()))
}

/// The number of bits that all values of an expression have, if it is known: that of a constant, or n of
/// `bit(n)`.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
pub(crate) unsafe fn bits_of(mut node: *mut Node) -> Option<u32> {
    // SAFETY: an expression; the datum is of its type.
    unsafe {
        if let Some(datum) = constant(node) {
            return Code::of(datum, pg_sys::exprType(node)).map(Code::bits);
        }
        // A value of type bit varying, or of a domain, stands below it.
        while let Some(relabeled) = cast::<pg_sys::RelabelType>(node, NodeTag::T_RelabelType) {
            node = relabeled.arg.cast();
        }
        let mut modifier = pg_sys::exprTypmod(node);
        match pg_sys::getBaseTypeAndTypmod(pg_sys::exprType(node), &raw mut modifier) {
            pg_sys::INT8OID => Some(hamming::BITS),
            pg_sys::BITOID if modifier > 0 => Some(modifier as u32),
            _ => None,
        }
    }
}
