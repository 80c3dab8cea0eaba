//! Scans in several processes, which share what is left of the codes in dynamic shared memory.

use crate::pg::compat::shared_by_scan;
use hamming_index::SharedStretches;
use pgrx::{pg_guard, pg_sys};
use std::ffi::c_void;

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn aminitparallelscan(target: *mut c_void) {
    // SAFETY: Postgres has as much memory there as it was told, aligned for any type.
    unsafe { target.cast::<SharedStretches>().write(SharedStretches::default()) }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amparallelrescan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: Postgres passes a scan that has begun.
    if let Some(shared) = unsafe { stretches_of(&*scan) } {
        shared.reset();
    }
}

/// What the processes of a scan share, unless there is one process.
///
/// # Safety
/// The scan must have begun, and last as long as the result is used.
pub(super) unsafe fn stretches_of(scan: &pg_sys::IndexScanDescData) -> Option<&'static SharedStretches> {
    // SAFETY: written by aminitparallelscan, and there as long as the scan.
    unsafe { shared_by_scan(scan).cast::<SharedStretches>().as_ref() }
}
