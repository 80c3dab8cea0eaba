//! Finds the radius of conditions that compute with a distance, such as `1 - hamming(a, b) / 64.0 >= 0.9`, or
//! that ask for one of several, such as `hamming(a, b) IN (1, 2)`.
//!
//! A distance of fingerprints has 65 values, and one of strings of n bits n + 1. Where all else in a
//! condition is constant, each value is tried: the largest for which the condition holds is the radius. The
//! condition itself is evaluated, so nothing is lost to rounding. A condition that may raise an error is not
//! tried, for the query might never meet the distance that raises it.

use super::expressions::{Measured, Rewritten};
use super::radius::float_of_numeric;
use crate::pg::catalog::oids::ExtensionOids;
use crate::pg::nodes::{cast, constant, copy, double, elements, integer};
use hamming::code::similarity;
use pgrx::pg_sys::{self, Node, NodeTag, Oid};

/// The deepest nesting of operators that is tried: more than anybody writes.
const MAX_DEPTH: u32 = 8;

/// The longest strings of bits whose distances are tried: of 1,024 bits, it takes up to 4 ms.
const MOST_BITS: u32 = 1024;

/// The absolute values that constants in arithmetic may have, apart from 0: small enough that nothing
/// overflows.
const MODEST: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// `hamming_within`, with all distances at which the condition holds.
///
/// # Safety
/// `condition` must be an expression of the query that is being planned.
pub(super) unsafe fn rewrite_by_trial(condition: *mut Node, ours: &ExtensionOids) -> Option<Rewritten> {
    // SAFETY: a condition of the query; the constant that takes the place of the distance has its type.
    unsafe {
        let mut trial = condition;
        place_of_distance(&raw mut trial, ours, MAX_DEPTH).ok()??;
        trial = copy(condition);
        let place = place_of_distance(&raw mut trial, ours, MAX_DEPTH).ok()??;
        if pg_sys::contain_volatile_functions(*place) || pg_sys::contain_subplans(*place) {
            return None;
        }
        let Measured { pair, is_similarity } = Measured::of(*place, ours)?;
        let bits = pair.bits().filter(|&bits| bits <= MOST_BITS)?;
        let holds_at = |d: u32| {
            *place = match is_similarity {
                true => double(similarity(d, bits)),
                false => integer(d as i32),
            };
            let answer = pg_sys::eval_const_expressions(std::ptr::null_mut(), trial);
            constant(answer).is_some_and(|datum| datum.value() != 0)
        };
        // From the farthest, at which most conditions without a radius hold.
        let radius = (0..=bits).rev().find(|&d| holds_at(d)).map_or(-1, |d| d as i32);
        (radius < bits as i32).then(|| Rewritten {
            within: pair.within(integer(radius)),
            replaces: (0..radius).all(|d| holds_at(d as u32)),
        })
    }
}

/// Where the one distance is in an expression of constants; None if the expression has no distance.
///
/// # Safety
/// `place` must be that of an expression of the query that is being planned.
unsafe fn place_of_distance(
    place: *mut *mut Node,
    ours: &ExtensionOids,
    depth: u32,
) -> Result<Option<*mut *mut Node>, ()> {
    // SAFETY: an expression.
    unsafe {
        if cast::<pg_sys::Const>(*place, NodeTag::T_Const).is_some() {
            return Ok(None);
        }
        if Measured::of(*place, ours).is_some() {
            return Ok(Some(place));
        }
        let (function, args) = callee(*place).filter(|_| depth > 0).ok_or(())?;
        let mut found = None;
        for arg in &mut *args {
            let in_arg = place_of_distance(arg, ours, depth - 1)?;
            if in_arg.is_some() && std::mem::replace(&mut found, in_arg).is_some() {
                return Err(());
            }
        }
        if cannot_fail(function, args) { Ok(found) } else { Err(()) }
    }
}

/// The function of an operator or of a call, and its arguments.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
unsafe fn callee<'a>(node: *mut Node) -> Option<(Oid, &'a mut [*mut Node])> {
    // SAFETY: an expression.
    unsafe {
        if let Some(operator) = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr) {
            return Some((pg_sys::get_opcode(operator.opno), elements(operator.args)));
        }
        if let Some(any) = cast::<pg_sys::ScalarArrayOpExpr>(node, NodeTag::T_ScalarArrayOpExpr) {
            // ALL is true of an empty array, also where the distance is NULL.
            return any.useOr.then(|| (pg_sys::get_opcode(any.opno), elements(any.args)));
        }
        let call = cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr)?;
        Some((call.funcid, elements(call.args)))
    }
}

/// Whether the function is Postgres's own, returns NULL if an argument is NULL, and raises no error for these
/// arguments.
///
/// # Safety
/// `args` must be expressions of the query that is being planned.
unsafe fn cannot_fail(function: Oid, args: &[*mut Node]) -> bool {
    // SAFETY: the function of an expression, and its arguments.
    unsafe {
        match function.to_u32() {
            pg_sys::F_INT4PL
            | pg_sys::F_INT4MI
            | pg_sys::F_FLOAT8PL
            | pg_sys::F_FLOAT8MI
            | pg_sys::F_FLOAT8MUL
            | pg_sys::F_NUMERIC_ADD
            | pg_sys::F_NUMERIC_SUB
            | pg_sys::F_NUMERIC_MUL => args.iter().all(|&arg| is_modest(arg, true)),
            pg_sys::F_INT4DIV | pg_sys::F_FLOAT8DIV | pg_sys::F_NUMERIC_DIV => {
                is_modest(args[0], true) && is_modest(args[1], false) && constant(args[1]).is_some()
            }
            pg_sys::F_NUMERIC_LT
            | pg_sys::F_NUMERIC_LE
            | pg_sys::F_NUMERIC_EQ
            | pg_sys::F_NUMERIC_GE
            | pg_sys::F_NUMERIC_GT
            | pg_sys::F_FLOAT8_NUMERIC => true,
            other => {
                other < pg_sys::FirstNormalObjectId
                    && pg_sys::get_func_leakproof(function)
                    && pg_sys::func_strict(function)
            }
        }
    }
}

/// Whether a constant is in the range, or is 0 if it may be. An argument that is no constant has the distance
/// in it, which is small.
///
/// # Safety
/// `node` must be an expression of the query that is being planned.
unsafe fn is_modest(node: *mut Node, may_be_zero: bool) -> bool {
    // SAFETY: an expression; numbers are of the type that is asked for.
    unsafe {
        let Some(datum) = constant(node) else { return true };
        let number = match pg_sys::exprType(node) {
            pg_sys::INT4OID => f64::from(datum.value() as i32),
            pg_sys::FLOAT8OID => f64::from_bits(datum.value() as u64),
            _ => float_of_numeric(datum),
        };
        MODEST.contains(&number.abs()) || may_be_zero && number == 0.0
    }
}
