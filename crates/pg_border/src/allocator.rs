//! The allocator for Rust's memory, and what happens when the system refuses memory.
//!
//! Memory that grows with the user's data is requested by `base::reserve` and its relatives, which mark their
//! requests ([`base::may_be_refused`]). Such a request returns the refusal, which becomes an error of the
//! statement. The callers of all other requests, such as `format!` and `Box::new`, cannot go on without
//! memory: Rust would abort the process, and PostgreSQL would then assume that shared memory may be damaged,
//! and end all sessions. These requests are small, so they are satisfied from a reserve that the process has
//! from its beginning ([`Reserve`]). The statement ends with an error when it next checks for interrupts, if
//! it has not finished by then.
//!
//! If the reserve is used up, the allocator ends only this session, with a FATAL error: the client is told,
//! locks are released, the transaction is rolled back. An allocator must not unwind. A FATAL error does not
//! unwind: it never returns. Rust's frames are abandoned without dropping anything, but they only hold memory
//! of a process that ends. PostgreSQL releases everything that other processes can see.

use super::reserve::Reserve;
use base::OutOfMemory;
use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

struct SessionAllocator;

#[global_allocator]
static ALLOCATOR: SessionAllocator = SessionAllocator;

/// What all small requests of a statement may take while memory is refused.
static RESERVE: Reserve<{ 1 << 20 }> = Reserve::new();

/// The bytes of the last request that the reserve has satisfied, until the statement has been told.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator and the reserve do the work. If both refuse, we return null or not at all.
unsafe impl GlobalAlloc for SessionAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller satisfies the conditions of the trait, which are the system allocator's.
        given(unsafe { System.alloc(layout) }, layout)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        let place = given(unsafe { System.alloc_zeroed(layout) }, layout);
        if RESERVE.has(place) {
            // SAFETY: the block has this size.
            unsafe { place.write_bytes(0, layout.size()) };
        }
        place
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.has(place) {
            // SAFETY: as for `alloc`.
            let moved = unsafe { System.realloc(place, layout, size) };
            if !moved.is_null() || base::may_be_refused() {
                return moved;
            }
        }
        // SAFETY: the caller says that the size is valid with this alignment.
        let moved = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !moved.is_null() {
            // SAFETY: both blocks have that many bytes, and the old one was allocated here.
            unsafe {
                moved.copy_from_nonoverlapping(place, size.min(layout.size()));
                self.dealloc(place, layout);
            }
        }
        moved
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if RESERVE.has(place) {
            RESERVE.give_back(place, layout.size());
        } else {
            // SAFETY: as for `alloc`.
            unsafe { System.dealloc(place, layout) }
        }
    }
}

/// Returns the memory, or a block of the reserve. Null is returned only if the caller can deal with it.
#[inline]
fn given(place: *mut u8, layout: Layout) -> *mut u8 {
    if !place.is_null() || base::may_be_refused() {
        return place;
    }
    let place = RESERVE.take(layout);
    if place.is_null() {
        end_session(layout.size());
    }
    REFUSED.store(layout.size(), Relaxed);
    place
}

/// Whether the system has refused memory since the last call of [`refusal`].
#[inline]
pub(super) fn has_refused() -> bool {
    REFUSED.load(Relaxed) > 0
}

/// An error if it has, and the reserve is still in use.
pub(super) fn refusal() -> Result<(), OutOfMemory> {
    let bytes = REFUSED.swap(0, Relaxed);
    if bytes > 0 && RESERVE.is_in_use() { Err(OutOfMemory(bytes)) } else { Ok(()) }
}

/// Whether the session is being ended.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

// pgrx declares none of these functions, and its own error reports allocate memory.
unsafe extern "C-unwind" {
    fn errstart(level: c_int, domain: *const c_char) -> bool;
    fn errcode(code: c_int) -> c_int;
    fn errmsg(format: *const c_char, ...) -> c_int;
    fn errdetail(format: *const c_char, ...) -> c_int;
    fn errhint(format: *const c_char, ...) -> c_int;
    fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
}

const HINT: &CStr =
    c"Other sessions go on. Lower work_mem, maintenance_work_mem or the number of connections, or give \
the server more memory (vm.overcommit_memory and ulimit -v limit it too).";

/// Ends this session with a FATAL error. Returns if there is no session, or if memory for the report is
/// refused as well: then Rust aborts.
#[cold]
fn end_session(bytes: usize) {
    // SAFETY: the flags belong to the process, which has one thread. The functions are called as PostgreSQL's
    // macro ereport does; at the level FATAL the last one exits. Since PG_exception_stack is null, an error
    // during the report exits too, and does not jump over Rust's frames. In a critical section, PostgreSQL
    // would raise a PANIC, but there we request no memory (`crates/pg_border/src/storage/wal.rs`).
    unsafe {
        let is_postmaster = pg_sys::IsPostmasterEnvironment && !pg_sys::IsUnderPostmaster;
        if is_postmaster || IS_ENDING.swap(true, Relaxed) && !pg_sys::proc_exit_inprogress {
            return;
        }
        pg_sys::PG_exception_stack = std::ptr::null_mut();
        // If pgrx is catching an error, functions that have been left are still in this list.
        pg_sys::error_context_stack = std::ptr::null_mut();
        if errstart(pg_sys::FATAL as c_int, std::ptr::null()) {
            errcode(PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY as c_int);
            errmsg(c"out of memory".as_ptr());
            errdetail(c"Failed on a request of %zu bytes.".as_ptr(), bytes);
            errhint(HINT.as_ptr());
            errfinish(c"allocator.rs".as_ptr(), line!() as c_int, c"simhash_pg".as_ptr());
        }
    }
}
