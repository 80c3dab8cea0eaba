//! Decides whether a subtree may have matches, and computes how near its rows may be.

use crate::pg::call::{Call, pg_functions};
use crate::pg::catalog::strategy::{EQUAL, WITHIN_BALL};
use crate::pg::error;
use crate::pg::gist_entry::{CheckedEntry, Operand, Procedure};
use crate::pg::operator_class::Out;
use crate::pg::report::SqlError;

pg_functions!(gist_hamming_consistent, gist_hamming_distance);

/// The last argument is set to false, because the result is exact. Distance functions have it, too.
fn gist_hamming_consistent(
    call: Call,
    _operand: Call,
    strategy: Call,
    _type: Call,
    rechecks: Out<bool>,
) -> Result<bool, SqlError> {
    let strategy = strategy.smallint(2);
    let (entry, operand) = CheckedEntry::searched(call, Procedure::Consistent, strategy == WITHIN_BALL);
    let bounds = entry.key();
    rechecks.set(false);
    match operand {
        Operand::Ball(ball) => Ok(bounds.min_distance(ball.center as u64) as i32 <= ball.radius),
        Operand::Code(code) if strategy == EQUAL => Ok(bounds.min_distance(code) == 0),
        Operand::Code(_) => Err(error::unknown_strategy(strategy)),
    }
}

fn gist_hamming_distance(
    call: Call,
    _operand: Call,
    _strategy: Call,
    _type: Call,
    rechecks: Out<bool>,
) -> f64 {
    let (entry, operand) = CheckedEntry::searched(call, Procedure::Distance, false);
    rechecks.set(false);
    match operand {
        Operand::Code(code) => f64::from(entry.key().min_distance(code)),
        Operand::Ball(ball) => f64::from(entry.key().min_distance(ball.center as u64)),
    }
}
