//! No backtraces in errors: DETAIL is for users, and paths of the machine that built the library are not for
//! clients.

use std::backtrace::Backtrace;
use std::env;

/// Whether the standard library makes backtraces. It looks when it makes the first one, and remembers the
/// answer.
const VARIABLE: &str = "RUST_LIB_BACKTRACE";

/// Turns backtraces off for this library, whatever the environment of the server says. pgrx appends to DETAIL
/// those of errors of PostgreSQL's and of panics, if there are any. The library must not have met an error
/// yet.
pub(crate) fn turn_off() {
    let before = env::var_os(VARIABLE);
    // SAFETY: a process of PostgreSQL has one thread. It sets variables itself, those of its locale among
    // others.
    unsafe {
        env::set_var(VARIABLE, "0");
        // The first backtrace is empty, and the library remembers that.
        drop(Backtrace::capture());
        match before {
            Some(before) => env::set_var(VARIABLE, before),
            None => env::remove_var(VARIABLE),
        }
    }
}
