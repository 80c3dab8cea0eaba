//! Keeps backtraces out of errors. DETAIL is for users, and clients should not see paths of the machine that
//! built the library.

use std::backtrace::Backtrace;
use std::env;

/// The environment variable for backtraces. Rust's standard library reads it for the first backtrace, and
/// remembers the value.
const VARIABLE: &str = "RUST_LIB_BACKTRACE";

/// Turns backtraces off for this library, whatever the server's environment says. Otherwise pgrx would append
/// them to DETAIL, for panics and for errors of PostgreSQL. Must be called before the first error.
pub fn turn_off() {
    let before = env::var_os(VARIABLE);
    // SAFETY: a process of PostgreSQL has one thread. PostgreSQL itself sets variables, such as those of the
    // locale.
    unsafe {
        env::set_var(VARIABLE, "0");
        // This backtrace is empty, and the standard library remembers that backtraces are off.
        drop(Backtrace::capture());
        match before {
            Some(before) => env::set_var(VARIABLE, before),
            None => env::remove_var(VARIABLE),
        }
    }
}
