//! Memory contexts.

use pgrx::pg_sys::{self, MemoryContext};
use std::ffi::CStr;

/// A small memory context, as a child of the current context.
pub fn small_context(name: &'static CStr) -> MemoryContext {
    // SAFETY: there is a current context.
    unsafe { small_context_in(pg_sys::CurrentMemoryContext, name) }
}

/// A small memory context, as a child of another one.
///
/// # Safety
/// The parent must be alive.
pub(crate) unsafe fn small_context_in(parent: MemoryContext, name: &'static CStr) -> MemoryContext {
    let least = pg_sys::ALLOCSET_SMALL_MINSIZE as usize;
    let first = pg_sys::ALLOCSET_SMALL_INITSIZE as usize;
    let most = pg_sys::ALLOCSET_SMALL_MAXSIZE as usize;
    // SAFETY: the parent is alive, as the caller promises, and the name is static.
    unsafe { pg_sys::AllocSetContextCreateInternal(parent, name.as_ptr(), least, first, most) }
}

/// A small memory context that is deleted when this is dropped.
pub struct OwnedMemory(MemoryContext);

impl OwnedMemory {
    /// A memory context with this name.
    pub fn new(name: &'static CStr) -> Self {
        // SAFETY: the parent lives as long as the process. So an error deletes the memory only if it drops
        // the owner.
        Self(unsafe { small_context_in(pg_sys::TopMemoryContext, name) })
    }

    /// Frees the memory, and runs `make` in it. The result must not refer to the memory.
    pub(crate) fn run<R: Copy + 'static>(&self, make: impl FnOnce() -> R) -> R {
        // SAFETY: the context is alive, and nothing in it is used any more.
        unsafe {
            pg_sys::MemoryContextReset(self.0);
            in_memory(self.0, make)
        }
    }
}

impl Drop for OwnedMemory {
    fn drop(&mut self) {
        // SAFETY: the context is alive, and raises no error when it is deleted.
        unsafe { pg_sys::MemoryContextDelete(self.0) };
    }
}

/// Runs `make` in this memory context. After an error PostgreSQL sets the current context itself.
///
/// # Safety
/// The memory must be alive.
pub(crate) unsafe fn in_memory<R>(memory: MemoryContext, make: impl FnOnce() -> R) -> R {
    // SAFETY: the memory is alive, as the caller promises.
    unsafe {
        let before = pg_sys::CurrentMemoryContext;
        pg_sys::CurrentMemoryContext = memory;
        let made = make();
        pg_sys::CurrentMemoryContext = before;
        made
    }
}
