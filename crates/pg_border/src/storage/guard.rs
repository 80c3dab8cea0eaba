//! Guards of pages. A guard holds the pin and the lock of a page, and releases both when it is dropped.
//!
//! During a panic, the guard releases neither: PostgreSQL does so at the end of the transaction, as for its
//! own code.

use crate::compat::written_lsn;
use hamming_index::page::{Page, PageNumber};
use hamming_index::store::NumberedPage;
use pgrx::pg_sys;
use std::cell::RefCell;
use std::ops::Deref;

/// The block numbers of an index's pages that this process has locked.
#[derive(Default)]
pub(super) struct LockedPages(RefCell<Vec<PageNumber>>);

impl LockedPages {
    pub(super) fn contains(&self, block: PageNumber) -> bool {
        self.0.borrow().contains(&block)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Makes a guard for a page that is locked for reading.
    ///
    /// # Safety
    /// The buffer must contain this page, pinned and locked by us, and nobody else may release it.
    pub(super) unsafe fn shared(&self, buffer: pg_sys::Buffer, block: PageNumber) -> SharedPage<'_> {
        SharedPage(self.pinned(buffer, block))
    }

    /// Makes a guard for a page that is locked for writing.
    ///
    /// # Safety
    /// The buffer must be pinned and exclusively locked by us, and nobody else may release it.
    pub(super) unsafe fn exclusive(&self, buffer: pg_sys::Buffer) -> ExclusivePage<'_> {
        // SAFETY: the buffer is pinned, as the caller promises.
        ExclusivePage(self.pinned(buffer, unsafe { pg_sys::BufferGetBlockNumber(buffer) }))
    }

    fn pinned(&self, buffer: pg_sys::Buffer, block: PageNumber) -> Pinned<'_> {
        self.0.borrow_mut().push(block);
        Pinned { buffer, block, locked: self }
    }
}

/// A page that is pinned and locked.
struct Pinned<'a> {
    buffer: pg_sys::Buffer,
    block: PageNumber,
    locked: &'a LockedPages,
}

impl Pinned<'_> {
    fn content(&self) -> *mut Page {
        // SAFETY: the buffer is pinned, so it contains the page until the guard is dropped.
        unsafe { pg_sys::BufferGetBlock(self.buffer).cast() }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the guard has the pin and the lock, and nobody else releases them.
            unsafe { pg_sys::UnlockReleaseBuffer(self.buffer) };
            self.locked.0.borrow_mut().retain(|&block| block != self.block);
        }
    }
}

/// A page that others may read at the same time, and nobody changes.
pub struct SharedPage<'a>(Pinned<'a>);

impl Deref for SharedPage<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        // SAFETY: the page is locked, so nobody changes it. Any bytes are a valid Page.
        unsafe { &*self.0.content() }
    }
}

/// A page that nobody else reads or changes.
pub struct ExclusivePage<'a>(Pinned<'a>);

impl ExclusivePage<'_> {
    pub(super) fn buffer(&self) -> pg_sys::Buffer {
        self.0.buffer
    }

    pub(super) fn content_mut(&mut self) -> &mut Page {
        // SAFETY: the page is exclusively locked. Any bytes are a valid Page.
        unsafe { &mut *self.0.content() }
    }

    pub(super) fn set_lsn(&mut self, lsn: pg_sys::XLogRecPtr) {
        // SAFETY: a page begins with its header, and this one is exclusively locked.
        unsafe { (*self.0.content().cast::<pg_sys::PageHeaderData>()).pd_lsn = written_lsn(lsn) };
    }
}

impl Deref for ExclusivePage<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        // SAFETY: the page is exclusively locked. Any bytes are a valid Page.
        unsafe { &*self.0.content() }
    }
}

impl NumberedPage for ExclusivePage<'_> {
    fn page_number(&self) -> PageNumber {
        self.0.block
    }
}
