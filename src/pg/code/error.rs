//! Errors of codes.

use crate::pg::report::{SqlError, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

pub(super) fn bits_differ_in_length(a: u32, b: u32) -> SqlError {
    report(Code::ERRCODE_STRING_DATA_LENGTH_MISMATCH, "cannot compare bit strings of different sizes")
        .set_detail(format!("The sizes are {a} and {b} bits."))
        .set_hint("A column of type bit(n) accepts only bit strings of length n.")
}
