//! Where this process has last seen the pages of an index in Postgres's buffers.
//!
//! A search visits hundreds of pages all over an index, and looking a page up in Postgres's table of buffers
//! means waiting for memory several times. Where a page was is known from a list of our own, in one access.
//! Postgres verifies that the page is still there, so the list may be out of date.

use hamming_index::page::{PAGE_SIZE, PageNumber};
use pgrx::pg_sys;
use std::cell::Cell;

/// Pages that are remembered at most, for each index and process: 2 MB, for 4 GB of an index.
const MOST: PageNumber = 1 << 19;
/// Of this number of visits to pages, one takes the way on which Postgres counts that a page is in use.
pub(super) const TURNS: u32 = 16;
/// Bytes of a cache line, on nearly all processors.
const LINE: usize = 64;
/// Lines at the beginning of a page that are loaded ahead. The processor guesses the next ones by itself.
const LINES: usize = 8;

/// Whether this visit to a page may take the short way.
#[inline]
pub(super) fn is_its_turn() -> bool {
    thread_local!(static VISITS: Cell<u32> = const { Cell::new(0) });
    VISITS.set(VISITS.get().wrapping_add(1));
    !VISITS.get().is_multiple_of(TURNS)
}

/// The place in the list that says in which buffer a page was; 0 says nothing. Several pages may have one
/// place.
///
/// The list is kept with what Postgres knows of the open index, and Postgres frees it when that changes. Its
/// first number says how many follow.
///
/// # Safety
/// The index must be open and have `pages` pages. The result is good until Postgres is called.
#[inline]
pub(super) unsafe fn place_of(
    index: pg_sys::Relation,
    pages: PageNumber,
    block: PageNumber,
) -> *mut pg_sys::Buffer {
    // SAFETY: open; nobody else writes to this field, and the list has the places that it says.
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
    // SAFETY: open; the memory is the index's own, and has room for all places.
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

/// Makes the processor load what is read first of the page in this buffer of all processes: its beginning and
/// its end, at the same time. Whether the page is still there does not matter, nor whether there is a buffer.
#[inline]
pub(super) fn load(buffer: pg_sys::Buffer) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a number that stays as it is while the process runs.
        let buffers: *const i8 = unsafe { pg_sys::BufferBlocks }.cast();
        let page = buffers.wrapping_add((buffer as usize).wrapping_sub(1).wrapping_mul(PAGE_SIZE));
        for place in (0..LINES).map(|line| line * LINE).chain([PAGE_SIZE - LINE]) {
            // SAFETY: a hint, which no address makes fail.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(page.wrapping_add(place)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (buffer, LINES, LINE, PAGE_SIZE);
}
