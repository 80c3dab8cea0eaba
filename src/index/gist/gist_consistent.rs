//! Decides whether a subtree may have matches, and computes how near its rows may be.

use super::check::{Procedure, check};
use super::key::{entry, key};
use crate::pg::call::{Argument, Call, pg_functions};
use crate::pg::catalog::ours::is_ball;
use crate::pg::catalog::strategy::{EQUAL, WITHIN_BALL};
use crate::pg::code::CodeType;
use crate::pg::code::ball::HammingBall;
use crate::pg::error;
use crate::pg::report::SqlError;
use pgrx::pg_sys;

/// The type of the operand that a column is compared with. InvalidOid, in a check of an exclusion constraint,
/// means the type of the column.
fn operand_type(call: Call) -> pg_sys::Oid {
    pg_sys::Oid::from(call.integer(3) as u32)
}

/// Sets `recheck` to false: the result is exact.
fn set_exact(call: Call) {
    // SAFETY: the fifth argument of consistent and distance functions is a pointer to a bool.
    unsafe { call.pointer::<bool>(4).write(false) }
}

pg_functions!(gist_hamming_consistent, gist_hamming_distance);

fn gist_hamming_consistent(call: Call) -> Result<bool, SqlError> {
    check(call, entry(call), Procedure::Consistent, || match call.smallint(2) {
        WITHIN_BALL => is_ball(operand_type(call), CodeType::Bigint),
        _ => [pg_sys::INT8OID, pg_sys::InvalidOid].contains(&operand_type(call)),
    });
    let bounds = key(call);
    set_exact(call);
    match call.smallint(2) {
        WITHIN_BALL => {
            // SAFETY: the operator with this strategy has a hamming_ball as its right argument.
            let ball = unsafe { HammingBall::read(call, 1) };
            Ok(bounds.min_distance(ball.center as u64) as i32 <= ball.radius)
        }
        EQUAL => Ok(bounds.min_distance(call.datum(1).value() as u64) == 0),
        other => Err(error::unknown_strategy(other)),
    }
}

fn gist_hamming_distance(call: Call) -> f64 {
    check(call, entry(call), Procedure::Distance, || operand_type(call) == pg_sys::INT8OID);
    let bounds = key(call);
    set_exact(call);
    f64::from(bounds.min_distance(call.datum(1).value() as u64))
}
