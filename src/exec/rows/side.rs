//! One side of a join in memory: its rows, and the codes of the rows that have codes.

use super::file::RowFile;
use super::matched::MatchedSet;
use super::record::{Record, RecordFormat, RecordNumber};
use super::summary::SideSummary;
use crate::pg::code::CodeValue;
use crate::pg::code::list::CodeReader;
use crate::pg::interrupts::check_for_interrupts;
use crate::pg::report::SqlError;
use crate::pg::row_store::{BatchRow, RowStore, StorableRow};
use base::{OutOfMemory, collect, extend, push};
use hamming::code::CodeSlice;
use hamming::near_pairs::CodeRadii;

/// Bytes per row that sorting into buckets takes.
const BYTES_IN_BUCKETS: usize = 12;

/// A code among the codes of a side that are in memory.
#[derive(Clone, Copy)]
pub(crate) struct CodePlace(pub(crate) u32);

/// The rows of one side that are in memory.
pub(crate) struct JoinSide {
    pub(crate) rows: RowStore,
    /// For each condition on a distance: what reads its codes.
    pub(crate) readers: Vec<CodeReader>,
    /// The codes of those rows that have a code for all conditions, which are one code here: the words for
    /// each condition follow each other.
    words: Vec<u64>,
    /// The number of these codes.
    pub(crate) count: usize,
    /// For each code, its row; empty while every row has codes.
    places: Vec<u32>,
    /// Whether rows have numbers, by which matches are noted. If not, rows without codes are left out.
    numbered: bool,
    /// For numbered rows from a file: their numbers.
    numbers: Vec<u64>,
    /// For other rows: the number of the first row.
    pub(crate) first: u64,
    /// Which rows of the side are matched, if the join has to note that.
    pub(crate) matched: MatchedSet,
    /// The most bytes that the rows have taken.
    most: usize,
    /// Why a code could not be added. It becomes an error only if the other side has a code.
    problem: Option<SqlError>,
}

impl JoinSide {
    pub(crate) fn new(rows: RowStore, numbered: bool, readers: Vec<CodeReader>) -> Self {
        Self {
            rows,
            readers,
            words: Vec::new(),
            count: 0,
            places: Vec::new(),
            numbered,
            numbers: Vec::new(),
            first: 0,
            matched: MatchedSet::default(),
            most: 0,
            problem: None,
        }
    }

    /// Asserts what holds between rows, codes, and their places.
    #[inline]
    fn check_counts(&self) {
        debug_assert!(u32::try_from(self.rows.len()).is_ok(), "the place of a row has 32 bits");
        debug_assert!(self.count <= self.rows.len(), "a code belongs to a row");
        debug_assert!(self.places.is_empty() || self.places.len() == self.count, "each code has a place");
        debug_assert!(
            self.numbers.is_empty() || self.numbers.len() == self.rows.len(),
            "each row has a number"
        );
        debug_assert_eq!(self.codes().len(), self.count, "each code has its words");
    }

    pub(crate) fn clear(&mut self) {
        self.check_counts();
        self.most = self.taken();
        self.rows.clear();
        self.words.clear();
        self.places.clear();
        self.numbers.clear();
        self.count = 0;
    }

    /// Frees the memory, and forgets the length of the codes and all matches.
    pub(crate) fn reset(&mut self) {
        let mut rows = std::mem::replace(&mut self.rows, RowStore::of_nothing());
        rows.reset();
        // Bounded: as many as the query has conditions.
        let readers = self.readers.iter().map(CodeReader::of_same_codes).collect();
        *self = Self::new(rows, self.numbered, readers);
    }

    /// Bytes of memory that a row with codes and without columns takes, if it has a number.
    pub(crate) fn bytes_of_coded_row(&self) -> usize {
        (self.format().codes + 1) * size_of::<u64>() + BYTES_IN_BUCKETS
    }

    pub(crate) fn bytes(&self) -> usize {
        let codes = size_of_val(&self.words[..]) + self.count * BYTES_IN_BUCKETS;
        self.rows.bytes() + codes + size_of_val(&self.places[..]) + size_of_val(&self.numbers[..])
    }

    /// Bytes of memory that the side takes. It keeps the memory of the most rows that it has had.
    pub(crate) fn taken(&self) -> usize {
        self.most.max(self.bytes())
    }

