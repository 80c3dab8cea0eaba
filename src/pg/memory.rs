//! Memory contexts.

use pgrx::pg_sys::{self, MemoryContext};
use std::ffi::CStr;

/// A small memory context within the current one, with which it goes.
pub(crate) fn small_context(name: &'static CStr) -> MemoryContext {
    let (least, first, most) = (
        pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
        pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
        pg_sys::ALLOCSET_SMALL_MAXSIZE as usize,
    );
    // SAFETY: makes a child of the current context; the name stays.
    unsafe {
        let parent = pg_sys::CurrentMemoryContext;
        pg_sys::AllocSetContextCreateInternal(parent, name.as_ptr(), least, first, most)
    }
}
