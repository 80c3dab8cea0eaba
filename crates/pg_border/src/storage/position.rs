//! Positions in the WAL.

use crate::compat::page_lsn;
use hamming_index::page::Page;
use pgrx::pg_sys;

/// The end of the WAL; on a standby, the end of the replayed WAL.
pub fn log_position() -> u64 {
    // SAFETY: the functions read shared counters.
    unsafe {
        match pg_sys::RecoveryInProgress() {
            true => pg_sys::GetXLogReplayRecPtr(std::ptr::null_mut()),
            false => pg_sys::GetXLogInsertRecPtr(),
        }
    }
}

/// The LSN of a page: the end of the record of its last change.
pub fn log_position_of(page: &Page) -> u64 {
    // SAFETY: a page begins with its header.
    page_lsn(unsafe { &(*std::ptr::from_ref(page).cast::<pg_sys::PageHeaderData>()).pd_lsn })
}
