//! Scans in several processes, which share in dynamic shared memory how far they have got.

use crate::pg::compat::shared_by_scan;
use hamming_index::SharedStretches;
use pgrx::{pg_guard, pg_sys};
use std::ffi::c_void;

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn aminitparallelscan(target: *mut c_void) {
    // SAFETY: PostgreSQL reserves as much memory as `size_shared` returns, aligned for any type.
    unsafe { target.cast::<SharedStretches>().write(SharedStretches::default()) }
}

#[pg_guard]
pub(super) unsafe extern "C-unwind" fn amparallelrescan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: PostgreSQL passes a scan that has begun.
    if let Some(shared) = unsafe { stretches_of(&*scan) } {
        shared.reset();
    }
}

/// Memory shared by the processes of a scan; `None` if the scan is not parallel.
///
/// # Safety
/// The scan must have begun, and last as long as the result is used.
pub(super) unsafe fn stretches_of(scan: &pg_sys::IndexScanDescData) -> Option<&'static SharedStretches> {
    // SAFETY: `aminitparallelscan` has written it, and it stays as long as the scan.
    unsafe { shared_by_scan(scan).cast::<SharedStretches>().as_ref() }
}
