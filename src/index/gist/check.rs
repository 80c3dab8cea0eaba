//! Whether our functions serve the type that they were made for. Somebody's operator class may name them for
//! another type, whose values would then be taken for fingerprints.

use crate::pg::call::Call;
use crate::pg::catalog::ours::is_gist_key;
use crate::pg::encoding::for_message;
use crate::pg::error;
use crate::pg::report::{SqlError, quote, report};
use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CStr;

/// Which of a class's functions is called, as numbered in `sql/gist.sql`.
#[derive(Clone, Copy)]
pub(super) enum Procedure {
    Consistent = 1,
    Compress = 3,
    Penalty = 5,
    Picksplit = 6,
    Distance = 8,
    Fetch = 9,
}

/// Raises an error if an index column with this function is of another type than bigint, or if the operand
/// is not right.
///
/// Each condition of a search, and each statement that writes, has a record of its own for the function that
/// it calls. A check is noted in that record, and not done again.
pub(super) fn check(
    call: Call,
    entry: &pg_sys::GISTENTRY,
    procedure: Procedure,
    is_operand_right: impl FnOnce() -> bool,
) {
    // SAFETY: GiST calls with such a record, and an entry of an index names the index. Nobody else writes to
    // the record, and nobody follows or frees the pointer.
    unsafe {
        let function = &mut *(*call.info()).flinfo;
        let Some(index) = entry.rel.as_ref().filter(|_| function.fn_extra.is_null()) else { return };
        if !serves(index, function.fn_oid, procedure) || !is_operand_right() {
            let name = CStr::from_ptr((*index.rd_rel).relname.data.as_ptr());
            Err(gist_column(name)).unwrap_or_report()
        }
        static CHECKED: u8 = 0;
        function.fn_extra = (&raw const CHECKED).cast_mut().cast();
    }
}

/// Whether every column that has the function is of type bigint, and has our keys.
///
/// # Safety
/// The index must be open.
unsafe fn serves(index: &pg_sys::RelationData, function: Oid, procedure: Procedure) -> bool {
    // SAFETY: the index is open, as the caller promises; each column has `functions` support functions.
    unsafe {
        let functions = usize::from((*index.rd_indam).amsupport);
        (0..(*index.rd_index).indnkeyatts as usize)
            .filter(|column| *index.rd_support.add(column * functions + procedure as usize - 1) == function)
            .all(|column| {
                *index.rd_opcintype.add(column) == pg_sys::INT8OID
                    && is_gist_key(pg_sys::get_atttype(index.rd_id, column as i16 + 1))
            })
    }
}

fn gist_column(index: &CStr) -> SqlError {
    let name = for_message(index);
    let message = format!("cannot serve the operator class of a column of index \"{}\"", quote(&name));
    report(Code::ERRCODE_INVALID_OBJECT_DEFINITION, message)
        .set_detail(error::FOREIGN_CLASS)
        .set_hint("Use gist_hamming_ops, for bigint.")
}
