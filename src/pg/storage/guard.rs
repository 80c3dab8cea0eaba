//! Guards of pages: each holds the pin and the lock of one page, and gives both up when it is dropped.
//!
//! If an error is on its way, the guard leaves both to the end of the transaction, as Postgres's own code
//! does.

use crate::pg::compat::written_lsn;
use hamming_index::page::{Page, PageNumber};
use hamming_index::store::NumberedPage;
use pgrx::pg_sys;
use std::cell::RefCell;
use std::ops::Deref;

/// The numbers of the pages of one index that this process has locked.
#[derive(Default)]
pub(super) struct Held(RefCell<Vec<PageNumber>>);

impl Held {
    pub(super) fn contains(&self, block: PageNumber) -> bool {
        self.0.borrow().contains(&block)
    }

    /// Takes charge of a page that was locked for reading.
    ///
    /// # Safety
    /// The buffer must have this page, pinned and locked, and nobody else may release it.
    pub(super) unsafe fn shared(&self, buffer: pg_sys::Buffer, block: PageNumber) -> Shared<'_> {
        Shared(self.pinned(buffer, block))
    }

    /// Takes charge of a page that was locked for writing.
    ///
    /// # Safety
    /// The buffer must be pinned and locked for us alone, and nobody else may release it.
    pub(super) unsafe fn exclusive(&self, buffer: pg_sys::Buffer) -> Exclusive<'_> {
        // SAFETY: the buffer is pinned, as the caller promises.
        Exclusive(self.pinned(buffer, unsafe { pg_sys::BufferGetBlockNumber(buffer) }))
    }

    fn pinned(&self, buffer: pg_sys::Buffer, block: PageNumber) -> Pinned<'_> {
        self.0.borrow_mut().push(block);
        Pinned { buffer, block, held: self }
    }
}

/// A page that is pinned and locked.
struct Pinned<'a> {
    buffer: pg_sys::Buffer,
    block: PageNumber,
    held: &'a Held,
}

impl Pinned<'_> {
    fn content(&self) -> *mut Page {
        // SAFETY: the buffer is pinned, so that it has its page until we drop it.
        unsafe { pg_sys::BufferGetBlock(self.buffer).cast() }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: pinned and locked by us, and by nobody else in this process.
            unsafe { pg_sys::UnlockReleaseBuffer(self.buffer) };
            self.held.0.borrow_mut().retain(|&held| held != self.block);
        }
    }
}

/// A page that others may read, and nobody changes.
pub(crate) struct Shared<'a>(Pinned<'a>);

impl Deref for Shared<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        // SAFETY: locked, so that nobody changes it; any bytes are a page.
        unsafe { &*self.0.content() }
    }
}

/// A page that nobody else reads or changes.
pub(crate) struct Exclusive<'a>(Pinned<'a>);

impl Exclusive<'_> {
    pub(super) fn buffer(&self) -> pg_sys::Buffer {
        self.0.buffer
    }

    pub(super) fn content_mut(&mut self) -> &mut Page {
        // SAFETY: locked for us alone; any bytes are a page.
        unsafe { &mut *self.0.content() }
    }

    pub(super) fn set_lsn(&mut self, lsn: pg_sys::XLogRecPtr) {
        // SAFETY: a page begins with its header, and this one is locked for us alone.
        unsafe { (*self.0.content().cast::<pg_sys::PageHeaderData>()).pd_lsn = written_lsn(lsn) };
    }
}

impl Deref for Exclusive<'_> {
    type Target = Page;

    fn deref(&self) -> &Page {
        // SAFETY: locked for us alone; any bytes are a page.
        unsafe { &*self.0.content() }
    }
}

impl NumberedPage for Exclusive<'_> {
    fn page_number(&self) -> PageNumber {
        self.0.block
    }
}
