//! Searching: whether a subtree may have matches, and how near its rows may be.

use super::check::{Procedure, check};
use super::key::{entry, key};
use crate::pg::call::{Call, pg_function};
use crate::pg::catalog::ours::is_ball;
use crate::pg::catalog::strategy::{EQUAL, WITHIN_BALL};
use crate::pg::code::CodeType;
use crate::pg::code::ball::HammingBall;
use crate::pg::error;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

/// The type of the operand that a column is compared with. An exclusion constraint does not tell it; there it
/// is the type of the column.
fn operand_type(call: Call) -> pg_sys::Oid {
    pg_sys::Oid::from(call.integer(3) as u32)
}

/// Says that the answer is exact: the table has not to be asked again.
fn set_exact(call: Call) {
    // SAFETY: consistent and distance functions get a pointer to a bool as their fifth argument.
    unsafe { call.pointer::<bool>(4).write(false) }
}

pg_function!(
    pg_finfo_gist_hamming_consistent,
    fn gist_hamming_consistent(call) {
        check(call, entry(call), Procedure::Consistent, || match call.smallint(2) {
            WITHIN_BALL => is_ball(operand_type(call), CodeType::Bigint),
            _ => [pg_sys::INT8OID, pg_sys::InvalidOid].contains(&operand_type(call)),
        });
        let bounds = key(call);
        set_exact(call);
        match call.smallint(2) {
            WITHIN_BALL => {
                // SAFETY: the right side of the operator with this strategy is a hamming_ball.
                let ball: HammingBall = unsafe { call.value(1) };
                bounds.min_distance(ball.center as u64) as i32 <= ball.radius
            }
            EQUAL => bounds.may_contain(call.bigint(1) as u64),
            other => Err(error::unknown_strategy(other)).unwrap_or_report(),
        }
        .into()
    }
);

pg_function!(
    pg_finfo_gist_hamming_distance,
    fn gist_hamming_distance(call) {
        check(call, entry(call), Procedure::Distance, || {
            operand_type(call) == pg_sys::INT8OID
        });
        let bounds = key(call);
        set_exact(call);
        f64::from(bounds.min_distance(call.bigint(1) as u64)).to_bits().into()
    }
);
