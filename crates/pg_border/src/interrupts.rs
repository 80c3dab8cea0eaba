//! Cancellation: long work checks often whether the user has cancelled it.

use super::allocator;
use super::report::UnwrapOrReport;
use pgrx::pg_sys;

/// Raises the error of a pending cancel or shutdown, or of memory that was refused, which unwinds through the
/// caller.
#[inline]
pub fn check_for_interrupts() {
    // SAFETY: the flag is a C int that signal handlers of this process set. PostgreSQL also reads it by a
    // volatile read.
    let pending = unsafe { (&raw const pg_sys::InterruptPending).read_volatile() };
    if pending != 0 || allocator::has_refused() {
        process_interrupts();
    }
}

#[cold]
fn process_interrupts() {
    // SAFETY: a backend is executing our function. pgrx turns an error into a panic, so destructors run and
    // nothing is left behind.
    let may_end = unsafe {
        pg_sys::ProcessInterrupts();
        pg_sys::InterruptHoldoffCount == 0 && pg_sys::CritSectionCount == 0
    };
    if may_end {
        allocator::refusal().unwrap_or_report();
    }
}
