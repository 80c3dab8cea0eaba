//! Rows in memory, from which a row of the join is made without taking a tuple apart.
//!
//! A row is a run of words: a bit for each column that is NULL, a word for each column, and the bytes of
//! those that are passed by reference. For these, the word of the column says where in the row they are.
//! Columns that nobody reads are not kept.

use crate::pg::datum::DatumLayout;
use base::{OutOfMemory, extend, grow, push};
use pgrx::pg_sys::Datum;

const WORD: usize = size_of::<u64>();

/// The columns of a side: for each, how it is passed if it is kept.
pub(super) type KeptColumns = Vec<Option<DatumLayout>>;

/// Rows of one side of a join.
#[derive(Default)]
pub(super) struct RowStore {
    columns: KeptColumns,
    /// The columns that are kept, with their places among all.
    kept: Vec<(usize, DatumLayout)>,
    /// The words of a row for NULLs, and those with the words of its columns.
    head: (usize, usize),
    /// Whether some columns are passed by reference, so that rows have different numbers of words.
    have_bytes: bool,
    words: Vec<u64>,
    /// Where each row begins, unless all rows have the same number of words.
    starts: Vec<u32>,
    count: usize,
}

impl RowStore {
    /// The largest store, whose places have 32 bits.
    pub(super) const MAX_BYTES: usize = (1 << 32) * WORD / 2;

    pub(super) fn new(columns: KeptColumns) -> Self {
        // Bounded: a query has at most 1,664 columns.
        let kept: Vec<(usize, DatumLayout)> =
            columns.iter().enumerate().filter_map(|(column, kept)| Some((column, (*kept)?))).collect();
        let nulls = kept.len().div_ceil(u64::BITS as usize);
        let head = (nulls, nulls + kept.len());
        let have_bytes = kept.iter().any(|(_, layout)| !layout.is_by_value());
        Self { columns, kept, head, have_bytes, words: Vec::new(), starts: Vec::new(), count: 0 }
    }

    pub(super) fn into_columns(self) -> KeptColumns {
        self.columns
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.words[..]) + size_of_val(&self.starts[..])
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.starts.clear();
        self.count = 0;
    }

    /// The number of columns, with those that are not kept.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The words of every row, if all have the same number.
    pub(super) fn fixed_words(&self) -> Option<usize> {
        (!self.have_bytes).then_some(self.head.1)
    }

    /// Adds a copy of a row.
    ///
    /// # Safety
    /// The values must be of the types of the columns. What is made while they are copied is left in the
    /// current memory.
    pub(super) unsafe fn push(&mut self, values: &[Datum], nulls: &[bool]) -> Result<(), OutOfMemory> {
        let (begin, (first, head)) = (self.words.len(), self.head);
        if self.have_bytes {
            push(&mut self.starts, begin as u32)?;
        }
        self.count += 1;
        grow(&mut self.words, head)?;
        self.words.resize(begin + head, 0);
        for place in 0..self.kept.len() {
            let (column, layout) = self.kept[place];
            if nulls[column] {
                self.words[begin + place / 64] |= 1 << (place % 64);
            } else if layout.is_by_value() {
                self.words[begin + first + place] = values[column].value() as u64;
            } else {
                self.words[begin + first + place] = (self.words.len() - begin) as u64;
                // SAFETY: a value of the type of the column, as the caller promises.
                self.push_bytes(unsafe { layout.bytes(values[column]) })?;
            }
        }
        Ok(())
    }

    /// The words of a row.
    pub(super) fn words_of(&self, row: u32) -> &[u64] {
        let row = row as usize;
        let (_, head) = self.head;
        match self.starts.get(row) {
            None => &self.words[row * head..(row + 1) * head],
            Some(&begin) => {
                let end = self.starts.get(row + 1).map_or(self.words.len(), |&end| end as usize);
                &self.words[begin as usize..end]
            }
        }
    }

    /// Adds a row of these words.
    #[inline]
    pub(super) fn push_words(&mut self, words: &[u64]) -> Result<(), OutOfMemory> {
        if self.have_bytes {
            push(&mut self.starts, self.words.len() as u32)?;
        }
        self.count += 1;
        extend(&mut self.words, words)
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

    /// Writes the columns of a row that are kept. They are good until a row is added or all are removed.
    #[inline]
    pub(super) fn put(&self, row: u32, values: &mut [Datum], nulls: &mut [bool]) {
        let (first, head) = self.head;
        let begin = self.starts.get(row as usize).map_or(row as usize * head, |&begin| begin as usize);
        let row = &self.words[begin..];
        for (place, &(column, layout)) in self.kept.iter().enumerate() {
            nulls[column] = row[place / 64] >> (place % 64) & 1 != 0;
            let word = row[first + place];
            values[column] = match layout.is_by_value() || nulls[column] {
                true => Datum::from(word as usize),
                false => Datum::from(row[word as usize..].as_ptr()),
            };
        }
    }
}
