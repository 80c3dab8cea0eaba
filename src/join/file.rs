//! Temporary files of rows that memory has no room for. They are PostgreSQL's own, which removes them at the
//! end of the statement, also after an error.

use crate::pg::report::{self, SqlError};
use limits::{extend, grow};
use pgrx::pg_sys::{self, BufFile, MemoryContext};

/// Words that are written or read at a time: a page.
const BLOCK: usize = pg_sys::BLCKSZ as usize / size_of::<u64>();

/// A file of words, which is written, and then read as often as wanted.
pub(super) struct RowFile {
    file: *mut BufFile,
    /// Words that are not in the file yet, or that have been read from it.
    buffer: Vec<u64>,
    /// The next word of the buffer that is read.
    next: usize,
    is_written: bool,
    /// All words that were written.
    pub(super) words: u64,
}

impl RowFile {
    /// Bytes of memory that a file takes.
    pub(super) const BYTES: usize = 2 * pg_sys::BLCKSZ as usize;

    /// # Safety
    /// The memory must live until the file is closed, or as long as the statement.
    pub(super) unsafe fn create(memory: MemoryContext) -> Self {
        // SAFETY: the file lives in memory that is there long enough, as the caller promises. After an error
        // PostgreSQL chooses the current memory itself.
        unsafe {
            let before = pg_sys::CurrentMemoryContext;
            pg_sys::CurrentMemoryContext = memory;
            pg_sys::PrepareTempTablespaces();
            let file = pg_sys::BufFileCreateTemp(false);
            pg_sys::CurrentMemoryContext = before;
            Self { file, buffer: Vec::new(), next: 0, is_written: false, words: 0 }
        }
    }

    /// Removes the file.
    ///
    /// # Safety
    /// The statement must be in execution: after an error PostgreSQL has removed the file.
    pub(super) unsafe fn close(self) {
        // SAFETY: the file is open, since it is closed here alone.
        unsafe { pg_sys::BufFileClose(self.file) };
    }

    /// Adds words at the end.
    #[inline]
    pub(super) fn write(&mut self, words: &[u64]) -> Result<(), SqlError> {
        extend(&mut self.buffer, words).map_err(report::problem)?;
        self.words += words.len() as u64;
        if self.buffer.len() >= BLOCK {
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        let bytes = size_of_val(&self.buffer[..]);
        // SAFETY: the file is open, and these are bytes of the buffer.
        unsafe { pg_sys::BufFileWrite(self.file, self.buffer.as_mut_ptr().cast(), bytes) };
        self.buffer.clear();
    }

    /// Ends writing, and reads from the beginning.
    pub(super) fn rewind(&mut self) {
        if !self.is_written {
            self.flush();
            self.is_written = true;
        }
        self.drop_buffer();
        // SAFETY: the file is open, and has a beginning.
        unsafe { pg_sys::BufFileSeek(self.file, 0, 0, 0) };
    }

    /// Gives back the memory of the buffer.
    fn drop_buffer(&mut self) {
        (self.buffer, self.next) = (Vec::new(), 0);
    }

    /// The next words, which stay the next ones; None at the end of the file.
    #[inline]
    pub(super) fn peek(&mut self, count: usize) -> Result<Option<&[u64]>, SqlError> {
        if self.buffer.len() - self.next < count {
            self.read_more(count)?;
            if self.buffer.len() < count {
                self.drop_buffer();
                return Ok(None);
            }
        }
        Ok(Some(&self.buffer[self.next..self.next + count]))
    }

    /// Reads so many words; None at the end of the file.
    #[inline]
    pub(super) fn read(&mut self, count: usize) -> Result<Option<&[u64]>, SqlError> {
        if self.peek(count)?.is_none() {
            return Ok(None);
        }
        self.next += count;
        Ok(Some(&self.buffer[self.next - count..self.next]))
    }

    /// Fills the buffer, with so many words at least if the file has them.
    fn read_more(&mut self, count: usize) -> Result<(), SqlError> {
        self.buffer.drain(..self.next);
        self.next = 0;
        let rest = self.buffer.len();
        let more = count.max(BLOCK).next_multiple_of(BLOCK);
        grow(&mut self.buffer, more).map_err(report::problem)?;
        self.buffer.resize(rest + more, 0);
        let bytes = size_of::<u64>() * more;
        // SAFETY: the file is open, and the buffer has room for these bytes.
        let read =
            unsafe { pg_sys::BufFileRead(self.file, self.buffer.as_mut_ptr().add(rest).cast(), bytes) };
        self.buffer.truncate(rest + read / size_of::<u64>());
        Ok(())
    }
}
