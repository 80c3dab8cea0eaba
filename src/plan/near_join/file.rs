//! Temporary files of rows that memory has no room for. They are PostgreSQL's own, which removes them at the
//! end of the statement, also after an error.

use super::record::{Record, RecordFormat};
use crate::pg::report::{self, SqlError};
use base::{extend, grow};
use pgrx::pg_sys::{self, BufFile, FileSet, MemoryContext};
use std::ffi::CStr;

/// Words that are read at a time, and those that are written: a page, and a part of one, since many files
/// are written at a time.
const BLOCK: usize = pg_sys::BLCKSZ as usize / size_of::<u64>();
const WRITTEN: usize = BLOCK / 4;

/// O_RDONLY.
const FOR_READING: i32 = 0;

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
    pub(super) const BYTES: usize = (BLOCK + WRITTEN) * size_of::<u64>();

    /// # Safety
    /// The memory must live until the file is closed. The file is used only in the execution of the
    /// statement: after an error PostgreSQL has removed it.
    pub(super) unsafe fn create(memory: MemoryContext) -> Self {
        // SAFETY: the file lives in memory that is there long enough, as the caller promises.
        unsafe {
            Self::of(in_memory(memory, || {
                pg_sys::PrepareTempTablespaces();
                pg_sys::BufFileCreateTemp(false)
            }))
        }
    }

    /// A file that other processes can read once it is [exported](Self::export).
    ///
    /// # Safety
    /// As for [`create`](Self::create); and the files of the set must live as long.
    pub(super) unsafe fn create_shared(set: *mut FileSet, name: &CStr, memory: MemoryContext) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            Self::of(in_memory(memory, || {
                pg_sys::PrepareTempTablespaces();
                pg_sys::BufFileCreateFileSet(set, name.as_ptr())
            }))
        }
    }

    /// The file of this name, if there is one.
    ///
    /// # Safety
    /// As for [`create_shared`](Self::create_shared).
    pub(super) unsafe fn open_shared(set: *mut FileSet, name: &CStr, memory: MemoryContext) -> Option<Self> {
        // SAFETY: as the caller promises.
        unsafe {
            let file =
                in_memory(memory, || pg_sys::BufFileOpenFileSet(set, name.as_ptr(), FOR_READING, true));
            let words = |file| pg_sys::BufFileSize(file) as u64 / size_of::<u64>() as u64;
            (!file.is_null()).then(|| Self { is_written: true, words: words(file), ..Self::of(file) })
        }
    }

    /// Closes a file, which other processes can read from now on.
    pub(super) fn export(mut self) {
        self.flush();
        // SAFETY: the file is open.
        unsafe { pg_sys::BufFileExportFileSet(self.file) };
        self.close();
    }

    fn of(file: *mut BufFile) -> Self {
        Self { file, buffer: Vec::new(), next: 0, is_written: false, words: 0 }
    }

    /// Closes the file, which removes it unless it is exported.
    pub(super) fn close(self) {
        // SAFETY: the file is open, since it is closed here alone.
        unsafe { pg_sys::BufFileClose(self.file) };
    }

    /// Adds words at the end.
    #[inline]
    pub(super) fn write(&mut self, words: &[u64]) -> Result<(), SqlError> {
        extend(&mut self.buffer, words).map_err(report::problem)?;
        if self.buffer.len() >= WRITTEN {
            self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) {
        self.words += self.buffer.len() as u64;
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

    /// Passes on the rows of the next block. Returns whether there was one.
    #[inline]
    pub(super) fn read_block(
        &mut self,
        format: RecordFormat,
        mut take: impl FnMut(Record<'_>) -> Result<(), SqlError>,
    ) -> Result<bool, SqlError> {
        if !self.read_more()? {
            self.drop_buffer();
            return Ok(false);
        }
        let mut rest = &self.buffer[..];
        while let Some((record, after)) = format.split(rest) {
            rest = after;
            take(record)?;
        }
        self.next = self.buffer.len() - rest.len();
        Ok(true)
    }

    /// Reads a block behind the words that have not been passed on. Returns whether there was one.
    fn read_more(&mut self) -> Result<bool, SqlError> {
        self.buffer.drain(..self.next);
        self.next = 0;
        let rest = self.buffer.len();
        grow(&mut self.buffer, BLOCK).map_err(report::problem)?;
        self.buffer.resize(rest + BLOCK, 0);
        let bytes = size_of::<u64>() * BLOCK;
        // SAFETY: the file is open, and the buffer has room for these bytes.
        let read =
            unsafe { pg_sys::BufFileRead(self.file, self.buffer.as_mut_ptr().add(rest).cast(), bytes) };
        self.buffer.truncate(rest + read / size_of::<u64>());
        Ok(read > 0)
    }
}

/// Makes something in this memory. After an error PostgreSQL chooses the current memory itself.
///
/// # Safety
/// The memory must be alive.
pub(super) unsafe fn in_memory<R>(memory: MemoryContext, make: impl FnOnce() -> R) -> R {
    // SAFETY: the memory is alive, as the caller promises.
    unsafe {
        let before = pg_sys::CurrentMemoryContext;
        pg_sys::CurrentMemoryContext = memory;
        let made = make();
        pg_sys::CurrentMemoryContext = before;
        made
    }
}

/// The files of a side: one, or one of each process of a parallel plan. In each, a row's codes have so many
/// words.
pub(super) struct SideFiles {
    files: Vec<(RowFile, usize)>,
    /// The one that is read.
    current: usize,
}

impl SideFiles {
    pub(super) fn new(files: Vec<(RowFile, usize)>) -> Self {
        let mut files = Self { files, current: 0 };
        files.rewind();
        files
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn words(&self) -> u64 {
        self.files.iter().map(|(file, _)| file.words).sum()
    }

    pub(super) fn close(self) {
        self.files.into_iter().for_each(|(file, _)| file.close());
    }

    pub(super) fn rewind(&mut self) {
        self.current = 0;
        self.files.iter_mut().take(1).for_each(|(file, _)| file.rewind());
    }

    /// Passes on the rows of the next block. Returns whether there was one.
    #[inline]
    pub(super) fn read_block(
        &mut self,
        columns: Option<usize>,
        mut take: impl FnMut(Record<'_>) -> Result<(), SqlError>,
    ) -> Result<bool, SqlError> {
        while let Some((file, codes)) = self.files.get_mut(self.current) {
            if file.read_block(RecordFormat { codes: *codes, columns }, &mut take)? {
                return Ok(true);
            }
            self.current += 1;
            self.files.iter_mut().skip(self.current).take(1).for_each(|(file, _)| file.rewind());
        }
        Ok(false)
    }
}
