//! Conditions on a distance, as the planner's estimators and indexes meet them:
//! `hamming_within(a, b, radius)`, and `fingerprint <@ ball`, which is searched by an index.

use crate::ball::HammingBall;
use crate::pg::catalog::names::Names;
use crate::pg::catalog::ours::{is_ball, is_ball_constructor};
use crate::pg::nodes::{bigint, cast, constant, elements, integer};
use pgrx::pg_sys::{self, Node, NodeTag};

/// The radius that is assumed where it is not known at planning time: that of the Similarity Index paper.
pub(crate) const TYPICAL_RADIUS: i32 = 6;

/// The arguments of `hamming_within(a, b, radius)`.
pub(crate) struct Within {
    pub(crate) a: *mut Node,
    pub(crate) b: *mut Node,
    pub(crate) radius: *mut Node,
}

impl Within {
    /// The arguments of the `hamming_within` that is the same as `fingerprint <@ ball`: None if the two are
    /// not of these types, since operators of other types may have our estimators, or if the ball is neither
    /// a constant nor a call of `hamming_ball`.
    pub(crate) unsafe fn ball(fingerprint: *mut Node, ball: *mut Node) -> Option<Self> {
        // SAFETY: two expressions; the datum is a ball by its type.
        unsafe {
            if pg_sys::exprType(fingerprint) != pg_sys::INT8OID || !is_ball(pg_sys::exprType(ball)) {
                return None;
            }
            if let Some(datum) = constant(ball) {
                let HammingBall { center, radius, .. } = datum.cast_mut_ptr::<HammingBall>().read();
                return Some(Self { a: fingerprint, b: bigint(center), radius: integer(radius) });
            }
            let call = cast::<pg_sys::FuncExpr>(ball, NodeTag::T_FuncExpr)?;
            match elements(call.args) {
                &mut [center, radius] if is_ball_constructor(call.funcid) => {
                    Some(Self { a: fingerprint, b: center, radius })
                }
                _ => None,
            }
        }
    }
}

/// The radius of an index's condition on a column of fingerprints.
///
/// # Safety
/// The condition must be one of the query, on such a column.
pub(crate) unsafe fn radius_of_condition(root: *mut pg_sys::PlannerInfo, condition: *mut Node) -> u32 {
    // SAFETY: promised by the caller.
    unsafe {
        // Otherwise it is `= ANY (…)`, and each element is searched for by itself.
        let Some(condition) = cast::<pg_sys::OpExpr>(condition, NodeTag::T_OpExpr) else { return 0 };
        let &mut [key, operand] = elements(condition.args) else { return 0 };
        // The operator is either equality with a fingerprint, or membership in a ball.
        if pg_sys::exprType(operand) == pg_sys::INT8OID {
            return 0;
        }
        let radius = Within::ball(key, operand)
            .and_then(|within| constant(pg_sys::estimate_expression_value(root, within.radius)))
            .map_or(TYPICAL_RADIUS, |datum| datum.value() as i32);
        radius.clamp(0, u64::BITS as i32) as u32
    }
}

/// Whether a key column of an index, counted from 0, is searched for fingerprints within balls.
///
/// # Safety
/// The index must be one of the query, and have the column.
pub(crate) unsafe fn is_fingerprint(index: &pg_sys::IndexOptInfo, column: usize) -> bool {
    // SAFETY: promised by the caller; there is a family for each key column.
    Names::known().is_some_and(|names| names.ball_operator(unsafe { *index.opfamily.add(column) }).is_some())
}
