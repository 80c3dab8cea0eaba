//! One side of a join in memory: rows, the codes of those that have one, and which of them have a partner.

use super::file::RowFile;
use super::measure::NearMeasure;
use super::rows::{KeptColumns, RowStore};
use super::sketches::SideSketches;
use crate::pg::code::list::CodeList;
use crate::pg::report::{self, SqlError};
use limits::{OutOfMemory, collect, grow, push, reserve};
use pgrx::pg_sys::Datum;

/// Bytes that a row takes while it is sorted into buckets.
const BYTES_IN_BUCKETS: usize = 12;

/// Rows of a side.
pub(super) struct JoinSide {
    pub(super) rows: RowStore,
    /// For each condition on a distance, the codes of the rows that have one for all of them.
    pub(super) codes: Vec<CodeList>,
    /// Sketches, for a condition on them; then there are no codes.
    pub(super) sketches: Option<SideSketches>,
    /// The number of codes for a condition, or of sketches.
    pub(super) count: usize,
    /// For each code, its row; empty as long as every row has codes.
    places: Vec<u32>,
    /// The number of each row among all of its side, for rows from a file.
    numbers: Vec<u64>,
    /// The number of the first row, for others.
    pub(super) first: u64,
    /// Why a code could not be added. It is an error only if there is a code on the other side.
    problem: Option<SqlError>,
}

impl JoinSide {
    pub(super) fn new(columns: KeptColumns, measures: impl Iterator<Item = NearMeasure>) -> Self {
        let (mut codes, mut sketches) = (Vec::new(), None);
        for measure in measures {
            match measure {
                // Bounded: as many as the query has conditions.
                NearMeasure::Distance(type_) => codes.push(CodeList::new(type_, 0)),
                NearMeasure::AnyShared => sketches = Some(SideSketches::new(false)),
                NearMeasure::Share(_) => sketches = Some(SideSketches::new(true)),
            }
        }
        let rows = RowStore::new(columns);
        let (places, numbers) = (Vec::new(), Vec::new());
        Self { rows, codes, sketches, count: 0, places, numbers, first: 0, problem: None }
    }

    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.codes.iter_mut().for_each(CodeList::clear);
        self.sketches.iter_mut().for_each(SideSketches::clear);
        self.places.clear();
        self.numbers.clear();
        self.count = 0;
    }

    /// Gives back the memory, and forgets the length of the codes.
    pub(super) fn reset(&mut self) {
        let columns = std::mem::take(&mut self.rows).into_columns();
        let codes = std::mem::take(&mut self.codes);
        let sketches = self.sketches.take().map(|sketches| SideSketches::new(sketches.have_shares));
        let measures = codes.iter().map(|codes| NearMeasure::Distance(codes.type_));
        *self = Self { sketches, ..Self::new(columns, measures) };
    }

    pub(super) fn bytes(&self) -> usize {
        let codes = self.codes.iter().map(CodeList::bytes);
        let codes: usize = codes.chain(self.sketches.iter().map(SideSketches::bytes)).sum();
        let places = size_of_val(&self.places[..]) + size_of_val(&self.numbers[..]);
        self.rows.bytes() + codes + places + self.count * BYTES_IN_BUCKETS
    }

    /// Adds a row, and its codes if it has any.
    ///
    /// # Safety
    /// The values must be of the types of the columns, and the codes of their own.
    pub(super) unsafe fn push(
        &mut self,
        (values, nulls): (&[Datum], &[bool]),
        codes: &[Datum],
    ) -> Result<(), SqlError> {
        let pushed = match (&mut self.sketches, codes) {
            // SAFETY: a sketch, as the caller promises.
            (Some(list), &[sketch]) => unsafe { list.push(sketch) },
            _ => self.codes.iter_mut().zip(codes).try_for_each(|(list, &code)| {
                // SAFETY: a code of this type, as the caller promises.
                unsafe { list.push(code) }
            }),
        };
        match pushed {
            Ok(()) if codes.is_empty() => {}
            Ok(()) => self.place_code().map_err(report::problem)?,
            Err(problem) => self.problem = Some(problem),
        }
        // SAFETY: values of the types of the columns, as the caller promises.
        unsafe { self.rows.push(values, nulls) }.map_err(report::problem)
    }

    /// Notes that the next row has the next code.
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
    pub(super) fn row(&self, place: u32) -> u32 {
        self.places.get(place as usize).copied().unwrap_or(place)
    }

    /// The number of a row among all of its side.
    #[inline]
    pub(super) fn number(&self, row: u32) -> u64 {
        self.numbers.get(row as usize).copied().unwrap_or(self.first + u64::from(row))
    }

    /// Words that all codes of a row take.
    fn words_of_codes(&self) -> usize {
        self.codes.iter().map(|list| list.codes().width()).sum()
    }

    /// Writes all rows to a file, and notes in which bits of the first code not all are alike.
    pub(super) fn write_to(&self, file: &mut RowFile, varying: &mut Vary) -> Result<(), SqlError> {
        let (mut words, mut code) = (Vec::new(), 0);
        for row in 0..self.rows.len() as u32 {
            let is_coded = (code as usize) < self.count && self.row(code) == row;
            let of_row = self.rows.words_of(row);
            words.clear();
            let length = HEAD + of_row.len() + self.words_of_codes();
            reserve(&mut words, length).map_err(report::problem)?;
            words.extend([self.number(row), (of_row.len() as u64) << 1 | u64::from(is_coded)]);
            if is_coded {
                for (place, list) in self.codes.iter().enumerate() {
                    let of_list = list.codes().get(code);
                    if place == 0 {
                        varying.note(of_list).map_err(report::problem)?;
                    }
                    words.extend_from_slice(of_list);
                }
                code += 1;
            }
            words.extend_from_slice(of_row);
            file.write(&words)?;
        }
        Ok(())
    }

    /// The next row of a file; None at its end.
    pub(super) fn read_record<'a>(&self, file: &'a mut RowFile) -> Result<Option<Record<'a>>, SqlError> {
        let Some(&[number, info]) = file.peek(HEAD)? else { return Ok(None) };
        let codes = if info & 1 != 0 { self.words_of_codes() } else { 0 };
        let words = file.read(HEAD + codes + (info >> 1) as usize)?;
        Ok(words.map(|words| Record { number, codes, words }))
    }

    /// The code of a row by which it is divided.
    #[inline]
    pub(super) fn code_of<'a>(&self, record: &Record<'a>) -> Option<&'a [u64]> {
        let width = self.codes.first()?.codes().width();
        (record.codes > 0).then(|| &record.words[HEAD..HEAD + width])
    }

    /// Adds the next row of a file, if its number is wanted; with its codes if these are wanted, and not if
    /// it has none then. Returns whether there was one.
    pub(super) fn read_from(
        &mut self,
        file: &mut RowFile,
        have_codes: bool,
        is_wanted: impl Fn(u64) -> bool,
    ) -> Result<bool, SqlError> {
        let Some(Record { number, codes, words }) = self.read_record(file)? else { return Ok(false) };
        if have_codes && codes == 0 || !is_wanted(number) {
            return Ok(true);
        }
        let mut rest = &words[HEAD..];
        if have_codes {
            for list in &mut self.codes {
                let code;
                (code, rest) = rest.split_at(list.codes().width());
                list.push_words(code)?;
            }
            self.place_code().map_err(report::problem)?;
        } else {
            rest = &rest[codes..];
        }
        push(&mut self.numbers, number).map_err(report::problem)?;
        self.rows.push_words(rest).map_err(report::problem)?;
        Ok(true)
    }

    /// Whether a code of the other side can have a partner here, or raise an error.
    pub(super) fn has_codes(&self) -> bool {
        self.count > 0 || self.problem.is_some()
    }

    /// Raises the error of `hamming` if codes of the two sides have different lengths.
    pub(super) fn check(&mut self, others: &mut Self) -> Result<(), SqlError> {
        if self.has_codes() && others.has_codes() {
            if let Some(problem) = self.problem.take().or_else(|| others.problem.take()) {
                return Err(problem);
            }
            self.codes
                .iter()
                .zip(&others.codes)
                .try_for_each(|(codes, others)| codes.check_length(others))?;
        }
        Ok(())
    }
}