    /// Adds a row, with its codes if it has any. A row without codes is left out if rows are not numbered.
    #[inline]
    pub(crate) fn push(&mut self, row: impl StorableRow, codes: &[CodeValue<'_>]) -> Result<(), SqlError> {
        debug_assert!(codes.is_empty() || codes.len() == self.readers.len(), "a row has all codes or none");
        let before = self.words.len();
        let mut conditions = self.readers.iter_mut().zip(codes);
        match conditions.try_for_each(|(reader, &code)| reader.read(code, &mut self.words)) {
            Ok(()) if !codes.is_empty() => self.place_code()?,
            Ok(()) => {}
            Err(problem) => {
                self.words.truncate(before);
                self.problem = Some(problem);
            }
        }
        if !self.numbered && self.count == self.rows.len() {
            return Ok(());
        }
        row.store(&mut self.rows)
    }

    /// Makes room to note matches of the rows, if the join has to.
    pub(crate) fn make_room(&mut self) -> Result<(), OutOfMemory> {
        let rows = if self.numbered { self.first + self.rows.len() as u64 } else { 0 };
        debug_assert!(
            self.numbers.is_empty(),
            "rows that are read from a child are numbered one after the other"
        );
        self.matched.make_room(rows)
    }

    /// Notes that the next code belongs to the next row.
    fn place_code(&mut self) -> Result<(), OutOfMemory> {
        if self.count != self.rows.len() {
            if self.places.is_empty() {
                self.places = collect(0..self.count as u32, self.count)?;
            }
            push(&mut self.places, self.rows.len() as u32)?;
        }
        self.count += 1;
        Ok(())
    }

    /// The row of a code.
    #[inline]
    pub(crate) fn row(&self, CodePlace(place): CodePlace) -> BatchRow {
        BatchRow(self.places.get(place as usize).copied().unwrap_or(place))
    }

    /// The number of a code's row.
    #[inline]
    pub(crate) fn number_of_code(&self, code: CodePlace) -> RecordNumber {
        self.number(self.row(code))
    }

    #[inline]
    pub(crate) fn number(&self, BatchRow(row): BatchRow) -> RecordNumber {
        RecordNumber(self.numbers.get(row as usize).copied().unwrap_or(self.first + u64::from(row)))
    }

    #[inline]
    pub(crate) fn is_matched(&self, row: BatchRow) -> bool {
        self.has_match(self.number(row))
    }

    /// Whether a row is noted as matched.
    #[inline]
    pub(crate) fn has_match(&self, number: RecordNumber) -> bool {
        self.numbered && self.matched.contains(number)
    }

    /// Notes a match, if the join has to. Returns whether it is the first one of the row.
    pub(crate) fn note_match(&self, row: BatchRow) -> bool {
        !self.numbered || self.matched.insert(self.number(row))
    }

    /// The length of the codes of each condition; 0 if there are no codes.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u32> {
        self.readers.iter().map(|reader| reader.bits().unwrap_or_default())
    }

    /// Notes the lengths of the codes in files.
    pub(crate) fn expect_lengths(&mut self, lengths: &[u32]) {
        for (reader, &length) in self.readers.iter_mut().zip(lengths).filter(|(_, length)| **length > 0) {
            if let Err(problem) = reader.expect_length(length) {
                self.problem = Some(problem);
            }
        }
    }

    /// Raises the error of a code that could not be added, if the other side has codes.
    pub(crate) fn check_all(&mut self, has_others: bool) -> Result<(), SqlError> {
        self.problem.take().filter(|_| has_others).map_or(Ok(()), Err)
    }

    /// The codes to search.
    pub(crate) fn codes(&self) -> CodeSlice<'_> {
        CodeSlice::new(&self.words, self.format().codes.max(1))
    }

    /// The radii of all conditions.
    pub(crate) fn radii(&self, radii: &[u32]) -> CodeRadii {
        let mut first = 0;
        let mut all = CodeRadii::from(radii[0]);
        for (reader, &radius) in self.readers.iter().zip(&radii[1..]) {
            first += reader.width();
            all = all.and(first, radius);
        }
        all
    }

    /// The format in which rows are written to a file.
    pub(crate) fn format(&self) -> RecordFormat {
        let codes = self.readers.iter().map(CodeReader::width).sum();
        RecordFormat { codes, columns: self.rows.fixed_words(), numbered: self.numbered }
    }

    /// Writes all rows to a file, and removes them from memory.
    pub(crate) fn move_to(&mut self, file: &mut RowFile, summary: &mut SideSummary) -> Result<(), SqlError> {
        let numbers = if self.numbered { size_of::<u64>() * self.rows.len() } else { 0 };
        summary.bytes += (self.bytes() + numbers) as u64;
        let format = self.format();
        self.each(|row, codes| {
            if !codes.is_empty() {
                summary.note(codes)?;
            }
            file.write_row(format, self.number(row), codes, self.rows.words_of(row))
        })?;
        summary.lengths = collect(self.lengths(), self.readers.len())?;
        self.remove_all();
        Ok(())
    }

    /// Removes all rows from memory. Later rows get the numbers after theirs.
    pub(crate) fn remove_all(&mut self) {
        self.first += self.rows.len() as u64;
        self.clear();
    }

    /// Calls `take` for each row, with its code, which has no words if the row has none.
    pub(crate) fn each(
        &self,
        mut take: impl FnMut(BatchRow, &[u64]) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        let codes = self.codes();
        let mut next = 0;
        for row in (0..self.rows.len() as u32).map(BatchRow) {
            check_for_interrupts();
            let has_code = (next as usize) < self.count && self.row(CodePlace(next)).0 == row.0;
            take(row, if has_code { codes.get(next) } else { &[] })?;
            next += u32::from(has_code);
        }
        Ok(())
    }

    /// Adds a row from a file, with its codes if `have_codes`.
    #[inline]
    pub(crate) fn push_record(&mut self, record: Record<'_>, have_codes: bool) -> Result<(), SqlError> {
        if have_codes {
            debug_assert_eq!(record.codes.len(), self.format().codes, "the file has codes of this length");
            extend(&mut self.words, record.codes)?;
            self.place_code()?;
        }
        if self.numbered {
            push(&mut self.numbers, record.number.0)?;
        }
        self.rows.push_words(record.columns)
    }

    /// Whether comparing with a code of the other side can find a pair or raise an error.
    pub(crate) fn has_codes(&self) -> bool {
        self.count > 0 || self.problem.is_some()
    }

    /// Raises the error of `hamming` if the codes of the two sides have different lengths.
    pub(crate) fn check(&mut self, others: &mut Self) -> Result<(), SqlError> {
        if self.has_codes() && others.has_codes() {
            if let Some(problem) = self.problem.take().or_else(|| others.problem.take()) {
                return Err(problem);
            }
            for (reader, other) in self.readers.iter().zip(&others.readers) {
                reader.check_length(other)?;
            }
        }
        Ok(())
    }
}
