//! The visibility map of a table, which says which blocks are all-visible.

use pgrx::pg_sys;
use std::cell::Cell;
use std::ptr::null_mut;

/// The visibility map of a table, for an index-only scan.
pub(super) struct VisibilityMap {
    /// Null unless the scan is an index-only scan.
    table: pg_sys::Relation,
    /// The page of the map that was last looked at, which is pinned.
    page: Cell<pg_sys::Buffer>,
}

impl VisibilityMap {
    pub(super) fn none() -> Self {
        Self { table: null_mut(), page: Cell::new(pg_sys::InvalidBuffer as pg_sys::Buffer) }
    }

    /// # Safety
    /// The table must be open, and stay open.
    pub(super) unsafe fn of(table: pg_sys::Relation) -> Self {
        Self { table, page: Cell::new(pg_sys::InvalidBuffer as pg_sys::Buffer) }
    }

    /// Whether this block of the table is all-visible.
    pub(super) fn has(&self, block: pg_sys::BlockNumber) -> bool {
        if self.table.is_null() {
            return false;
        }
        let mut page = self.page.get();
        // SAFETY: the table is open, and this function has pinned the page.
        let status = unsafe { pg_sys::visibilitymap_get_status(self.table, block, &raw mut page) };
        self.page.set(page);
        u32::from(status) & pg_sys::VISIBILITYMAP_ALL_VISIBLE != 0
    }
}

/// Releases the pin on the page of the map. After an error, PostgreSQL releases it.
impl Drop for VisibilityMap {
    fn drop(&mut self) {
        let page = self.page.get();
        if page != pg_sys::InvalidBuffer as pg_sys::Buffer && !std::thread::panicking() {
            // SAFETY: `has` has pinned the page.
            unsafe { pg_sys::ReleaseBuffer(page) };
        }
    }
}
