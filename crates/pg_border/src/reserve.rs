//! Memory for small requests that the system refuses.

use std::alloc::Layout;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that belong to the process from its beginning; those that are never used take no memory. Each block
/// follows the one before it. The bytes of a block can be used again after it was given back as the last one,
/// or together with all others.
pub(super) struct Reserve<const SIZE: usize> {
    bytes: UnsafeCell<[MaybeUninit<u8>; SIZE]>,
    used: AtomicUsize,
    blocks: AtomicUsize,
}

// SAFETY: a process of PostgreSQL has one thread.
unsafe impl<const SIZE: usize> Sync for Reserve<SIZE> {}

impl<const SIZE: usize> Reserve<SIZE> {
    pub(super) const fn new() -> Self {
        let bytes = UnsafeCell::new([MaybeUninit::uninit(); SIZE]);
        Self { bytes, used: AtomicUsize::new(0), blocks: AtomicUsize::new(0) }
    }

    fn start(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    /// A block; null if what is left is too small.
    pub(super) fn take(&self, layout: Layout) -> *mut u8 {
        let used = self.used.load(Relaxed);
        // SAFETY: no more bytes are used than there are.
        let rest = unsafe { self.start().add(used) };
        let skipped = rest.align_offset(layout.align());
        match (used + skipped).checked_add(layout.size()) {
            Some(end) if end <= SIZE => {
                self.used.store(end, Relaxed);
                self.blocks.fetch_add(1, Relaxed);
                // SAFETY: the block ends within the bytes.
                unsafe { rest.add(skipped) }
            }
            _ => null_mut(),
        }
    }

    /// Whether this is a block of the reserve.
    pub(super) fn has(&self, place: *mut u8) -> bool {
        place.addr().wrapping_sub(self.start().addr()) < SIZE
    }

    /// Whether there are blocks that have not been given back.
    pub(super) fn is_in_use(&self) -> bool {
        self.blocks.load(Relaxed) > 0
    }

    /// Takes back a block of this size.
    pub(super) fn give_back(&self, place: *mut u8, size: usize) {
        let first = place.addr() - self.start().addr();
        if self.blocks.fetch_sub(1, Relaxed) == 1 {
            self.used.store(0, Relaxed);
        } else if first + size == self.used.load(Relaxed) {
            self.used.store(first, Relaxed);
        }
    }
}
