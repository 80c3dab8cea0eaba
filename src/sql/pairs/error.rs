//! Errors of clusters and pairs.

use crate::pg::report::{SqlError, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

pub(super) fn null_key() -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "keys must not be NULL").set_hint("Leave these pairs out.")
}

pub(super) fn null_argument(name: &str) -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{name} must not be NULL"))
}

/// There are too many codes or pairs.
pub(super) fn too_many(count: i64, what: &str) -> SqlError {
    let message = format!("{count} {what} are too many to be clustered at once");
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
        .set_hint("Cut the table into parts that have nothing in common, with PARTITION BY or WHERE.")
}

pub(super) fn ends_differ_in_number(a: usize, b: usize) -> SqlError {
    report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, format!("{a} keys cannot be paired with {b} keys"))
        .set_hint("Collect both in one query: SELECT array_agg(a), array_agg(b) FROM pair.")
}
