//! Temporary files for rows that memory has no room for. PostgreSQL removes its temporary files at the end of
//! the statement, also after an error.

use super::record::{Record, RecordFormat, RecordNumber};
use crate::pg::error::temporary_file;
use crate::pg::report::SqlError;
use base::{extend, grow};
use pgrx::pg_guard;
use pgrx::pg_sys::{self, BufFile, FileSet, MemoryContext};
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::rc::Rc;

/// How many words are read at a time, and how many are written: a page, and less than a page, since many
/// files are written at the same time.
const BLOCK: usize = pg_sys::BLCKSZ as usize / size_of::<u64>();
const WRITTEN: usize = BLOCK / 4;

/// O_RDONLY.
const FOR_READING: i32 = 0;

/// A file of words, which is first written and then read, possibly several times.
pub(crate) struct RowFile {
    file: *mut BufFile,
    /// Words that are not yet written to the file, or that have been read from it.
    buffer: Vec<u64>,
    /// The place of the next word to read from the buffer.
    next: usize,
    is_written: bool,
    /// The number of words written.
    pub(super) words: u64,
    /// The number of words that were not read yet.
    unread: u64,
}

impl RowFile {
    /// # Safety
    /// The memory must live until the file is closed. The file must only be used during the execution of the
    /// statement, since PostgreSQL removes it after an error.
    pub(crate) unsafe fn create(memory: MemoryContext) -> Self {
        // SAFETY: the memory in which the file is allocated lives long enough, as the caller promises.
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
    /// As for [`create`](Self::create); the set of files must also live until the file is closed.
    pub(super) unsafe fn create_shared(set: *mut FileSet, name: &CStr, memory: MemoryContext) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            Self::of(in_memory(memory, || {
                pg_sys::PrepareTempTablespaces();
                pg_sys::BufFileCreateFileSet(set, name.as_ptr())
            }))
        }
    }

    /// Opens the file of this name, if there is one.
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

    /// Closes the file. Other processes can read it from now on.
    pub(super) fn export(mut self) {
        self.flush();
        // SAFETY: the file is open.
        unsafe { pg_sys::BufFileExportFileSet(self.file) };
        self.close();
    }

    fn of(file: *mut BufFile) -> Self {
        Self { file, buffer: Vec::new(), next: 0, is_written: false, words: 0, unread: 0 }
    }

    /// Closes the file. It is removed unless it was exported.
    pub(crate) fn close(self) {
        // SAFETY: the file is open: only this function closes it, and it consumes the file.
        unsafe { pg_sys::BufFileClose(self.file) };
    }

    /// Adds words at the end.
    #[inline]
    pub(super) fn write(&mut self, words: &[u64]) -> Result<(), SqlError> {
        extend(&mut self.buffer, words)?;
        if self.buffer.len() >= WRITTEN {
            self.flush();
        }
        Ok(())
    }

    /// Adds a row, whose codes are empty if it has none.
    pub(crate) fn write_row(
        &mut self,
        format: RecordFormat,
        number: RecordNumber,
        codes: &[u64],
        columns: &[u64],
    ) -> Result<(), SqlError> {
        if format.numbered {
            self.write(&[RecordFormat::head(number, !codes.is_empty())])?;
        }
        if format.columns.is_none() {
            self.write(&[columns.len() as u64])?;
        }
        self.write(codes)?;
        self.write(columns)
    }

    fn flush(&mut self) {
        self.words += self.buffer.len() as u64;
        let bytes = size_of_val(&self.buffer[..]);
        // SAFETY: the file is open, and the buffer has this many bytes.
        unsafe { pg_sys::BufFileWrite(self.file, self.buffer.as_mut_ptr().cast(), bytes) };
        self.buffer.clear();
    }

    /// The place of the next row to read.
    fn place(&self) -> u64 {
        self.words - self.unread - (self.buffer.len() - self.next) as u64
    }

    /// Ends writing, and prepares to read from the place of a row, or from the beginning, which is 0.
    pub(crate) fn read_from(&mut self, place: u64) {
        if !self.is_written {
            self.flush();
            self.is_written = true;
        }
        self.drop_buffer();
        self.unread = self.words - place;
        let offset = place as i64 * size_of::<u64>() as i64;
        // SAFETY: the file is open, and has as many words.
        unsafe { pg_sys::BufFileSeek(self.file, 0, offset, 0) };
    }

    /// Frees the memory of the buffer.
    fn drop_buffer(&mut self) {
        (self.buffer, self.next) = (Vec::new(), 0);
    }

    /// Calls `take` for each row that ends in the next block. Returns whether there was a block.
    #[inline]
    pub(crate) fn read_block(
        &mut self,
        format: RecordFormat,
        mut take: impl FnMut(Record<'_>) -> Result<(), SqlError>,
    ) -> Result<bool, SqlError> {
        if !self.read_more()? {
            // A row that is not complete stays in the buffer.
            if self.unread > 0 || !self.buffer.is_empty() {
                return Err(temporary_file());
            }
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

    /// Reads a block, and appends it to the words that were not taken yet. Returns whether there was a block.
    fn read_more(&mut self) -> Result<bool, SqlError> {
        self.buffer.drain(..self.next);
        self.next = 0;
        let rest = self.buffer.len();
        grow(&mut self.buffer, BLOCK)?;
        self.buffer.resize(rest + BLOCK, 0);
        let bytes = size_of::<u64>() * BLOCK;
        // SAFETY: the file is open, and the buffer has room for these bytes.
        let read =
            unsafe { pg_sys::BufFileRead(self.file, self.buffer.as_mut_ptr().add(rest).cast(), bytes) };
        let words = read / size_of::<u64>();
        self.buffer.truncate(rest + words);
        self.unread = self.unread.wrapping_sub(words as u64);
        Ok(words > 0)
    }
}

/// Runs `make` in this memory context. After an error PostgreSQL sets the current context itself.
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

/// A file that is closed when it is dropped. If the transaction or subtransaction fails that uses it,
/// PostgreSQL closes it, although a failed cursor may drop it later.
pub(crate) struct OwnedFile {
    pub(crate) file: Option<RowFile>,
    /// What PostgreSQL closes the file with; null when it has done so.
    owner: Rc<Cell<pg_sys::ResourceOwner>>,
}

impl OwnedFile {
    /// The file must have been created in the same call of an executor's node.
    pub(crate) fn new(file: RowFile) -> Self {
        // SAFETY: the callback gets the owner, and is unregistered before the owner is freed.
        unsafe {
            let owner = Rc::new(Cell::new(pg_sys::CurrentResourceOwner));
            pg_sys::RegisterResourceReleaseCallback(Some(note_release), Rc::as_ptr(&owner).cast_mut().cast());
            Self { file: Some(file), owner }
        }
    }
}

impl Drop for OwnedFile {
    fn drop(&mut self) {
        let owner = Rc::as_ptr(&self.owner).cast_mut().cast();
        // SAFETY: as above.
        unsafe { pg_sys::UnregisterResourceReleaseCallback(Some(note_release), owner) };
        if !self.owner.get().is_null() {
            self.file.take().into_iter().for_each(RowFile::close);
        }
    }
}

/// Called by PostgreSQL for each resource owner whose files it is about to close.
#[pg_guard]
unsafe extern "C-unwind" fn note_release(
    _phase: pg_sys::ResourceReleasePhase::Type,
    _is_commit: bool,
    _is_top_level: bool,
    owner: *mut c_void,
) {
    // SAFETY: the callback was registered with this owner, which lives until it is unregistered.
    unsafe {
        let owner = &*owner.cast::<Cell<pg_sys::ResourceOwner>>();
        if owner.get() == pg_sys::CurrentResourceOwner {
            owner.set(null_mut());
        }
    }
}

/// The files of a side: one, or one from each process of a parallel plan. With each file comes the number of
/// words of a row's codes.
#[derive(Default)]
pub(super) struct SideFiles {
    files: Vec<(RowFile, usize)>,
    /// The file that is being read.
    current: usize,
}

impl SideFiles {
    pub(super) fn new(files: Vec<(RowFile, usize)>) -> Self {
        let mut files = Self { files, current: 0 };
        files.read_from(0);
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

    /// The place of the next row in the first file.
    pub(super) fn place(&self) -> u64 {
        self.files.first().map_or(0, |(file, _)| file.place())
    }

    /// Prepares to read from a place in the first file.
    pub(super) fn read_from(&mut self, place: u64) {
        self.current = 0;
        self.files.iter_mut().take(1).for_each(|(file, _)| file.read_from(place));
    }

    /// Calls `take` for each row that ends in the next block. Returns whether there was a block.
    #[inline]
    pub(super) fn read_block(
        &mut self,
        format: RecordFormat,
        mut take: impl FnMut(Record<'_>) -> Result<(), SqlError>,
    ) -> Result<bool, SqlError> {
        while let Some((file, codes)) = self.files.get_mut(self.current) {
            if file.read_block(RecordFormat { codes: *codes, ..format }, &mut take)? {
                return Ok(true);
            }
            self.current += 1;
            self.files.iter_mut().skip(self.current).take(1).for_each(|(file, _)| file.read_from(0));
        }
        Ok(false)
    }
}
