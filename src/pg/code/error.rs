//! Errors of codes.

use crate::pg::report::{SqlError, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;

pub(super) fn bits_differ_in_length(a: u32, b: u32) -> SqlError {
    let message = format!("strings of {a} and {b} bits cannot be compared");
    report(Code::ERRCODE_STRING_DATA_LENGTH_MISMATCH, message)
        .set_detail("A distance is the number of places at which two strings of one length differ.")
        .set_hint("A column of type bit(n) holds strings of one length.")
}
