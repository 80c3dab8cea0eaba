//! Memory that the processes of a parallel index scan share.

use super::compat::shared_by_scan;
use hamming_index::{SharedStretches, StretchAccess};
use pgrx::pg_sys;
use std::cell::Cell;
use std::rc::Rc;

/// Exists as long as a scan. When it is dropped, the shared memory of the scan cannot be used any more.
#[derive(Default)]
pub struct ScanLife(Rc<Cell<bool>>);

impl Drop for ScanLife {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

/// The stretches that the processes of a scan divide among themselves.
pub struct ScanStretches {
    stretches: *const SharedStretches,
    has_ended: Rc<Cell<bool>>,
}

impl ScanStretches {
    /// The stretches of a scan, if it is parallel.
    ///
    /// # Safety
    /// The scan must have begun. The life must end before the scan.
    pub unsafe fn of(scan: &pg_sys::IndexScanDescData, life: &ScanLife) -> Option<Self> {
        // SAFETY: the scan has begun, as the caller promises.
        let stretches: *const SharedStretches = unsafe { shared_by_scan(scan) }.cast();
        (!stretches.is_null()).then(|| Self { stretches, has_ended: life.0.clone() })
    }
}

impl StretchAccess for ScanStretches {
    fn with<R>(&self, use_: impl FnOnce(&SharedStretches) -> R) -> R {
        assert!(!self.has_ended.get(), "stretches are divided as long as the scan");
        // SAFETY: the scan has not ended, so its memory is attached. The method of the scan that initializes
        // the memory has written this type.
        use_(unsafe { &*self.stretches })
    }
}
