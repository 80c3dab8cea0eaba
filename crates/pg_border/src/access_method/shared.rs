//! What the processes of a parallel index scan share.

use std::cell::Cell;
use std::rc::Rc;

/// Says that a scan has ended, when it is dropped.
#[derive(Default)]
pub(super) struct HasEnded(Rc<Cell<bool>>);

impl Drop for HasEnded {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

/// A type whose values processes share, each by a pointer of its own.
///
/// # Safety
/// A value must have no pointers, and all that it offers must be right while other processes use it.
pub unsafe trait SharedByProcesses: Default + Sync + 'static {
    /// Makes the value what it was at first, while no other process uses it.
    fn reset(&self);
}

// SAFETY: there is no value.
unsafe impl SharedByProcesses for () {
    fn reset(&self) {}
}

/// What the processes of a scan share. It may be kept, but not be used after the scan has ended.
pub struct SharedOfScan<S> {
    shared: *const S,
    has_ended: Rc<Cell<bool>>,
}

impl<S> SharedOfScan<S> {
    /// # Safety
    /// There must be a value of this type until the scan has ended.
    pub(super) unsafe fn new(shared: *const S, has_ended: &HasEnded) -> Self {
        Self { shared, has_ended: has_ended.0.clone() }
    }

    /// Calls `use_` with the shared value.
    pub fn with<R>(&self, use_: impl FnOnce(&S) -> R) -> R {
        assert!(!self.has_ended.get(), "processes share a value as long as the scan");
        // SAFETY: the scan has not ended, so its memory is attached.
        use_(unsafe { &*self.shared })
    }
}
