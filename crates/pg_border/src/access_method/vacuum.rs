//! What a vacuum passes to an access method.

use crate::open_index::OpenIndex;
use pgrx::pg_sys::{self, BlockIdData, ItemPointerData, OffsetNumber};
use std::ffi::c_void;
use std::marker::PhantomData;

/// A vacuum of an index.
#[derive(Clone, Copy)]
pub struct VacuumInfo<'a>(&'a pg_sys::IndexVacuumInfo);

impl<'a> VacuumInfo<'a> {
    /// # Safety
    /// The index must stay open as long as the lifetime says, and the strategy must live as long.
    pub(super) unsafe fn new(info: &'a pg_sys::IndexVacuumInfo) -> Self {
        Self(info)
    }

    /// The index.
    pub fn index(self) -> OpenIndex<'a> {
        // SAFETY: the index is open, as the caller of `new` has promised.
        unsafe { OpenIndex::new(self.0.index) }
    }

    /// The ring of buffers that the vacuum uses.
    pub(crate) fn ring(self) -> pg_sys::BufferAccessStrategy {
        self.0.strategy
    }
}

/// Says which rows are dead. For CREATE INDEX CONCURRENTLY, it notes each row for which it is asked.
#[derive(Clone, Copy)]
pub struct DeadRowCheck<'a> {
    is_dead: pg_sys::IndexBulkDeleteCallback,
    state: *mut c_void,
    life: PhantomData<&'a c_void>,
}

impl DeadRowCheck<'_> {
    /// # Safety
    /// The callback must be one that PostgreSQL has passed together with this state, answer for any row, and
    /// live as long as the lifetime says.
    pub(super) unsafe fn new(is_dead: pg_sys::IndexBulkDeleteCallback, state: *mut c_void) -> Self {
        Self { is_dead, state, life: PhantomData }
    }

    /// Asks for `count` rows of a page, at most 64, from an offset on. Returns a bit for each, which is set
    /// if the row is dead.
    pub fn are_dead(self, page: pg_sys::BlockNumber, first: OffsetNumber, count: u16) -> u64 {
        debug_assert!(u32::from(count) <= u64::BITS, "there is a bit for each row");
        let page = BlockIdData { bi_hi: (page >> 16) as u16, bi_lo: page as u16 };
        let is_dead = |offset| {
            let mut row = ItemPointerData { ip_blkid: page, ip_posid: offset };
            // SAFETY: as the caller of `new` has promised.
            self.is_dead.is_some_and(|is_dead| unsafe { is_dead(&raw mut row, self.state) })
        };
        let bits = || (0..count).fold(0, |bits, row| bits | u64::from(is_dead(first + row)) << row);
        // SAFETY: nothing is to be dropped if PostgreSQL reports an error.
        unsafe { pg_sys::ffi::pg_guard_ffi_boundary(bits) }
    }
}
