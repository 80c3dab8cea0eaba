//! PostgreSQL's settings.

use pgrx::pg_sys;

/// The value of a setting, by the name of its variable: `setting!(work_mem)`.
macro_rules! setting {
    ($name:ident) => {
        // SAFETY: a number that this thread alone changes.
        unsafe { pgrx::pg_sys::$name }
    };
}
pub(crate) use setting;

pub(super) fn database_encoding() -> pg_sys::pg_enc::Type {
    // SAFETY: a setting of the connected database.
    unsafe { pg_sys::GetDatabaseEncoding() as pg_sys::pg_enc::Type }
}
