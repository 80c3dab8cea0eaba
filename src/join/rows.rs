//! Rows in memory, from which a row of the join is made without taking a tuple apart.
//!
//! A row is a run of words: a bit for each column that is NULL, a word for each column, and the bytes of
//! those that are passed by reference. For these, the word of the column says where in the row they are.

use crate::pg::datum::Passing;
use limits::{OutOfMemory, grow, push};
use pgrx::pg_sys::Datum;

const WORD: usize = size_of::<u64>();

/// Rows of one side of a join.
#[derive(Default)]
pub(super) struct RowStore {
    columns: Vec<Passing>,
    words: Vec<u64>,
    /// Where each row begins.
    starts: Vec<u32>,
}

impl RowStore {
    /// The largest store, whose places have 32 bits.
    pub(super) const MAX_BYTES: usize = (1 << 32) * WORD / 2;

    pub(super) fn new(columns: Vec<Passing>) -> Self {
        Self { columns, words: Vec::new(), starts: Vec::new() }
    }

    pub(super) fn into_columns(self) -> Vec<Passing> {
        self.columns
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.words[..]) + size_of_val(&self.starts[..])
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.starts.clear();
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    fn null_words(&self) -> usize {
        self.width().div_ceil(u64::BITS as usize)
    }

    /// Adds a copy of a row.
    ///
    /// # Safety
    /// The values must be of the types of the columns. What is made while they are copied is left in the
    /// current memory.
    pub(super) unsafe fn push(&mut self, values: &[Datum], nulls: &[bool]) -> Result<(), OutOfMemory> {
        let (begin, first) = (self.words.len(), self.null_words());
        push(&mut self.starts, begin as u32)?;
        let head = first + self.width();
        grow(&mut self.words, head)?;
        self.words.resize(begin + head, 0);
        for column in 0..self.width() {
            if nulls[column] {
                self.words[begin + column / 64] |= 1 << (column % 64);
                continue;
            }
            let passing = self.columns[column];
            self.words[begin + first + column] = if passing.is_by_value() {
                values[column].value() as u64
            } else {
                let place = self.words.len() - begin;
                // SAFETY: a value of the type of the column, as the caller promises.
                self.push_bytes(unsafe { passing.bytes(values[column]) })?;
                place as u64
            };
        }
        Ok(())
    }

    /// Adds bytes, filled up to whole words: any type is aligned there.
    fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), OutOfMemory> {
        grow(&mut self.words, bytes.len().div_ceil(WORD))?;
        let (whole, rest) = bytes.as_chunks::<WORD>();
        self.words.extend(whole.iter().map(|chunk| u64::from_ne_bytes(*chunk)));
        if !rest.is_empty() {
            let mut last = [0; WORD];
            last[..rest.len()].copy_from_slice(rest);
            self.words.push(u64::from_ne_bytes(last));
        }
        Ok(())
    }

    /// Writes the columns of a row. They are good until a row is added or all are removed.
    #[inline]
    pub(super) fn put(&self, row: u32, values: &mut [Datum], nulls: &mut [bool]) {
        let row = &self.words[self.starts[row as usize] as usize..];
        let first = self.null_words();
        for (column, passing) in self.columns.iter().enumerate() {
            nulls[column] = row[column / 64] >> (column % 64) & 1 != 0;
            let word = row[first + column];
            values[column] = match passing.is_by_value() || nulls[column] {
                true => Datum::from(word as usize),
                false => Datum::from(row[word as usize..].as_ptr()),
            };
        }
    }
}
