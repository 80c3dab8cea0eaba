//! Errors of clusters.

use crate::pg::report::{SqlError, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

pub(super) fn null_key() -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "keys must not be NULL").set_hint("Leave these pairs out.")
}

pub(super) fn null_argument(name: &str) -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{name} must not be NULL"))
}

pub(super) fn too_many_codes(rows: usize) -> SqlError {
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, format!("{rows} codes are too many to be compared at once"))
        .set_hint("Cut the table into parts that have nothing in common, with PARTITION BY or WHERE.")
}

pub(super) fn ends_differ_in_number(a: usize, b: usize) -> SqlError {
    report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, format!("{a} keys cannot be paired with {b} keys"))
        .set_hint("Collect both in one query: SELECT array_agg(a), array_agg(b) FROM pair.")
}

pub(super) fn too_many_pairs(pairs: usize) -> SqlError {
    report(
        Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        format!("{pairs} pairs are too many to be clustered at once"),
    )
}
