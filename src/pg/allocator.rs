//! Memory for all that is Rust's, and what happens when there is none.
//!
//! Rust aborts the process where memory is refused and the caller cannot do without. PostgreSQL takes an
//! aborted process for one that may have damaged shared memory, and ends all sessions. So such a refusal ends
//! this session alone, as PostgreSQL's FATAL does: the client is told, locks are released, the transaction is
//! rolled back. This is the last resort. Whatever grows with the user's data asks by `base::reserve` and its
//! kind, which mark their requests ([`base::may_be_refused`]): these get the refusal, and become an error of
//! the statement.
//!
//! An allocator must not unwind, and a FATAL does not: it never returns. Rust's frames are left behind and
//! drop nothing: they hold memory of the process, which ends. PostgreSQL releases all that other processes
//! can see.

use pgrx::pg_sys;
use pgrx::pg_sys::errcodes::PgSqlErrorCode;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

struct SessionAllocator;

#[global_allocator]
static ALLOCATOR: SessionAllocator = SessionAllocator;

// SAFETY: the system's allocator does all of it. What is refused is a null pointer, or does not return.
unsafe impl GlobalAlloc for SessionAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the trait asks.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the trait asks.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the trait asks.
        given(unsafe { System.realloc(place, layout, size) }, size)
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as the trait asks.
        unsafe { System.dealloc(place, layout) }
    }
}

/// The memory, if there is any; null if the caller handles that.
#[inline]
fn given(place: *mut u8, bytes: usize) -> *mut u8 {
    if place.is_null() && !base::may_be_refused() {
        end_session(bytes);
    }
    place
}

/// Whether the session is being ended.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

// pgrx declares none of these: its own way to them allocates.
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

/// Ends this session as a FATAL does. It returns where there is no session, or where the report of a refusal
/// is refused memory itself: then Rust aborts.
#[cold]
fn end_session(bytes: usize) {
    // SAFETY: flags of the process, which has one thread. PostgreSQL's functions are called as its macro
    // ereport does. With the level FATAL the last one exits. Without a place to jump to, an error within the
    // report does so too, and does not jump over Rust's frames. In a critical section PostgreSQL makes a
    // PANIC of it, but no memory is asked for there (`src/pg/storage/wal.rs`).
    unsafe {
        let is_postmaster = pg_sys::IsPostmasterEnvironment && !pg_sys::IsUnderPostmaster;
        if is_postmaster || IS_ENDING.swap(true, Relaxed) && !pg_sys::proc_exit_inprogress {
            return;
        }
        pg_sys::PG_exception_stack = std::ptr::null_mut();
        if errstart(pg_sys::FATAL as c_int, std::ptr::null()) {
            errcode(PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY as c_int);
            errmsg(c"out of memory".as_ptr());
            errdetail(c"Failed on a request of %zu bytes.".as_ptr(), bytes);
            errhint(HINT.as_ptr());
            errfinish(c"allocator.rs".as_ptr(), line!() as c_int, c"simhash_pg".as_ptr());
        }
    }
}
