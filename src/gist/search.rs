//! Searching: whether a subtree may have matches, and how near its rows may be.

use super::check::{IndexedType, Procedure, check};
use super::key::{entry, key};
use crate::code::ball::HammingBall;
use crate::pg::call::{Call, pg_function};
use crate::pg::catalog::ours::is_ball;
use crate::pg::catalog::strategy::{EQUAL, WITHIN_BALL};
use crate::pg::code::CodeType;
use crate::pg::error;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReportable;

/// Whether the entry of a consistent function is that of a row, as Postgres's own GIST_LEAF says it.
fn is_row(call: Call) -> bool {
    // SAFETY: an entry that is looked at in a search has the page that it stands on, whose special space is
    // GiST's opaque data. (Fetch functions get none.)
    unsafe {
        let page = entry(call).page;
        let header = page.cast::<pg_sys::PageHeaderData>();
        let opaque = page.add(usize::from((*header).pd_special)).cast::<pg_sys::GISTPageOpaqueData>();
        u32::from((*opaque).flags) & pg_sys::F_LEAF != 0
    }
}

/// The type of the operand that a column is compared with. An exclusion constraint does not tell it; there it
/// is the type of the column.
fn operand_type(call: Call) -> pg_sys::Oid {
    pg_sys::Oid::from(call.integer(3) as u32)
}

/// Says whether the table has to be asked again whether a row matches.
fn set_recheck(call: Call, recheck: bool) {
    // SAFETY: consistent and distance functions get a pointer to a bool as their fifth argument.
    unsafe { call.pointer::<bool>(4).write(recheck) }
}

pg_function!(
    pg_finfo_gist_hamming_consistent,
    fn gist_hamming_consistent(call) {
        check(call, entry(call), Procedure::Consistent, IndexedType::Fingerprint, || match call.smallint(2) {
            WITHIN_BALL => is_ball(operand_type(call), CodeType::Bigint),
            _ => [pg_sys::INT8OID, pg_sys::InvalidOid].contains(&operand_type(call)),
        });
        let bounds = key(call);
        set_recheck(call, false);
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
    pg_finfo_gist_hamming_ball_consistent,
    fn gist_hamming_ball_consistent(call) {
        check(call, entry(call), Procedure::Consistent, IndexedType::Ball, || {
            operand_type(call) == pg_sys::InvalidOid || is_ball(operand_type(call), CodeType::Bigint)
        });
        // SAFETY: declared with a hamming_ball.
        let ball: HammingBall = unsafe { call.value(1) };
        set_recheck(call, is_row(call));
        (key(call).min_distance(ball.center as u64) as i32 <= ball.radius).into()
    }
);

pg_function!(
    pg_finfo_gist_hamming_distance,
    fn gist_hamming_distance(call) {
        check(call, entry(call), Procedure::Distance, IndexedType::Fingerprint, || {
            operand_type(call) == pg_sys::INT8OID
        });
        let bounds = key(call);
        set_recheck(call, false);
        f64::from(bounds.min_distance(call.bigint(1) as u64)).to_bits().into()
    }
);
