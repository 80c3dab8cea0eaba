//! Temporary files for rows that memory has no room for.

use super::record::{Record, RecordFormat, RecordNumber};
use crate::pg::error::temporary_file;
use crate::pg::report::SqlError;
use crate::pg::temp_file::TempFile;
use base::{extend, grow};
use pgrx::pg_sys;

/// How many words are read at a time, and how many are written: a page, and less than a page, since many
/// files are written at the same time.
const BLOCK: usize = pg_sys::BLCKSZ as usize / size_of::<u64>();
const WRITTEN: usize = BLOCK / 4;

/// A file of words, which is first written and then read, possibly several times. Then it can be written
/// again: the kernel takes less time for pages that a file has already.
pub(crate) struct RowFile {
    file: TempFile,
    /// Words that are not yet written to the file, or that have been read from it.
    buffer: Vec<u64>,
    /// The place of the next word to read from the buffer.
    next: usize,
    is_written: bool,
    /// The number of words written.
    words: u64,
    /// The number of words that the file has room for on disk, some of which may be left from earlier rows.
    size: u64,
    /// The number of words that were not read yet.
    unread: u64,
}

impl RowFile {
    /// A new file of this process.
    pub(crate) fn create() -> Result<Self, SqlError> {
        Ok(Self::of(TempFile::create()?))
    }

    /// A file that is written. It is removed when it is dropped, unless it was exported.
    pub(crate) fn of(file: TempFile) -> Self {
        Self { file, buffer: Vec::new(), next: 0, is_written: false, words: 0, size: 0, unread: 0 }
    }

    /// A file that another process has written.
    pub(crate) fn of_written(file: TempFile) -> Result<Self, SqlError> {
        let words = file.words()?;
        Ok(Self { is_written: true, words, size: words, ..Self::of(file) })
    }

    /// Closes the file. Other processes can read it from now on.
    pub(crate) fn export(mut self) -> Result<(), SqlError> {
        self.flush()?;
        self.file.export()
    }

    /// Adds words at the end.
    #[inline]
    pub(crate) fn write(&mut self, words: &[u64]) -> Result<(), SqlError> {
        extend(&mut self.buffer, words)?;
        if self.buffer.len() >= WRITTEN {
            self.flush()?;
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

    /// Removes all rows, and prepares to write others. The file keeps its size.
    pub(crate) fn begin_again(&mut self) -> Result<(), SqlError> {
        self.drop_buffer();
        self.is_written = false;
        self.words = 0;
        self.unread = 0;
        self.file.seek(0)
    }

    /// The number of words that the file has room for on disk.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    fn flush(&mut self) -> Result<(), SqlError> {
        self.file.write(&self.buffer)?;
        self.words += self.buffer.len() as u64;
        self.size = self.size.max(self.words);
        self.buffer.clear();
        Ok(())
    }

    /// The place of the next row to read.
    pub(crate) fn place(&self) -> u64 {
        self.words - self.unread - (self.buffer.len() - self.next) as u64
    }

    /// Ends writing, and prepares to read from the place of a row, or from the beginning, which is 0.
    pub(crate) fn read_from(&mut self, place: u64) -> Result<(), SqlError> {
        if !self.is_written {
            self.flush()?;
            self.is_written = true;
        }
        debug_assert!(place <= self.words, "a row begins before the end of its file");
        self.drop_buffer();
        self.unread = self.words - place;
        self.file.seek(place)
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
        // Words behind these are left from earlier rows.
        let block = self.unread.min(BLOCK as u64) as usize;
        grow(&mut self.buffer, block)?;
        self.buffer.resize(rest + block, 0);
        let words = self.file.read(&mut self.buffer[rest..])?;
        self.buffer.truncate(rest + words);
        self.unread -= words as u64;
        Ok(words > 0)
    }
}

/// The files of a side: one, or one from each process of a parallel plan. With each file comes the number of
/// words of a row's codes.
#[derive(Default)]
pub(crate) struct SideFiles {
    files: Vec<(RowFile, usize)>,
    /// The file that is being read.
    current: usize,
}

impl SideFiles {
    pub(crate) fn new(files: Vec<(RowFile, usize)>) -> Result<Self, SqlError> {
        let mut files = Self { files, current: 0 };
        files.read_from(0)?;
        Ok(files)
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// The number of words that the files have room for on disk.
    pub(crate) fn size(&self) -> u64 {
        self.files.iter().map(|(file, _)| file.size()).sum()
    }

    /// The files one by one.
    pub(crate) fn into_files(self) -> impl Iterator<Item = RowFile> {
        self.files.into_iter().map(|(file, _)| file)
    }

    /// The place of the next row in the first file.
    pub(crate) fn place(&self) -> u64 {
        self.files.first().map_or(0, |(file, _)| file.place())
    }

    /// Prepares to read from a place in the first file.
    pub(crate) fn read_from(&mut self, place: u64) -> Result<(), SqlError> {
        self.current = 0;
        self.files.first_mut().map_or(Ok(()), |(file, _)| file.read_from(place))
    }

    /// Calls `take` for each row that ends in the next block. Returns whether there was a block.
    #[inline]
    pub(crate) fn read_block(
        &mut self,
        format: RecordFormat,
        mut take: impl FnMut(Record<'_>) -> Result<(), SqlError>,
    ) -> Result<bool, SqlError> {
        while let Some((file, codes)) = self.files.get_mut(self.current) {
            if file.read_block(RecordFormat { codes: *codes, ..format }, &mut take)? {
                return Ok(true);
            }
            self.current += 1;
            if let Some((file, _)) = self.files.get_mut(self.current) {
                file.read_from(0)?;
            }
        }
        Ok(false)
    }
}
