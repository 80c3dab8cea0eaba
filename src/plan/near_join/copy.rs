//! A copy of the outer side, which is read again in each further round. Only a join of sketches needs it:
//! codes are divided instead.

use super::file::in_memory;
use crate::pg::executor::read_all;
use pgrx::pg_sys::{self, MemoryContext, TupleTableSlot};
use std::ptr::null_mut;

/// Memory of the copy in kB. It is small, since the two sides have the memory of the join.
const MEMORY: i32 = 64;

/// Rows in a temporary file of PostgreSQL.
pub(super) struct OuterCopy {
    file: *mut pg_sys::Tuplestorestate,
    /// The slot for a row that is read from the copy.
    stored: *mut TupleTableSlot,
    memory: MemoryContext,
}

impl OuterCopy {
    /// # Safety
    /// The slot must be for rows of the outer child, and the memory must live as long as the execution. The
    /// copy must only be used during the execution.
    pub(super) unsafe fn new(stored: *mut TupleTableSlot, memory: MemoryContext) -> Self {
        Self { file: null_mut(), stored, memory }
    }

    pub(super) fn is_begun(&self) -> bool {
        !self.file.is_null()
    }

    pub(super) fn begin(&mut self) {
        // SAFETY: the file is allocated in memory of the execution, whose end closes it, also after an error.
        unsafe {
            self.file = in_memory(self.memory, || {
                let file = pg_sys::tuplestore_begin_heap(false, false, MEMORY);
                pg_sys::tuplestore_set_eflags(file, pg_sys::EXEC_FLAG_REWIND as i32);
                file
            });
        }
    }

    /// Adds a row, if a copy is made.
    pub(super) fn put(&mut self, row: *mut TupleTableSlot) {
        if self.is_begun() {
            // SAFETY: the file is open, and the row is from the outer child.
            unsafe { pg_sys::tuplestore_puttupleslot(self.file, row) };
        }
    }

    pub(super) fn rewind(&mut self) {
        // SAFETY: the file is open.
        unsafe { pg_sys::tuplestore_rescan(self.file) };
    }

    pub(super) fn next(&mut self) -> Option<*mut TupleTableSlot> {
        // SAFETY: the file is open.
        unsafe {
            let is_there = pg_sys::tuplestore_gettupleslot(self.file, true, false, self.stored);
            is_there.then(|| read_all(self.stored)).map(|()| self.stored)
        }
    }

    pub(super) fn end(&mut self) {
        if self.is_begun() {
            // SAFETY: the file was begun here, and is ended once.
            unsafe { pg_sys::tuplestore_end(std::mem::replace(&mut self.file, null_mut())) };
        }
    }
}
