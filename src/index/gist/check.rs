//! Checks that our functions are called for the type that they are made for. Another operator class may name
//! them for another type, whose values they would read as fingerprints.

use crate::pg::call::Call;
use crate::pg::catalog::ours::is_read_by;
use crate::pg::encoding::quoted;
use crate::pg::error;
use crate::pg::open_index::OpenIndex;
use crate::pg::report::{SqlError, UnwrapOrReport, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CStr;

/// The functions of the operator class, with their numbers in `sql/gist.sql`.
#[derive(Clone, Copy)]
pub(super) enum Procedure {
    Consistent = 1,
    Compress = 3,
    Penalty = 5,
    Picksplit = 6,
    Distance = 8,
}

/// Raises an error if an index column that uses the function is not of type bigint, or if the operand is of
/// the wrong type.
///
/// Each condition of a search, and each statement that writes, has its own FmgrInfo for a function. A check
/// is noted there, and not repeated.
pub(super) fn check(
    call: Call,
    entry: &pg_sys::GISTENTRY,
    procedure: Procedure,
    is_operand_right: impl FnOnce() -> bool,
) {
    // SAFETY: GiST passes an FmgrInfo, and the entry names the index. Nobody else writes to `fn_extra`, and
    // nobody follows or frees the pointer in it.
    unsafe {
        let function = &mut *(*call.info()).flinfo;
        if entry.rel.is_null() || !function.fn_extra.is_null() {
            return;
        }
        let index = OpenIndex::new(entry.rel);
        if !serves(index, function.fn_oid, procedure) || !is_operand_right() {
            Err(gist_column(index.name())).unwrap_or_report()
        }
        static CHECKED: u8 = 0;
        function.fn_extra = (&raw const CHECKED).cast_mut().cast();
    }
}

/// Whether every column that uses the function is of type bigint and has our type of keys.
fn serves(index: OpenIndex<'_>, function: Oid, procedure: Procedure) -> bool {
    let has_key = |column| is_read_by(index.column_type(column).type_, c"gist_hamming_key_in");
    (0..index.columns())
        .filter(|&column| index.support(column, procedure as usize) == function)
        .all(|column| index.class_type(column) == pg_sys::INT8OID && has_key(column))
}

fn gist_column(index: &CStr) -> SqlError {
    let message = format!("operator class of a column of index \"{}\" is not supported", quoted(index));
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail(error::FOREIGN_CLASS)
        .set_hint("Use gist_hamming_ops for columns of type bigint.")
}
