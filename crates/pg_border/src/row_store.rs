//! Rows in memory, in a form from which rows of a node are made without deforming tuples.
//!
//! A row is a sequence of words: a bit for each column, set if it is NULL; a word for each column; and the
//! bytes of columns that are passed by reference, whose word says where in the row their bytes are. Only
//! columns that are read again are kept.

use super::datum::DatumLayout;
use super::error::temporary_file;
use super::report::SqlError;
use super::value::Value;
use base::{OutOfMemory, extend, grow, push};
use pgrx::pg_sys::{Datum, Oid};
use std::cell::Cell;
use std::hint::black_box;

const WORD: usize = size_of::<u64>();

/// A row among the rows in memory.
#[derive(Clone, Copy)]
pub struct BatchRow(pub u32);

/// A column that is kept: its layout, and its number in the rows that a node returns.
#[derive(Clone, Copy)]
pub(crate) struct KeptColumn {
    pub(crate) layout: DatumLayout,
    pub(crate) target: usize,
}

/// Where the rows of a store come from, which says which types their columns have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowSource {
    /// No rows at all.
    Nothing,
    /// The child of a node, by the number of the node in this process, and that of the child.
    Child(u64, usize),
    /// Values of this type.
    Values(Oid),
}

/// A row that can be added to a store.
pub trait StorableRow {
    /// Adds a copy of the row. It is a fault of the program if the store is for other rows.
    fn store(&self, rows: &mut RowStore) -> Result<(), SqlError>;
}

/// A row with one value.
impl StorableRow for Option<Value<'_>> {
    fn store(&self, rows: &mut RowStore) -> Result<(), SqlError> {
        let is_of_type = |value: &Value| rows.source == RowSource::Values(value.type_());
        assert!(self.as_ref().is_none_or(is_of_type), "values have the type of their column");
        let datum = self.map_or(Datum::null(), Value::datum);
        // SAFETY: the value is of the type of the only column, or NULL.
        Ok(unsafe { rows.push(&[datum], &[self.is_none()]) }?)
    }
}

/// Rows in memory: those of a child of a node, or values of one type.
pub struct RowStore {
    source: RowSource,
    /// The columns that are kept, with their places among all columns.
    kept: Vec<(usize, KeptColumn)>,
    /// The number of words for the NULL bits.
    nulls: usize,
    /// The number of words for the NULL bits with a word for each column.
    head: usize,
    /// Whether some columns are passed by reference, so that rows have different numbers of words.
    have_bytes: bool,
    words: Vec<u64>,
    /// Where each row begins, unless all rows have the same number of words.
    starts: Vec<u32>,
    count: usize,
    /// A number that no other store has, if rows have been shown since the last change; otherwise 0.
    version: Cell<u64>,
}

