//! PostgreSQL's settings.

use pgrx::pg_sys;
use std::ffi::CStr;

/// The value of a setting, by the name of its variable: `setting!(work_mem)`.
#[macro_export]
macro_rules! setting {
    ($name:ident) => {
        // SAFETY: the setting is a number, and only this thread changes it.
        unsafe { pgrx::pg_sys::$name }
    };
}
pub use setting;

/// Reserves the names of settings that begin with `prefix.`, after those that the library has were defined:
/// removes what a session has set under other names.
pub fn reserve_prefix(prefix: &'static CStr) {
    // SAFETY: PostgreSQL keeps a copy of the name.
    unsafe { pg_sys::MarkGUCPrefixReserved(prefix.as_ptr()) };
}

/// Bytes that a hash table of a node may take: `work_mem` times `hash_mem_multiplier`.
pub fn hash_memory_limit() -> usize {
    // SAFETY: PostgreSQL computes the limit from its settings.
    unsafe { pg_sys::get_hash_memory_limit() }
}

pub(super) fn database_encoding() -> pg_sys::pg_enc::Type {
    // SAFETY: the session is connected to a database, which has an encoding.
    unsafe { pg_sys::GetDatabaseEncoding() as pg_sys::pg_enc::Type }
}
