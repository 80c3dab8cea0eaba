//! Errors of clusters and pairs.

use crate::pg::report::{SqlError, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

pub(super) fn null_key() -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "keys must not be null").set_hint("Leave out these pairs.")
}

pub(super) fn null_argument(name: &str) -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{name} must not be null"))
}

/// There are too many codes or pairs.
pub(super) fn too_many(count: i64, what: &str) -> SqlError {
    let message = format!("too many {what} to cluster at once: {count}");
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message).set_hint(
        "Use PARTITION BY or WHERE to divide the table into parts that have no duplicates in common.",
    )
}

pub(super) fn ends_differ_in_number(a: usize, b: usize) -> SqlError {
    report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, format!("arrays of keys have different lengths: {a} and {b}"))
        .set_hint("Aggregate both in one query: SELECT array_agg(a), array_agg(b) FROM pair.")
}
