//! The format in which rows are written to files.

/// A row among all rows of a side, also those in files.
#[derive(Clone, Copy)]
pub(crate) struct RecordNumber(pub(crate) u64);

/// The sizes in the rows of a side, in words.
#[derive(Clone, Copy)]
pub(crate) struct RecordFormat {
    /// Words of all codes of a row, if it has codes.
    pub(crate) codes: usize,
    /// Words of the columns of each row, if all rows have the same number.
    pub(crate) columns: Option<usize>,
    /// Whether rows have numbers. If not, all rows have codes, which may consist of no words.
    pub(crate) numbered: bool,
}

/// A row in a file: if rows are numbered, a word with its number and a bit that says whether it has codes; a
/// word with the length of its columns, unless all rows have the same length; its codes; its columns.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    /// 0 if rows are not numbered.
    pub(crate) number: RecordNumber,
    /// Empty if the row has no codes.
    pub(crate) codes: &'a [u64],
    pub(crate) columns: &'a [u64],
    /// All words of the row.
    pub(crate) words: &'a [u64],
}

impl RecordFormat {
    /// For rows without numbers and codes, with columns of so many words if it is the same for all rows.
    pub(crate) fn of_columns(columns: Option<usize>) -> Self {
        Self { codes: 0, columns, numbered: false }
    }

    /// The format of the codes without columns.
    pub(crate) fn without_columns(self) -> Self {
        Self { columns: Some(0), ..self }
    }

    /// The first word of a numbered row: its number, and whether it has codes.
    pub(crate) fn head(RecordNumber(number): RecordNumber, is_coded: bool) -> u64 {
        number << 1 | u64::from(is_coded)
    }

    /// The first row of these words and the words behind it; `None` if the row is not complete.
    #[inline(always)]
    pub(crate) fn split(self, words: &[u64]) -> Option<(Record<'_>, &[u64])> {
        let head = if self.numbered { *words.first()? } else { 1 };
        let codes = if head & 1 == 0 { 0 } else { self.codes };
        let before = usize::from(self.numbered);
        let (before, columns) = match self.columns {
            Some(columns) => (before, columns),
            None => (before + 1, *words.get(before)? as usize),
        };
        let (words, after) = words.split_at_checked((before + codes).checked_add(columns)?)?;
        let (codes, columns) = words[before..].split_at(codes);
        Some((Record { number: RecordNumber(head >> 1), codes, columns, words }, after))
    }
}
