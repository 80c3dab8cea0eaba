//! Memory contexts.

use pgrx::pg_sys::{self, MemoryContext};
use std::ffi::CStr;

/// A small memory context, as a child of the current context.
pub fn small_context(name: &'static CStr) -> MemoryContext {
    let (least, first, most) = (
        pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
        pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
        pg_sys::ALLOCSET_SMALL_MAXSIZE as usize,
    );
    // SAFETY: there is a current context, and the name is static.
    unsafe {
        let parent = pg_sys::CurrentMemoryContext;
        pg_sys::AllocSetContextCreateInternal(parent, name.as_ptr(), least, first, most)
    }
}
