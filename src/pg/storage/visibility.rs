//! Which blocks of a table are all-visible, by its visibility map.

use pgrx::pg_sys;
use std::cell::Cell;
use std::ptr::null_mut;

/// The visibility map of a table, for an index-only scan.
pub(super) struct VisibilityMap {
    /// Null if the scan reads the table anyway.
    table: Cell<pg_sys::Relation>,
    /// The pinned page of the map that was looked at last.
    page: Cell<pg_sys::Buffer>,
}

impl VisibilityMap {
    pub(super) fn none() -> Self {
        Self { table: Cell::new(null_mut()), page: Cell::new(pg_sys::InvalidBuffer as pg_sys::Buffer) }
    }

    /// Rows of this table are asked for from now on.
    ///
    /// # Safety
    /// The table must be open, and stay so.
    pub(super) unsafe fn set_table(&self, table: pg_sys::Relation) {
        self.table.set(table);
    }

    /// Whether this block of the table is all-visible.
    pub(super) fn has(&self, block: pg_sys::BlockNumber) -> bool {
        if self.table.get().is_null() {
            return false;
        }
        let mut page = self.page.get();
        // SAFETY: the table is open, and the page was pinned by this function.
        let status = unsafe { pg_sys::visibilitymap_get_status(self.table.get(), block, &raw mut page) };
        self.page.set(page);
        u32::from(status) & pg_sys::VISIBILITYMAP_ALL_VISIBLE != 0
    }

    /// Gives up the page of the map. After an error, PostgreSQL does so itself.
    pub(super) fn release(&self) {
        let page = self.page.replace(pg_sys::InvalidBuffer as pg_sys::Buffer);
        if page != pg_sys::InvalidBuffer as pg_sys::Buffer {
            // SAFETY: pinned by us.
            unsafe { pg_sys::ReleaseBuffer(page) };
        }
    }
}