/// Words of a file that say the number of a row, the length of its columns, and whether it has codes.
const HEAD: usize = 2;

/// A row in a file.
pub(super) struct Record<'a> {
    pub(super) number: u64,
    /// The number of words of its codes.
    codes: usize,
    /// Its number, its length, its codes, and its columns.
    pub(super) words: &'a [u64],
}

/// The bits in which not all codes are alike.
#[derive(Default)]
pub(super) struct Vary {
    first: Vec<u64>,
    pub(super) bits: Vec<u64>,
}

impl Vary {
    fn note(&mut self, code: &[u64]) -> Result<(), OutOfMemory> {
        if self.first.is_empty() {
            self.first = collect(code.iter().copied(), code.len())?;
            self.bits = collect(code.iter().map(|_| 0), code.len())?;
        }
        for ((bits, first), word) in self.bits.iter_mut().zip(&self.first).zip(code) {
            *bits |= first ^ word;
        }
        Ok(())
    }
}

/// A set of rows.
#[derive(Default)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    #[inline]
    pub(super) fn contains(&self, row: u64) -> bool {
        self.0.get((row / 64) as usize).is_some_and(|word| word >> (row % 64) & 1 != 0)
    }

    pub(super) fn insert(&mut self, row: u64) -> Result<(), OutOfMemory> {
        let word = (row / 64) as usize;
        if word >= self.0.len() {
            let more = word + 1 - self.0.len();
            grow(&mut self.0, more)?;
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (row % 64);
        Ok(())
    }
}
