//! Rows in memory, in a form from which join rows are made without deforming tuples.
//!
//! A row is a sequence of words: a bit for each column, set if it is NULL; a word for each column; and the
//! bytes of columns that are passed by reference, whose word says where in the row their bytes are. Only
//! columns that the node reads are kept.

use crate::pg::datum::DatumLayout;
use base::{OutOfMemory, extend, grow, push};
use pgrx::pg_sys::Datum;

const WORD: usize = size_of::<u64>();

/// A row among the rows of a side that are in memory.
#[derive(Clone, Copy)]
pub(crate) struct BatchRow(pub(crate) u32);

/// A column that is kept: its layout, and its number in the rows that the join returns.
#[derive(Clone, Copy)]
pub(crate) struct KeptColumn {
    pub(crate) layout: DatumLayout,
    pub(crate) target: usize,
}

/// For each column of a side, whether the column is kept.
pub(crate) type KeptColumns = Vec<Option<KeptColumn>>;

/// The rows of one side of a join.
#[derive(Default)]
pub(crate) struct RowStore {
    pub(super) columns: KeptColumns,
    /// The columns that are kept, with their places among all columns.
    kept: Vec<(usize, KeptColumn)>,
    /// The number of words for the NULL bits, and for the NULL bits with a word for each column.
    head: (usize, usize),
    /// Whether some columns are passed by reference, so that rows have different numbers of words.
    have_bytes: bool,
    words: Vec<u64>,
    /// Where each row begins, unless all rows have the same number of words.
    starts: Vec<u32>,
    count: usize,
}

impl RowStore {
    pub(super) fn new(columns: KeptColumns) -> Self {
        // Bounded: a query has at most 1,664 columns.
        let kept: Vec<(usize, KeptColumn)> =
            columns.iter().enumerate().filter_map(|(column, kept)| Some((column, (*kept)?))).collect();
        let nulls = kept.len().div_ceil(u64::BITS as usize);
        let head = (nulls, nulls + kept.len());
        let have_bytes = kept.iter().any(|(_, kept)| !kept.layout.by_value);
        Self { columns, kept, head, have_bytes, words: Vec::new(), starts: Vec::new(), count: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Bytes of memory that the rows take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.words[..]) + size_of_val(&self.starts[..])
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.starts.clear();
        self.count = 0;
    }

    /// The number of words of each row, if it is the same for all rows.
    pub(super) fn fixed_words(&self) -> Option<usize> {
        (!self.have_bytes).then_some(self.head.1)
    }

    /// Adds a copy of a row.
    ///
    /// # Safety
    /// The values must be of the types of the columns. Copying them may leave memory in the current context.
    pub(super) unsafe fn push(&mut self, values: &[Datum], nulls: &[bool]) -> Result<(), OutOfMemory> {
        let (begin, (first, head)) = (self.words.len(), self.head);
        if self.have_bytes {
            push(&mut self.starts, begin as u32)?;
        }
        self.count += 1;
        grow(&mut self.words, head)?;
        self.words.resize(begin + head, 0);
        for place in 0..self.kept.len() {
            let (column, KeptColumn { layout, .. }) = self.kept[place];
            if nulls[column] {
                self.words[begin + place / 64] |= 1 << (place % 64);
            } else if layout.by_value {
                self.words[begin + first + place] = values[column].value() as u64;
            } else {
                self.words[begin + first + place] = (self.words.len() - begin) as u64;
                // SAFETY: the value is of the type of the column, as the caller promises.
                self.push_bytes(unsafe { layout.bytes(values[column]) })?;
            }
        }
        Ok(())
    }

    /// The words of a row.
    pub(crate) fn words_of(&self, BatchRow(row): BatchRow) -> &[u64] {
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

    /// Adds a row that consists of these words.
    #[inline]
    pub(super) fn push_words(&mut self, words: &[u64]) -> Result<(), OutOfMemory> {
        if self.have_bytes {
            push(&mut self.starts, self.words.len() as u32)?;
        }
        self.count += 1;
        extend(&mut self.words, words)
    }

    /// Adds bytes, padded to whole words, so that values of any type are aligned.
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

    /// Writes the kept columns of a row, or NULL to each of them. They stay valid until a row is added or the
    /// rows are removed.
    #[inline]
    pub(crate) fn put(&self, row: Option<BatchRow>, values: &mut [Datum], nulls: &mut [bool]) {
        let Some(BatchRow(row)) = row else {
            self.kept.iter().for_each(|(_, kept)| nulls[kept.target] = true);
            return;
        };
        let (first, head) = self.head;
        let begin = self.starts.get(row as usize).map_or(row as usize * head, |&begin| begin as usize);
        let row = &self.words[begin..];
        for (place, &(_, KeptColumn { layout, target })) in self.kept.iter().enumerate() {
            nulls[target] = row[place / 64] >> (place % 64) & 1 != 0;
            let word = row[first + place];
            values[target] = match layout.by_value || nulls[target] {
                true => Datum::from(word as usize),
                false => Datum::from(row[word as usize..].as_ptr()),
            };
        }
    }
}
