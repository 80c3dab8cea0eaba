//! Errors of near pairs and clusters.

use crate::pg::report::{SqlError, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

pub(super) fn keys_differ_in_number(keys: usize, codes: usize) -> SqlError {
    report(Code::ERRCODE_ARRAY_ELEMENT_ERROR, format!("{keys} keys cannot be those of {codes} codes"))
        .set_hint("Collect both in one query: SELECT array_agg(id), array_agg(si) FROM document.")
}

pub(super) fn null_key() -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, "keys must not be NULL")
        .set_hint("Leave these rows out, or use the window function near_cluster, whose keys may be NULL.")
}

pub(super) fn null_argument(name: &str) -> SqlError {
    report(Code::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{name} must not be NULL"))
}

pub(super) fn too_many_codes(rows: usize) -> SqlError {
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, format!("{rows} codes are too many to be compared at once"))
        .set_hint("Cut the table into parts that have nothing in common, with PARTITION BY or WHERE.")
}

pub(super) fn not_in_block(place: usize, block: u32, radius: i32, parts: i32) -> SqlError {
    let message = format!("element {place} of the codes is not in block {block}");
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .set_detail(format!("With radius {radius} and {parts} parts, it belongs to other blocks."))
        .set_hint("Make blocks and pairs with the same radius and the same number of parts.")
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
