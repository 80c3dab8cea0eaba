//! Cancellation: long work asks often whether the user has cancelled it.

use pgrx::pg_sys;

/// Raises the error of a pending cancel or shutdown, which unwinds through the caller.
#[inline]
pub(crate) fn check_for_interrupts() {
    // SAFETY: the flag is a plain C int that a signal handler of this process sets; a volatile read is
    // how Postgres itself looks at it.
    let pending = unsafe { (&raw const pg_sys::InterruptPending).read_volatile() };
    if pending != 0 {
        // SAFETY: we are inside a function call in a backend, with nothing held that an error would
        // leave behind: pgrx turns the error into a panic, so that destructors run.
        unsafe { pg_sys::ProcessInterrupts() };
    }
}