thread_local! {
    /// The last number that was given to a node or to a version of a store.
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// A number that nothing else in this process has.
pub(crate) fn unique_number() -> u64 {
    LAST.set(LAST.get() + 1);
    LAST.get()
}

impl RowStore {
    /// For rows of which nothing is kept.
    pub fn of_nothing() -> Self {
        Self::new(RowSource::Nothing, Vec::new())
    }

    /// For values of a type.
    pub fn of_values(type_: Oid) -> Self {
        let column = KeptColumn { layout: DatumLayout::of(type_), target: 0 };
        Self::new(RowSource::Values(type_), vec![(0, column)])
    }

    /// `kept` has the columns that are kept, with their places among all columns.
    pub(crate) fn new(source: RowSource, kept: Vec<(usize, KeptColumn)>) -> Self {
        let nulls = kept.len().div_ceil(u64::BITS as usize);
        let head = nulls + kept.len();
        let have_bytes = kept.iter().any(|(_, kept)| !kept.layout.by_value);
        let version = Cell::new(0);
        Self {
            source,
            kept,
            nulls,
            head,
            have_bytes,
            words: Vec::new(),
            starts: Vec::new(),
            count: 0,
            version,
        }
    }

    /// An empty store for rows with the same columns.
    pub fn of_same_columns(&self) -> Self {
        // Bounded: a query has at most 1,664 columns.
        Self::new(self.source, self.kept.clone())
    }

    /// Removes all rows, and frees their memory.
    pub fn reset(&mut self) {
        *self = Self::new(self.source, std::mem::take(&mut self.kept));
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of memory that the rows take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.words[..]) + size_of_val(&self.starts[..])
    }

    /// Removes all rows, but keeps the memory for others.
    pub fn clear(&mut self) {
        self.version.set(0);
        self.words.clear();
        self.starts.clear();
        self.count = 0;
    }

    /// The number of words of each row, if it is the same for all rows.
    pub fn fixed_words(&self) -> Option<usize> {
        (!self.have_bytes).then_some(self.head)
    }

    /// Whether some columns are passed by reference.
    #[inline]
    pub(crate) fn has_bytes(&self) -> bool {
        self.have_bytes
    }

    /// Where the rows come from.
    #[inline]
    pub(crate) fn source(&self) -> RowSource {
        self.source
    }

    /// A number that changes when a row is added or the rows are removed.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        if self.version.get() == 0 {
            self.version.set(unique_number());
        }
        self.version.get()
    }

    /// Adds a copy of a row.
    ///
    /// # Safety
    /// The values must be of the types of the columns. Copying them may leave memory in the current context.
    pub(crate) unsafe fn push(&mut self, values: &[Datum], nulls: &[bool]) -> Result<(), OutOfMemory> {
        self.version.set(0);
        let begin = self.words.len();
        if self.have_bytes {
            push(&mut self.starts, begin as u32)?;
        }
        self.count += 1;
        grow(&mut self.words, self.head)?;
        self.words.resize(begin + self.head, 0);
        for place in 0..self.kept.len() {
            let (column, KeptColumn { layout, .. }) = self.kept[place];
            if nulls[column] {
                self.words[begin + place / 64] |= 1 << (place % 64);
            } else if layout.by_value {
                self.words[begin + self.nulls + place] = values[column].value() as u64;
            } else {
                self.words[begin + self.nulls + place] = (self.words.len() - begin) as u64;
                // SAFETY: the value is of the type of the column, as the caller promises.
                self.push_bytes(unsafe { layout.bytes(values[column]) })?;
            }
        }
        Ok(())
    }

    /// The words of a row.
    pub fn words_of(&self, BatchRow(row): BatchRow) -> &[u64] {
        let row = row as usize;
        match self.starts.get(row) {
            None => &self.words[row * self.head..(row + 1) * self.head],
            Some(&begin) => {
                let end = self.starts.get(row + 1).map_or(self.words.len(), |&end| end as usize);
                &self.words[begin as usize..end]
            }
        }
    }

    /// Adds a row that consists of words that a store with the same columns has returned. It is an error if
    /// they cannot be, because a file is damaged.
    #[inline]
    pub fn push_words(&mut self, words: &[u64]) -> Result<(), SqlError> {
        self.version.set(0);
        if !self.is_complete(words) {
            return Err(temporary_file());
        }
        if self.have_bytes {
            push(&mut self.starts, self.words.len() as u32)?;
        }
        self.count += 1;
        Ok(extend(&mut self.words, words)?)
    }

    /// Whether a row has a word for each column, and its values end within it.
    #[inline]
    fn is_complete(&self, row: &[u64]) -> bool {
        if !self.have_bytes {
            return row.len() == self.head;
        }
        row.len() >= self.head
            && self.kept.iter().enumerate().all(|(place, (_, kept))| {
                let is_null = row[place / 64] >> (place % 64) & 1 != 0;
                let begin = row[self.nulls + place] as usize;
                is_null || kept.layout.by_value || kept.layout.is_within(row.get(begin..).unwrap_or_default())
            })
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

    /// Reads a word of each of some rows, so that they are in the processor's cache when they are shown soon
    /// after. These reads do not wait for each other, unlike those of rows that are shown one by one.
    #[inline]
    pub fn touch(&self, rows: impl Iterator<Item = BatchRow>) {
        let mut read = 0;
        for BatchRow(row) in rows {
            read ^= self.words.get(self.begin(row as usize)).copied().unwrap_or_default();
        }
        black_box(read);
    }

    /// The place of the first word of a row.
    #[inline]
    fn begin(&self, row: usize) -> usize {
        self.starts.get(row).map_or(row * self.head, |&begin| begin as usize)
    }

    /// The value in a row of a store of values; `None` if it is NULL.
    pub fn value(&self, row: BatchRow) -> Option<Value<'_>> {
        let RowSource::Values(type_) = self.source else { return None };
        let mut values = [Datum::null()];
        let mut nulls = [true];
        self.put(Some(row), &mut values, &mut nulls);
        let [datum] = values;
        let [is_null] = nulls;
        // SAFETY: the row has a value of this type, which stays there as long as the store is borrowed.
        (!is_null).then(|| unsafe { Value::new(datum, type_) })
    }

    /// Writes the kept columns of a row, or NULL to each of them. They stay valid until a row is added or the
    /// rows are removed.
    #[inline]
    pub(crate) fn put(&self, row: Option<BatchRow>, values: &mut [Datum], nulls: &mut [bool]) {
        let Some(BatchRow(row)) = row else {
            self.kept.iter().for_each(|(_, kept)| nulls[kept.target] = true);
            return;
        };
        debug_assert!((row as usize) < self.count, "the store has the row");
        let row = &self.words[self.begin(row as usize)..];
        for (place, &(_, KeptColumn { layout, target })) in self.kept.iter().enumerate() {
            nulls[target] = row[place / 64] >> (place % 64) & 1 != 0;
            let word = row[self.nulls + place];
            values[target] = match layout.by_value || nulls[target] {
                true => Datum::from(word as usize),
                false => Datum::from(row[word as usize..].as_ptr()),
            };
        }
    }
}
