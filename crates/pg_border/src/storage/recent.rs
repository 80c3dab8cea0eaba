//! Remembers in which of PostgreSQL's buffers this process has last seen the pages of an index.
//!
//! A search visits hundreds of pages all over an index. To look a page up in PostgreSQL's table of buffers
//! means to wait for memory several times; our list answers in one access. PostgreSQL verifies that the page
//! is still in that buffer, so the list may be out of date.

use hamming_index::page::{PAGE_SIZE, PageNumber};
use hamming_index::store::LoadingPage;
use pgrx::pg_sys;
use std::cell::Cell;
use std::ops::Range;

/// The largest number of pages that are remembered for each index and process: 2 MB, for 4 GB of an index.
const MOST: PageNumber = 1 << 19;
/// One of this many visits looks the page up in PostgreSQL's table, so that PostgreSQL counts it as used.
pub(super) const LOOK_UP_EVERY: u32 = 64;
/// The size of a cache line in bytes, on nearly all processors.
const LINE: usize = 64;

/// Whether this visit may use the list: false for one of [`LOOK_UP_EVERY`] visits.
#[inline]
pub(super) fn may_use_list() -> bool {
    thread_local!(static VISITS: Cell<u32> = const { Cell::new(0) });
    VISITS.set(VISITS.get().wrapping_add(1));
    !VISITS.get().is_multiple_of(LOOK_UP_EVERY)
}

/// The entry of the list for a page: the buffer in which the page was last seen, or 0. Several pages may
/// share an entry.
///
/// The list is stored in the relcache entry of the index, which frees it when the entry is rebuilt. The first
/// number of the list is its length.
///
/// # Safety
/// The index must be open and have `pages` pages. The result is valid until PostgreSQL is called.
#[inline]
pub(super) unsafe fn place_of(
    index: pg_sys::Relation,
    pages: PageNumber,
    block: PageNumber,
) -> *mut pg_sys::Buffer {
    // SAFETY: the index is open; only this file writes to the field, and the list is as long as it says.
    unsafe {
        let mut list: *mut pg_sys::Buffer = (*index).rd_amcache.cast();
        if list.is_null() || (*list as PageNumber) < pages.min(MOST) {
            list = make_list(index, pages.clamp(1, MOST).next_power_of_two());
        }
        list.add(1 + (block & (*list as PageNumber - 1)) as usize)
    }
}

/// # Safety
/// The index must be open.
#[cold]
unsafe fn make_list(index: pg_sys::Relation, places: PageNumber) -> *mut pg_sys::Buffer {
    // SAFETY: the index is open; the memory belongs to its relcache entry, and has room for all entries.
    unsafe {
        let bytes = (places as usize + 1) * size_of::<pg_sys::Buffer>();
        let list: *mut pg_sys::Buffer = pg_sys::MemoryContextAllocZero((*index).rd_indexcxt, bytes).cast();
        *list = places as pg_sys::Buffer;
        let old = std::mem::replace(&mut (*index).rd_amcache, list.cast());
        if !old.is_null() {
            pg_sys::pfree(old);
        }
        list
    }
}

/// Where a page may be in shared buffers; another page if that is not known. The buffer may be free or have
/// another page meanwhile, because this address is only used to prefetch.
#[derive(Clone, Copy)]
pub struct RecentPage(*const i8);

impl RecentPage {
    /// Prefetches the header of this buffer, and the beginning and the end of its page. Any number is
    /// allowed: those of temporary tables' buffers are negative, and 0 stands for none. For these it is the
    /// first shared buffer, so that nothing has to ask whether there is one.
    #[inline]
    pub(super) fn loading(buffer: pg_sys::Buffer) -> Self {
        let place = usize::try_from(buffer.saturating_sub(1)).unwrap_or(0);
        // SAFETY: the pointers do not change while the process runs.
        let (headers, pages) = unsafe { (pg_sys::BufferDescriptors, pg_sys::BufferBlocks) };
        let page = pages.cast::<i8>().wrapping_add(place.wrapping_mul(PAGE_SIZE));
        prefetch(headers.wrapping_add(place).cast());
        prefetch(page);
        prefetch(page.wrapping_add(PAGE_SIZE - LINE));
        Self(page)
    }
}

impl LoadingPage for RecentPage {
    #[inline]
    fn load(&self, bytes: Range<usize>) {
        (bytes.start / LINE..bytes.end.div_ceil(LINE)).for_each(|line| self.load_at(line * LINE));
    }

    #[inline(always)]
    fn load_at(&self, byte: usize) {
        prefetch(self.0.wrapping_add(byte));
    }
}

/// Loads the cache line with this address into the processor's caches. The address may be any.
#[inline]
fn prefetch(address: *const i8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint, which is allowed for any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
