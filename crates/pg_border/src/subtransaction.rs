//! Subtransactions, by which an error becomes a part of the result.

use pgrx::pg_sys::errcodes::PgSqlErrorCode as Code;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgTryBuilder, pg_sys};
use std::panic::AssertUnwindSafe;

/// Calls a function in a subtransaction. Returns the message of its error if the error reports that data or
/// an index is damaged, or that a file is missing or cannot be read. No page may be locked where an error is
/// raised, because such a lock would leave interrupts held off.
pub fn damage_or<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    // SAFETY: as in PL/pgSQL, a subtransaction keeps the caller's memory context and resource owner.
    let (context, owner) = unsafe {
        let callers = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(callers.0);
        callers
    };
    let end = |is_sound: bool| {
        // SAFETY: the subtransaction was begun above, and is ended once.
        unsafe {
            if is_sound {
                pg_sys::ReleaseCurrentSubTransaction();
            } else {
                pg_sys::RollbackAndReleaseCurrentSubTransaction();
            }
            pg_sys::MemoryContextSwitchTo(context);
            pg_sys::CurrentResourceOwner = owner;
        }
    };
    let damage = |error: CaughtError| {
        end(false);
        let (CaughtError::PostgresError(report)
        | CaughtError::ErrorReport(report)
        | CaughtError::RustPanic { ereport: report, .. }) = error;
        Err(report.message().to_owned())
    };
    PgTryBuilder::new(AssertUnwindSafe(|| {
        let result = read();
        end(true);
        Ok(result)
    }))
    .catch_when(Code::ERRCODE_DATA_CORRUPTED, damage)
    .catch_when(Code::ERRCODE_INDEX_CORRUPTED, damage)
    .catch_when(Code::ERRCODE_UNDEFINED_FILE, damage)
    .catch_when(Code::ERRCODE_IO_ERROR, damage)
    .catch_others(|error| {
        end(false);
        error.rethrow()
    })
    .execute()
}
