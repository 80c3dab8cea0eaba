//! The stretches that the processes of a parallel index scan divide among themselves.

use super::access_method::{SharedByProcesses, SharedOfScan};
use hamming_index::{SharedStretches, StretchAccess};

// SAFETY: the stretches are an atomic number.
unsafe impl SharedByProcesses for SharedStretches {
    fn reset(&self) {
        Self::reset(self);
    }
}

impl StretchAccess for SharedOfScan<SharedStretches> {
    fn with<R>(&self, use_: impl FnOnce(&SharedStretches) -> R) -> R {
        Self::with(self, use_)
    }
}
