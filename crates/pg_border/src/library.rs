//! What PostgreSQL expects of a library that it loads.

/// Defines the library: its magic block, and the function that PostgreSQL calls when it has loaded it.
#[macro_export]
macro_rules! pg_library {
    ($initialize:path) => {
        pgrx::pg_module_magic!(name, version);

        #[pgrx::pg_guard]
        extern "C-unwind" fn _PG_init() {
            $initialize();
        }
    };
}
pub use pg_library;
